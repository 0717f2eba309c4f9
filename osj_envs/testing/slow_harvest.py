"""OpenHarvest's rules once more: one cell and one agent at a time, in plain Python.

Written from the rules of the game and not from the fast code, to compare that with. All chance
comes in through `Chance`, so that both can be given the same.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from osj_envs.grid.codes import Action, Item
from osj_envs.harvest.constants import HarvestConfig
from osj_envs.testing import slow_grid
from osj_envs.testing.slow_grid import Cell
from osj_envs.testing.slow_orchard import (
    Apple,
    Chance,
    Meal,
    SlowAgent,
    SlowStep,
    SlowWorld,
    read_orchard,
)


class SlowHarvest:
    """One episode's hidden configuration, and the rules."""

    def __init__(self, config: HarvestConfig, latent: Any) -> None:
        """`latent` is the fast code's, with NumPy leaves or JAX ones, and no batch axis."""
        self.config = config
        self.orchard = read_orchard(config, latent)
        self.pay = np.asarray(config.pays)[np.asarray(latent.rules.pay)]
        self.speed = np.asarray(config.speeds)[np.asarray(latent.rules.speed)]

    def ground(self) -> list[Cell]:
        """Cells with neither a tree nor a spawn."""
        used = {*self.orchard.trees, *self.orchard.spawns}
        cells = slow_grid.cells_of(self.config.height, self.config.width)
        return [cell for cell in cells if cell not in used]

    def near(self, world: SlowWorld, cell: Cell) -> int:
        """Apples that hang within two steps of a cell."""
        return sum(
            1 <= abs(cell[0] - other[0]) + abs(cell[1] - other[1]) <= 2 for other in world.apples
        )

    def chance(self, world: SlowWorld, cell: Cell) -> float:
        """The chance that a cell whose apple was eaten regrows in a step."""
        base = self.config.regrowth[min(self.near(world, cell), 3)]
        return float(base * self.speed[self.orchard.colour[cell], world.eaten[cell]])

    def is_over(self, world: SlowWorld) -> bool:
        """No apple hangs, none is on its way, and none comes where none hangs."""
        return not world.apples and not world.rotted and self.config.regrowth[0] == 0.0

    def step(self, world: SlowWorld, actions: Sequence[int], chance: Chance) -> SlowStep:
        """Plays one step, changing `world`."""
        regrown, rotted = self._tend(world, chance)
        chosen = [
            Action.STAY if agent.frozen else action
            for agent, action in zip(world.agents, actions, strict=True)
        ]
        size = self.config.height, self.config.width
        blocked = slow_grid.move_all(world.agents, chosen, chance.order, *size)
        eaten = [self._eat(world, agent) for agent in world.agents]
        reward = [float(self.pay[meal]) if meal else 0.0 for meal in eaten]
        fired, hits = self._zap(world, chosen)
        zapped = [sum(column) > 0 for column in zip(*hits, strict=True)]
        self._send_away(world, zapped, chance)
        for agent, fires, is_hit in zip(world.agents, fired, zapped, strict=True):
            agent.cooldown = self.config.cooldown_steps if fires else max(0, agent.cooldown - 1)
            agent.frozen = self.config.freeze_steps if is_hit else max(0, agent.frozen - 1)
        events: dict[str, Sequence[float]] = {
            **self._meal_events(eaten),
            "zaps": fired,
            "zap_hits": [sum(row) for row in hits],
            "zapped": zapped,
            "rotted": [rotted / len(actions)] * len(actions),
            "regrown": [regrown / len(actions)] * len(actions),
        }
        counts = {name: [float(count) for count in each] for name, each in events.items()}
        return SlowStep(reward, blocked, eaten, zapped, counts)

    def _tend(self, world: SlowWorld, chance: Chance) -> tuple[int, int]:
        """All from the board as the step begins; returns how many regrew and rotted."""
        stood_on = {agent.cell for agent in world.agents}
        comes = [
            cell
            for cell in world.eaten
            if cell not in stood_on and chance.growth[cell] < self.chance(world, cell)
        ]
        for cell in world.rotted:
            world.rotted[cell] = max(0, world.rotted[cell] - 1)
            if world.rotted[cell] == 0 and cell not in stood_on:
                comes.append(cell)
        for apple in world.apples.values():
            apple.age += 1
        goes = [cell for cell, apple in world.apples.items() if apple.age >= 3 * apple.stage_steps]
        for cell in goes:
            del world.apples[cell]
            world.rotted[cell] = chance.delay[cell]
        for cell in comes:
            world.eaten.pop(cell, None)
            world.rotted.pop(cell, None)
            world.apples[cell] = Apple(0, chance.stage_steps[cell])
        return len(comes), len(goes)

    def _eat(self, world: SlowWorld, agent: SlowAgent) -> Meal | None:
        apple = world.apples.pop(agent.cell, None)
        if apple is None:
            return None
        world.eaten[agent.cell] = apple.stage
        return (self.orchard.colour[agent.cell], apple.stage)

    def _meal_events(self, eaten: Sequence[Meal | None]) -> dict[str, list[bool]]:
        names: dict[str, list[bool]] = {"apples": [meal is not None for meal in eaten]}
        for stage, name in enumerate(("ate_unripe", "ate_ripe", "ate_overripe")):
            names[name] = [meal is not None and meal[1] == stage for meal in eaten]
        best = self.pay.max(axis=1)
        names["ate_best"] = [m is not None and bool(self.pay[m] == best[m[0]]) for m in eaten]
        names["ate_early"] = [
            m is not None
            and bool(self.pay[m] < best[m[0]])
            and m[1] < list(self.pay[m[0]]).index(best[m[0]])
            for m in eaten
        ]
        return names

    def _zap(self, world: SlowWorld, actions: Sequence[int]) -> tuple[list[bool], list[list[bool]]]:
        """Who fires, and for each one whom it hits; all on the same board."""
        fired = [
            action == Action.BEAM and agent.cooldown == 0
            for agent, action in zip(world.agents, actions, strict=True)
        ]
        hits = []
        for agent, fires in zip(world.agents, fired, strict=True):
            size = self.config.height, self.config.width
            cells = slow_grid.beam(agent.cell, agent.heading, *size) if fires else []
            hits.append([other.cell in cells for other in world.agents])
        return fired, hits

    def _send_away(self, world: SlowWorld, zapped: Sequence[bool], chance: Chance) -> None:
        """Each one hit takes the free spawn cell, or the open ground, that comes first."""
        taken = {agent.cell for agent in world.agents}
        for index in chance.order:
            if not zapped[index]:
                continue
            free = [cell for cell in self.orchard.spawns if cell not in taken]
            luck = chance.spawn_luck
            if not free:
                free = [cell for cell in self.ground() if cell not in taken]
                luck = chance.ground_luck
            cell = max(free, key=lambda place: luck[place])
            world.agents[index].cell = cell
            world.agents[index].heading = chance.heading[index]
            taken.add(cell)

    def board(self, world: SlowWorld) -> dict[Cell, tuple[int, int]]:
        """What an agent sees of each cell: (item, colour)."""
        cells = slow_grid.cells_of(self.config.height, self.config.width)
        return {cell: self._look(world, cell) for cell in cells}

    def _look(self, world: SlowWorld, cell: Cell) -> tuple[int, int]:
        if cell in self.orchard.colour:
            apple = world.apples.get(cell)
            item = Item.APPLE + apple.stage if apple else Item.EMPTY_TREE
            return (item, 1 + self.orchard.colour[cell])
        return (Item.SPAWN if cell in self.orchard.spawns else Item.GROUND, 0)
