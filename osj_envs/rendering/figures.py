"""What is drawn over the cells: agents, what they hold, and shots."""

import functools

from osj_envs.grid.names import agent_name
from osj_envs.rendering.canvas import Canvas, Sprite
from osj_envs.rendering.lettering import text_shape
from osj_envs.rendering.palette import FROST, INK, SHOT, WHITE, Colour, agent_colour, mix
from osj_envs.rendering.shapes import box, circle, grown, line, outline, polygon, turned, union
from osj_envs.rendering.sprites import badge_form, paint_badge

_BODY = 0.3
_HAND_PLACES = ((0.19, 0.82), (0.81, 0.82))
_HAND_RADIUS = 0.15


@functools.lru_cache(maxsize=512)
def agent(pixels: int, seat: int, heading: int) -> Sprite:
    """An agent: colour and letter by seat, its nose where it faces."""
    colour = agent_colour(seat)
    nose = turned(polygon([(0.5, 0.03), (0.76, 0.36), (0.24, 0.36)]), heading)
    body = union(circle((0.5, 0.5), _BODY), nose)
    canvas = Canvas(pixels)
    canvas.paint(grown(circle((0.5, 0.53), _BODY), 0.08), INK, 0.45, 0.12)
    canvas.paint(grown(body, 0.045), INK)
    canvas.paint(body, WHITE)
    canvas.paint(grown(circle((0.5, 0.5), _BODY), -0.03), colour)
    name = agent_name(seat)
    return canvas.paint(text_shape(name, (0.5, 0.5), 0.3 / len(name) ** 0.7), WHITE).sprite()


@functools.lru_cache(maxsize=512)
def hand(pixels: int, older: int, newer: int) -> Sprite:
    """The last two pick-ups, older to the west, each below 0 where there is none."""
    canvas = Canvas(pixels)
    for tool, place in zip((older, newer), _HAND_PLACES, strict=True):
        if tool >= 0:
            canvas.paint(grown(badge_form(tool, place, _HAND_RADIUS), 0.04), WHITE)
            paint_badge(canvas, tool, place, _HAND_RADIUS)
    return canvas.sprite()


@functools.lru_cache(maxsize=64)
def frozen(pixels: int) -> Sprite:
    """The ice over an agent that cannot act."""
    block = box((0.5, 0.5), (0.45, 0.45), 0.08)
    canvas = Canvas(pixels).paint(block, FROST, 0.3)
    for x, y in ((0.1, 0.2), (0.5, 0.7)):
        canvas.paint(line([(x, y + 0.3), (x + 0.4, y - 0.1)], 0.06), WHITE, 0.9)
    canvas.paint(outline(block, 0.15), INK)
    return canvas.paint(outline(block, 0.08), FROST).sprite()


@functools.lru_cache(maxsize=512)
def shot(pixels: int, colour: Colour = SHOT) -> Sprite:
    """The light over a cell that a shot hits; thin enough for the cell's colour to be read."""
    frame = box((0.5, 0.5), (0.44, 0.44), 0.1)
    canvas = Canvas(pixels).paint(frame, mix(colour, WHITE, 0.6), 0.22)
    canvas.paint(outline(frame, 0.17), WHITE, 0.9)
    return canvas.paint(outline(frame, 0.09), colour).sprite()
