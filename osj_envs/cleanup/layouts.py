"""OpenCleanup's maps: how one is drawn as text, the classic one, and the generated pools."""

import functools
import pathlib
import string

import numpy as np
from jaxtyping import UInt8

from osj_envs.cleanup.constants import PAPER, CleanupConfig, Layout, Terrain
from osj_envs.splits import check_split
from osj_envs.types import Split

POOL_SEED = 2026
"""Seed of the shipped layouts."""

POOL_SIZES: dict[Split, int] = {"train": 1024, "held_out": 256}
"""Layouts of each split that are shipped for the paper's map."""

POOL_FILE = pathlib.Path(__file__).parent / "data" / "layouts.npz"
"""The shipped layouts: one uint8 array (layouts, height, width) for each split, by its name."""

SMALL_POOL_SIZES: dict[Split, int] = {"train": 64, "held_out": 16}
"""Layouts of each split that are generated where the map is not the paper's."""

_SYMBOLS = {
    ".": Terrain.GROUND,
    "@": Terrain.SPAWN,
    "*": Terrain.ORCHARD,
    "#": Terrain.RIVER_WASTE,
    "~": Terrain.RIVER_CLEAN,
    "=": Terrain.STREAM,
}
_STATIONS = string.digits + string.ascii_lowercase
_CODES = _SYMBOLS | {mark: Terrain.STATION + place for place, mark in enumerate(_STATIONS)}
_MARKS = {int(code): mark for mark, code in _CODES.items()}

_MAP_FIELDS = (
    "height",
    "width",
    "river_cells",
    "initial_clean_cells",
    "stream_cells",
    "orchard_cells",
    "stations",
    "spawn_cells",
)


def parse(drawing: str) -> Layout:
    """The layout that a drawing shows, north at the top.

    Marks: `.` ground, `@` spawn, `*` orchard, `#` river that starts as waste, `~` river that starts
    clean, `=` stream, and `0` to `9`, then `a` to `z`, the stations in the order of their chain.

    Raises:
        ValueError: if a mark is unknown or the lines differ in length.
    """
    lines = [line.strip() for line in drawing.strip().splitlines()]
    if len({len(line) for line in lines}) != 1:
        raise ValueError(f"the drawing's lines are {[len(line) for line in lines]} cells long.")
    for mark in "".join(lines):
        if mark not in _CODES:
            raise ValueError(f"{mark!r} marks no terrain; the marks are {' '.join(_CODES)}.")
    return np.array([[_CODES[mark] for mark in line] for line in lines], np.uint8)


def draw(layout: Layout) -> str:
    """The drawing of a layout with at most 36 stations. Undoes `parse`."""
    return "\n".join("".join(_MARKS[int(code)] for code in row) for row in layout)


CLASSIC: Layout = parse(
    """
    ###~####~####~##
    ##~####~####~###
    ..@...@....@.=..
    .............=..
    ...@.......@.=..
    .............=..
    0.1.2.3.4.5.6=7.
    ................
    ....@......@....
    ****************
    ****************
    ****************
    """
)
"""The classic small map of Clean Up, which the generated ones are measured against.

It breaks one of the generator's rules: the cell between its last two stations is stream.
"""


def load_pool(config: CleanupConfig, split: str) -> UInt8[np.ndarray, "layouts height width"]:
    """The layouts of a split; read-only, and the same array at every call.

    The paper's map comes with the package. For any other size or count, a smaller pool is generated
    at the first call, always the same one, which takes some seconds.

    Raises:
        ValueError: if the split's name is unknown, or the map leaves no room for such a pool.
    """
    return _load_pools(_map_only(config))[check_split(split)]


def _map_only(config: CleanupConfig) -> CleanupConfig:
    """The configuration without anything that does not change the map."""
    kept = {name: getattr(config, name) for name in _MAP_FIELDS}
    return CleanupConfig(hues=1, shades=1, base_tools=1, **kept)


@functools.cache
def _load_pools(config: CleanupConfig) -> dict[Split, UInt8[np.ndarray, "layouts height width"]]:
    if config == _map_only(PAPER):
        with np.load(POOL_FILE, allow_pickle=False) as file:
            pools = {split: file[split] for split in POOL_SIZES}
    else:
        # The generator measures its maps against the classic one above.
        from osj_envs.cleanup.generate_layouts import generate_pools

        pools = generate_pools(SMALL_POOL_SIZES, POOL_SEED, config)
    pools["all"] = np.concatenate(list(pools.values()))
    for pool in pools.values():
        pool.flags.writeable = False
    return pools
