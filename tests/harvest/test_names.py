import itertools

import pytest

from osj_envs.harvest import names
from osj_envs.harvest.constants import STAGES, HarvestConfig, Lost


def test_every_stage_has_a_name():
    assert len(names.STAGES) == STAGES


def test_every_colour_that_a_configuration_allows_has_a_name():
    HarvestConfig(colours=len(names.COLOURS))
    with pytest.raises(ValueError, match="at most 5"):
        HarvestConfig(colours=len(names.COLOURS) + 1)


def test_no_two_states_of_a_tree_share_a_mark_or_a_name():
    colours = range(len(names.COLOURS))
    apples = list(itertools.product(colours, range(STAGES)))
    marks = [names.apple_mark(*a) for a in apples] + [names.bare_mark(c) for c in colours]
    words = [names.apple_name(*a) for a in apples] + [names.bare_name(c) for c in colours]
    assert len(set(marks)) == len(set(words)) == len(apples) + len(colours)


def test_every_loss_has_its_own_name():
    losses = [names.loss_name(lost) for lost in range(Lost.EATEN, Lost.ROTTED + 1)]
    assert losses == ["eaten unripe", "eaten ripe", "eaten over-ripe", "rotted"]
