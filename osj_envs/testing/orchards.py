"""Random hidden configurations and worlds of OpenHarvest, of any size, for comparing the physics.

Patches lie closer than on a likely map, and spawn cells are a scatter: the rules of a step hold on
any map on which no two patches are near each other, and more comes together on a dense one.
"""

from typing import Any

import numpy as np

from osj_envs.grid.movement import Agents
from osj_envs.harvest.constants import (
    DIAMOND,
    NEIGHBOUR_DISTANCE,
    QUARTER,
    STAGES,
    HarvestConfig,
    Lost,
)
from osj_envs.harvest.types import Latent, Layout, Rules, Trees, World
from osj_envs.testing.slow_grid import Cell

TURNS = tuple((down, right, swap) for down in (1, -1) for right in (1, -1) for swap in (0, 1))
"""The ways to turn and mirror a patch."""

MOST_TRIES = 10_000


def turned_shape(shape: tuple[Cell, ...], turn: tuple[int, int, int]) -> list[Cell]:
    """A patch's trees in their order, turned or mirrored."""
    down, right, swap = turn
    cells = [(column, row) if swap else (row, column) for row, column in shape]
    return [(down * row, right * column) for row, column in cells]


def random_layout(config: HarvestConfig, rng: np.random.Generator) -> Layout:
    """Patches anywhere, turned in any way, and a scatter of spawn cells.

    Raises:
        ValueError: the map has no room for them, as far as was tried.
    """
    for _ in range(MOST_TRIES):
        trees = _try_patches(config, rng)
        if trees is not None:
            break
    else:
        raise ValueError(f"No room for the patches on {config.height} x {config.width} cells.")
    numbers = [row * config.width + column for row, column in trees]
    free = np.setdiff1d(np.arange(config.cells), numbers)
    return make_layout(numbers, rng.permutation(free)[: config.spawn_cells])


def _try_patches(config: HarvestConfig, rng: np.random.Generator) -> list[Cell] | None:
    trees: list[Cell] = []
    for shape in (DIAMOND,) * config.diamonds + (QUARTER,) * config.quarters:
        turn = TURNS[rng.integers(len(TURNS))]
        row, column = int(rng.integers(config.height)), int(rng.integers(config.width))
        patch = [(row + r, column + c) for r, c in turned_shape(shape, turn)]
        inside = all(0 <= r < config.height and 0 <= c < config.width for r, c in patch)
        if not inside or any(_are_near(cell, other) for cell in patch for other in trees):
            return None
        trees += patch
    return trees


def _are_near(cell: Cell, other: Cell) -> bool:
    return abs(cell[0] - other[0]) + abs(cell[1] - other[1]) <= NEIGHBOUR_DISTANCE


def make_layout(trees: Any, spawns: Any) -> Layout:
    """A layout with NumPy leaves of the fast code's dtypes, from flat cell numbers."""
    fields: dict[str, Any] = {
        "trees": np.asarray(trees, np.uint16),
        "spawns": np.asarray(spawns, np.uint16),
    }
    return Layout(**fields)


def make_latent(pay: Any, speed: Any, layout: Layout, patch_colour: Any) -> Latent:
    """A latent with NumPy leaves of the fast code's dtypes."""
    rules: dict[str, Any] = {"pay": np.asarray(pay, np.int8), "speed": np.asarray(speed, np.int8)}
    colours: dict[str, Any] = {"patch_colour": np.asarray(patch_colour, np.int8)}
    return Latent(rules=Rules(**rules), layout=layout, **colours)


def random_latent(config: HarvestConfig, rng: np.random.Generator) -> Latent:
    """A random layout, rule set and colouring."""
    orders = np.tile(np.arange(STAGES), (2, config.colours, 1))
    pay, speed = rng.permuted(orders, axis=-1)
    colours = rng.integers(config.colours, size=config.patches)
    return make_latent(pay, speed, random_layout(config, rng), colours)


def random_world(
    config: HarvestConfig, latent: Latent, num_agents: int, rng: np.random.Generator
) -> World:
    """A world that the rules allow: apples of all ages, all kinds of bare cells."""
    colour: dict[str, Any] = {
        "tree_colour": np.asarray(latent.patch_colour)[list(config.patch_of_tree)]
    }
    waits: dict[str, Any] = {
        "frozen": _random_wait(config.freeze_steps, num_agents, rng),
        "cooldown": _random_wait(config.cooldown_steps, num_agents, rng),
    }
    return World(
        trees=_random_trees(config, rng),
        layout=latent.layout,
        agents=_random_agents(config, num_agents, rng),
        **colour,
        **waits,
    )


def _random_trees(config: HarvestConfig, rng: np.random.Generator) -> Trees:
    count = config.trees
    bare = rng.choice([Lost.EATEN + stage for stage in range(STAGES)] + [Lost.ROTTED], count)
    lost = np.where(rng.random(count) < rng.uniform(0.0, 0.9), Lost.HANGING, bare)
    steps = rng.integers(config.stage_steps[0], config.stage_steps[1] + 1, count)
    delay = rng.integers(0, config.rot_delay[1] + 1, count)
    fields: dict[str, Any] = {
        "lost": lost,
        "age": np.where(lost == Lost.HANGING, rng.integers(0, STAGES * steps), 0),
        "stage_steps": np.where(lost == Lost.HANGING, steps, 0),
        "delay": np.where(lost == Lost.ROTTED, delay, 0),
    }
    return Trees(**{name: values.astype(np.uint8) for name, values in fields.items()})


def _random_agents(config: HarvestConfig, count: int, rng: np.random.Generator) -> Agents:
    cells = rng.choice(config.cells, count, replace=False)
    fields: dict[str, Any] = {
        "position": np.stack(np.divmod(cells, config.width), axis=-1).astype(np.int32),
        "heading": rng.integers(0, 4, count).astype(np.int32),
    }
    return Agents(**fields)


def _random_wait(most: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Mostly none, so that agents act."""
    waits = rng.integers(0, most + 1, count)
    return np.where(rng.random(count) < 0.7, 0, waits).astype(np.int32)
