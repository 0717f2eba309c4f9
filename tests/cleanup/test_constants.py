import math

import pytest

from osj_envs.cleanup.constants import PAPER, CleanupConfig


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_tools": 2}, "must be at most 4"),
        ({"base_tools": 5}, "rule sets; at most"),
        ({"hues": 0}, "hues is 0; it must be a whole number from 1 up"),
        ({"hues": 2.0}, "whole number"),
        ({"stations": True}, "whole number"),
        ({"shades": 4}, "at most 3"),
        ({"stations": 3}, "at least base_tools=4"),
        ({"stations": 251, "height": 40, "width": 40}, "at most 250"),
        ({"initial_clean_cells": 33}, "at most river_cells=32"),
        ({"height": 3}, "has only 48"),
        ({"waste_skew": 1.5}, "between 0 and 1"),
        ({"waste_spawn": -0.1}, "between 0 and 1"),
        ({"apple_growth": math.nan}, "between 0 and 1"),
        ({"dirt_threshold": 0.0}, "above 0"),
        ({"initial_waste": (0.5, 0.1)}, "low must not be above high"),
        ({"initial_waste": (0.1, 0.5, 0.9)}, "pair"),
        ({"initial_waste": (0.1, 1.5)}, "between 0 and 1"),
        ({"waste_spawn_start": -1}, "from 0 up"),
    ],
)
def test_configurations_out_of_range_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        CleanupConfig(**options)


def test_configurations_can_be_hashed_and_compared():
    ranged = CleanupConfig(initial_waste=[0.2, 1])
    assert ranged == CleanupConfig(initial_waste=(0.2, 1.0))
    assert len({ranged, CleanupConfig(initial_waste=(0.2, 1.0)), PAPER}) == 2
    assert ranged.initial_waste_range == (0.2, 1.0)
    assert PAPER.initial_waste_range == (1.0, 1.0)


def test_the_paper_sizes():
    assert (PAPER.pairs, PAPER.effects, PAPER.colours, PAPER.cells) == (16, 7, 15, 192)
    assert (PAPER.initial_waste_cells, PAPER.water_cells) == (26, 37)
