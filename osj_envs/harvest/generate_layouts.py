"""Generates maps of OpenHarvest, and writes the pools that the package ships.

    python -m osj_envs.harvest.generate_layouts --out layouts.npz

A map is drawn uniformly from all that keep the rules: every patch keeps its shape, lies anywhere
on the map and is turned any way (its mirror images are among its turns); patches are at least 3
apart from one another; and the spawn cells are a straight run in one row, at least 4 from every
tree (distances are Chebyshev's). Such maps are drawn by rejection. Because 20 spawn cells and six
patches leave little room, the run is drawn first, by the number of ways in which the patches can
be placed beside it if they may touch each other, then each patch uniformly from those places; only
where two patches come too close, all is drawn again. That is as exact as drawing everything freely
and throws far less away.

Uniform over whole maps is not uniform over each part: on the paper's map about 93% of the runs lie
on the north or south edge, since more arrangements of the patches fit beside those.
"""

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Int, UInt16

from osj_envs.grid import pools
from osj_envs.harvest.constants import DIAMOND, PAPER, QUARTER, HarvestConfig
from osj_envs.types import Split

POOL_SEED = 2026
"""Seed of the shipped layouts."""

POOL_FILE = Path(__file__).parent / "data" / "layouts.npz"
"""The shipped layouts: one uint16 array (layouts, trees + spawn cells) for each split."""

PATCH_GAP = 3
"""Least Chebyshev distance between trees of two patches."""

SPAWN_GAP = 4
"""Least Chebyshev distance between a spawn cell and a tree."""

_BATCH = 2**16
"""Maps that are drawn freely at once."""
_MAX_BATCHES = 400
_REACH = 7
"""Patches are at most 5 wide: at this offset of their corners they are far enough apart."""
_MAP_FIELDS = ("height", "width", "diamonds", "quarters", "spawn_cells")

FlatLayout: TypeAlias = UInt16[np.ndarray, "cells"]
"""The trees' cells, then the spawn cells. Patches of a shape come in the order of their places, so
that the same map is always the same array."""


@dataclasses.dataclass(frozen=True, eq=False)
class _Places:
    """The places that a patch of one shape can take on a map.

    Attributes:
        turn: how it is turned, as a place in `_turns()`.
        corner: row and column of its north-west corner.
        trees: cell numbers.
        of_run: those of the first run of spawn cells, then of the second, ..., that it is far
            enough from.
        start: where each run's begin in `of_run`, and their total.
    """

    turn: Int[np.ndarray, "places"]
    corner: Int[np.ndarray, "places 2"]
    trees: UInt16[np.ndarray, "places trees"]
    of_run: Int[np.ndarray, "allowed"]
    start: Int[np.ndarray, "runs+1"]

    @property
    def count(self) -> Int[np.ndarray, "runs"]:
        """How many places each run leaves."""
        return np.diff(self.start)

    def draw(
        self, run: Int[np.ndarray, "attempts"], luck: Float[np.ndarray, "attempts"]
    ) -> Int[np.ndarray, "attempts"]:
        """A place for each attempt, uniform over those that its run leaves."""
        return self.of_run[self.start[run] + (luck * self.count[run]).astype(np.int64)]


@dataclasses.dataclass(frozen=True, eq=False)
class _Board:
    """All that patches and spawn cells can take on one map.

    Attributes:
        patches: the places of each patch.
        runs: cell numbers of every run of spawn cells.
        chance: the running total of the runs' chances.
    """

    patches: tuple[_Places, ...]
    runs: UInt16[np.ndarray, "runs spawns"]
    chance: Float[np.ndarray, "runs"]


def generate(seed: int, index: int, config: HarvestConfig = PAPER) -> FlatLayout:
    """The layout number `index` of a seed; it depends on nothing else.

    Raises:
        ValueError: if no layout was found.
    """
    rng = np.random.default_rng([seed, index])
    board = _board(map_only(config))
    for _ in range(_MAX_BATCHES if board.chance[-1] > 0 else 0):
        layout = _attempt(rng, board)
        if layout is not None:
            return layout
    raise ValueError(
        f"no {config.height} x {config.width} layout found; make the map larger or ask for fewer "
        "diamonds, quarters or spawn cells."
    )


def generate_distinct(seed: int, config: HarvestConfig = PAPER) -> Iterator[FlatLayout]:
    """The layouts of a seed by rising index, without repeats.

    Raises:
        ValueError: where a map so small has no further layout, as far as one can tell.
    """
    size = f"{config.height} x {config.width}"
    return pools.distinct(lambda index: generate(seed, index, config), size)


def generate_pools(
    sizes: Mapping[Split, int], seed: int, config: HarvestConfig = PAPER, show: bool = False
) -> dict[Split, UInt16[np.ndarray, "layouts cells"]]:
    """Pools of distinct layouts for each split, none of which occurs in two.

    Args:
        sizes: layouts of each split; the first split takes the first layouts of the seed.
        seed: the seed of all of them.
        config: the map.
        show: shows a progress bar with the time left.
    """
    return pools.cut(sizes, generate_distinct(seed, config), show)


def main() -> None:
    """Writes the pools to a file, the same bytes for the same arguments."""
    pools.write("OpenHarvest", POOL_FILE, POOL_SEED, generate_pools)


def map_only(config: HarvestConfig) -> HarvestConfig:
    """The configuration without anything that does not change the map."""
    kept = {name: getattr(config, name) for name in _MAP_FIELDS}
    return HarvestConfig(colours=1, **kept)


def _attempt(rng: np.random.Generator, board: _Board) -> FlatLayout | None:
    """The first of a batch of free draws in which no two patches come too close."""
    luck = rng.random((len(board.patches) + 1, _BATCH))
    run = np.searchsorted(board.chance, luck[0] * board.chance[-1], side="right")
    drawn: list[Int[np.ndarray, "left"]] = []
    for patch, places in enumerate(board.patches):
        place = places.draw(run, luck[patch + 1])
        is_fine = np.ones(len(run), bool)
        for other, at in zip(board.patches, drawn, strict=False):
            is_fine &= _are_apart(other, at, places, place)
        drawn = [at[is_fine] for at in (*drawn, place)]
        run, luck = run[is_fine], luck[:, is_fine]
    if not len(run):
        return None
    return _compose(board, int(run[0]), [int(at[0]) for at in drawn])


def _compose(board: _Board, run: int, places: list[int]) -> FlatLayout:
    """The layout with these places, sorted among the patches of one shape."""
    cells = []
    for shape in dict.fromkeys(board.patches):
        same = [at for patch, at in zip(board.patches, places, strict=True) if patch is shape]
        cells += [shape.trees[at] for at in sorted(same)]
    return np.concatenate([*cells, board.runs[run]])


def _are_apart(
    one: _Places,
    at: Int[np.ndarray, "attempts"],
    other: _Places,
    other_at: Int[np.ndarray, "attempts"],
) -> Bool[np.ndarray, "attempts"]:
    offset = other.corner[other_at] - one.corner[at]
    row, column = (np.clip(offset, -_REACH, _REACH) + _REACH).T
    return np.asarray(_apart()[one.turn[at], other.turn[other_at], row, column])


@functools.cache
def _board(config: HarvestConfig) -> _Board:
    last = config.width - config.spawn_cells + 1
    starts = np.array([(r, c) for r in range(config.height) for c in range(last)])
    diamond = _find_places(config, starts, turns=(0,))
    quarter = _find_places(config, starts, turns=(1, 2, 3, 4))
    # As floats: the products pass any integer on large maps.
    ways = diamond.count.astype(float) ** config.diamonds
    ways *= quarter.count.astype(float) ** config.quarters
    return _Board(
        patches=(diamond,) * config.diamonds + (quarter,) * config.quarters,
        runs=(starts @ (config.width, 1))[:, None].astype(np.uint16)
        + np.arange(config.spawn_cells, dtype=np.uint16),
        chance=np.cumsum(ways / max(1.0, ways.max())),
    )


def _find_places(
    config: HarvestConfig, run_starts: Int[np.ndarray, "runs 2"], turns: tuple[int, ...]
) -> _Places:
    """Every place of a shape, and which of them each run of spawn cells leaves."""
    corners, trees = [], []
    for turn in turns:
        shape = _turns()[turn]
        rows, columns = np.array([config.height, config.width]) - shape.max(axis=0)
        corner = np.array([(r, c) for r in range(rows) for c in range(columns)], int).reshape(-1, 2)
        corners.append(corner)
        trees.append(corner[:, None] + shape)
    cells = np.concatenate(trees)
    allowed = [_clear_of(run, cells, config.spawn_cells) for run in run_starts]
    return _Places(
        turn=np.repeat(turns, [len(corner) for corner in corners]),
        corner=np.concatenate(corners),
        trees=(cells @ (config.width, 1)).astype(np.uint16),
        of_run=np.concatenate(allowed),
        start=np.cumsum([0, *map(len, allowed)]),
    )


def _clear_of(
    run_start: Int[np.ndarray, "2"], trees: Int[np.ndarray, "places trees 2"], length: int
) -> Int[np.ndarray, "allowed"]:
    """The places of which every tree is far enough from a run of spawn cells."""
    row, column = run_start
    is_beside = np.abs(trees[..., 0] - row) >= SPAWN_GAP
    is_before = trees[..., 1] <= column - SPAWN_GAP
    is_behind = trees[..., 1] >= column + length - 1 + SPAWN_GAP
    return np.flatnonzero(np.all(is_beside | is_before | is_behind, axis=1))


@functools.cache
def _turns() -> tuple[Int[np.ndarray, "trees 2"], ...]:
    """The diamond, then the quarter diamond turned four ways, each from its north-west corner."""
    quarter_turn = np.array([[0, 1], [-1, 0]])
    shapes = [np.array(DIAMOND)]
    shapes += [np.array(QUARTER) @ np.linalg.matrix_power(quarter_turn, k) for k in range(4)]
    return tuple(shape - shape.min(axis=0) for shape in shapes)


@functools.cache
def _apart() -> Bool[np.ndarray, "turns turns offsets offsets"]:
    """Whether two patches are far enough apart, by their turns and their corners' offset."""
    steps = np.arange(-_REACH, _REACH + 1)
    offset = np.stack(np.meshgrid(steps, steps, indexing="ij"), axis=-1)[:, :, None, None]
    turns = range(len(_turns()))
    apart = np.zeros((len(turns), len(turns), len(steps), len(steps)), bool)
    for one in turns:
        for other in turns:
            between = _turns()[other][None] - _turns()[one][:, None] + offset
            apart[one, other] = np.abs(between).max(axis=-1).min(axis=(2, 3)) >= PATCH_GAP
    return apart


if __name__ == "__main__":
    main()
