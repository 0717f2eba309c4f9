"""Sheets that name what pictures show: columns of cells, each with its name."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from osj_envs.rendering.canvas import Picture, Sprite, over
from osj_envs.rendering.lettering import text_sprite
from osj_envs.rendering.palette import INK, SHEET


class Entry(NamedTuple):
    """One line of a sheet: cells as a picture shows them, and their name."""

    cells: Sequence[Picture]
    name: str


def draw_sheet(columns: Mapping[str, Sequence[Entry]], size: int) -> Picture:
    """A sheet of columns, each below its title; `size` is the side of a cell in pixels."""
    drawn = [_column(title, entries, size) for title, entries in columns.items()]
    height = max(len(column) for column in drawn)
    return _framed(np.concatenate([_padded(c, height, c.shape[1]) for c in drawn], 1), size)


def stacked(cell: Picture, *layers: Sprite) -> Picture:
    """A cell with layers over it, the last on top."""
    for layer in layers:
        cell = over(cell, layer)
    return cell


def _column(title: str, entries: Sequence[Entry], size: int) -> Picture:
    lines = [over(_sheet(size, _text(title, size).shape[1]), _text(title, size))]
    lines += [_line(entry, size) for entry in entries]
    width = max(line.shape[1] for line in lines) + size
    gap = _sheet(size // 4, width)
    return np.concatenate([part for line in lines for part in (_padded(line, size, width), gap)])


def _line(entry: Entry, size: int) -> Picture:
    name = _text(entry.name, size)
    gap = _sheet(size, size // 8)
    cells = [part for cell in entry.cells for part in (cell, gap)]
    return np.concatenate([*cells, gap, over(_sheet(size, name.shape[1]), name)], axis=1)


def _text(text: str, size: int) -> Sprite:
    return text_sprite(text, size, INK)


def _sheet(height: int, width: int) -> Picture:
    return np.full((height, width, 3), SHEET, np.uint8)


def _padded(picture: Picture, height: int, width: int) -> Picture:
    """The picture in the north-west corner of a larger sheet."""
    sheet = _sheet(height, width)
    sheet[: picture.shape[0], : picture.shape[1]] = picture
    return sheet


def _framed(picture: Picture, size: int) -> Picture:
    """The picture with a margin; the columns bring the one to the east and the south."""
    margin = size // 2
    height, width, _ = picture.shape
    sheet = _sheet(height + 2 * margin - size // 4, width + margin)
    sheet[margin : margin + height, margin : margin + width] = picture
    return sheet
