"""What lies on a cell, drawn to fill it: ground, orchard, water, waste and stations."""

import functools

import numpy as np

from osj_envs.rendering.canvas import Canvas, Picture, over
from osj_envs.rendering.lettering import text_shape
from osj_envs.rendering.palette import (
    APPLE,
    BANK,
    CARD,
    FURROW,
    GRASS,
    GRASS_BLADE,
    INK,
    LEAF,
    LEAF_LIGHT,
    SLAB,
    SOIL,
    SPAWN_RING,
    SPROUT,
    STALK,
    WATER,
    WAVE,
    WHITE,
    Colour,
    mix,
    shade_colour,
    tool_colour,
)
from osj_envs.rendering.shapes import (
    Point,
    Shape,
    box,
    circle,
    grown,
    line,
    outline,
    regular,
    turned,
    union,
)

VARIANTS = 4
"""Ground, soil and water each come in this many drawings that mean the same."""

CENTRE = (0.5, 0.5)
EVERYWHERE = box(CENTRE, (1.0, 1.0))
_EDGE = outline(box(CENTRE, (0.5, 0.5)), 0.03)

# Places of one, two and three marks, and the radius of each.
_MARK_PLACES: tuple[tuple[Point, ...], ...] = (
    ((0.5, 0.5),),
    ((0.3, 0.5), (0.7, 0.5)),
    ((0.5, 0.31), (0.29, 0.67), (0.71, 0.67)),
)
_MARK_RADII = (0.27, 0.19, 0.17)


@functools.lru_cache(maxsize=64)
def ground(pixels: int, variant: int = 0) -> Picture:
    """Open ground."""
    return tile(_meadow(pixels, variant))


@functools.lru_cache(maxsize=64)
def spawn(pixels: int, variant: int = 0) -> Picture:
    """A cell on which agents start."""
    canvas = _meadow(pixels, variant)
    canvas.paint(box(CENTRE, (0.43, 0.43), 0.14), SLAB)
    canvas.paint(outline(circle(CENTRE, 0.25), 0.06), SPAWN_RING)
    return tile(canvas.paint(circle(CENTRE, 0.08), SPAWN_RING))


@functools.lru_cache(maxsize=64)
def soil(pixels: int, variant: int = 0) -> Picture:
    """Orchard on which no apple hangs."""
    return tile(_field(pixels, variant))


@functools.lru_cache(maxsize=64)
def apple(pixels: int, variant: int = 0) -> Picture:
    """Orchard with a ripe apple."""
    canvas = _field(pixels, variant)
    body = union(circle((0.4, 0.58), 0.22), circle((0.6, 0.58), 0.22), circle((0.5, 0.66), 0.2))
    canvas.paint(circle((0.5, 0.84), 0.26), INK, 0.25, 0.3)
    canvas.paint(grown(body, 0.05), WHITE)
    canvas.paint(body, APPLE)
    canvas.paint(circle((0.38, 0.51), 0.07), WHITE, 0.75, 0.06)
    canvas.paint(line([(0.5, 0.42), (0.53, 0.24)], 0.07), STALK)
    canvas.paint(_leaf(), LEAF)
    return tile(canvas.paint(line([(0.58, 0.25), (0.76, 0.17)], 0.035), LEAF_LIGHT))


@functools.lru_cache(maxsize=64)
def water(pixels: int, variant: int = 0) -> Picture:
    """River that is clean, or stream."""
    return tile(_ripples(pixels, variant))


@functools.lru_cache(maxsize=512)
def waste(pixels: int, hue: int, shade: int) -> Picture:
    """Waste: its colour is the hue at its shade, its mark tells the hue, their number the shade."""
    colour = shade_colour(hue, shade)
    blob = box(CENTRE, (0.45, 0.45), 0.24)
    canvas = _ripples(pixels, 0)
    canvas.paint(grown(blob, 0.02), mix(WATER, INK, 0.6), 0.7, 0.06)
    canvas.paint(blob, mix(colour, INK, 0.4))
    canvas.paint(grown(blob, -0.05), colour)
    canvas.paint(line([(0.22, 0.13), (0.45, 0.13)], 0.05), mix(colour, WHITE, 0.5))
    ink = mix(colour, WHITE, 0.8) if shade == 2 else mix(colour, INK, 0.8)
    for place in _MARK_PLACES[shade]:
        canvas.paint(hue_mark(hue, place, _MARK_RADII[shade]), ink)
    return tile(canvas)


@functools.lru_cache(maxsize=512)
def station(pixels: int, tool: int) -> Picture:
    """A station that gives a base tool: its badge on a card.

    The card's frame has the tool's colour too, which is what an agent on the cell leaves free.
    """
    canvas = _meadow(pixels, 0)
    card = box(CENTRE, (0.43, 0.43), 0.1)
    canvas.paint(grown(card, 0.03), INK, 0.6, 0.08)
    canvas.paint(card, mix(tool_colour(tool), INK, 0.15))
    canvas.paint(grown(card, -0.085), CARD)
    paint_badge(canvas, tool, CENTRE, 0.3)
    return tile(canvas)


@functools.lru_cache(maxsize=64)
def bank(pixels: int, quarters: int) -> np.ndarray:
    """The shore along a water cell's north side, turned clockwise by quarter turns."""
    canvas = Canvas(pixels)
    canvas.paint(turned(box((0.5, 0.0), (0.6, 0.09)), quarters), mix(WATER, INK, 0.5), 0.5, 0.06)
    return canvas.paint(turned(box((0.5, 0.0), (0.6, 0.055)), quarters), BANK).sprite()


def paint_badge(canvas: Canvas, tool: int, centre: Point, radius: float) -> Canvas:
    """A base tool's badge: colour and form by tool, with its number."""
    canvas.paint(badge_form(tool, centre, radius), tool_colour(tool))
    height = radius * (0.95 if tool < 10 else 0.7)
    return canvas.paint(text_shape(str(tool), centre, height), WHITE)


def hue_mark(hue: int, centre: Point, radius: float) -> Shape:
    """The mark of a hue, for those to whom colours do not tell it."""
    x, y = centre
    r = radius
    marks = (
        regular((x, y + 0.15 * r), 1.05 * r, 3),
        box(centre, (0.75 * r, 0.75 * r)),
        union(box(centre, (0.95 * r, 0.3 * r)), box(centre, (0.3 * r, 0.95 * r))),
        outline(circle(centre, 0.7 * r), 0.45 * r),
        regular(centre, 1.15 * r, 5, dent=0.55),
        box(centre, (0.95 * r, 0.3 * r)),
        union(
            line([(x - 0.65 * r, y - 0.65 * r), (x + 0.65 * r, y + 0.65 * r)], 0.5 * r),
            line([(x - 0.65 * r, y + 0.65 * r), (x + 0.65 * r, y - 0.65 * r)], 0.5 * r),
        ),
        regular(centre, 1.05 * r, 4),
        turned(regular((x, y + 0.15 * r), 1.05 * r, 3), 2, about=centre),
    )
    return marks[hue % len(marks)]


def badge_form(tool: int, centre: Point, radius: float) -> Shape:
    """The form of a base tool's badge."""
    forms = (
        circle(centre, 1.03 * radius),
        box(centre, (0.9 * radius, 0.9 * radius), 0.15 * radius),
        regular(centre, 1.22 * radius, 4),
        grown(regular((centre[0], centre[1] + 0.1 * radius), 1.1 * radius, 3), 0.2 * radius),
    )
    return forms[tool % len(forms)]


def _meadow(pixels: int, variant: int) -> Canvas:
    canvas = Canvas(pixels).paint(EVERYWHERE, GRASS)
    for x, y in _scattered(variant, count=3):
        blades = union(
            line([(x, y), (x - 0.05, y - 0.1)], 0.035), line([(x, y), (x + 0.05, y - 0.1)], 0.035)
        )
        canvas.paint(blades, GRASS_BLADE)
    return edged(canvas, GRASS_BLADE)


def _field(pixels: int, variant: int) -> Canvas:
    canvas = Canvas(pixels).paint(EVERYWHERE, SOIL)
    for y in (0.2, 0.5, 0.8):
        canvas.paint(line([(0.1, y), (0.9, y)], 0.09), FURROW)
    for x, y in _scattered(variant, count=3):
        canvas.paint(circle((x, y), 0.035), SPROUT)
    return edged(canvas, FURROW)


def _ripples(pixels: int, variant: int) -> Canvas:
    canvas = Canvas(pixels).paint(EVERYWHERE, WATER)
    for x, y in _scattered(variant, count=2):
        wave = [(x - 0.16, y), (x - 0.07, y - 0.05), (x + 0.04, y + 0.01), (x + 0.14, y - 0.04)]
        canvas.paint(line(wave, 0.05), WAVE)
    return edged(canvas, mix(WATER, INK, 0.25))


def edged(canvas: Canvas, colour: Colour) -> Canvas:
    """A thin edge, so that cells can be counted."""
    return canvas.paint(_EDGE, colour, 0.8)


def _scattered(variant: int, count: int) -> list[Point]:
    """Places spread over a cell, each variant's own (the plastic number's low-discrepancy walk)."""
    steps = range(1 + variant * count, 1 + (variant + 1) * count)
    return [(0.2 + 0.6 * (0.7549 * k % 1), 0.2 + 0.65 * (0.5698 * k % 1)) for k in steps]


def _leaf() -> Shape:
    east, west = circle((0.66, 0.32), 0.16), circle((0.68, 0.1), 0.16)
    return lambda x, y: np.maximum(east(x, y), west(x, y))


def tile(canvas: Canvas) -> Picture:
    """The canvas as a picture that fills a cell, read-only so that it can be cached."""
    sprite = canvas.sprite()
    tile = over(np.zeros((*sprite.shape[:2], 3), np.uint8), sprite)
    tile.flags.writeable = False
    return tile
