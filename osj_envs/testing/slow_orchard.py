"""The records of OpenHarvest's slow reference, and the fast code's in its terms."""

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from osj_envs.grid.movement import Agents
from osj_envs.harvest.constants import HarvestConfig, Lost
from osj_envs.harvest.types import NOTHING_EATEN, Trees, World
from osj_envs.testing import slow_grid
from osj_envs.testing.slow_grid import Cell

Meal: TypeAlias = tuple[int, int]
"""Colour and stage of an apple that was eaten."""


@dataclasses.dataclass
class Chance:
    """The chance of one step, by what it decides.

    Attributes:
        growth: for each tree a number in [0, 1): it regrows where that is below its chance.
        stage_steps: for each tree the steps of a new apple's stages.
        delay: for each tree the delay if its apple rots.
        order: the agents, the one that wins every contested cell first.
        heading: of each agent if it is sent to a spawn cell.
        spawn_luck: for each spawn cell a number: the greatest is taken first.
        ground_luck: likewise for every cell of the map; empty where that is never asked.
    """

    growth: dict[Cell, float]
    stage_steps: dict[Cell, int]
    delay: dict[Cell, int]
    order: list[int]
    heading: list[int]
    spawn_luck: dict[Cell, int]
    ground_luck: dict[Cell, int]


@dataclasses.dataclass
class Apple:
    """A hanging apple."""

    age: int
    stage_steps: int

    @property
    def stage(self) -> int:
        """0 unripe, 1 ripe, 2 over-ripe."""
        return min(self.age // self.stage_steps, 2)


@dataclasses.dataclass
class SlowAgent:
    """One agent, and for how many steps it still can neither act nor zap."""

    cell: Cell
    heading: int
    frozen: int = 0
    cooldown: int = 0


@dataclasses.dataclass
class SlowWorld:
    """What changes within a trial.

    Attributes:
        apples: what hangs where.
        eaten: for each cell whose apple was eaten, the stage at which it was.
        rotted: for each cell whose apple rotted, the steps until it regrows.
        agents: one by one.
    """

    apples: dict[Cell, Apple]
    eaten: dict[Cell, int]
    rotted: dict[Cell, int]
    agents: list[SlowAgent]


@dataclasses.dataclass
class SlowStep:
    """What a step did, for each agent; `eaten` is None for nothing."""

    reward: list[float]
    blocked: list[bool]
    eaten: list[Meal | None]
    zapped: list[bool]
    events: dict[str, list[float]]


@dataclasses.dataclass
class Orchard:
    """What never changes in an episode: the configuration, and the map's cells.

    Attributes:
        config: the game.
        trees: patch by patch.
        spawns: in the layout's order.
        colour: of each tree.
    """

    config: HarvestConfig
    trees: list[Cell]
    spawns: list[Cell]
    colour: dict[Cell, int]


def read_orchard(config: HarvestConfig, latent: Any) -> Orchard:
    """The map of the fast code's `Latent` (no batch axis)."""
    trees = _cells(config, latent.layout.trees)
    size_of_patch = [13] * config.diamonds + [6] * config.quarters
    colours = np.repeat(np.asarray(latent.patch_colour), size_of_patch).tolist()
    spawns = _cells(config, latent.layout.spawns)
    return Orchard(config, trees, spawns, dict(zip(trees, colours, strict=True)))


def _cells(config: HarvestConfig, numbers: Any) -> list[Cell]:
    return [divmod(number, config.width) for number in np.asarray(numbers).tolist()]


def read_draws(orchard: Orchard, draws: Any) -> Chance:
    """The meaning of the fast code's `Draws`."""
    config, spawns = orchard.config, len(orchard.spawns)
    word = np.asarray(draws.tree).astype(np.int64)
    luck = (np.asarray(draws.refuge).astype(np.int64) >> 2).tolist()
    everywhere = slow_grid.cells_of(config.height, config.width)

    def by_tree(values: np.ndarray) -> dict[Cell, Any]:
        return dict(zip(orchard.trees, values.tolist(), strict=True))

    return Chance(
        growth=by_tree((word >> 8) / 2.0**24),
        stage_steps=by_tree(_remainder(word, config.stage_steps)),
        delay=by_tree(_remainder(word, config.rot_delay)),
        order=[int(agent) for agent in np.argsort(np.asarray(draws.priority))[::-1]],
        heading=np.asarray(draws.heading).tolist(),
        spawn_luck=dict(zip(orchard.spawns, luck[:spawns], strict=True)),
        ground_luck=dict(zip(everywhere, luck[spawns:], strict=True)) if luck[spawns:] else {},
    )


def _remainder(word: np.ndarray, bounds: tuple[int, int]) -> np.ndarray:
    low, high = bounds
    return low + word % (high - low + 1)


def read_world(orchard: Orchard, world: Any) -> SlowWorld:
    """The fast code's `World` (no batch axis), which must be one that the rules allow.

    Raises:
        ValueError: a number is out of its range, or two agents share a cell.
    """
    trees = world.trees
    fields = (trees.lost, trees.age, trees.stage_steps, trees.delay)
    rows = zip(orchard.trees, *(np.asarray(field).tolist() for field in fields), strict=True)
    slow = SlowWorld(apples={}, eaten={}, rotted={}, agents=_read_agents(world))
    for cell, lost, age, stage_steps, delay in rows:
        if lost == Lost.HANGING:
            slow.apples[cell] = Apple(age, stage_steps)
        elif lost == Lost.ROTTED:
            slow.rotted[cell] = delay
        else:
            slow.eaten[cell] = lost - Lost.EATEN
    _check(orchard.config, slow)
    return slow


def _check(config: HarvestConfig, world: SlowWorld) -> None:
    low, high = config.stage_steps
    for cell, apple in world.apples.items():
        if not low <= apple.stage_steps <= high or apple.age >= 3 * apple.stage_steps:
            raise ValueError(f"By the rules no apple on {cell} can be {apple}.")
    for cell, delay in world.rotted.items():
        if not 0 <= delay <= config.rot_delay[1]:
            raise ValueError(f"The delay of {cell} is {delay}.")
    for cell, stage in world.eaten.items():
        if stage not in range(3):
            raise ValueError(f"The apple of {cell} was eaten at stage {stage}.")
    if len({agent.cell for agent in world.agents}) != len(world.agents):
        raise ValueError(f"Agents share a cell: {[agent.cell for agent in world.agents]}.")


def _read_agents(world: Any) -> list[SlowAgent]:
    leaves = (world.agents.position, world.agents.heading, world.frozen, world.cooldown)
    return [
        SlowAgent((position[0], position[1]), heading, frozen, cooldown)
        for position, heading, frozen, cooldown in zip(
            *(np.asarray(leaf).tolist() for leaf in leaves), strict=True
        )
    ]


def write_world(orchard: Orchard, world: SlowWorld, layout: Any) -> World:
    """The fast code's `World`, with NumPy leaves of its dtypes, and 0 where one means nothing."""
    agents = world.agents
    place: dict[str, Any] = {
        "position": np.array([agent.cell for agent in agents], np.int32),
        "heading": np.array([agent.heading for agent in agents], np.int32),
    }
    fields: dict[str, Any] = {
        "tree_colour": np.array([orchard.colour[cell] for cell in orchard.trees], np.int8),
        "frozen": np.array([agent.frozen for agent in agents], np.int32),
        "cooldown": np.array([agent.cooldown for agent in agents], np.int32),
    }
    return World(
        trees=_write_trees(orchard, world), layout=layout, agents=Agents(**place), **fields
    )


def _write_trees(orchard: Orchard, world: SlowWorld) -> Trees:
    bare = {cell: Lost.EATEN + stage for cell, stage in world.eaten.items()}
    bare |= dict.fromkeys(world.rotted, Lost.ROTTED)
    none = Apple(0, 0)
    values = {
        "lost": [bare.get(cell, Lost.HANGING) for cell in orchard.trees],
        "age": [world.apples.get(cell, none).age for cell in orchard.trees],
        "stage_steps": [world.apples.get(cell, none).stage_steps for cell in orchard.trees],
        "delay": [world.rotted.get(cell, 0) for cell in orchard.trees],
    }
    fields: dict[str, Any] = {name: np.array(each, np.uint8) for name, each in values.items()}
    return Trees(**fields)


def without_meaningless(world: World) -> World:
    """The fast code's `World` with 0 wherever a number means nothing."""
    trees = world.trees
    hangs, rotted = trees.lost == Lost.HANGING, trees.lost == Lost.ROTTED
    kept: dict[str, Any] = {
        "age": np.where(hangs, trees.age, np.uint8(0)),
        "stage_steps": np.where(hangs, trees.stage_steps, np.uint8(0)),
        "delay": np.where(rotted, trees.delay, np.uint8(0)),
    }
    return dataclasses.replace(world, trees=dataclasses.replace(trees, **kept))


def told_meals(eaten: Sequence[Meal | None]) -> list[Meal]:
    """What `Outcome` tells of the meals: colours and stages, `NOTHING_EATEN` for none."""
    return [meal or (NOTHING_EATEN, NOTHING_EATEN) for meal in eaten]
