"""Boards of the grid worlds: what lies on each cell, and the agents over it."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from jaxtyping import UInt8

from osj_envs.grid.movement import Agents
from osj_envs.grid.text import places
from osj_envs.rendering import figures, sprites
from osj_envs.rendering.canvas import Cells, Picture, over

DrawItem: TypeAlias = Callable[[int, int, int, int], Picture]
"""From an `Item` code, 1 + colour, the side of a cell and a variant to the picture of a cell."""


def draw_cells(
    draw_item: DrawItem,
    item: UInt8[np.ndarray, "height width"],
    colour: UInt8[np.ndarray, "height width"],
    cell_pixels: int,
) -> Cells:
    """What lies on every cell; each kind is drawn once."""
    rows, cols = np.indices(item.shape)
    variant = (7 * rows + 5 * cols + rows * cols) % sprites.VARIANTS
    codes = np.stack([item, colour, variant], axis=-1).reshape(-1, 3)
    kinds, kind = np.unique(codes, axis=0, return_inverse=True)
    tiles = np.stack([draw_item(int(i), int(c), cell_pixels, int(v)) for i, c, v in kinds])
    return tiles[kind.reshape(item.shape)]


def draw_agents(cells: Cells, agents: Agents, cell_pixels: int) -> None:
    """Lays every agent over its cell, in place: its letter, and its nose where it faces."""
    for seat, (row, col, heading) in enumerate(places(agents)):
        cells[row, col] = over(cells[row, col], figures.agent(cell_pixels, seat, heading))
