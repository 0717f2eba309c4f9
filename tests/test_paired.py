"""Figures from several records of the same problems, on records written by hand."""

import dataclasses

import jax
import numpy as np
import pytest

import osj_envs
from osj_envs import paired
from osj_envs.evaluation import evaluate
from osj_envs.figures import Figure
from osj_envs.roster import make_roster
from osj_envs.statistics import Estimate, estimate
from osj_envs.testing.returns import record_of

STAY = {"_target_": "baselines.simple.Stay", "action": 7}
RANDOM = {"_target_": "baselines.simple.Random"}


def estimated(figure: Figure) -> dict[str, Estimate]:
    return estimate(figure.reported())


LOW = record_of([[[1, 3], [0, 0]], [[2, 2], [4, 0]]])
HIGH = record_of([[[6, 6], [8, 4]], [[2, 2], [9, 1]]])


def test_a_difference_is_taken_problem_by_problem():
    found = estimated(paired.return_difference(HIGH, LOW))
    assert found["return_difference_by_trial"].value.tolist() == [2, 4.5]
    assert found["return_difference"].value == 3.25
    # problems differ by (4 + 6) / 2 and (0 + 3) / 2, and no resample lies outside
    assert found["return_difference"].interval.tolist() == [1.5, 5]


def test_pairing_takes_the_spread_between_problems_out():
    spread = np.random.default_rng(0).normal(0, 50, (40, 1, 1))
    found = estimated(paired.return_difference(record_of(spread + 1), record_of(spread)))
    np.testing.assert_allclose(found["return_difference"].interval, [1, 1], atol=1e-4)


def test_the_bounds_stand_at_0_and_1():
    for held, wanted in ((LOW, 0), (HIGH, 1)):
        found = estimated(paired.position(held, LOW, HIGH))
        assert found["position"].value == wanted
        assert found["position_by_trial"].value.tolist() == [wanted] * 2


def test_a_position_is_one_of_sums():
    middle = record_of([[[3, 3], [0, 0]], [[5, 5], [8, 0]]])
    found = estimated(paired.position(middle, LOW, HIGH))
    # trial 1: (1 + 3) of (4 + 0); trial 2: (0 + 2) of (6 + 3)
    assert found["position_by_trial"].value == pytest.approx([1, 2 / 9])
    assert found["position"].value == pytest.approx(6 / 13)


def test_records_of_other_problems_are_not_compared():
    others = (np.array([1, 0]), np.array([0, 2]), None)
    for seeds in others:
        strange = dataclasses.replace(HIGH, problem_seed=seeds)
        for compare in (
            lambda s: paired.return_difference(LOW, s),
            lambda s: paired.position(s, LOW, HIGH),
            lambda s: paired.position(LOW, HIGH, s),
        ):
            with pytest.raises(ValueError, match="same problem seeds"):
                compare(strange)


def test_bounds_are_played_on_the_problems_of_the_record():
    options = {"num_agents": 2, "num_trials": 2, "trial_length": 25, "initial_waste": 0.0}
    env = osj_envs.make("cleanup", **options)
    bounds = paired.make_bounds({"env": "cleanup", "low": STAY, "high": RANDOM}, env)
    key, seeds = jax.random.key(1), (4, 9, 2, 11)
    played = evaluate(env, make_roster(RANDOM, env), key, seeds)
    assert played.returns.sum() > 0
    found = estimated(paired.place(bounds, env, played, key, "held_out"))
    assert found["position"].value == 1  # the same players, problems and chance
    idle = evaluate(env, make_roster(STAY, env), key, seeds)
    assert estimated(paired.place(bounds, env, idle, key, "held_out"))["position"].value == 0


def test_bounds_of_another_game_are_refused():
    env = osj_envs.make("cleanup", num_agents=2)
    with pytest.raises(ValueError, match="of 'harvest' and do not fit 'cleanup'"):
        paired.make_bounds({"env": "harvest", "low": STAY, "high": STAY}, env)
