"""A sheet that names everything that a picture of OpenHarvest can show."""

from osj_envs.grid.codes import Heading, Item
from osj_envs.grid.names import HEADINGS
from osj_envs.harvest.constants import PAPER, HarvestConfig
from osj_envs.harvest.names import COLOURS, STAGES
from osj_envs.harvest.render import draw_item
from osj_envs.rendering import figures
from osj_envs.rendering.canvas import Picture, check_cell_pixels
from osj_envs.rendering.sheet import Entry, draw_sheet, stacked


def legend(config: HarvestConfig = PAPER, cell_pixels: int = 32) -> Picture:
    """All codes of a configuration with their names, in columns by kind.

    Raises:
        ValueError: if `cell_pixels` is below 8.
    """
    size = check_cell_pixels(cell_pixels)
    columns = {
        ", ".join((*STAGES, "bare")): _trees(config, size),
        "map": _map(size),
        "agents": _agents(size),
    }
    return draw_sheet(columns, size)


def _trees(config: HarvestConfig, size: int) -> list[Entry]:
    items = [*(Item.APPLE + code for code in range(len(STAGES))), Item.EMPTY_TREE]
    return [
        Entry([draw_item(item, 1 + colour, size) for item in items], COLOURS[colour])
        for colour in range(config.colours)
    ]


def _map(size: int) -> list[Entry]:
    names = {Item.GROUND: "ground", Item.SPAWN: "spawn"}
    return [Entry([draw_item(item, 0, size)], name) for item, name in names.items()]


def _agents(size: int) -> list[Entry]:
    ground = draw_item(Item.GROUND, 0, size)
    facing = [
        Entry([stacked(ground, figures.agent(size, seat, heading))], f"faces {HEADINGS[heading]}")
        for seat, heading in enumerate(Heading)
    ]
    first = figures.agent(size, 0, Heading.NORTH)
    return [*facing, Entry([stacked(ground, first, figures.frozen(size))], "frozen")]
