"""The configuration of OpenHarvest: what it refuses, and what follows from it."""

import dataclasses
import math

import numpy as np
import pytest

from osj_envs.harvest.constants import DIAMOND, PAPER, QUARTER, HarvestConfig


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colours": 0}, "colours is 0; it must be a whole number from 1 to"),
        ({"colours": 2.0}, "colours is 2.0; it must be a whole number"),
        ({"colours": 6}, "colours is 6; at most 5"),
        ({"height": 0}, "height is 0; it must be a whole number from 1 to"),
        ({"width": True}, "width is True; it must be a whole number"),
        ({"diamonds": -1}, "diamonds is -1; it must be a whole number from 0 to"),
        ({"quarters": -1}, "quarters is -1; it must be a whole number from 0 to"),
        ({"diamonds": 0, "quarters": 0}, "both 0; there must be at least one patch"),
        ({"spawn_cells": 0}, "spawn_cells is 0; it must be a whole number from 1 to"),
        ({"height": 256, "width": 257}, "256 x 257 has 65,792 cells; at most 65,536"),
        ({"freeze_steps": -1}, "freeze_steps is -1; it must be a whole number from 0 to"),
        ({"cooldown_steps": -1}, "cooldown_steps is -1; it must be a whole number from 0 to"),
        ({"pays": (1.0, 0.5)}, "pays is .*; it must have 3 entries"),
        ({"pays": (1.0, 0.5, -0.25)}, "pays is .*; none may be below 0"),
        ({"speeds": (2.0, 1.0, 0.5, 0.25)}, "speeds is .*; it must have 3 entries"),
        ({"speeds": (2.0, -1.0, 0.5)}, "speeds is .*; none may be below 0"),
        ({"regrowth": (0.0, 0.1, 0.2)}, "regrowth is .*; it must have 4 entries"),
        ({"regrowth": (0.0, 0.1, 0.2, 1.1)}, "regrowth is 1.1; .* between 0 and 1"),
        ({"regrowth": (-0.1, 0.1, 0.2, 0.3)}, "between 0 and 1"),
        ({"regrowth": (0.0, 0.1, math.nan, 0.3)}, "between 0 and 1"),
        ({"stage_steps": (15,)}, "stage_steps is .*; it must have 2 entries"),
        ({"stage_steps": (0, 20)}, r"stage_steps\[0\] is 0; .* from 1 to 80"),
        ({"stage_steps": (20, 15)}, r"stage_steps\[1\] is 15; .* from 20 to 80"),
        ({"stage_steps": (15, 81)}, r"stage_steps\[1\] is 81; .* from 15 to 80"),
        ({"stage_steps": (15.0, 20)}, "whole number"),
        ({"rot_delay": (2, 3, 5)}, "rot_delay is .*; it must have 2 entries"),
        ({"rot_delay": (0, 5)}, r"rot_delay\[0\] is 0; .* from 1 to 250"),
        ({"rot_delay": (5, 2)}, r"rot_delay\[1\] is 2; .* from 5 to 250"),
        ({"rot_delay": (2, 251)}, r"rot_delay\[1\] is 251; .* from 2 to 250"),
        ({"height": 3}, "64 trees and a row of 20 spawn cells do not fit a map of 3 x 22"),
        ({"spawn_cells": 23}, "a row of 23 spawn cells do not fit"),
    ],
)
def test_configurations_out_of_range_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        HarvestConfig(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"colours": 5},
        {"diamonds": 0, "quarters": 1},
        {"diamonds": 1, "quarters": 0},
        {"spawn_cells": 22},
        {"freeze_steps": 0, "cooldown_steps": 0},
        {"pays": (0.0, 0.0, 7.0), "speeds": (0.0, 40.0, 1.0)},
        {"regrowth": (1.0, 0.0, 0.0, 1.0)},
        {"stage_steps": (1, 80), "rot_delay": (250, 250)},
        {"height": 4, "width": 21},
        {"height": 256, "width": 256},
    ],
)
def test_the_ends_of_the_ranges_are_allowed(options):
    config = dataclasses.asdict(HarvestConfig(**options))
    assert {name: config[name] for name in options} == options


def test_configurations_can_be_hashed_and_compared():
    listed = HarvestConfig(pays=[1.0, 0.5, 0.25], rot_delay=[2, 5], stage_steps=np.array([15, 20]))
    assert listed == PAPER
    assert len({listed, PAPER, HarvestConfig(rot_delay=(2, 6))}) == 2


def test_the_paper_sizes():
    assert (PAPER.cells, PAPER.patches, PAPER.trees) == (352, 6, 64)
    assert (len(DIAMOND), len(QUARTER)) == (13, 6)
    assert np.bincount(PAPER.patch_of_tree).tolist() == [13] * 4 + [6] * 2


def test_the_paper_numbers():
    assert PAPER.pays == (1.0, 0.5, 0.25)
    assert PAPER.speeds == (2.0, 1.0, 0.5)
    assert PAPER.regrowth == (0.0, 0.001, 0.005, 0.025)
    assert (PAPER.stage_steps, PAPER.rot_delay) == ((15, 20), (2, 5))
    assert (PAPER.freeze_steps, PAPER.cooldown_steps, PAPER.colours) == (12, 2, 5)
    assert (PAPER.height, PAPER.width, PAPER.spawn_cells) == (16, 22, 20)


def test_trees_are_neighbours_within_two_steps_of_the_same_patch():
    near = PAPER.neighbours
    assert near.shape == (64, 64)
    assert not near.diagonal().any()
    np.testing.assert_array_equal(near, near.T)
    patch = np.array(PAPER.patch_of_tree)
    assert (patch[:, None] == patch)[near].all()
    # By hand: the middle of a diamond has all 12 others near, a tip 4, the corner of a quarter 5.
    assert near.sum(axis=1)[[6, 0, 12]].tolist() == [12, 4, 4]
    assert near.sum(axis=1)[52] == 5
    assert not near.flags.writeable
