"""Figures of OpenCleanup, on records written by hand."""

import jax
import numpy as np
import pytest

import osj_envs
from osj_envs import metrics
from osj_envs.cleanup.env import Cleanup
from osj_envs.evaluation import evaluate
from osj_envs.records import EpisodeRecord
from osj_envs.seats import Decision
from osj_envs.tally import NEVER

NAMES = ("apples", "cleared", "fired", "lightened", "picked_up", "tool_made", "tool_remade")


def record(first=None, early=None, effort=None, known=None, **events) -> EpisodeRecord:
    """Two problems, two trials, three players; all that is not given is 0 or has not happened."""
    none = np.zeros((2, 2, 3))
    counts = {name: np.asarray(events.get(name, none), np.float32) for name in NAMES}
    never = np.full((2, 2), NEVER)
    return EpisodeRecord(
        returns=counts["apples"],
        events=counts,
        early_events=dict.fromkeys(NAMES, none) | (early or {}),
        effort=dict.fromkeys(NAMES, none) | (effort or {}),
        first_step=dict.fromkeys(NAMES, never) | (first or {}),
        last_step=dict.fromkeys(NAMES, never),
        steps=np.full((2, 2), 9),
        trial_length=np.full(2, 9),
        knowledge={"recipes_known": none if known is None else np.asarray(known)},
        seat=np.zeros((2, 3), int),
    )


def values(of: EpisodeRecord) -> dict:
    return metrics.as_json(metrics.summarise(Cleanup(num_agents=3), of))


def test_apples_are_the_teams():
    found = values(record(apples=[[[1, 0, 2], [0, 0, 0]], [[0, 0, 1], [4, 0, 0]]]))
    assert found["apples_by_trial"] == [2, 2]
    assert found["apples_per_trial"] == 2
    assert found["apple_trial_share"] == 0.75
    assert found["apple_trial_share_by_trial"] == [1, 0.5]


def test_first_steps_are_of_the_trials_in_which_it_happened():
    first = {"apples": np.array([[30, NEVER], [10, 0]]), "cleared": np.array([[NEVER, 7], [5, 6]])}
    found = values(record(first))
    assert found["first_apple_step_by_trial"] == [20, 0]
    assert found["first_apple_step"] == pytest.approx(40 / 3)
    assert found["first_clear_step_by_trial"] == [5, 6.5]
    assert found["first_clear_step"] == 6
    assert found["first_clear_step_by_trial_n"] == [1, 2]


def test_tiles_are_the_teams_and_each_players():
    cleared = [[[2, 0, 1], [0, 0, 0]], [[0, 0.5, 0.5], [4, 0, 0]]]
    lightened = [[[1, 1, 1], [0, 0, 2]], [[0, 0, 0], [0, 0, 1]]]
    found = values(record(cleared=cleared, lightened=lightened))
    assert found["tiles_cleared_by_trial"] == [2, 2]
    assert found["tiles_cleared"] == 2
    assert found["tiles_lightened_by_trial"] == [1.5, 1.5]
    assert found["tiles_cleared_by_player"] == [1.5, 0.125, 0.375]
    assert found["clear_trial_share"] == 0.75


def test_each_player_has_a_share_of_all_that_was_cleared():
    cleared = [[[2, 0, 1], [0, 0, 1]], [[0, 0.5, 0.5], [11, 0, 0]]]
    found = values(record(cleared=cleared))
    assert found["cleaning_share_by_player"] == [13 / 16, 0.5 / 16, 2.5 / 16]
    assert found["cleaning_share_by_player_n"] == [2, 2, 2]
    assert values(record())["cleaning_share_by_player"] == [None] * 3


def test_know_how_goes_with_pick_ups_and_switches_within_a_trial():
    known = [[[0, 1, 2], [1, 1, 1]], [[2, 1, 0], [0, 1, 2]]]
    picked_up = [[[3, 5, 8], [1, 2, 3]], [[1, 2, 3], [7, 7, 7]]]
    made = [[[3, 4, 1], [0, 0, 0]], [[0, 1, 2], [1, 0, 4]]]
    remade = [[[2, 1, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 1]]]
    # switches: 0 2 0, none, 0 0 1 and 0 0 2: whoever made one tool has not switched
    found = values(record(known=known, picked_up=picked_up, tool_made=made, tool_remade=remade))
    assert found["pick_up_correlation_by_trial"] == [0, None]
    assert found["pick_up_correlation_by_trial_n"] == [2, 0]
    tied = np.sqrt(3) / 2  # three ranks against two that are equal and one above
    assert found["tool_switch_correlation_by_trial"] == pytest.approx([-tied / 2, tied], abs=1e-6)
    assert found["recipes_known_by_player"] == [0.75, 1, 1.25]


def test_effective_cleaners_are_those_of_trials_with_a_clear():
    cleared = [[[3, 1, 0], [0, 0, 0]], [[2, 2, 2], [4, 0, 0]]]
    found = values(record(cleared=cleared, lightened=np.ones((2, 2, 3))))
    assert found["effective_cleaners_by_trial"] == pytest.approx([(1.6 + 3) / 2, 1])
    assert found["effective_cleaners"] == pytest.approx((1.6 + 3 + 1) / 3, abs=1e-6)


def test_early_cleaning_counts_both_kinds_of_work():
    early = {
        "cleared": np.array([[[1, 0, 0], [2, 0, 0]], [[0, 0, 0], [0, 0, 0]]]),
        "lightened": np.array([[[0, 3, 0], [0, 0, 0]], [[0, 0, 2], [0, 0, 0]]]),
    }
    assert values(record(early=early))["early_cleaning_by_trial"] == [3, 1]


def test_tools_are_ratios_of_sums():
    made = [[[2, 0, 0], [0, 0, 0]], [[0, 1, 1], [0, 0, 0]]]
    remade = [[[1, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]]
    picked_up = [[[4, 1, 0], [3, 0, 0]], [[0, 2, 3], [0, 0, 2]]]
    found = values(record(tool_made=made, tool_remade=remade, picked_up=picked_up))
    assert found["pick_ups_per_agent_by_trial"] == pytest.approx([10 / 6, 5 / 6], abs=1e-6)
    assert found["pick_ups_per_tool_by_trial"] == [10 / 4, None]
    assert found["pick_ups_per_tool"] == 15 / 4
    assert found["remade_tool_share"] == 0.25
    assert found["remade_tool_share_by_trial"] == [0.25, None]


def test_crafting_is_the_steps_on_the_way_to_pick_ups():
    effort = {"picked_up": np.array([[[9, 3, 0], [0, 0, 5]], [[0, 0, 8], [0, 0, 0]]])}
    work = {
        "cleared": [[[2, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]],
        "lightened": [[[1, 0, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]]],
    }
    found = values(record(effort=effort, **work))
    assert found["crafting_steps_per_cell_by_trial"] == [5, None]
    assert found["crafting_steps_per_cell"] == 25 / 4


def test_what_never_happened_is_undefined_and_not_zero():
    found = values(record())
    for name in (
        "first_apple_step",
        "first_clear_step",
        "effective_cleaners",
        "pick_ups_per_tool",
        "remade_tool_share",
        "crafting_steps_per_cell",
    ):
        assert found[name] is None, name
        assert found[f"{name}_n"] == 0
    assert found["tiles_cleared"] == found["apples_per_trial"] == 0


class Wanderer:
    """Acts at random; of the tests alone."""

    is_traceable = True

    def initial_carry(self, key):
        return ()

    def act(self, carry, view, key):
        return carry, Decision(action=jax.random.randint(key, (), 0, 9))


def test_figures_of_a_real_game_agree_with_one_another():
    env = osj_envs.make(
        "cleanup",
        num_agents=3,
        num_trials=2,
        trial_length=60,
        hues=1,
        shades=1,
        base_tools=2,
        initial_waste=0.3,
    )
    played = evaluate(env, Wanderer(), jax.random.key(0), range(320))
    found = metrics.as_json(metrics.summarise(env.game, played))
    assert found["apples_per_trial"] == pytest.approx(3 * found["return_mean"], rel=1e-5)
    assert found["tiles_lightened"] == 0
    assert found["tiles_cleared"] > 0
    assert found["recipes_known_by_trial"][0] <= found["recipes_known_by_trial"][1] <= 1
    assert 1 <= found["effective_cleaners"] <= 3
    assert found["pick_ups_per_tool"] >= 1
    assert (played.steps == 60).all()
    assert (played.first_step["fired"][:40] < 20).all()
