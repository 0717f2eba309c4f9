import numpy as np
import pytest

from osj_envs.rendering.canvas import Canvas, check_cell_pixels, join, over, overlay
from osj_envs.rendering.shapes import box, circle

RED, BLUE = (200, 0, 0), (0, 0, 200)
FULL = box((0.5, 0.5), (1, 1))


def test_a_clear_sprite_changes_nothing():
    picture = np.arange(8 * 8 * 3, dtype=np.uint8).reshape(8, 8, 3)
    np.testing.assert_array_equal(over(picture, Canvas(8).sprite()), picture)


def test_paint_lies_over_earlier_paint_and_mixes_by_its_opacity():
    black = np.zeros((8, 8, 3), np.uint8)
    half = Canvas(8).paint(FULL, RED).paint(FULL, BLUE, opacity=0.25).sprite()
    np.testing.assert_array_equal(over(black, half), np.broadcast_to([150, 0, 50], (8, 8, 3)))


@pytest.mark.parametrize("pixels", [8, 15, 32])
def test_edges_are_smooth_and_true_to_size(pixels: int):
    opacity = Canvas(pixels).paint(circle((0.5, 0.5), 0.3), RED).sprite()[..., 3]
    assert opacity.mean() == pytest.approx(np.pi * 0.09, rel=0.02)
    assert ((opacity > 0.05) & (opacity < 0.95)).any()


def test_a_canvas_can_be_wider_than_high():
    assert Canvas(10, width=2.5).sprite().shape == (10, 25, 4)


def test_sprites_can_not_be_changed_by_accident():
    with pytest.raises(ValueError, match="read-only"):
        Canvas(8).sprite()[:] = 0


def test_an_overlay_reaches_the_masked_cells_only_and_join_keeps_their_places():
    cells = np.zeros((2, 3, 8, 8, 3), np.uint8)
    mask = np.array([[False, False, True], [False, False, False]])
    overlay(cells, mask, Canvas(8).paint(FULL, RED).sprite())
    picture = join(cells)
    assert picture.shape == (16, 24, 3)
    assert (picture[:8, 16:] == RED).all()
    assert picture.sum() == 8 * 8 * RED[0]


def test_a_cell_too_small_to_see_is_refused():
    assert check_cell_pixels(8) == 8
    with pytest.raises(ValueError, match="cell_pixels is 7; it must be at least 8"):
        check_cell_pixels(7)
