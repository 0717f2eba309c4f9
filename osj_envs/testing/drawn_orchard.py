"""OpenHarvest worlds drawn in ASCII, so that a test shows the map beside what it expects.

A drawing has one token a cell, apart by blanks: what is there and, right behind it, the mark of an
agent that stands on it, if any.

    .  ground      @  spawn
    a  an unripe apple      b  a ripe one      c  an over-ripe one; each has just become so
    x  eaten unripe         y  eaten ripe      z  eaten over-ripe      r  rotted
    ^ > v <  an agent that faces north, east, south, west; numbered row by row

Trees must stand in the patches of the game: whole diamonds and quarter diamonds, turned anyhow.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from osj_envs.harvest.constants import DIAMOND, QUARTER, HarvestConfig
from osj_envs.harvest.types import Latent, World
from osj_envs.testing.orchards import TURNS, make_latent, make_layout, turned_shape
from osj_envs.testing.slow_grid import Cell
from osj_envs.testing.slow_orchard import (
    Apple,
    SlowAgent,
    SlowWorld,
    read_orchard,
    write_world,
)

FACING, APPLES, EATEN, ROTTED = "^>v<", "abc", "xyz", "r"
STAGE_STEPS = 15
"""Steps of each stage of the apples drawn, unless said otherwise."""


@dataclasses.dataclass
class DrawnOrchard:
    """What a drawing shows: the configuration, the hidden part and the world."""

    config: HarvestConfig
    latent: Latent
    world: World

    @property
    def num_agents(self) -> int:
        """Agents in the drawing."""
        return int(self.world.frozen.shape[0])

    def tree(self, row: int, column: int) -> int:
        """The place of a cell's tree in `Layout.trees`."""
        number = row * self.config.width + column
        return int(np.flatnonzero(np.asarray(self.latent.layout.trees) == number)[0])


def draw_orchard(
    drawing: str,
    colours: Sequence[int] = (0,),
    pay: Sequence[Sequence[int]] = ((0, 1, 2),),
    speed: Sequence[Sequence[int]] = ((1, 0, 2),),
    delay: int = 3,
    stage_steps: int = STAGE_STEPS,
    **options: Any,
) -> DrawnOrchard:
    """Reads a drawing.

    Args:
        drawing: one line a row, north at the top.
        colours: of the patches, diamonds first, row by row of their northernmost cells; the last
            one is that of all further patches.
        pay: each colour's places in `pays`; the last one is that of all further colours.
        speed: likewise.
        delay: steps that each rotted cell has left.
        stage_steps: of each apple.
        **options: of `HarvestConfig`; the map's counts are those of the drawing.

    Raises:
        ValueError: an unknown token, lines of different lengths, or trees that are no patches.
    """
    rows = [line.split() for line in drawing.strip().splitlines()]
    if len({len(row) for row in rows}) != 1:
        raise ValueError(f"The drawing's rows have {[len(row) for row in rows]} cells.")
    tokens = {(r, c): token for r, row in enumerate(rows) for c, token in enumerate(row)}
    if unknown := {token for token in tokens.values() if token[0] not in ".@" + _TREES}:
        raise ValueError(f"{sorted(unknown)} are no cells; they start with one of .@{_TREES}.")
    size = len(rows), len(rows[0])
    diamonds, quarters = _patches([cell for cell, token in tokens.items() if token[0] in _TREES])
    spawns = [cell for cell, token in tokens.items() if token[0] == "@"]
    counts = {"diamonds": len(diamonds), "quarters": len(quarters), "spawn_cells": len(spawns)}
    config = HarvestConfig(height=size[0], width=size[1], **(counts | options))
    trees = [cell for patch in diamonds + quarters for cell in patch]
    layout = make_layout(*([r * size[1] + c for r, c in cells] for cells in (trees, spawns)))
    latent = make_latent(
        _filled(pay, config.colours),
        _filled(speed, config.colours),
        layout,
        _filled(colours, config.patches),
    )
    world = SlowWorld(
        apples={
            cell: Apple(APPLES.index(token[0]) * stage_steps, stage_steps)
            for cell, token in tokens.items()
            if token[0] in APPLES
        },
        eaten={c: EATEN.index(token[0]) for c, token in tokens.items() if token[0] in EATEN},
        rotted={cell: delay for cell, token in tokens.items() if token[0] == ROTTED},
        agents=[
            SlowAgent(cell, FACING.index(token[-1]))
            for cell, token in tokens.items()
            if token[-1] in FACING
        ],
    )
    return DrawnOrchard(config, latent, write_world(read_orchard(config, latent), world, layout))


_TREES = APPLES + EATEN + ROTTED


def _filled(rows: Sequence[Any], count: int) -> list[Any]:
    """The rows, the last one repeated to make `count`."""
    return [rows[min(index, len(rows) - 1)] for index in range(count)]


def _patches(trees: list[Cell]) -> tuple[list[list[Cell]], list[list[Cell]]]:
    """Diamonds and quarter diamonds, each patch's cells in the order of its shape."""
    diamonds, quarters = [], []
    left = set(trees)
    for cell in trees:
        if cell not in left:
            continue
        patch = _connected(cell, left)
        left -= patch
        if found := _in_order(DIAMOND, patch):
            diamonds.append(found)
        elif found := _in_order(QUARTER, patch):
            quarters.append(found)
        else:
            raise ValueError(f"The trees {sorted(patch)} are no patch.")
    return diamonds, quarters


def _connected(cell: Cell, cells: set[Cell]) -> set[Cell]:
    """All cells that can be reached from one over cells beside each other."""
    found, edge = {cell}, [cell]
    while edge:
        row, column = edge.pop()
        beside = {(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)}
        edge += (beside & cells) - found
        found |= beside & cells
    return found


def _in_order(shape: tuple[Cell, ...], patch: set[Cell]) -> list[Cell] | None:
    """A patch's cells in the order of a shape, if it has that shape, turned or mirrored."""
    corner = min(r for r, _ in patch), min(c for _, c in patch)
    for turn in TURNS:
        cells = turned_shape(shape, turn)
        low = min(r for r, _ in cells), min(c for _, c in cells)
        moved = [(r - low[0] + corner[0], c - low[1] + corner[1]) for r, c in cells]
        if set(moved) == patch:
            return moved
    return None
