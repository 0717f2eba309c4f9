import itertools
import math

import pytest

from osj_envs.cleanup.constants import CleanupConfig
from osj_envs.cleanup.names import HUES, SHADES, waste_mark, waste_name
from osj_envs.grid.codes import MAX_SHADES
from osj_envs.grid.names import agent_name


def test_every_shade_has_a_name():
    assert len(SHADES) == MAX_SHADES


@pytest.mark.parametrize("base_tools", range(1, 9))
def test_every_hue_that_a_configuration_allows_has_a_name(base_tools: int):
    too_many = len(HUES) + 1
    with pytest.raises(ValueError, match="tools"):
        CleanupConfig(hues=too_many, shades=1, base_tools=base_tools, stations=16)
    pairs = base_tools**2
    assert pairs < too_many or math.perm(pairs, too_many) >= 2**31


def test_no_two_colours_share_a_mark_or_a_name():
    colours = list(itertools.product(range(len(HUES)), range(MAX_SHADES)))
    assert len({waste_mark(*colour) for colour in colours}) == len(colours)
    assert len({waste_name(*colour) for colour in colours}) == len(colours)


def test_seats_are_lettered_like_the_columns_of_a_spreadsheet():
    names = {0: "A", 25: "Z", 26: "AA", 27: "AB", 51: "AZ", 52: "BA"}
    assert {seat: agent_name(seat) for seat in names} == names
    assert len({agent_name(seat) for seat in range(800)}) == 800
