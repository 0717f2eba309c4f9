import numpy as np
import pytest

from osj_envs.cleanup.constants import CleanupConfig
from osj_envs.cleanup.legend import legend
from osj_envs.cleanup.render import draw_item
from osj_envs.grid.codes import Item
from osj_envs.testing.vision import is_shown

TINY = CleanupConfig(hues=2, shades=2, base_tools=2)


@pytest.mark.parametrize("size", [16, 32])
def test_every_code_of_the_configuration_is_shown(size: int):
    sheet = legend(TINY, size)
    codes = [(Item.WASTE + shade, 1 + hue) for hue in range(2) for shade in range(2)]
    codes += [(Item.STATION, 0), (Item.STATION + 1, 0), (Item.GROUND, 0), (Item.SPAWN, 0)]
    codes += [(Item.ORCHARD, 0), (Item.RIPE_APPLE, 0), (Item.WATER, 0)]
    assert sheet.dtype == np.uint8
    assert all(is_shown(sheet, draw_item(*code, size)) for code in codes)


def test_what_the_configuration_lacks_is_not_shown():
    sheet = legend(TINY, 16)
    for code in ((Item.WASTE, 3), (Item.WASTE + 2, 1), (Item.STATION + 2, 0)):
        assert not is_shown(sheet, draw_item(*code, 16))


@pytest.mark.parametrize("config", [CleanupConfig(), CleanupConfig(hues=9, shades=1, base_tools=3)])
def test_the_sheet_has_a_margin_all_around(config: CleanupConfig):
    sheet = legend(config)
    paper = sheet[0, 0]
    edges = (sheet[:8], sheet[-8:], sheet[:, :8].swapaxes(0, 1), sheet[:, -8:].swapaxes(0, 1))
    assert all((edge == paper).all() for edge in edges)


def test_too_small_a_cell_is_refused():
    with pytest.raises(ValueError, match="cell_pixels is 7"):
        legend(cell_pixels=7)
