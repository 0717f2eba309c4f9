"""Paints shapes to sprites, and sprites to pictures."""

from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float32, UInt8

from osj_envs.rendering.palette import Colour
from osj_envs.rendering.shapes import Shape

Sprite: TypeAlias = Float32[np.ndarray, "rows cols 4"]
"""Red, green and blue in 0 .. 255, already multiplied by the opacity, which comes last, 0 .. 1."""
Picture: TypeAlias = UInt8[np.ndarray, "rows cols 3"]
Cells: TypeAlias = UInt8[np.ndarray, "height width rows cols 3"]
"""A picture cut into the cells of a map, each a small picture."""

MIN_CELL_PIXELS = 8
"""Below this, marks on a cell are no longer seen."""

_SAMPLES = 3
"""Samples along each side of a pixel; edges are smoothed further by their distance."""


class Canvas:
    """A clear sheet, one cell high, on which shapes are painted one over the other."""

    def __init__(self, pixels: int, width: float = 1.0) -> None:
        """A sheet of `pixels` rows, as wide as `width` cells."""
        rows, cols = pixels * _SAMPLES, max(round(pixels * width), 1) * _SAMPLES
        self._sample = np.float32(1 / rows)
        self._y, self._x = np.mgrid[0:rows, 0:cols].astype(np.float32) * self._sample
        self._x += self._sample / 2
        self._y += self._sample / 2
        self._sheet: Sprite = np.zeros((rows, cols, 4), np.float32)

    def paint(
        self, shape: Shape, colour: Colour, opacity: float = 1.0, blur: float = 0.0
    ) -> "Canvas":
        """Paints over what is there; `blur` is the width, in cells, over which the edge fades."""
        fade = max(np.float32(blur), self._sample)
        cover = np.clip(0.5 - shape(self._x, self._y) / fade, 0, 1) * np.float32(opacity)
        layer = cover[..., None] * np.array([*colour, 1], np.float32)
        self._sheet = layer + self._sheet * (1 - cover[..., None])
        return self

    def sprite(self) -> Sprite:
        """What is painted, read-only so that it can be cached."""
        rows, cols, _ = self._sheet.shape
        blocks = self._sheet.reshape(rows // _SAMPLES, _SAMPLES, cols // _SAMPLES, _SAMPLES, 4)
        sprite = blocks.mean(axis=(1, 3))
        sprite.flags.writeable = False
        return sprite


def check_cell_pixels(cell_pixels: int) -> int:
    """The side of a cell, in pixels.

    Raises:
        ValueError: if it is too small to see anything.
    """
    if cell_pixels < MIN_CELL_PIXELS:
        raise ValueError(f"cell_pixels is {cell_pixels}; it must be at least {MIN_CELL_PIXELS}.")
    return cell_pixels


def over(picture: UInt8[np.ndarray, "*cells rows cols 3"], sprite: Sprite) -> np.ndarray:
    """The picture, or each of several, with the sprite laid over it, as uint8."""
    return (sprite[..., :3] + picture * (1 - sprite[..., 3:]) + np.float32(0.5)).astype(np.uint8)


def overlay(cells: Cells, mask: Bool[np.ndarray, "height width"], sprite: Sprite) -> None:
    """Lays a sprite over every cell in the mask, in place."""
    if mask.any():
        cells[mask] = over(cells[mask], sprite)


def join(cells: Cells) -> Picture:
    """The cells side by side."""
    height, width, rows, cols, _ = cells.shape
    return cells.transpose(0, 2, 1, 3, 4).reshape(height * rows, width * cols, 3)
