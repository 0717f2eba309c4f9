"""A sheet that names everything that a picture of OpenCleanup can show."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from osj_envs.cleanup.constants import PAPER, CleanupConfig
from osj_envs.cleanup.names import HUES, SHADES, pair_name
from osj_envs.cleanup.render import draw_item
from osj_envs.cleanup.types import EMPTY_SLOT
from osj_envs.grid.codes import Heading, Item
from osj_envs.grid.names import HEADINGS
from osj_envs.rendering import figures
from osj_envs.rendering.canvas import Picture, Sprite, check_cell_pixels, over
from osj_envs.rendering.lettering import text_sprite
from osj_envs.rendering.palette import INK, SHEET, agent_colour


class Entry(NamedTuple):
    """One line of the sheet: cells as a picture shows them, and their name."""

    cells: Sequence[Picture]
    name: str


def legend(config: CleanupConfig = PAPER, cell_pixels: int = 32) -> Picture:
    """All codes of a configuration with their names, in columns by kind.

    Raises:
        ValueError: if `cell_pixels` is below 8.
    """
    size = check_cell_pixels(cell_pixels)
    columns = (
        _column("waste: " + ", ".join(SHADES[: config.shades]), _waste(config, size), size),
        _column("map", _map(size), size),
        _column("stations", _stations(config, size), size),
        _column("agents", _agents(size), size),
    )
    height = max(len(column) for column in columns)
    return _framed(np.concatenate([_padded(c, height, c.shape[1]) for c in columns], 1), size)


def _waste(config: CleanupConfig, size: int) -> list[Entry]:
    shades = range(config.shades)
    return [
        Entry([draw_item(Item.WASTE + s, 1 + hue, size) for s in shades], HUES[hue])
        for hue in range(config.hues)
    ]


def _map(size: int) -> list[Entry]:
    names = {
        Item.GROUND: "ground",
        Item.SPAWN: "spawn",
        Item.ORCHARD: "orchard",
        Item.RIPE_APPLE: "apple",
        Item.WATER: "clean water",
    }
    return [Entry([draw_item(item, 0, size)], name) for item, name in names.items()]


def _stations(config: CleanupConfig, size: int) -> list[Entry]:
    tools = range(config.base_tools)
    return [Entry([draw_item(Item.STATION + t, 0, size)], f"base tool {t}") for t in tools]


def _agents(size: int) -> list[Entry]:
    ground = draw_item(Item.GROUND, 0, size)

    def on_ground(*layers: Sprite) -> Picture:
        cell = ground
        for layer in layers:
            cell = over(cell, layer)
        return cell

    facing = [
        Entry([on_ground(figures.agent(size, seat, heading))], f"faces {HEADINGS[heading]}")
        for seat, heading in enumerate(Heading)
    ]
    first = figures.agent(size, 0, Heading.NORTH)
    return [
        *facing,
        Entry([on_ground(first, figures.hand(size, EMPTY_SLOT, 1))], "picked up 1"),
        Entry([on_ground(first, figures.hand(size, 0, 1))], f"picked up {pair_name(0, 1)}"),
        Entry([on_ground(figures.shot(size, agent_colour(0)))], "hit by a shot of a"),
    ]


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
