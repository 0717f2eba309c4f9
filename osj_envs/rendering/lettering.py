"""Capitals and digits as pen strokes, so that pictures need no font."""

import functools

import numpy as np

from osj_envs.rendering.canvas import Canvas, Sprite
from osj_envs.rendering.palette import Colour
from osj_envs.rendering.shapes import Point, Shape, line, union

# Pen strokes on a grid 4 wide and 6 high, as pairs of digits: x from the west, y from the north.
_STROKES = {
    "A": "062046 1434",
    "B": "003041423303 3344453606 0006",
    "C": "4130100105163645",
    "D": "00204244260600",
    "E": "40000646 0333",
    "F": "400006 0333",
    "G": "41301001051636454323",
    "H": "0006 4046 0343",
    "I": "0006",
    "J": "4045361605",
    "K": "0006 4004 1346",
    "L": "000646",
    "M": "0600234046",
    "N": "06004640",
    "O": "103041453616050110",
    "P": "06003041423303",
    "Q": "103041453616050110 2446",
    "R": "06003041423303 2346",
    "S": "413010010213334445361605",
    "T": "0040 2026",
    "U": "000516364540",
    "V": "002640",
    "W": "0016223640",
    "X": "0046 4006",
    "Y": "002340 2326",
    "Z": "00400646",
    "0": "103041453616050110",
    "1": "011016",
    "2": "01103041420646",
    "3": "01103041423313 334445361605",
    "4": "36300444",
    "5": "400003333445361605",
    "6": "4130100105163645443313 1304",
    "7": "004016",
    "8": "1302011030414233130405163645443313",
    "9": "051636454130100102133342",
    ":": "01 05",
    ".": "06",
    ",": "0607",
    "-": "0333",
    "+": "0343 2125",
    "(": "10010516",
    ")": "00111506",
    "/": "0630",
}
_SPACE = 2.5
_GAP = 2.0
_PEN = 1.0
_TALL = 6
_LINE_SHARE = 0.44


def text_width(text: str) -> float:
    """Width of a line of text whose capitals are 1 high."""
    return _advance(text.upper()) / _TALL


def text_shape(text: str, middle: Point, height: float) -> Shape:
    """A short text as a shape, around its middle; `height` is that of a capital, in cells.

    Raises:
        ValueError: if a character has no letter form.
    """
    text, scale = text.upper(), height / _TALL
    left = middle[0] - _advance(text) * scale / 2
    top = middle[1] - height / 2
    strokes: list[Shape] = []
    for place, character in enumerate(text):
        start = left + (_advance(text[:place]) + _GAP * (place > 0)) * scale
        for stroke in _strokes(character):
            points = [(start + x * scale, top + y * scale) for x, y in stroke]
            strokes.append(line(points, _PEN * scale))
    return union(*strokes)


@functools.lru_cache(maxsize=512)
def text_sprite(text: str, pixels: int, colour: Colour) -> Sprite:
    """A line of text, `pixels` high with its margins; its capitals take 0.44 of that."""
    letters = [_letter(character, pixels, colour) for character in text.upper()]
    return np.concatenate(letters, axis=1)


@functools.lru_cache(maxsize=512)
def _letter(character: str, pixels: int, colour: Colour) -> Sprite:
    width = (_width(character) + _GAP) * _LINE_SHARE / _TALL
    canvas = Canvas(pixels, width)
    if character != " ":
        canvas.paint(text_shape(character, (width / 2, 0.5), _LINE_SHARE), colour)
    return canvas.sprite()


def _strokes(character: str) -> list[list[Point]]:
    if character not in _STROKES:
        raise ValueError(
            f"{character!r} has no letter form; letters, digits, space and ':.,-+()/' have one."
        )
    numbers = [[int(digit) for digit in stroke] for stroke in _STROKES[character].split()]
    return [list(zip(line[::2], line[1::2], strict=True)) for line in numbers]


def _width(character: str) -> float:
    if character == " ":
        return _SPACE
    return max(x for stroke in _strokes(character) for x, _ in stroke)


def _advance(text: str) -> float:
    """Width of a text on the strokes' grid."""
    return sum(map(_width, text)) + _GAP * max(len(text) - 1, 0)
