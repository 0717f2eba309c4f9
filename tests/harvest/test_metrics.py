"""Figures of OpenHarvest, on records written by hand."""

import jax
import numpy as np
import pytest

import osj_envs
from osj_envs import metrics
from osj_envs.evaluation import evaluate
from osj_envs.harvest.env import Harvest
from osj_envs.records import EpisodeRecord
from osj_envs.seats import Decision
from osj_envs.tally import NEVER

NAMES = (
    "apples",
    "ate_best",
    "ate_early",
    "ate_overripe",
    "ate_ripe",
    "ate_unripe",
    "regrown",
    "rotted",
    "zap_hits",
    "zapped",
    "zaps",
)
LONG = 30


def record(returns=None, last=None, steps=None, known=None, **events) -> EpisodeRecord:
    """Two problems, two trials, three players; all that is not given is 0 or has not happened."""
    none = np.zeros((2, 2, 3))
    counts = {name: np.asarray(events.get(name, none), np.float32) for name in NAMES}
    never = dict.fromkeys(NAMES, np.full((2, 2), NEVER))
    return EpisodeRecord(
        returns=none if returns is None else np.asarray(returns, np.float32),
        events=counts,
        early_events=dict.fromkeys(NAMES, none),
        effort=dict.fromkeys(NAMES, none),
        first_step=never,
        last_step=never | ({} if last is None else {"apples": np.asarray(last)}),
        steps=np.full((2, 2), LONG) if steps is None else np.asarray(steps),
        trial_length=np.full(2, LONG),
        knowledge={"payoffs_known": none if known is None else np.asarray(known)},
        seat=np.zeros((2, 3), int),
    )


def values(of: EpisodeRecord, **options) -> dict:
    return metrics.as_json(metrics.summarise(Harvest(num_agents=3, **options), of))


APPLES = [[[1, 0, 2], [0, 0, 0]], [[0, 0, 1], [4, 0, 0]]]


def test_apples_are_the_teams_and_each_players():
    found = values(record(apples=APPLES))
    assert found["apples_by_trial"] == [2, 2]
    assert found["apples_per_trial"] == 2
    assert found["apple_trial_share"] == 0.75
    assert found["apples_by_player"] == [1.25, 0, 0.75]


def test_points_and_stages_are_by_the_apple():
    found = values(
        record(
            returns=[[[1, 0, 0.5], [0, 0, 0]], [[0, 0, 1], [1, 0, 0]]],
            apples=APPLES,
            ate_best=[[[1, 0, 0], [0, 0, 0]], [[0, 0, 1], [0, 0, 0]]],
            ate_early=[[[0, 0, 1], [0, 0, 0]], [[0, 0, 0], [3, 0, 0]]],
        )
    )
    assert found["points_per_apple_by_trial"] == [2.5 / 4, 1 / 4]
    assert found["points_per_apple"] == 3.5 / 8
    assert found["best_stage_share"] == 2 / 8
    assert found["best_stage_share_by_trial"] == [2 / 4, 0]
    assert found["too_early_share"] == 4 / 8
    assert found["too_early_share_by_trial"] == [1 / 4, 3 / 4]


def test_an_orchard_lives_until_its_last_apple_is_eaten_or_survives():
    found = values(record(steps=[[12, LONG], [21, LONG]], last=[[11, 7], [20, LONG - 1]]))
    assert found["orchard_lifetime_by_trial"] == [(11 + 20) / 2, LONG]
    assert found["orchard_lifetime"] == (11 + LONG + 20 + LONG) / 4
    assert found["orchard_survival_by_trial"] == [0, 1]
    assert found["orchard_survival"] == 0.5


def test_an_orchard_that_nobody_touches_survives():
    assert values(record())["orchard_lifetime"] == LONG


def test_apples_beyond_the_trees_are_those_that_had_to_regrow():
    apples = [[[30, 30, 10], [64, 0, 0]], [[0, 0, 3], [90, 0, 0]]]
    assert values(record(apples=apples))["apples_beyond_trees_by_trial"] == [3, 13]
    few = {"diamonds": 1, "quarters": 0}
    assert values(record(apples=apples), **few)["apples_beyond_trees_by_trial"] == [28.5, 64]


def test_rot_and_regrowth_are_of_the_whole_orchard():
    third = np.full((2, 2, 3), 1 / 3)
    found = values(record(rotted=third * [[[6]], [[0]]], regrown=third * 9))
    assert found["apples_rotted"] == pytest.approx(3)
    assert found["apples_regrown"] == pytest.approx(9)


def test_zaps_are_the_teams_and_each_players():
    zaps = [[[1, 0, 2], [0, 0, 0]], [[0, 0, 1], [4, 0, 0]]]
    found = values(record(zaps=zaps, zap_hits=[[[0, 0, 2], [0, 0, 0]], [[0, 0, 1], [1, 0, 0]]]))
    assert found["zaps_by_trial"] == [2, 2]
    assert found["zap_hits_by_trial"] == [1.5, 0.5]
    assert found["zaps_by_player"] == [1.25, 0, 0.75]


def test_payoffs_known_are_an_agents_own():
    known = [[[0.2, 0, 0.1], [0.5, 0.5, 0.5]], [[0, 0, 0], [1, 1, 1]]]
    assert values(record(known=known))["payoffs_known_by_trial"] == pytest.approx([0.05, 0.75])


def test_what_never_happened_is_undefined_and_not_zero():
    found = values(record())
    for name in ("points_per_apple", "best_stage_share", "too_early_share", "first_apple_step"):
        assert found[name] is None, name
        assert found[f"{name}_n"] == 0
    assert found["apples_per_trial"] == found["zaps"] == found["apples_beyond_trees"] == 0


class Wanderer:
    """Acts at random; of the tests alone."""

    is_traceable = True

    def initial_carry(self, key):
        return ()

    def act(self, carry, view, key):
        return carry, Decision(action=jax.random.randint(key, (), 0, 8))


def test_figures_of_a_real_game_agree_with_one_another():
    options = {"diamonds": 1, "quarters": 1, "height": 9, "width": 11, "spawn_cells": 3}
    env = osj_envs.make(
        "harvest", num_agents=3, num_trials=2, trial_length=60, colours=2, **options
    )
    played = evaluate(env, Wanderer(), jax.random.key(0), range(20))
    found = metrics.as_json(metrics.summarise(env.game, played))
    team = {name: np.sum(played.events[name], axis=-1) for name in played.events}
    by_stage = team["ate_unripe"] + team["ate_ripe"] + team["ate_overripe"]
    np.testing.assert_array_equal(team["apples"], by_stage)
    assert found["points_per_apple"] * found["apples_per_trial"] == pytest.approx(
        3 * found["return_mean"], rel=1e-4
    )
    assert 0.25 <= found["points_per_apple"] <= 1
    assert found["best_stage_share"] + found["too_early_share"] <= 1
    assert found["best_stage_share"] > 0.1 < found["too_early_share"]
    assert (team["apples"] + team["rotted"] <= 19 + team["regrown"] + 1e-3).all()
    np.testing.assert_allclose(team["rotted"], np.round(team["rotted"]), atol=1e-3)
    # two beams may hit the same agent
    assert (team["zap_hits"] >= team["zapped"]).all()
    assert team["zap_hits"].sum() == pytest.approx(team["zapped"].sum(), rel=0.05)
    assert 0 < found["payoffs_known_by_trial"][0] < found["payoffs_known_by_trial"][1] <= 1
    assert found["orchard_lifetime"] <= 60
