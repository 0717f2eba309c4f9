"""Plane shapes as signed distances, which are painted smooth at any size.

Lengths are in cells: (0, 0) is a cell's north-west corner and (1, 1) its south-east corner.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from jaxtyping import Float32

Field: TypeAlias = Float32[np.ndarray, "rows cols"]
Shape: TypeAlias = Callable[[Field, Field], Field]
"""From the points' x (east) and y (south) to their distance, negative inside the shape."""
Point: TypeAlias = tuple[float, float]


def circle(centre: Point, radius: float) -> Shape:
    """A disc."""
    return lambda x, y: np.hypot(x - centre[0], y - centre[1]) - np.float32(radius)


def box(centre: Point, half: Point, corner: float = 0.0) -> Shape:
    """An upright rectangle with half its width and height, and the radius of its corners."""

    def distance(x: Field, y: Field) -> Field:
        east = np.abs(x - centre[0]) - np.float32(half[0] - corner)
        south = np.abs(y - centre[1]) - np.float32(half[1] - corner)
        outside = np.hypot(np.maximum(east, 0), np.maximum(south, 0))
        return outside + np.minimum(np.maximum(east, south), 0) - np.float32(corner)

    return distance


def line(points: Sequence[Point], width: float) -> Shape:
    """A line through the points, in order, with round ends."""
    ends = [*points[1:], points[-1]] if len(points) == 1 else points[1:]

    def distance(x: Field, y: Field) -> Field:
        pieces = [_to_segment(x, y, a, b) for a, b in zip(points, ends, strict=False)]
        return np.min(pieces, axis=0) - np.float32(width / 2)

    return distance


def polygon(corners: Sequence[Point]) -> Shape:
    """A filled polygon; its sides do not cross."""
    sides = [(corners[i - 1], corners[i]) for i in range(len(corners))]

    def distance(x: Field, y: Field) -> Field:
        inside = np.zeros(x.shape, bool)
        for (ax, ay), (bx, by) in sides:
            if ay != by:
                inside ^= ((y < ay) != (y < by)) & (x < (bx - ax) * (y - ay) / (by - ay) + ax)
        edge = np.min([_to_segment(x, y, a, b) for a, b in sides], axis=0)
        return np.where(inside, -edge, edge)

    return distance


def regular(centre: Point, radius: float, corners: int, dent: float = 1.0) -> Shape:
    """A regular polygon with a corner to the north, or a star where `dent` is below 1.

    `dent` is the distance of each side's middle from the centre, as a share of what is straight.
    """
    inner = dent * radius * np.cos(np.pi / corners)
    reach = [radius, inner] * corners
    angles = np.arange(2 * corners) * np.pi / corners
    points = [
        (float(centre[0] + r * np.sin(a)), float(centre[1] - r * np.cos(a)))
        for r, a in zip(reach, angles, strict=True)
    ]
    return polygon(points)


def union(*shapes: Shape) -> Shape:
    """All the shapes together."""
    return lambda x, y: np.min([shape(x, y) for shape in shapes], axis=0)


def grown(shape: Shape, by: float) -> Shape:
    """The shape with its edge moved outward."""
    return lambda x, y: shape(x, y) - np.float32(by)


def outline(shape: Shape, width: float) -> Shape:
    """A band along the shape's edge."""
    return lambda x, y: np.abs(shape(x, y)) - np.float32(width / 2)


def turned(shape: Shape, quarters: int, about: Point = (0.5, 0.5)) -> Shape:
    """The shape turned clockwise by quarter turns."""
    cos, sin = [(1, 0), (0, 1), (-1, 0), (0, -1)][quarters % 4]

    def distance(x: Field, y: Field) -> Field:
        east, south = x - np.float32(about[0]), y - np.float32(about[1])
        return shape(cos * east + sin * south + about[0], cos * south - sin * east + about[1])

    return distance


def _to_segment(x: Field, y: Field, a: Point, b: Point) -> Field:
    """Distance of the points to a segment."""
    east, south = b[0] - a[0], b[1] - a[1]
    length = max(east**2 + south**2, 1e-12)
    along = np.clip(((x - a[0]) * east + (y - a[1]) * south) / length, 0, 1)
    return np.hypot(x - a[0] - along * east, y - a[1] - along * south)
