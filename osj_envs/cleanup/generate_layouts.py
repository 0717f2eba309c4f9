"""Generates maps of OpenCleanup, and writes the pools that the package ships.

    python -m osj_envs.cleanup.generate_layouts --out layouts.npz

A map is laid in a frame with the river along the north edge and then turned, so that all four sides
are equally likely (our choice: agents that have only seen a northern river would learn compass
moves by heart). Within the frame the generator follows the description of the reference: a
meandering river two cells wide, a stream that leaves it, an orchard grown away from it, a chain of
stations in between, and spawn cells; what is not near the classic map is thrown away.
"""

import dataclasses
import pathlib
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
from jaxtyping import UInt8

from osj_envs.cleanup.acceptance import (
    between,
    is_accepted,
    is_near,
    is_river,
    reach,
    station_chain,
)
from osj_envs.cleanup.constants import PAPER, CleanupConfig, Layout, Terrain
from osj_envs.grid import pools
from osj_envs.grid.layout import (
    Cell,
    Mask,
    grow,
    manhattan_to,
    neighbours_in,
    pick,
    sample_cells,
    walk,
)
from osj_envs.types import Split

POOL_SEED = 2026
"""Seed of the shipped layouts."""

POOL_FILE = pathlib.Path(__file__).parent / "data" / "layouts.npz"
"""The shipped layouts: one uint8 array (layouts, height, width) for each split, by its name."""

_MEANDER = 0.15
"""Weight of a river's or a stream's turn to either side, against 1 for going straight on."""
_STATION_TURN = 0.3
"""The same for the chain of stations."""
_ORCHARD_BIAS = 1.5
"""Weight of an orchard neighbour along the orchard's axis, against 1 across it."""
_ORCHARD_COMPACTNESS = 3.0
_TRIES = 8
"""How often one stage is tried on what the stages before it have laid."""
_PATIENCE = 100
"""How many attempts are made with the river on one side before another side is drawn."""
_MAX_ATTEMPTS = 1200

_EAST = 1

Stage: TypeAlias = Callable[[np.random.Generator, Layout, CleanupConfig], Layout | None]


def generate(seed: int, index: int, config: CleanupConfig = PAPER) -> Layout:
    """The layout number `index` of a seed; it depends on nothing else.

    Raises:
        ValueError: if no acceptable layout was found.
    """
    rng = np.random.default_rng([seed, index])
    for attempt in range(_MAX_ATTEMPTS):
        if attempt % _PATIENCE == 0:
            turns = int(rng.random() * 4)
        layout = _attempt(rng, turns, config)
        if layout is not None and is_accepted(layout, config):
            return layout
    raise ValueError(
        f"no acceptable {config.height} x {config.width} layout found in {_MAX_ATTEMPTS} attempts; "
        "make the map larger or ask for fewer river, stream, orchard, station or spawn cells."
    )


def generate_distinct(seed: int, config: CleanupConfig = PAPER) -> Iterator[Layout]:
    """The layouts of a seed by rising index, without repeats.

    Raises:
        ValueError: where a map so small has no further layout, as far as one can tell.
    """
    size = f"{config.height} x {config.width}"
    return pools.distinct(lambda index: generate(seed, index, config), size)


def generate_pools(
    sizes: Mapping[Split, int], seed: int, config: CleanupConfig = PAPER, show: bool = False
) -> dict[Split, UInt8[np.ndarray, "layouts height width"]]:
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
    pools.write("OpenCleanup", POOL_FILE, POOL_SEED, generate_pools)


def _attempt(rng: np.random.Generator, turns: int, config: CleanupConfig) -> Layout | None:
    """One layout whose river lies along the side `turns` quarter turns from the north."""
    frame = config
    if turns % 2:
        frame = dataclasses.replace(config, height=config.width, width=config.height)
    layout: Layout = np.full((frame.height, frame.width), Terrain.GROUND, np.uint8)
    for stage in (_lay_river, _lay_stream, _lay_orchard, _lay_stations, _lay_spawns):
        wider = _try_stage(stage, rng, layout, frame)
        if wider is None:
            return None
        layout = wider
    mirrored = layout[:, ::-1] if rng.random() < 0.5 else layout
    return np.rot90(mirrored, turns).copy()


def _try_stage(
    stage: Stage, rng: np.random.Generator, layout: Layout, config: CleanupConfig
) -> Layout | None:
    """What `stage` adds to a layout, where that stays near the classic map."""
    for _ in range(_TRIES):
        wider = stage(rng, layout.copy(), config)
        if wider is not None and is_near(wider, config):
            return wider
    return None


def _lay_river(rng: np.random.Generator, layout: Layout, config: CleanupConfig) -> Layout | None:
    """A two-by-two brush walks east and meanders; every step wets two more cells."""

    def brush(corner: Cell) -> list[Cell]:
        row, column = corner
        return [(row, column), (row, column + 1), (row + 1, column), (row + 1, column + 1)]

    def is_free(corner: Cell, path: list[Cell]) -> bool:
        wet = {cell for earlier in path for cell in brush(earlier)}
        on_map = all(_is_on(layout, cell) for cell in brush(corner))
        return on_map and len(wet.union(brush(corner))) == len(wet) + 2

    start = (int(rng.random() * 2), 0)
    steps = max(0, -(-(config.river_cells - 4) // 2))
    path = walk(rng, start, _EAST, steps, _go_east, is_free)
    if path is None or not all(_is_on(layout, cell) for cell in brush(start)):
        return None
    wet = dict.fromkeys(cell for corner in path for cell in brush(corner))
    river = np.zeros(layout.shape, bool)
    for cell in list(wet)[: config.river_cells]:
        river[cell] = True
    layout[river] = Terrain.RIVER_WASTE
    layout[sample_cells(rng, river, config.initial_clean_cells)] = Terrain.RIVER_CLEAN
    return layout


def _lay_stream(rng: np.random.Generator, layout: Layout, config: CleanupConfig) -> Layout | None:
    """A walk that leaves the river and touches neither the river nor itself again."""
    if config.stream_cells == 0:
        return layout
    ground = layout == Terrain.GROUND
    river_sides = neighbours_in(is_river(layout))

    def is_free(cell: Cell, path: list[Cell]) -> bool:
        if not _is_on(layout, cell) or river_sides[cell]:
            return False
        touched = [abs(cell[0] - row) + abs(cell[1] - column) <= 1 for row, column in path]
        return sum(touched) == 1

    mouth = pick(rng, (ground & (river_sides > 0)).astype(float))
    if mouth is None:
        return None
    start = _cell(layout, mouth)
    path = walk(rng, start, None, config.stream_cells - 1, _go_straight(_MEANDER), is_free)
    return None if path is None else _mark(layout, path, Terrain.STREAM)


def _lay_orchard(rng: np.random.Generator, layout: Layout, config: CleanupConfig) -> Layout | None:
    """One piece, stretched along the river or, as often, away from it."""
    is_far = manhattan_to(is_river(layout)) >= reach(config).orchard_river
    orchard = grow(
        rng,
        allowed=is_far & (layout == Terrain.GROUND),
        size=config.orchard_cells,
        axis=int(rng.random() * 2),
        bias=_ORCHARD_BIAS,
        compactness=_ORCHARD_COMPACTNESS,
    )
    if orchard is None:
        return None
    layout[orchard] = Terrain.ORCHARD
    return layout


def _lay_stations(rng: np.random.Generator, layout: Layout, config: CleanupConfig) -> Layout | None:
    """A chain in strides of two, which never touches itself."""
    limits, ground = reach(config), layout == Terrain.GROUND
    allowed = (
        ground
        & _is_within(manhattan_to(is_river(layout)), limits.station_river)
        & _is_within(manhattan_to(layout == Terrain.ORCHARD), limits.station_orchard)
    )

    def is_free(cell: Cell, path: list[Cell]) -> bool:
        if not _is_on(layout, cell) or not allowed[cell]:
            return False
        gap = between([path[-1], cell])[0]
        leaps = [max(abs(cell[0] - row), abs(cell[1] - column)) for row, column in path]
        return bool(ground[gap]) and min(leaps) >= 2

    first = pick(rng, allowed.astype(float))
    if first is None:
        return None
    start = _cell(layout, first)
    turn = _go_straight(_STATION_TURN)
    path = walk(rng, start, None, config.stations - 1, turn, is_free, stride=2)
    return None if path is None else _mark(layout, path, Terrain.STATION, numbered=True)


def _lay_spawns(rng: np.random.Generator, layout: Layout, config: CleanupConfig) -> Layout | None:
    """Spawn cells on open ground, but not between two stations."""
    allowed = (
        (layout == Terrain.GROUND)
        & _is_within(manhattan_to(is_river(layout)), reach(config).spawn)
        & _is_within(manhattan_to(layout == Terrain.ORCHARD), reach(config).spawn)
    )
    for cell in between(station_chain(layout)):
        allowed[cell] = False
    spawns = sample_cells(rng, allowed, config.spawn_cells)
    if spawns is None:
        return None
    layout[spawns] = Terrain.SPAWN
    return layout


def _go_east(heading: int | None, way: int) -> float:
    return (_MEANDER, 1.0, _MEANDER, 0.0)[way]


def _go_straight(turn: float) -> Callable[[int | None, int], float]:
    def weigh(heading: int | None, way: int) -> float:
        return 1.0 if heading is None else (1.0, turn, 0.0, turn)[(way - heading) % 4]

    return weigh


def _is_on(layout: Layout, cell: Cell) -> bool:
    return 0 <= cell[0] < layout.shape[0] and 0 <= cell[1] < layout.shape[1]


def _cell(layout: Layout, flat: int) -> Cell:
    row, column = divmod(flat, layout.shape[1])
    return row, column


def _mark(layout: Layout, path: list[Cell], terrain: int, numbered: bool = False) -> Layout:
    for place, cell in enumerate(path):
        layout[cell] = terrain + numbered * place
    return layout


def _is_within(steps: np.ndarray, limits: tuple[int, int]) -> Mask:
    return (steps >= limits[0]) & (steps <= limits[1])


if __name__ == "__main__":
    main()
