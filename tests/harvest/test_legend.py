import numpy as np
import pytest

from osj_envs.grid.codes import Item
from osj_envs.harvest.constants import HarvestConfig
from osj_envs.harvest.legend import legend
from osj_envs.harvest.render import draw_item
from osj_envs.testing.vision import is_shown

TWO = HarvestConfig(colours=2)
STATES = (Item.APPLE, Item.RIPE_APPLE, Item.OVERRIPE_APPLE, Item.EMPTY_TREE)


@pytest.mark.parametrize("size", [16, 32])
def test_every_code_of_the_configuration_is_shown(size: int):
    sheet = legend(TWO, size)
    codes = [(state, 1 + colour) for state in STATES for colour in range(2)]
    codes += [(Item.GROUND, 0), (Item.SPAWN, 0)]
    assert sheet.dtype == np.uint8
    assert all(is_shown(sheet, draw_item(*code, size)) for code in codes)


def test_what_the_configuration_lacks_is_not_shown():
    sheet = legend(TWO, 16)
    assert not any(is_shown(sheet, draw_item(state, 3, 16)) for state in STATES)


@pytest.mark.parametrize("config", [HarvestConfig(), HarvestConfig(colours=1)])
def test_the_sheet_has_a_margin_all_around(config: HarvestConfig):
    sheet = legend(config)
    paper = sheet[0, 0]
    edges = (sheet[:8], sheet[-8:], sheet[:, :8].swapaxes(0, 1), sheet[:, -8:].swapaxes(0, 1))
    assert all((edge == paper).all() for edge in edges)


def test_too_small_a_cell_is_refused():
    with pytest.raises(ValueError, match="cell_pixels is 7"):
        legend(cell_pixels=7)
