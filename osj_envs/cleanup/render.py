"""OpenCleanup as a picture, drawn with NumPy alone; no display is needed."""

import numpy as np
from jaxtyping import Bool

from osj_envs.cleanup.types import World
from osj_envs.grid.codes import Item
from osj_envs.grid.text import places
from osj_envs.rendering import figures, sprites
from osj_envs.rendering.board import draw_agents, draw_cells
from osj_envs.rendering.canvas import Cells, Picture, check_cell_pixels, join, over, overlay
from osj_envs.rendering.palette import SHOT, agent_colour

Beams = Bool[np.ndarray, "height width"] | Bool[np.ndarray, "agents height width"]


def render_world(world: World, cell_pixels: int = 32, beams: Beams | None = None) -> Picture:
    """A world as a picture.

    Agents show their letter, their nose where they face, and their pick-up window at the foot of
    the cell: older to the left, newer to the right.

    Args:
        world: one world, without a batch axis.
        cell_pixels: side of a cell, at least 8.
        beams: cells that shots hit, which a world does not tell; with an agent axis, each agent's
            shot has its colour.

    Returns:
        uint8 RGB, `cell_pixels` times the map in size.

    Raises:
        ValueError: if `cell_pixels` is too small, `beams` has another shape than the map, or a
            cell holds what the game does not have.
    """
    check_cell_pixels(cell_pixels)
    item, colour = np.asarray(world.item), np.asarray(world.colour)
    cells = draw_cells(draw_item, item, colour, cell_pixels)
    _draw_banks(cells, item, cell_pixels)
    if beams is not None:
        _draw_beams(cells, np.asarray(beams, bool), cell_pixels)
    _draw_agents(cells, world, cell_pixels)
    return join(cells)


def draw_item(item: int, colour: int, cell_pixels: int, variant: int = 0) -> Picture:
    """What lies on one cell: an `Item` code, and 1 + hue where it is waste.

    Raises:
        ValueError: if the game has no such item.
    """
    plain = {
        Item.GROUND: lambda: sprites.ground(cell_pixels, variant),
        Item.SPAWN: lambda: sprites.spawn(cell_pixels, variant),
        Item.ORCHARD: lambda: sprites.soil(cell_pixels, variant),
        Item.RIPE_APPLE: lambda: sprites.apple(cell_pixels, variant),
        Item.WATER: lambda: sprites.water(cell_pixels, variant),
    }
    if item in plain:
        return plain[Item(item)]()
    if item >= Item.STATION:
        return sprites.station(cell_pixels, item - Item.STATION)
    if item >= Item.WASTE and colour > 0:
        return sprites.waste(cell_pixels, colour - 1, item - Item.WASTE)
    raise ValueError(f"item {item} with colour {colour} does not exist in OpenCleanup.")


def _draw_banks(cells: Cells, item: np.ndarray, cell_pixels: int) -> None:
    """A shore wherever water or waste borders on land."""
    wet = np.pad((item >= Item.WATER) & (item < Item.STATION), 1, constant_values=True)
    here = wet[1:-1, 1:-1]
    north, east, south, west = wet[:-2, 1:-1], wet[1:-1, 2:], wet[2:, 1:-1], wet[1:-1, :-2]
    for quarters, beside in enumerate((north, east, south, west)):
        overlay(cells, here & ~beside, sprites.bank(cell_pixels, quarters))


def _draw_beams(cells: Cells, beams: Beams, cell_pixels: int) -> None:
    if beams.ndim not in (2, 3) or beams.shape[-2:] != cells.shape[:2]:
        raise ValueError(
            f"beams has shape {beams.shape}; it must be the map's {cells.shape[:2]}, with or "
            "without an agent axis before."
        )
    if beams.ndim == 2:
        return overlay(cells, beams, figures.shot(cell_pixels, SHOT))
    for seat, mask in enumerate(beams):
        overlay(cells, mask, figures.shot(cell_pixels, agent_colour(seat)))
    return None


def _draw_agents(cells: Cells, world: World, cell_pixels: int) -> None:
    draw_agents(cells, world.agents, cell_pixels)
    windows = np.asarray(world.window).tolist()
    for place, window in zip(places(world.agents), windows, strict=True):
        here = place.row, place.col
        cells[here] = over(cells[here], figures.hand(cell_pixels, *window))
