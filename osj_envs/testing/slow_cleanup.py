"""OpenCleanup's rules once more: sets of cells and one agent at a time, in plain Python.

Written from the rules of the game and not from the fast code, to compare that with. All chance
comes in through `Chance`, so that both can be given the same.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from osj_envs.cleanup.constants import CleanupConfig, Terrain
from osj_envs.cleanup.types import EMPTY_SLOT, NO_COLOUR, ShotEffect, World
from osj_envs.grid.codes import Action, Item
from osj_envs.grid.movement import Agents
from osj_envs.testing import slow_grid
from osj_envs.testing.slow_grid import Cell
from osj_envs.testing.slow_records import Chance, SlowAgent, SlowStep, SlowWorld

RIVER = (Terrain.RIVER_WASTE, Terrain.RIVER_CLEAN)


class SlowCleanup:
    """One episode's hidden configuration, and the rules."""

    def __init__(self, config: CleanupConfig, latent: Any) -> None:
        """`latent` is the fast code's, with NumPy leaves or JAX ones, and no batch axis."""
        self.config = config
        self.terrain = {
            cell: int(np.asarray(latent.layout)[cell])
            for cell in slow_grid.cells_of(config.height, config.width)
        }
        self.dominant_hue = int(latent.dominant_hue)
        self.tools = {
            divmod(pair, config.base_tools): int(effect)
            for pair, effect in enumerate(np.asarray(latent.rules.effect))
            if effect
        }

    def cells(self, *kinds: int) -> list[Cell]:
        """All cells of some kinds of terrain."""
        return [cell for cell, kind in self.terrain.items() if kind in kinds]

    def station(self, cell: Cell) -> int | None:
        """The base tool that a cell hands out."""
        place = self.terrain[cell] - Terrain.STATION
        return place % self.config.base_tools if place >= 0 else None

    def growth_rate(self, world: SlowWorld) -> float:
        """The chance of an apple on each free orchard cell."""
        dirt = len(world.waste) / len(self.cells(*RIVER, Terrain.STREAM))
        cleanness = (self.config.dirt_threshold - dirt) / self.config.dirt_threshold
        return self.config.apple_growth * min(max(cleanness, 0.0), 1.0)

    def step(self, world: SlowWorld, step: int, actions: Sequence[int], chance: Chance) -> SlowStep:
        """Plays one step, changing `world`."""
        self._grow_and_spawn(world, step, chance)
        size = self.config.height, self.config.width
        blocked = slow_grid.move_all(world.agents, actions, chance.order, *size)
        reward = self._eat(world)
        before = [self._tool(agent) for agent in world.agents]
        picked_up = self._pick_up(world, actions)
        hits, cleared, lightened = self._fire(world, actions)
        made, remade = self._follow_tools(world, before)
        events: dict[str, Sequence[float]] = {
            "apples": reward,
            "cleared": cleared,
            "lightened": lightened,
            "picked_up": picked_up,
            "fired": [action == Action.BEAM for action in actions],
            "tool_made": made,
            "tool_remade": remade,
        }
        return SlowStep(
            reward=reward,
            blocked=blocked,
            hits=hits,
            events={name: [float(count) for count in counts] for name, counts in events.items()},
        )

    def _grow_and_spawn(self, world: SlowWorld, step: int, chance: Chance) -> None:
        """Both from the board as the step begins."""
        stood_on = {agent.cell for agent in world.agents}
        rate = self.growth_rate(world)
        for cell in self.cells(Terrain.ORCHARD):
            free = cell not in world.apples and cell not in stood_on
            if free and chance.growth[cell] < rate:
                world.apples.add(cell)
        clean = [cell for cell in self.cells(*RIVER) if cell not in world.waste]
        comes = chance.waste_comes < self.config.waste_spawn
        if step < self.config.waste_spawn_start or not comes or not clean:
            return
        drawn = max(clean, key=lambda cell: chance.waste_luck[cell])
        if drawn not in stood_on:
            is_dominant = chance.dominant < self.config.waste_skew
            world.waste[drawn] = (
                self.dominant_hue if is_dominant else chance.hue,
                chance.shade,
            )

    def _eat(self, world: SlowWorld) -> list[float]:
        rewards = []
        for agent in world.agents:
            rewards.append(1.0 if agent.cell in world.apples else 0.0)
            world.apples.discard(agent.cell)
        return rewards

    def _pick_up(self, world: SlowWorld, actions: Sequence[int]) -> list[bool]:
        picks = []
        for agent, action in zip(world.agents, actions, strict=True):
            tool = self.station(agent.cell)
            picks.append(action == Action.PICK_UP and tool is not None)
            if picks[-1] and tool is not None:
                agent.window = [*agent.window, tool][-2:]
        return picks

    def _tool(self, agent: SlowAgent) -> tuple[int, int] | None:
        """The ordered pair in hand."""
        return (agent.window[0], agent.window[1]) if len(agent.window) == 2 else None

    def _fire(
        self, world: SlowWorld, actions: Sequence[int]
    ) -> tuple[list[list[tuple[int, int]]], list[float], list[float]]:
        """All shots meet the same board; a cell changes once, and its credit is shared."""
        shots = [
            self._shot(world, agent) if action == Action.BEAM else [None] * 4
            for agent, action in zip(world.agents, actions, strict=True)
        ]
        effects = [
            [self._effect(world, agent, cell) for cell in shot]
            for agent, shot in zip(world.agents, shots, strict=True)
        ]
        hits = [
            [(self._colour(world, cell), effect) for cell, effect in zip(*shot, strict=True)]
            for shot in zip(shots, effects, strict=True)
        ]
        worked = [
            (agent, cell, effect)
            for agent, (shot, done) in enumerate(zip(shots, effects, strict=True))
            for cell, effect in zip(shot, done, strict=True)
            if cell is not None and effect != ShotEffect.NOTHING
        ]
        sharers = Counter(cell for _, cell, _ in worked)
        credit = np.zeros((len(ShotEffect), len(world.agents)))
        for agent, cell, effect in worked:
            credit[effect, agent] += 1.0 / sharers[cell]
        for cell, effect in {(cell, effect) for _, cell, effect in worked}:
            hue, shade = world.waste.pop(cell)
            if effect == ShotEffect.LIGHTENED:
                world.waste[cell] = (hue, shade - 1)
        return hits, list(credit[ShotEffect.CLEARED]), list(credit[ShotEffect.LIGHTENED])

    def _shot(self, world: SlowWorld, agent: SlowAgent) -> list[Cell | None]:
        hit = slow_grid.beam(agent.cell, agent.heading, self.config.height, self.config.width)
        return [cell if cell in world.waste else None for cell in hit]

    def _colour(self, world: SlowWorld, cell: Cell | None) -> int:
        if cell is None:
            return NO_COLOUR
        hue, shade = world.waste[cell]
        return hue * self.config.shades + shade

    def _effect(self, world: SlowWorld, agent: SlowAgent, cell: Cell | None) -> int:
        """What the tool in hand does to the waste on a cell."""
        tool = self._tool(agent)
        if cell is None or tool not in self.tools:
            return ShotEffect.NOTHING
        hue, shade = world.waste[cell]
        clears_hue = self.tools[tool] - 1
        if clears_hue < self.config.hues:
            works = shade == 0 and hue == clears_hue
            return ShotEffect.CLEARED if works else ShotEffect.NOTHING
        lightens_shade = self.tools[tool] - self.config.hues
        return ShotEffect.LIGHTENED if shade == lightens_shade else ShotEffect.NOTHING

    def _follow_tools(
        self, world: SlowWorld, before: Sequence[tuple[int, int] | None]
    ) -> tuple[list[bool], list[bool]]:
        """Who put a working pair in hand, and who the one that it had last."""
        made, remade = [], []
        for agent, old in zip(world.agents, before, strict=True):
            tool = self._tool(agent)
            works = tool in self.tools
            made.append(works and tool != old)
            remade.append(made[-1] and tool == agent.last_tool)
            agent.last_tool = tool if works else agent.last_tool
        return made, remade

    def board(self, world: SlowWorld) -> dict[Cell, tuple[int, int]]:
        """What an agent sees of each cell: (item, colour)."""
        return {cell: self._look(world, cell) for cell in self.terrain}

    def _look(self, world: SlowWorld, cell: Cell) -> tuple[int, int]:
        if cell in world.waste:
            hue, shade = world.waste[cell]
            return (Item.WASTE + shade, 1 + hue)
        if cell in world.apples:
            return (Item.RIPE_APPLE, 0)
        tool = self.station(cell)
        if tool is not None:
            return (Item.STATION + tool, 0)
        bare = {
            Terrain.GROUND: Item.GROUND,
            Terrain.SPAWN: Item.SPAWN,
            Terrain.ORCHARD: Item.ORCHARD,
        }
        return (bare.get(Terrain(self.terrain[cell]), Item.WATER), 0)

    def read_world(self, world: Any) -> SlowWorld:
        """The fast code's `World` (no batch axis), which must be one that the rules allow.

        Raises:
            ValueError: a cell holds what its terrain cannot hold, or two agents share a cell.
        """
        item, colour = np.asarray(world.item), np.asarray(world.colour)
        slow = SlowWorld(waste={}, apples=set(), agents=read_agents(self.config, world))
        for cell in self.cells(*RIVER):
            if Item.WASTE <= item[cell] < Item.WASTE + self.config.shades:
                slow.waste[cell] = (int(colour[cell]) - 1, int(item[cell]) - Item.WASTE)
        slow.apples = {c for c in self.cells(Terrain.ORCHARD) if item[c] == Item.RIPE_APPLE}
        for cell, looks in self.board(slow).items():
            if (item[cell], colour[cell]) != looks:
                found = (int(item[cell]), int(colour[cell]))
                raise ValueError(f"Cell {cell} holds {found}; by the rules it holds {looks}.")
        if len({agent.cell for agent in slow.agents}) != len(slow.agents):
            raise ValueError(f"Agents share a cell: {[agent.cell for agent in slow.agents]}.")
        return slow


def read_agents(config: CleanupConfig, world: Any) -> list[SlowAgent]:
    """The agents of the fast code's `World` (no batch axis)."""
    return [
        SlowAgent(
            cell=(int(position[0]), int(position[1])),
            heading=int(heading),
            window=[int(tool) for tool in window if tool != EMPTY_SLOT],
            last_tool=divmod(int(last), config.base_tools) if last >= 0 else None,
        )
        for position, heading, window, last in zip(
            *(np.asarray(leaf) for leaf in (world.agents.position, world.agents.heading)),
            np.asarray(world.window),
            np.asarray(world.last_tool),
            strict=True,
        )
    ]


def write_world(slow: SlowCleanup, world: SlowWorld) -> World:
    """The fast code's `World`, with NumPy leaves of its dtypes."""
    config, agents = slow.config, world.agents
    looks = np.array(list(slow.board(world).values()), np.uint8)
    item, colour = looks.reshape(config.height, config.width, 2).transpose(2, 0, 1)
    empty = [EMPTY_SLOT, EMPTY_SLOT]
    fields: dict[str, Any] = {
        "item": item,
        "colour": colour,
        "agents": _write_agents(agents),
        "window": np.array([[*empty, *agent.window][-2:] for agent in agents], np.int32),
        "last_tool": np.array([_pair(config, agent.last_tool) for agent in agents], np.int32),
    }
    return World(**fields)


def _write_agents(agents: Sequence[SlowAgent]) -> Agents:
    fields: dict[str, Any] = {
        "position": np.array([agent.cell for agent in agents], np.int32),
        "heading": np.array([agent.heading for agent in agents], np.int32),
    }
    return Agents(**fields)


def _pair(config: CleanupConfig, tool: tuple[int, int] | None) -> int:
    return -1 if tool is None else tool[0] * config.base_tools + tool[1]
