"""OpenHarvest as a picture, drawn with NumPy alone; no display is needed."""

import numpy as np

from osj_envs.grid.codes import Item
from osj_envs.grid.text import places
from osj_envs.harvest.constants import STAGES, HarvestConfig
from osj_envs.harvest.observation import board
from osj_envs.harvest.types import World
from osj_envs.rendering import figures, sprites, trees
from osj_envs.rendering.board import draw_agents, draw_cells
from osj_envs.rendering.canvas import Picture, check_cell_pixels, join, over


def render_world(config: HarvestConfig, world: World, cell_pixels: int = 32) -> Picture:
    """A world as a picture.

    Agents show their letter and their nose where they face; those that cannot act are in ice.

    Args:
        config: the game.
        world: one world, without a batch axis.
        cell_pixels: side of a cell, at least 8.

    Returns:
        uint8 RGB, `cell_pixels` times the map in size.

    Raises:
        ValueError: if `cell_pixels` is too small.
    """
    check_cell_pixels(cell_pixels)
    item, colour = (np.asarray(plane) for plane in board(config, world))
    cells = draw_cells(draw_item, item, colour, cell_pixels)
    draw_agents(cells, world.agents, cell_pixels)
    for place, frozen in zip(places(world.agents), np.asarray(world.frozen), strict=True):
        if frozen:
            here = place.row, place.col
            cells[here] = over(cells[here], figures.frozen(cell_pixels))
    return join(cells)


def draw_item(item: int, colour: int, cell_pixels: int, variant: int = 0) -> Picture:
    """What lies on one cell: an `Item` code, and 1 + colour where it is a tree.

    Raises:
        ValueError: if the game has no such item.
    """
    if item == Item.GROUND:
        return sprites.ground(cell_pixels, variant)
    if item == Item.SPAWN:
        return sprites.spawn(cell_pixels, variant)
    if item == Item.EMPTY_TREE and colour > 0:
        return trees.bare(cell_pixels, colour - 1)
    if Item.APPLE <= item < Item.APPLE + STAGES and colour > 0:
        return trees.STAGES[item - Item.APPLE](cell_pixels, colour - 1)
    raise ValueError(f"item {item} with colour {colour} does not exist in OpenHarvest.")
