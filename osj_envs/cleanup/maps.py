"""OpenCleanup's maps as drawings, and the classic one."""

import string

import numpy as np

from osj_envs.cleanup.constants import Layout, Terrain

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
