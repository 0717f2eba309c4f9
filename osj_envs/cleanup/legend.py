"""A sheet that names everything that a picture of OpenCleanup can show."""

from osj_envs.cleanup.constants import PAPER, CleanupConfig
from osj_envs.cleanup.names import HUES, SHADES, pair_name
from osj_envs.cleanup.render import draw_item
from osj_envs.cleanup.types import EMPTY_SLOT
from osj_envs.grid.codes import Heading, Item
from osj_envs.grid.names import HEADINGS
from osj_envs.rendering import figures
from osj_envs.rendering.canvas import Picture, check_cell_pixels
from osj_envs.rendering.palette import agent_colour
from osj_envs.rendering.sheet import Entry, draw_sheet, stacked


def legend(config: CleanupConfig = PAPER, cell_pixels: int = 32) -> Picture:
    """All codes of a configuration with their names, in columns by kind.

    Raises:
        ValueError: if `cell_pixels` is below 8.
    """
    size = check_cell_pixels(cell_pixels)
    columns = {
        "waste: " + ", ".join(SHADES[: config.shades]): _waste(config, size),
        "map": _map(size),
        "stations": _stations(config, size),
        "agents": _agents(size),
    }
    return draw_sheet(columns, size)


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
    first = figures.agent(size, 0, Heading.NORTH)
    facing = [
        Entry([stacked(ground, figures.agent(size, seat, heading))], f"faces {HEADINGS[heading]}")
        for seat, heading in enumerate(Heading)
    ]
    return [
        *facing,
        Entry([stacked(ground, first, figures.hand(size, EMPTY_SLOT, 1))], "picked up 1"),
        Entry([stacked(ground, first, figures.hand(size, 0, 1))], f"picked up {pair_name(0, 1)}"),
        Entry([stacked(ground, figures.shot(size, agent_colour(0)))], "hit by a shot of a"),
    ]
