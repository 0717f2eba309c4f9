"""The scripted players of OpenCleanup: what they earn, learn and may know."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import osj_envs
from baselines import cleanup, oracle, registry
from baselines.cleanup import Character, Habits
from osj_envs.cleanup.constants import PAPER
from osj_envs.cleanup.observation import Own
from osj_envs.cleanup.rules import unrank
from osj_envs.evaluation import evaluate
from osj_envs.grid.codes import Action, Item
from osj_envs.rollout import play
from osj_envs.seats import NO_ACTION, Privileged, SeatView, SeesState
from osj_envs.testing.latents import random_latent
from osj_envs.testing.sizes import SIZES

GAME = {"trial_length": 150, "num_trials": 3, "num_agents": 3}
PROBLEMS = 12
EASY = {"hues": 1, "shades": 1, "base_tools": 2, "initial_waste": (0.2, 0.9)}


@pytest.fixture(scope="module")
def env():
    return osj_envs.make("cleanup", **GAME)


def player(env, **habits):
    """Parameters as arrays, so that one program serves all of them."""
    return cleanup.make_player(env, jax.tree.map(jnp.float32, Habits(**habits)))


def played(env, policy, seed=0):
    return evaluate(env, policy, jax.random.key(seed), range(PROBLEMS))


def test_harvesters_alone_earn_exactly_nothing_from_a_polluted_river(env):
    record = played(env, player(env, contribution=0.0))
    assert (record.returns == 0).all()
    assert all((record.events[name] == 0).all() for name in ("fired", "picked_up", "cleared"))


def test_cleaners_learn_recipes_and_earn_more_for_it(env):
    record = played(env, player(env))
    known = record.knowledge["recipes_known"].mean(axis=(0, 2))
    assert known[0] > 0.5
    assert known[1] > known[0] + 0.3
    assert known[2] >= known[1]
    earned = record.returns.mean(axis=(0, 2))
    assert min(earned[1:]) > earned[0] + 2
    cleared = record.events["cleared"].sum(axis=-1).mean(axis=0)
    assert min(cleared[1:]) > cleared[0]
    # nobody is left without a turn: every one of them makes tools and fires them in every trial
    assert (record.events["fired"] > 0).all()
    assert (record.events["picked_up"] > 1).all()


def test_the_same_key_plays_the_same_and_another_does_not(env):
    first, again, other = (played(env, player(env), seed) for seed in (0, 0, 1))
    assert jax.tree.all(jax.tree.map(np.array_equal, first, again))
    assert not np.array_equal(first.returns, other.returns)


def test_the_oracle_earns_more_than_cleaners_and_those_more_than_random_players(env):
    earned = {
        name: played(env, registry.make(name, env)).returns.mean() for name in ("oracle", "random")
    }
    cleaners = played(env, player(env)).returns.mean()
    assert earned["oracle"] > 1.5 * cleaners
    assert cleaners > 10 * earned["random"] + 2


def test_only_the_oracle_is_shown_what_is_hidden(env):
    for name in registry.list_names("cleanup"):
        policy = registry.make(name, env)
        sees = isinstance(policy, SeesState | Privileged)
        assert sees == (name == "oracle")
        assert name in registry.list_names("cleanup", privileged=sees)


def test_a_player_that_never_shoots_plays_the_same_whatever_the_rules():
    env = osj_envs.make("cleanup", num_agents=2, num_trials=2, trial_length=60, initial_waste=0.2)
    run = jax.jit(lambda latent: play(env, cleanup.make_harvester(env), jax.random.key(0), latent))
    latent = env.problem(1)
    other = dataclasses.replace(latent, rules=unrank(12345))
    assert not np.array_equal(latent.rules.effect, other.rules.effect)
    first, second = run(latent), run(other)
    assert first.returns.sum() > 0
    np.testing.assert_array_equal(first.returns, second.returns)


def trace(env, policy, latent, steps, seed=0):
    """Every step's actions, and who was in whose way; all seats the same policy, as in `play`."""
    count = env.num_agents
    key = jax.random.key(seed)

    def step(carry, index):
        observation, state, evidence, carries, action, reward = carry
        act_key, env_key = jax.random.split(jax.random.fold_in(key, index))
        first = jnp.broadcast_to(state.clock.step == 0, (count,))
        views = SeatView(
            observation=observation,
            evidence=evidence,
            legal_actions=jnp.ones((count, env.num_actions), bool),
            last_action=action,
            last_reward=reward,
            trial=jnp.broadcast_to(state.clock.trial, (count,)),
            is_first_of_trial=first,
            is_first_of_episode=first & (state.clock.trial == 0),
        )
        carries, decision = jax.vmap(policy.act)(carries, views, jax.random.split(act_key, count))
        action = decision.action
        after, state, reward, _, info = env.step(env_key, state, action)
        evidence = jax.vmap(env.game.update_evidence)(
            evidence, observation, action, info.final_observation, info.outcome
        )
        return (after, state, evidence, carries, action, reward), (action, info.outcome.blocked)

    observation, state = env.reset(key, latent)
    evidence = jax.tree.map(
        lambda x: jnp.broadcast_to(x, (count, *x.shape)), env.game.initial_evidence()
    )
    carries = jax.vmap(policy.initial_carry)(jax.random.split(key, count))
    start = (observation, state, evidence, carries)
    start = (*start, jnp.full(count, NO_ACTION, jnp.int32), jnp.zeros(count))
    return jax.lax.scan(step, start, jnp.arange(steps))[1]


def test_a_cleaner_acts_the_same_until_a_shot_tells_it_something_else(env):
    """The rules of two games differ; up to the first shot so does nothing that is done."""
    run = jax.jit(lambda latent: trace(env, cleanup.make_cleaner(env), latent, 120))
    latent = env.problem(3)
    other = dataclasses.replace(latent, rules=unrank(1 + 57_000_000))
    first, second = np.asarray(run(latent)[0]), np.asarray(run(other)[0])
    assert ((first >= 0) & (first < env.num_actions)).all()
    shots = np.flatnonzero((first == Action.BEAM).any(axis=1))
    differ = np.flatnonzero((first != second).any(axis=1))
    assert shots.size
    assert differ.size
    assert differ[0] > shots[0]


def test_nobody_stands_still_for_long_while_there_is_work(env):
    """Cleaners do not block each other: hardly any step of a first trial is a stay."""
    run = jax.jit(jax.vmap(lambda latent: trace(env, cleanup.make_cleaner(env), latent, 150)))
    latents = jax.tree.map(lambda *x: jnp.stack(x), *(env.problem(seed) for seed in range(6)))
    actions, blocked = map(np.asarray, run(latents))
    assert blocked.mean() < 0.015
    assert (actions == Action.STAY).mean() < 0.05
    still = ((actions == Action.STAY) | blocked).astype(int)
    windows = np.lib.stride_tricks.sliding_window_view(still, 12, axis=1).sum(axis=-1)
    assert windows.max() < 6


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (oracle.make_oracle, {"num_agents": 1, "waste_skew": 0.5}),
        (cleanup.make_cleaner, {"num_agents": 7, **EASY}),
        (cleanup.make_cleaner, {"num_agents": 3, **SIZES, "trial_length": 71}),
        (oracle.make_oracle, {"num_agents": 2, **SIZES, "trial_length": 71}),
    ],
)
@pytest.mark.slow
def test_other_games_of_the_family_are_played(make, options):
    env = osj_envs.make("cleanup", **{"num_trials": 1, "trial_length": 80} | options)
    rng = np.random.default_rng(0)
    latents = [random_latent(env.game.config, rng) for _ in range(4)]
    keys = jax.random.split(jax.random.key(0), 4)
    run = jax.jit(jax.vmap(lambda key, latent: play(env, make(env), key, latent)))
    record = run(keys, jax.tree.map(lambda *x: jnp.stack(x), *latents))
    assert record.events["cleared"].sum() > 0


def river(waste, fresh, stale, unseen):
    """A board in a trial's step 60: so many cells of waste, and of water by when it was seen."""
    item = [Item.WASTE] * waste + [Item.WATER] * (fresh + stale + unseen) + [Item.GROUND] * 9
    age = [0] * (waste + fresh) + [40] * stale + [61] * unseen + [61] * 9
    board = (jnp.array(item, jnp.uint8)[None], jnp.array(age)[None])
    return cleanup.Board(
        board[0], jnp.zeros_like(board[0]), board[1], jnp.zeros((1, len(item)), bool)
    )


def test_dirt_is_what_is_known_and_what_may_have_come():
    dirt = cleanup.estimate_dirt(PAPER, river(3, 5, 4, 2), jnp.int32(60))
    assert float(dirt) == pytest.approx(3 + 4 * 40 * 0.1 / 32 + 2 * 26 / 37)


def at(step, trial=0):
    nowhere = jnp.zeros(2, jnp.int32)
    return Own(jnp.int32(0), nowhere, jnp.int32(step), jnp.int32(trial), nowhere)


def test_duty_takes_its_share_of_the_time():
    """Of steps and of trials, wherever the round of duties starts."""
    dirty, steps = river(20, 0, 0, 0), jnp.arange(200)

    def on_duty(contribution, phase, trial):
        character = Character(jnp.zeros(16), jnp.float32(phase), jnp.float32(1))
        habits = Habits(contribution=contribution)
        wants = jax.vmap(
            lambda step: cleanup.wants_to_wash(
                PAPER, habits, character, dirty, at(step, trial), jnp.bool_(False)
            )
        )
        return float(wants(steps).mean())

    for phase, trial in ((0.0, 0), (0.4, 1), (0.9, 4)):
        shares = [on_duty(share, phase, trial) for share in (0.0, 0.2, 0.5, 1.0)]
        assert shares == pytest.approx([0, 0.2, 0.5, 1], abs=0.03)
        assert shares[0] == 0
        assert shares[-1] == 1


def test_the_patient_begin_later_and_all_go_on_until_it_is_clean():
    habits = Habits(least_dirt=4.0, most_dirt=12.0, clean_enough=3.5)

    def washes(waste, patience, was_washing):
        character = Character(jnp.zeros(16), jnp.float32(0), jnp.float32(patience))
        board, own = river(waste, 3, 0, 0), at(60)
        return bool(cleanup.wants_to_wash(PAPER, habits, character, board, own, was_washing))

    for patience, first in ((0.0, 5), (0.5, 9), (1.0, 13)):
        assert [washes(first - 1, patience, False), washes(first, patience, False)] == [False, True]
        assert [washes(3, patience, True), washes(4, patience, True)] == [False, True]


def test_every_shade_has_a_seat_that_sees_to_it():
    kinds = np.array([oracle.effects_of_seat(PAPER, 5, jnp.int32(seat)) for seat in range(5)])
    light, mid, dark = np.arange(7) < 5, np.arange(7) == 5, np.arange(7) == 6
    np.testing.assert_array_equal(kinds, [light, mid, dark, light, mid])
    assert oracle.effects_of_seat(PAPER, 2, jnp.int32(1)).all()


def test_what_is_taken_for_granted_as_a_trial_starts():
    item = jnp.array([[Item.WASTE + 2, Item.WATER, Item.RIPE_APPLE, Item.STATION, Item.WALL]])
    renewed, colour = cleanup.renew(item.astype(jnp.uint8), jnp.full(item.shape, 3, jnp.uint8))
    assert renewed.tolist() == [[Item.WATER, Item.WATER, Item.ORCHARD, Item.STATION, Item.WALL]]
    assert not colour.any()


def test_a_share_out_of_range_is_refused(env):
    with pytest.raises(ValueError, match=r"contribution is 1\.5; it must lie between 0 and 1"):
        cleanup.make_cleaner(env, contribution=1.5)


def test_too_wide_a_map_is_refused():
    wide = osj_envs.make("cleanup", width=40, num_agents=1)
    with pytest.raises(ValueError, match="40 columns wide"):
        cleanup.make_harvester(wide)


@pytest.mark.slow
def test_cleaners_in_the_papers_game():
    """Five agents, five trials of 400 steps: recipes and returns rise after trial 1 and stay."""
    env = osj_envs.make("cleanup")
    record = evaluate(env, cleanup.make_cleaner(env), jax.random.key(0), range(128))
    known = record.knowledge["recipes_known"].mean(axis=(0, 2))
    earned = record.returns.mean(axis=(0, 2))
    assert 1.5 < known[0] < 2.5 < known[1]
    assert (np.diff(known) > -1e-6).all()
    assert (earned[1:] > 1.3 * earned[0]).all()
    assert earned[1:].max() < 1.1 * earned[1:].min()
    told = evaluate(env, oracle.make_oracle(env), jax.random.key(0), range(128))
    assert (told.returns.mean(axis=(0, 2)) > 1.2 * earned.max()).all()
