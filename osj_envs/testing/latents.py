"""Random hidden configurations and worlds of OpenCleanup, of any size, for comparing the physics.

A layout here is a random scatter: the rules of a step hold on any map, and a scatter brings more
situations together than a likely map does.
"""

from typing import Any

import numpy as np

from osj_envs.cleanup.constants import CleanupConfig, Terrain
from osj_envs.cleanup.types import Latent, Rules, World
from osj_envs.grid.codes import Action
from osj_envs.testing.slow_cleanup import RIVER, SlowCleanup, write_world
from osj_envs.testing.slow_records import SlowAgent, SlowWorld


def random_layout(config: CleanupConfig, rng: np.random.Generator) -> np.ndarray:
    """A scatter of the configuration's counts of each kind of cell."""
    kinds = [
        *[Terrain.RIVER_CLEAN] * config.initial_clean_cells,
        *[Terrain.RIVER_WASTE] * config.initial_waste_cells,
        *[Terrain.STREAM] * config.stream_cells,
        *[Terrain.ORCHARD] * config.orchard_cells,
        *[Terrain.SPAWN] * config.spawn_cells,
        *(Terrain.STATION + place for place in range(config.stations)),
    ]
    cells = np.full(config.cells, Terrain.GROUND, np.uint8)
    cells[: len(kinds)] = kinds
    return rng.permutation(cells).reshape(config.height, config.width)


def random_latent(config: CleanupConfig, rng: np.random.Generator) -> Latent:
    """A random layout, rule set and dominant hue."""
    effect = np.zeros(config.pairs, np.int8)
    effect[: config.effects] = np.arange(1, config.effects + 1)
    return make_latent(
        rng.permutation(effect), random_layout(config, rng), int(rng.integers(config.hues))
    )


def make_latent(effect: np.ndarray, layout: np.ndarray, dominant_hue: int) -> Latent:
    """A latent with NumPy leaves of the fast code's dtypes."""
    rules: dict[str, Any] = {"effect": np.asarray(effect, np.int8)}
    fields: dict[str, Any] = {
        "layout": np.asarray(layout, np.uint8),
        "dominant_hue": np.asarray(dominant_hue, np.int32),
    }
    return Latent(rules=Rules(**rules), **fields)


def random_world(
    config: CleanupConfig, latent: Latent, num_agents: int, rng: np.random.Generator
) -> World:
    """A world that the rules allow, in which many hold one tool that works on much of the waste."""
    slow = SlowCleanup(config, latent)
    tool = list(slow.tools)[rng.integers(len(slow.tools))]
    dirty, ripe = rng.uniform(0.1, 0.9), rng.uniform(0.0, 0.5)
    world = SlowWorld(
        waste={
            cell: _random_waste(config, slow.tools[tool], rng)
            for cell in slow.cells(*RIVER)
            if rng.random() < dirty
        },
        apples={cell for cell in slow.cells(Terrain.ORCHARD) if rng.random() < ripe},
        agents=[
            _random_agent(config, int(place), tool, rng)
            for place in rng.choice(config.cells, num_agents, replace=False)
        ],
    )
    return write_world(slow, world)


def _random_waste(config: CleanupConfig, effect: int, rng: np.random.Generator) -> tuple[int, int]:
    """Any waste, but more often than not of a kind that a tool with this effect works on."""
    hue, shade = int(rng.integers(config.hues)), int(rng.integers(config.shades))
    if rng.random() < 0.4:
        return (hue, shade)
    return (effect - 1, 0) if effect <= config.hues else (hue, effect - config.hues)


def _random_agent(
    config: CleanupConfig, place: int, tool: tuple[int, int], rng: np.random.Generator
) -> SlowAgent:
    """One that holds the tool, or any pick-ups: two, one or none."""
    row, column = divmod(place, config.width)
    anything = [int(tool) for tool in rng.integers(config.base_tools, size=rng.integers(3))]
    window = list(tool) if rng.random() < 0.6 else anything
    return SlowAgent((row, column), int(rng.integers(4)), window)


def random_actions(shape: Any, rng: np.random.Generator) -> np.ndarray:
    """Actions with many shots and pick-ups among them, and a few numbers that are no action."""
    weights: dict[int, float] = {
        **dict.fromkeys((Action.NORTH, Action.SOUTH, Action.EAST, Action.WEST), 0.09),
        **dict.fromkeys((Action.TURN_LEFT, Action.TURN_RIGHT), 0.06),
        Action.BEAM: 0.28,
        Action.STAY: 0.02,
        Action.PICK_UP: 0.20,
        len(Action): 0.01,
        -1: 0.01,
    }
    return rng.choice(list(weights), shape, p=list(weights.values())).astype(np.int32)
