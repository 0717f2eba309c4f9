"""Trees of an orchard in several colours, drawn to fill a cell.

A tree's colour shows in its soil and, for those to whom colours do not tell it, in a mark on its
apple, or on the soil where there is none. How ripe an apple is shows in its size, its leaves, its
rim and its spots, and in how light it is.
"""

import functools

import numpy as np

from osj_envs.rendering.canvas import Canvas, Picture
from osj_envs.rendering.palette import (
    INK,
    LEAF,
    LEAF_LIGHT,
    SOIL,
    STALK,
    WHITE,
    Colour,
    hue_colour,
    mix,
)
from osj_envs.rendering.shapes import Point, Shape, box, circle, grown, line, outline, union
from osj_envs.rendering.sprites import CENTRE, EVERYWHERE, edged, hue_mark, tile

_SPOTS: tuple[Point, ...] = ((0.3, 0.47), (0.7, 0.47), (0.33, 0.76), (0.67, 0.76))


@functools.lru_cache(maxsize=64)
def bare(pixels: int, hue: int) -> Picture:
    """A tree without its apple: nothing but the hue's mark."""
    mark = hue_mark(hue, CENTRE, 0.25)
    return tile(_bed(pixels, hue).paint(mark, mix(hue_colour(hue), INK, 0.8)))


@functools.lru_cache(maxsize=64)
def unripe(pixels: int, hue: int) -> Picture:
    """A small, pale apple under a large leaf."""
    colour = hue_colour(hue)
    canvas = _bed(pixels, hue)
    body = circle((0.5, 0.62), 0.25)
    canvas.paint(grown(body, 0.05), mix(colour, INK, 0.7))
    canvas.paint(body, mix(colour, WHITE, 0.85))
    canvas.paint(hue_mark(hue, (0.5, 0.62), 0.16), mix(colour, INK, 0.7))
    canvas.paint(line([(0.5, 0.4), (0.5, 0.18)], 0.07), LEAF)
    canvas.paint(_leaf((0.66, 0.22)), LEAF)
    return tile(canvas.paint(_leaf((0.34, 0.22)), LEAF_LIGHT))


@functools.lru_cache(maxsize=64)
def ripe(pixels: int, hue: int) -> Picture:
    """A large, bright apple with a white rim."""
    colour = hue_colour(hue)
    canvas = _bed(pixels, hue)
    body = _body()
    canvas.paint(grown(body, 0.07), WHITE)
    canvas.paint(body, colour)
    canvas.paint(hue_mark(hue, (0.5, 0.57), 0.2), mix(colour, INK, 0.75))
    return tile(canvas.paint(line([(0.5, 0.33), (0.55, 0.14)], 0.09), STALK))


@functools.lru_cache(maxsize=64)
def overripe(pixels: int, hue: int) -> Picture:
    """A large, dark apple with light spots and a dark rim."""
    colour = hue_colour(hue)
    canvas = _bed(pixels, hue)
    body, light = _body(), mix(colour, WHITE, 0.75)
    canvas.paint(grown(body, 0.06), INK)
    canvas.paint(body, mix(colour, INK, 0.6))
    canvas.paint(union(*(circle(spot, 0.055) for spot in _SPOTS)), light)
    canvas.paint(hue_mark(hue, (0.5, 0.6), 0.17), light)
    return tile(canvas.paint(line([(0.5, 0.33), (0.55, 0.14)], 0.09), INK))


_TINTS: tuple[tuple[Colour, float], ...] = (
    (INK, 0.0),
    (WHITE, 0.15),
    (WHITE, 0.3),
    (WHITE, 0.15),
    (INK, 0.25),
)
"""What the soil of each hue is mixed with, and how much; they repeat after the last."""

STAGES = (unripe, ripe, overripe)
"""The drawings of an apple by stage."""


def _bed(pixels: int, hue: int) -> Canvas:
    """Soil in a tree's colour, lighter or darker where two hues look alike to the colour-blind."""
    towards, share = _TINTS[hue % len(_TINTS)]
    soil = mix(mix(SOIL, hue_colour(hue), 0.6), towards, share)
    canvas = Canvas(pixels).paint(EVERYWHERE, soil)
    canvas.paint(outline(box(CENTRE, (0.46, 0.46), 0.06), 0.07), mix(soil, INK, 0.2))
    return edged(canvas, mix(SOIL, INK, 0.4))


def _body() -> Shape:
    return union(circle((0.38, 0.56), 0.24), circle((0.62, 0.56), 0.24), circle((0.5, 0.66), 0.24))


def _leaf(middle: Point) -> Shape:
    """A leaf that lies level."""
    above, below = (circle((middle[0], middle[1] + y), 0.2) for y in (0.11, -0.11))
    return lambda x, y: np.maximum(above(x, y), below(x, y))
