"""When a map of OpenCleanup is accepted: the generator's rules, and likeness to the classic map.

Distances are Manhattan and ignore what lies between; distances to the river leave the stream out.
A map that is smaller than the classic one keeps its proportions: all distances shrink alike.
"""

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Num

from osj_envs.cleanup.constants import PAPER, CleanupConfig, Layout, Terrain
from osj_envs.cleanup.maps import CLASSIC
from osj_envs.grid.layout import Mask, is_connected, manhattan_to, neighbours_in, same_kind_share


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Clustering and distances of a layout; NaN where a kind of cell is absent."""

    river_share: float
    """Mean share of river and stream cells' four neighbours that are river or stream."""
    orchard_share: float
    """Mean share of orchard cells' four neighbours that are orchard."""
    least_orchard_river: float
    """Steps between river and orchard."""
    mean_orchard_river: float
    """Mean steps from an orchard cell to the river."""
    mean_station_river: float
    """Mean steps from a station to the river."""
    mean_station_orchard: float
    """Mean steps from a station to the orchard."""
    mean_spawn_river: float
    """Mean steps from a spawn cell to the river."""
    mean_spawn_orchard: float
    """Mean steps from a spawn cell to the orchard."""


TOLERANCE = Statistics(
    river_share=0.08,
    orchard_share=0.08,
    least_orchard_river=1.0,
    mean_orchard_river=1.5,
    mean_station_river=1.0,
    mean_station_orchard=1.0,
    mean_spawn_river=1.5,
    mean_spawn_orchard=1.5,
)
"""How far an accepted layout's statistics may lie from the classic map's, both ends included."""


@dataclasses.dataclass(frozen=True)
class Reach:
    """Distances that the generator keeps to, in steps, both ends included."""

    orchard_river: int
    """At least so far."""
    station_river: tuple[int, int]
    station_orchard: tuple[int, int]
    spawn: tuple[int, int]
    """To the river and to the orchard alike."""


def is_river(layout: Layout) -> Mask:
    """Which cells are river, dirty or clean, the stream left out."""
    return (layout == Terrain.RIVER_WASTE) | (layout == Terrain.RIVER_CLEAN)


def statistics(layout: Layout) -> Statistics:
    """Clustering and distances of a layout."""
    orchard = layout == Terrain.ORCHARD
    to_river, to_orchard = manhattan_to(is_river(layout)), manhattan_to(orchard)
    stations, spawns = layout >= Terrain.STATION, layout == Terrain.SPAWN
    return Statistics(
        river_share=same_kind_share(is_river(layout) | (layout == Terrain.STREAM)),
        orchard_share=same_kind_share(orchard),
        least_orchard_river=_measure(np.min, to_river[orchard]),
        mean_orchard_river=_measure(np.mean, to_river[orchard]),
        mean_station_river=_measure(np.mean, to_river[stations]),
        mean_station_orchard=_measure(np.mean, to_orchard[stations]),
        mean_spawn_river=_measure(np.mean, to_river[spawns]),
        mean_spawn_orchard=_measure(np.mean, to_orchard[spawns]),
    )


@functools.cache
def targets(config: CleanupConfig = PAPER) -> Statistics:
    """The statistics of a map in the classic style with the counts and the size of `config`.

    For the paper's map they are exactly those of `CLASSIC`. Otherwise its distances are scaled to
    the map, and its clustering is that of a river in two rows, with the stream leaving it, and
    of an orchard in three.
    """
    scale, classic = _scale(config), dataclasses.asdict(statistics(CLASSIC))
    scaled = {name: value * scale for name, value in classic.items()}
    scaled["river_share"] = _strip_share(config.river_cells, 2, config.stream_cells)
    scaled["orchard_share"] = _strip_share(config.orchard_cells, 3, 0)
    return Statistics(**scaled)


def is_near(layout: Layout, config: CleanupConfig = PAPER) -> bool:
    """Whether all statistics of the kinds of cells that are there are near the classic map's."""
    measured, wanted = dataclasses.asdict(statistics(layout)), dataclasses.asdict(targets(config))
    # Distances are whole numbers and shares are fractions: the slack is for rounding alone.
    return not any(
        abs(measured[name] - wanted[name]) > tolerance + 1e-9
        for name, tolerance in dataclasses.asdict(TOLERANCE).items()
    )


def is_accepted(layout: Layout, config: CleanupConfig = PAPER) -> bool:
    """Whether a layout keeps all the generator's rules and is near the classic map's statistics."""
    return not broken_rules(layout, config) and is_near(layout, config)


def reach(config: CleanupConfig = PAPER) -> Reach:
    """The distances that a map of this size keeps to."""
    scale = _scale(config)

    def scaled(low: int, high: int) -> tuple[int, int]:
        return max(1, round(low * scale)), max(1, round(high * scale))

    return Reach(
        orchard_river=scaled(7, 7)[0],
        station_river=scaled(3, 7),
        station_orchard=scaled(2, 5),
        spawn=scaled(1, 7),
    )


def broken_rules(layout: Layout, config: CleanupConfig = PAPER) -> tuple[str, ...]:
    """The generator's rules that a layout breaks, in words; none for a generated one.

    Raises:
        ValueError: if its shape is not the map's.
    """
    if layout.shape != (config.height, config.width):
        raise ValueError(
            f"the layout is {layout.shape[0]} x {layout.shape[1]}; the map is "
            f"{config.height} x {config.width}."
        )
    return tuple(rule for rule, is_kept in _RULES.items() if not is_kept(layout, config))


def station_chain(layout: Layout) -> list[tuple[int, int]]:
    """The stations' cells along the chain."""
    cells = np.argwhere(layout >= Terrain.STATION)
    order = np.argsort(layout[layout >= Terrain.STATION])
    return [(int(row), int(column)) for row, column in cells[order]]


def between(stations: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The cells halfway between consecutive stations of a chain."""
    return [
        ((row + next_row) // 2, (column + next_column) // 2)
        for (row, column), (next_row, next_column) in itertools.pairwise(stations)
    ]


def _scale(config: CleanupConfig) -> float:
    """The map's size as a share of the classic one's twelve cells from river to orchard."""
    return min(1.0, max(config.height, config.width) / len(CLASSIC))


def _strip_share(cells: int, rows: int, tail: int) -> float:
    """The clustering of a strip, filled column by column, with a one-wide tail leaving it."""
    columns = -(-cells // rows)
    strip = (np.arange(rows * columns) < cells).reshape(columns, rows)
    long = np.zeros((columns, rows + tail), bool)
    long[:, :rows] = strip
    long[0, min(cells, rows) : min(cells, rows) + tail] = True
    return same_kind_share(long)


def _measure(how: Callable[[np.ndarray], np.number], values: Num[np.ndarray, "cells"]) -> float:
    return float(how(values)) if values.size else math.nan


def _has_counts(layout: Layout, config: CleanupConfig) -> bool:
    wanted = {
        Terrain.SPAWN: config.spawn_cells,
        Terrain.ORCHARD: config.orchard_cells,
        Terrain.RIVER_WASTE: config.initial_waste_cells,
        Terrain.RIVER_CLEAN: config.initial_clean_cells,
        Terrain.STREAM: config.stream_cells,
    }
    chain = np.sort(layout[layout >= Terrain.STATION]) - Terrain.STATION
    return np.array_equal(chain, np.arange(config.stations)) and all(
        np.sum(layout == terrain) == count for terrain, count in wanted.items()
    )


def _is_river_wide(layout: Layout, config: CleanupConfig) -> bool:
    """Every river cell, but for the last of an odd number, belongs to a two-by-two block."""
    padded = np.pad(is_river(layout), 1)
    block = padded[:-1, :-1] & padded[:-1, 1:] & padded[1:, :-1] & padded[1:, 1:]
    wide = block[:-1, :-1] | block[:-1, 1:] | block[1:, :-1] | block[1:, 1:]
    narrow = int(np.sum(is_river(layout) & ~wide))
    return config.river_cells < 4 or narrow <= config.river_cells % 2


def _does_stream_leave(layout: Layout, config: CleanupConfig) -> bool:
    """The stream is a path, and touches the river with one end alone."""
    stream = layout == Terrain.STREAM
    if not stream.any():
        return True
    inside = neighbours_in(stream)[stream]
    touching = neighbours_in(is_river(layout))[stream] > 0
    is_path = is_connected(stream) and inside.sum() == 2 * (stream.sum() - 1) and inside.max() <= 2
    return bool(is_path and touching.sum() == 1 and inside[touching][0] <= 1)


def _is_chain(layout: Layout, config: CleanupConfig) -> bool:
    stations = np.array(station_chain(layout)).reshape(-1, 2)
    leaps = np.sort(np.abs(np.diff(stations, axis=0)), axis=1)
    return bool(np.all(leaps == (0, 2))) and all(
        layout[cell] == Terrain.GROUND for cell in between(station_chain(layout))
    )


def _is_apart(layout: Layout, config: CleanupConfig) -> bool:
    stations = np.array(station_chain(layout)).reshape(-1, 2)
    leaps = np.abs(stations[:, None] - stations[None]).max(axis=2)
    return bool(np.all(leaps + 2 * np.eye(len(stations), dtype=int) >= 2))


def _is_orchard_far(layout: Layout, config: CleanupConfig) -> bool:
    to_river = manhattan_to(is_river(layout))[layout == Terrain.ORCHARD]
    return bool(np.all(to_river >= reach(config).orchard_river))


def _are_stations_placed(layout: Layout, config: CleanupConfig) -> bool:
    stations = layout >= Terrain.STATION
    return _is_within(layout, stations, reach(config).station_river, reach(config).station_orchard)


def _are_spawns_placed(layout: Layout, config: CleanupConfig) -> bool:
    spawns = layout == Terrain.SPAWN
    return _is_within(layout, spawns, reach(config).spawn, reach(config).spawn)


def _is_within(
    layout: Layout, cells: Mask, from_river: tuple[int, int], from_orchard: tuple[int, int]
) -> bool:
    to_river = manhattan_to(is_river(layout))[cells]
    to_orchard = manhattan_to(layout == Terrain.ORCHARD)[cells]
    return bool(
        np.all((to_river >= from_river[0]) & (to_river <= from_river[1]))
        and np.all((to_orchard >= from_orchard[0]) & (to_orchard <= from_orchard[1]))
    )


_RULES: dict[str, Callable[[Layout, CleanupConfig], bool]] = {
    "it has the configuration's number of cells of each kind": _has_counts,
    "the river is one connected piece": lambda layout, _: is_connected(is_river(layout)),
    "the river is two cells wide": _is_river_wide,
    "the stream is one cell wide and leaves the river": _does_stream_leave,
    "the orchard is one connected piece": lambda layout, _: is_connected(layout == Terrain.ORCHARD),
    "the orchard keeps away from the river": _is_orchard_far,
    "one empty cell lies between consecutive stations": _is_chain,
    "no two stations touch": _is_apart,
    "the stations' distances to river and orchard are in bounds": _are_stations_placed,
    "the spawn cells' distances to river and orchard are in bounds": _are_spawns_placed,
}
