import numpy as np
import pytest

from osj_envs.rendering.shapes import (
    box,
    circle,
    grown,
    line,
    outline,
    polygon,
    regular,
    turned,
    union,
)

SIDE = 400
SQUARE = [(0.2, 0.2), (0.8, 0.2), (0.8, 0.8), (0.2, 0.8)]
AREAS = {
    "circle": (circle((0.5, 0.5), 0.3), np.pi * 0.09),
    "box": (box((0.5, 0.5), (0.3, 0.2)), 0.24),
    "box with round corners": (box((0.5, 0.5), (0.3, 0.2), 0.1), 0.24 - (4 - np.pi) * 0.01),
    "line": (line([(0.2, 0.5), (0.8, 0.5)], 0.1), 0.06 + np.pi * 0.0025),
    "dot": (line([(0.5, 0.5)], 0.2), np.pi * 0.01),
    "polygon": (polygon(SQUARE), 0.36),
    "hexagon": (regular((0.5, 0.5), 0.4, 6), 1.5 * np.sqrt(3) * 0.16),
    "star": (regular((0.5, 0.5), 0.4, 6, dent=0.5), 0.75 * np.sqrt(3) * 0.16),
    "grown": (grown(circle((0.5, 0.5), 0.2), 0.1), np.pi * 0.09),
    "outline": (outline(circle((0.5, 0.5), 0.3), 0.1), np.pi * (0.35**2 - 0.25**2)),
    "union": (union(box((0.3, 0.5), (0.2, 0.1)), box((0.4, 0.5), (0.2, 0.1))), 0.1),
}


def inside(shape) -> np.ndarray:
    y, x = (np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) + 0.5) / SIDE
    return shape(x, y) < 0


@pytest.mark.parametrize("name", AREAS)
def test_a_shape_covers_its_area(name: str):
    shape, area = AREAS[name]
    assert inside(shape).mean() == pytest.approx(area, abs=0.003)


@pytest.mark.parametrize(
    ("quarters", "place"), [(0, (0.5, 0)), (1, (1, 0.5)), (2, (0.5, 1)), (3, (0, 0.5))]
)
def test_quarter_turns_are_clockwise_from_north(quarters: int, place: tuple[float, float]):
    rows, cols = np.nonzero(inside(turned(box((0.5, 0.1), (0.1, 0.1)), quarters)))
    centre = (cols.mean() / SIDE, rows.mean() / SIDE)
    assert centre == pytest.approx(np.array(place) * 0.8 + 0.1, abs=0.01)
