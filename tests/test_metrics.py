"""Figures of every game, on records written by hand."""

import json
import math

import numpy as np
import pytest

from osj_envs import metrics
from osj_envs.cleanup.env import Cleanup
from osj_envs.records import EpisodeRecord
from osj_envs.testing.fakes import CountingGame
from osj_envs.testing.returns import record_of


def values(of: EpisodeRecord) -> dict:
    """Everything that is reported of a record, through JSON and back."""
    return json.loads(json.dumps(metrics.as_json(metrics.summarise(CountingGame(2), of))))


TWO_PROBLEMS = record_of(
    [[[0, 4], [3, 3], [6, 0]], [[0, 0], [0, 8], [1, 3]]],
    {"things_known": [[[0, 1], [1, 2], [3, 3]], [[0, 0], [0, 2], [1, 1]]]},
)


def test_returns():
    found = values(TWO_PROBLEMS)
    assert found["return_mean"] == pytest.approx(28 / 12)
    assert found["return_by_trial"] == pytest.approx([1.0, 3.5, 2.5])
    assert found["return_by_player"] == pytest.approx([10 / 6, 18 / 6])
    # mean returns of the two problems are 16 / 6 and 12 / 6
    assert found["return_sd"] == pytest.approx(2 / 3 / math.sqrt(2), abs=1e-6)
    assert found["return_mean_ci"] == pytest.approx([2, 16 / 6], abs=1e-6)
    assert found["return_by_trial_ci"] == pytest.approx(np.array([[0, 2], [3, 4], [2, 3]]))


def test_adaptation_gain_is_the_later_trials_less_the_first():
    # problem 1: (3 + 3) / 2 - 2; problem 2: (4 + 2) / 2 - 0
    found = values(TWO_PROBLEMS)
    assert found["adaptation_gain"] == pytest.approx((1 + 3) / 2)
    assert found["adaptation_gain_ci"] == pytest.approx([1, 3])


def test_gini_is_within_a_trial_and_leaves_out_trials_without_a_return():
    found = values(TWO_PROBLEMS)
    assert found["gini_by_trial"] == pytest.approx([0.5, (0 + 0.5) / 2, (0.5 + 0.25) / 2])
    assert found["gini"] == pytest.approx((0.5 + 0 + 0.5 + 0.5 + 0.25) / 5)
    assert found["gini_by_trial_n"] == [1, 2, 2]
    assert found["gini_by_trial_ci"][0] == [None, None]


def test_what_the_agents_know_by_trial():
    found = values(TWO_PROBLEMS)
    assert found["things_known_by_trial"] == pytest.approx([0.25, 1.25, 2.0])
    assert found["things_known"] == pytest.approx(14 / 12)


def test_counts_stand_beside_the_figures():
    found = values(TWO_PROBLEMS)
    counts = [found[name] for name in ("num_problems", "num_trials", "num_agents")]
    assert counts == [2, 3, 2]
    assert found["return_mean_n"] == 2


def test_undefined_figures_are_none_and_never_zero():
    found = values(record_of(np.zeros((3, 1, 2))))
    assert found["return_mean"] == 0
    assert found["gini"] is None
    assert found["gini_ci"] == [None, None]
    assert found["gini_n"] == 0
    assert found["adaptation_gain"] is None
    assert values(record_of(np.ones((1, 2, 2))))["return_sd"] is None


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 1, 3), (1, 3, 1), (4, 2, 5)])
def test_every_shape_has_all_names(shape):
    found = values(record_of(np.ones(shape)))
    names = [name for name in found if f"{name}_ci" in found]
    assert {"return_mean", "return_by_trial", "adaptation_gain", "gini"} <= set(names)
    assert all(f"{name}_n" in found for name in names)
    assert np.shape(found["return_by_trial"]) == shape[1:2]
    assert np.shape(found["return_by_trial_ci"]) == (shape[1], 2)
    assert np.shape(found["return_by_player"]) == shape[2:]


def test_the_table_shows_every_figure_and_how_many_problems():
    summary = metrics.summarise(CountingGame(2), TWO_PROBLEMS)
    text = metrics.table(summary)
    assert all(figure.name in text for figure in summary.figures)
    assert "2 problems, 3 trials, 2 agents" in text
    assert "1 3.5 2.5" in text  # returns by trial
    line = next(x for x in text.splitlines() if x.split()[:1] == ["return_mean"])
    assert line.split()[1:5] == ["2.33", "2", "..", "2.67"]
    assert text == "\n".join(line.rstrip() for line in text.splitlines())


def test_the_table_marks_what_is_undefined():
    text = metrics.table(metrics.summarise(CountingGame(2), record_of(np.zeros((2, 1, 2)))))
    line = next(x for x in text.splitlines() if x.split()[:1] == ["gini"])
    assert line.split()[1:3] == [metrics.UNDEFINED, metrics.UNDEFINED]


def test_big_numbers_are_written_out():
    assert [metrics._text(x) for x in (1526.75, 0.012345, math.nan)] == ["1,527", "0.0123", "–"]


def test_a_game_adds_its_own_figures():
    plain = {figure.name for figure in metrics.common_figures(TWO_PROBLEMS)}
    ours = metrics.summarise(CountingGame(2), TWO_PROBLEMS)
    assert {figure.name for figure in ours.figures} == plain
    with pytest.raises(KeyError, match="apples"):  # OpenCleanup asks for its own events
        metrics.summarise(Cleanup(num_agents=2), TWO_PROBLEMS)
