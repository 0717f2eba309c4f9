"""OpenCleanup worlds drawn in ASCII, so that a test shows the map beside what it expects.

A drawing has one token a cell, apart by blanks: what lies there and, right behind it, the mark of
an agent that stands on it, if any.

    .  ground          @  spawn         *  orchard, empty     o  orchard with an apple
    ~  clean river     =  stream        0  to 9  stations in the order of their chain
    r0 waste of hue r (r y g c p: 0 to 4) and shade 0 (light) to 2 (dark)
    ^ > v <  an agent that faces north, east, south, west; numbered row by row
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from osj_envs.cleanup.constants import CleanupConfig, Terrain
from osj_envs.cleanup.types import EMPTY_SLOT, Latent, World
from osj_envs.testing.latents import make_latent
from osj_envs.testing.slow_cleanup import SlowCleanup, write_world
from osj_envs.testing.slow_grid import Cell
from osj_envs.testing.slow_records import SlowAgent, SlowWorld

HUES = "rygcp"
FACING = "^>v<"
TERRAIN = {
    ".": Terrain.GROUND,
    "@": Terrain.SPAWN,
    "*": Terrain.ORCHARD,
    "o": Terrain.ORCHARD,
    "~": Terrain.RIVER_CLEAN,
    "=": Terrain.STREAM,
}


@dataclasses.dataclass
class Drawn:
    """What a drawing shows: the configuration, the hidden part and the world."""

    config: CleanupConfig
    latent: Latent
    world: World

    @property
    def num_agents(self) -> int:
        """Agents in the drawing."""
        return int(self.world.window.shape[0])


def draw_world(
    drawing: str,
    tools: dict[tuple[int, int], int] | None = None,
    windows: Sequence[Sequence[int]] | None = None,
    dominant_hue: int = 0,
    **options: Any,
) -> Drawn:
    """Reads a drawing.

    Args:
        drawing: one line a row, north at the top.
        tools: the effect of each working ordered pair; none works by default.
        windows: each agent's pick-ups, the older first; nothing by default.
        dominant_hue: of the episode.
        **options: of `CleanupConfig`; the map's counts are those of the drawing.

    Raises:
        ValueError: an unknown token, lines of different lengths, or an impossible option.
    """
    rows = [line.split() for line in drawing.strip().splitlines()]
    if len({len(row) for row in rows}) != 1:
        raise ValueError(f"The drawing's rows have {[len(row) for row in rows]} cells.")
    tokens = {(r, c): token for r, row in enumerate(rows) for c, token in enumerate(row)}
    layout = np.array([[_terrain(token) for token in row] for row in rows], np.uint8)
    tools_apart = int(options.get("base_tools", CleanupConfig.base_tools))
    config = CleanupConfig(**(_counts(layout, tools_apart) | options))
    latent = _latent(config, layout, tools or {}, dominant_hue)
    world = SlowWorld(
        waste={cell: waste for cell, token in tokens.items() if (waste := _waste(token))},
        apples={cell for cell, token in tokens.items() if token[0] == "o"},
        agents=_agents(tokens, windows),
    )
    return Drawn(config, latent, write_world(SlowCleanup(config, latent), world))


def _terrain(token: str) -> int:
    if token[0].isdigit():
        return Terrain.STATION + int(token[0])
    if token[0] in HUES:
        return Terrain.RIVER_WASTE
    if token[0] not in TERRAIN:
        marks = " ".join([*HUES, *TERRAIN, "0-9"])
        raise ValueError(f"{token!r} is no cell; it must start with one of {marks}.")
    return TERRAIN[token[0]]


def _counts(layout: np.ndarray, base_tools: int) -> dict[str, int]:
    """The map's counts, at least the fewest that a configuration allows."""
    river = int(np.isin(layout, (Terrain.RIVER_WASTE, Terrain.RIVER_CLEAN)).sum())
    return {
        "height": layout.shape[0],
        "width": layout.shape[1],
        "river_cells": max(1, river),
        "initial_clean_cells": int((layout == Terrain.RIVER_CLEAN).sum()),
        "stream_cells": int((layout == Terrain.STREAM).sum()),
        "orchard_cells": max(1, int((layout == Terrain.ORCHARD).sum())),
        "stations": max(base_tools, int((layout >= Terrain.STATION).sum())),
        "spawn_cells": max(1, int((layout == Terrain.SPAWN).sum())),
    }


def _latent(
    config: CleanupConfig, layout: np.ndarray, tools: dict[tuple[int, int], int], hue: int
) -> Latent:
    effect = np.zeros(config.pairs, np.int8)
    for (first, second), what in tools.items():
        effect[first * config.base_tools + second] = what
    return make_latent(effect, layout, hue)


def _waste(token: str) -> tuple[int, int] | None:
    return (HUES.index(token[0]), int(token[1])) if token[0] in HUES else None


def _agents(tokens: dict[Cell, str], windows: Sequence[Sequence[int]] | None) -> list[SlowAgent]:
    marked = [(cell, token[-1]) for cell, token in tokens.items() if token[-1] in FACING]
    hands = windows or [()] * len(marked)
    return [
        SlowAgent(cell, FACING.index(mark), [tool for tool in hand if tool != EMPTY_SLOT])
        for (cell, mark), hand in zip(marked, hands, strict=True)
    ]
