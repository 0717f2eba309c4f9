"""Measures of a map's pieces, and random pieces and walks, for the layout generators (NumPy)."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Int

Mask: TypeAlias = Bool[np.ndarray, "height width"]
Cell: TypeAlias = tuple[int, int]

_COMPASS = ((-1, 0), (0, 1), (1, 0), (0, -1))


def manhattan_to(mask: Mask) -> Int[np.ndarray, "height width"]:
    """Steps from each cell to the nearest cell of `mask`, height + width where it is empty."""
    height, width = mask.shape
    rows, columns = np.nonzero(mask)
    row_steps = np.abs(np.arange(height)[:, None] - rows)[:, None, :]
    column_steps = np.abs(np.arange(width)[:, None] - columns)[None, :, :]
    return np.min(row_steps + column_steps, axis=2, initial=height + width)


def neighbours_along(
    mask: Mask,
) -> tuple[Int[np.ndarray, "height width"], Int[np.ndarray, "height width"]]:
    """How many of each cell's two neighbours along its column, and along its row, are in `mask`."""
    padded = np.pad(mask, 1).astype(np.int64)
    along_column = padded[:-2, 1:-1] + padded[2:, 1:-1]
    along_row = padded[1:-1, :-2] + padded[1:-1, 2:]
    return along_column, along_row


def neighbours_in(mask: Mask) -> Int[np.ndarray, "height width"]:
    """How many of each cell's four neighbours are in `mask`; off-map ones are not."""
    along_column, along_row = neighbours_along(mask)
    return along_column + along_row


def same_kind_share(mask: Mask) -> float:
    """Mean share of its cells' four neighbours that are in `mask` too; off-map ones are not.

    NaN where `mask` is empty.
    """
    if not mask.any():
        return float("nan")
    return float(np.mean(neighbours_in(mask)[mask]) / 4)


def is_connected(mask: Mask) -> bool:
    """Whether `mask` is one piece (by its four neighbours); nothing is none."""
    if not mask.any():
        return False
    reached = np.zeros_like(mask)
    reached.flat[np.flatnonzero(mask)[0]] = True
    while True:
        wider = mask & (reached | (neighbours_in(reached) > 0))
        if np.array_equal(wider, reached):
            return bool(np.array_equal(reached, mask))
        reached = wider


def pick(rng: np.random.Generator, weights: Float[np.ndarray, "..."]) -> int | None:
    """A flat index, drawn by weight; None where no weight is above 0.

    It takes one `rng.random()`, whose stream NumPy keeps from version to version.
    """
    totals = np.cumsum(weights)
    if not totals.size or totals[-1] <= 0.0:
        return None
    return int(np.searchsorted(totals, rng.random() * totals[-1], side="right"))


def grow(
    rng: np.random.Generator,
    allowed: Mask,
    size: int,
    axis: int,
    bias: float,
    compactness: float,
) -> Mask | None:
    """Grows one connected piece within `allowed` from a seed cell drawn uniformly.

    Args:
        rng: the source of chance.
        allowed: cells that the piece may take.
        size: cells of the piece.
        axis: 0 to stretch it along the columns, 1 along the rows.
        bias: weight of a neighbour already in the piece along `axis`; across it, one weighs 1.
        compactness: the power of a free cell's summed weight; the higher, the fewer gaps.

    Returns:
        The piece, or None where it ran out of room.
    """
    piece = np.zeros_like(allowed)
    weights = allowed.astype(float)
    for _ in range(size):
        cell = pick(rng, weights)
        if cell is None:
            return None
        piece.flat[cell] = True
        along, across = neighbours_along(piece) if axis == 0 else neighbours_along(piece)[::-1]
        weights = (allowed & ~piece) * (bias * along + across) ** compactness
    return piece


def sample_cells(rng: np.random.Generator, mask: Mask, count: int) -> Mask | None:
    """`count` different cells of `mask`, uniformly; None where it has fewer."""
    cells = np.flatnonzero(mask)
    if cells.size < count:
        return None
    sample = np.zeros_like(mask)
    sample.flat[cells[np.argsort(rng.random(cells.size), kind="stable")[:count]]] = True
    return sample


def walk(
    rng: np.random.Generator,
    start: Cell,
    heading: int | None,
    steps: int,
    weigh: Callable[[int | None, int], float],
    is_free: Callable[[Cell, list[Cell]], bool],
    stride: int = 1,
) -> list[Cell] | None:
    """A random walk over free cells.

    Args:
        rng: the source of chance.
        start: the first cell.
        heading: the way walked last (0 north, 1 east, 2 south, 3 west), None at the very start.
        steps: steps to take.
        weigh: the weight of a way, given the heading.
        is_free: whether a cell may follow the path so far; it is also asked about off-map cells.
        stride: cells a step.

    Returns:
        The start and the cell after each step, or None where the walk got stuck.
    """
    path = [start]
    for _ in range(steps):
        row, column = path[-1]
        cells = [(row + stride * down, column + stride * right) for down, right in _COMPASS]
        weights = [weigh(heading, way) * is_free(cell, path) for way, cell in enumerate(cells)]
        heading = pick(rng, np.array(weights, float))
        if heading is None:
            return None
        path.append(cells[heading])
    return path
