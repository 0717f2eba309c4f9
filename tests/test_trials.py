"""The multi-trial protocol, on a game of which every number is known beforehand."""

import functools
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from osj_envs.testing.fakes import CountingGame, Recorder
from osj_envs.testing.trees import differing_leaves
from osj_envs.trials import MultiTrial

ACTIONS = jnp.array([1, 2])


def make(num_trials=3, trial_length=5, auto_reset=True, split="train", **options):
    return MultiTrial(CountingGame(**options), num_trials, trial_length, auto_reset, split)


@functools.partial(jax.jit, static_argnums=(0, 2))
def roll(env, key, steps, state=None):
    """The first state, and everything that each step returns, time first."""
    reset_key, step_key = jax.random.split(key)
    first = env.reset(reset_key) if state is None else (None, state)

    def step(state, key):
        observation, after, reward, done, info = env.step(key, state, ACTIONS)
        return after, (observation, after, reward, done, info)

    _, told = jax.lax.scan(step, first[1], jax.random.split(step_key, steps))
    return first, told


def run(env, steps, seed=0):
    return jax.device_get(roll(env, jax.random.key(seed), steps))


def test_the_clock_counts_trials_and_steps():
    _, (_, state, _, done, info) = run(make(), 31)
    number = np.arange(31)
    np.testing.assert_array_equal(info.step, number % 5)
    np.testing.assert_array_equal(info.trial, number // 5 % 3)
    np.testing.assert_array_equal(info.trial_done, number % 5 == 4)
    np.testing.assert_array_equal(done, number % 15 == 14)
    np.testing.assert_array_equal(state.clock.step, (number + 1) % 5)
    np.testing.assert_array_equal(state.clock.trial, (number + 1) // 5 % 3)
    assert not state.done.any()


def test_a_trials_last_step_pays_counts_and_is_not_scaled():
    _, (_, _, reward, _, info) = run(make(num_agents=2), 15)
    np.testing.assert_array_equal(reward[:5], [[n, 10 * n] for n in (1, 2, 3, 4, 5)])
    np.testing.assert_array_equal(reward, np.tile(reward[:5], (3, 1)))
    np.testing.assert_array_equal(info.outcome.reward, reward)
    assert (info.events["acted"] == 1).all()


@pytest.mark.parametrize("agents", [1, 2, 3, 7])
def test_the_agent_axis_stays_whatever_the_number_of_agents(agents):
    env = make(num_agents=agents)
    observation, state = env.reset(jax.random.key(0))
    actions = jnp.zeros(agents, jnp.int32)
    told = jax.jit(env.step)(jax.random.key(1), state, actions)
    assert observation.view.shape == told[0].view.shape == (agents, 2, 3, 1)
    assert told[2].shape == (agents,)
    assert told[3].shape == ()
    assert told[2].tolist() == [10.0**i for i in range(agents)]


def test_the_final_observation_is_the_old_trials_and_the_returned_one_the_new_trials():
    _, (observation, _, _, _, info) = run(make(), 15)
    trial, step, count, total = (info.final_observation.own[:, 0, i] for i in range(4))
    number = np.arange(15)
    np.testing.assert_array_equal(trial, number // 5)
    np.testing.assert_array_equal(step, number % 5 + 1)
    np.testing.assert_array_equal(count, number % 5 + 1)
    np.testing.assert_array_equal(total, number % 5 + 1)
    np.testing.assert_array_equal(observation.own[:, 0, 1], (number + 1) % 5)
    np.testing.assert_array_equal(observation.own[:, 0, 0], (number + 1) // 5 % 3)
    same = ~info.trial_done
    for old, new in zip(
        jax.tree.leaves(info.final_observation), jax.tree.leaves(observation), strict=True
    ):
        np.testing.assert_array_equal(old[same], new[same])
        assert (old[~same] != new[~same]).any()


def test_a_trial_keeps_the_latent_and_an_episode_gets_another():
    (_, first), (_, state, _, done, info) = run(make(num_trials=3), 40)
    latents = np.concatenate([first.latent.key[None], state.latent.key])
    changes = (latents[1:] != latents[:-1]).any(axis=-1)
    np.testing.assert_array_equal(changes, done)
    worlds = np.concatenate([first.world.key[None], state.world.key])
    np.testing.assert_array_equal((worlds[1:] != worlds[:-1]).any(axis=-1), info.trial_done)
    keys = {tuple(key) for key in [*latents.tolist(), *worlds.tolist()]}
    assert len(keys) == 1 + done.sum() + 1 + info.trial_done.sum(), "no key draws two things"


@pytest.mark.parametrize("split", ["train", "held_out"])
def test_episodes_are_drawn_from_the_split_asked_for(split):
    (_, first), (_, state, *_) = run(make(split=split, num_trials=1, trial_length=2), 9)
    lengths = np.concatenate([[first.latent.length], state.latent.length])
    assert ((lengths > 0) == (split == "train")).all()


def test_a_latent_given_at_reset_is_played_and_followed_by_others():
    env = make(num_trials=2, trial_length=3)
    latent = env.problem(906)
    _, state = env.reset(jax.random.key(1), latent)
    assert not differing_leaves(latent, state.latent)
    _, (_, state, *_) = jax.device_get(roll(env, jax.random.key(2), 8, state))
    same = (state.latent.key == latent.key).all(axis=-1)
    np.testing.assert_array_equal(same, np.arange(8) < 5)


def test_every_leaf_after_a_boundary_is_that_of_a_fresh_start():
    """Except the trial's number, and the latent where only a trial ended."""
    env = MultiTrial(Recorder(CountingGame(shortest=2, longest=4)), 3, 7)
    (_, first), (observation, states, _, done, info) = run(env, 60)
    before = first
    for index in range(60):
        state = jax.tree.map(lambda leaf, index=index: leaf[index], states)
        if info.trial_done[index]:
            latent = before.latent
            if done[index]:
                latent = env.game.sample_latent(state.latent.key, "train")
            fresh = first.replace(
                latent=latent,
                world=env.game.lay_world(state.world.key, latent),
                clock=first.clock.replace(
                    trial=np.int32(0) if done[index] else before.clock.trial + np.int32(1)
                ),
            )
            assert not differing_leaves(jax.device_get(fresh), state)
            seen = jax.tree.map(lambda leaf, index=index: leaf[index], observation)
            assert not differing_leaves(env.game.observe(fresh.world, fresh.clock), seen)
        before = state
    assert done.sum() > 3


def test_without_auto_reset_the_state_stays_as_the_episode_ended():
    env = make(num_trials=2, trial_length=3, auto_reset=False)
    _, (observation, state, reward, done, info) = run(env, 11)
    np.testing.assert_array_equal(done, np.arange(11) >= 5)
    assert (reward[:6] > 0).all()
    for paid in (reward, info.outcome.reward, info.events["acted"]):
        assert not paid[6:].any(), "nothing is paid, told or counted afterwards"
    for leaf in jax.tree.leaves((observation, state)):
        np.testing.assert_array_equal(leaf[5:], leaf[5:6].repeat(6, 0))
    assert state.done[5:].all()
    assert observation.own[5, 0].tolist() == [1.0, 3.0, 3.0, 3.0]


def test_without_auto_reset_a_trial_that_ended_early_stays_as_it_ended():
    env = make(num_trials=2, trial_length=9, auto_reset=False, shortest=4, longest=4)
    _, (observation, state, _, done, info) = run(env, 19)
    np.testing.assert_array_equal(done, np.arange(19) >= 7)
    for leaf in jax.tree.leaves((observation, state, info.final_observation)):
        np.testing.assert_array_equal(leaf[7:], leaf[7:8].repeat(12, 0))
    assert state.clock.step[-1] == 4


def test_auto_reset_changes_nothing_before_the_episode_ends():
    told = [run(make(num_trials=2, trial_length=3, auto_reset=on), 5)[1] for on in (True, False)]
    with_it, without = (
        (observation, reward, done, info.final_observation, state.world.count)
        for observation, state, reward, done, info in told
    )
    assert not differing_leaves(with_it, without)


def test_a_trial_that_is_over_early_begins_the_next_at_once():
    env = make(num_trials=2, trial_length=7, shortest=3, longest=3)
    _, (_, state, _, done, info) = run(env, 12)
    np.testing.assert_array_equal(info.trial_done, np.arange(12) % 3 == 2)
    np.testing.assert_array_equal(done, np.arange(12) % 6 == 5)
    np.testing.assert_array_equal(state.clock.step, (np.arange(12) + 1) % 3)


EARLY = {"shortest": 1, "longest": 6, "num_trials": 2, "trial_length": 5}


def test_environments_of_a_batch_run_apart():
    """Each ends its trials at its own times, just as it would alone."""
    env, count, steps = make(**EARLY), 70, 23
    keys = jax.random.split(jax.random.key(3), count)
    batch = jax.device_get(jax.vmap(lambda key: roll(env, key, steps))(keys))
    assert 0 < batch[1][3].mean() < 0.5
    assert len({tuple(done) for done in batch[1][3].tolist()}) > 10
    for index in range(0, count, 9):
        alone = jax.device_get(roll(env, keys[index], steps))
        one = jax.tree.map(lambda leaf, index=index: leaf[index], batch)
        assert not differing_leaves(alone, one)


@pytest.mark.parametrize("shape", [(1,), (2, 3), (3, 1, 2)])
def test_any_nesting_of_vmap_gives_the_same(shape):
    env, steps = make(**EARLY), 13
    count = int(np.prod(shape))
    keys = jax.random.split(jax.random.key(4), count)
    flat = jax.vmap(lambda key: roll(env, key, steps))(keys)

    def nested(key):
        return roll(env, key, steps)

    for _ in shape:
        nested = jax.vmap(nested)
    shaped = nested(keys.reshape(shape))
    back = jax.tree.map(lambda leaf: leaf.reshape(count, *leaf.shape[len(shape) :]), shaped)
    assert not differing_leaves(flat, back)


def test_the_same_with_and_without_jit():
    env = make(**EARLY)
    _, state = env.reset(jax.random.key(5))
    for number in range(6):
        key = jax.random.key(number)
        plain = env.step(key, state, ACTIONS)
        assert not differing_leaves(jax.jit(env.step)(key, state, ACTIONS), plain)
        state = plain[1]


def test_raw_and_typed_keys_give_the_same():
    env = make(**EARLY)
    for seed in range(3):
        raw, typed = jax.random.PRNGKey(seed), jax.random.key(seed)
        assert not differing_leaves(env.reset(raw), env.reset(typed))
        _, state = env.reset(raw)
        state = state.replace(clock=state.clock.replace(step=jnp.int32(4)))
        assert not differing_leaves(env.step(raw, state, ACTIONS), env.step(typed, state, ACTIONS))


def test_a_step_returns_what_it_was_given_in_shape_and_type():
    env = make(**EARLY)
    observation, state = jax.eval_shape(env.reset, jax.random.key(0))
    told = jax.eval_shape(env.step, jax.random.key(0), state, ACTIONS)
    assert told[0] == observation
    assert told[1] == state
    assert told[4].final_observation == observation
    assert (told[2].shape, told[2].dtype) == ((2,), jnp.float32)
    assert (told[3].shape, told[3].dtype) == ((), jnp.bool_)


def test_no_key_is_used_twice():
    env = make(**EARLY)
    with jax.debug_key_reuse(True):
        _, state = jax.jit(env.reset)(jax.random.key(0))
        for number in range(3):
            told = jax.jit(env.step)(jax.random.key(1 + number), state, ACTIONS)
            state = told[1]
        with pytest.raises(jax.errors.KeyReuseError):
            jax.jit(lambda key: (env.reset(key), env.reset(key)))(jax.random.key(9))


@pytest.mark.parametrize("auto_reset", [True, False])
def test_counters_near_their_maximum_do_not_wrap(auto_reset):
    last = 2**31 - 1
    env = make(num_trials=last, trial_length=last, auto_reset=auto_reset)
    _, state = env.reset(jax.random.key(0))
    clock = state.clock.replace(step=jnp.int32(last - 1), trial=jnp.int32(last - 2))
    _, after, _, done, info = env.step(jax.random.key(1), state.replace(clock=clock), ACTIONS)
    assert bool(info.trial_done)
    assert not bool(done)
    assert int(after.clock.trial) == last - 1
    assert int(after.clock.step) == 0
    clock = after.clock.replace(step=jnp.int32(last - 1))
    _, after, _, done, info = env.step(jax.random.key(1), after.replace(clock=clock), ACTIONS)
    assert bool(info.trial_done)
    assert bool(done)
    assert int(after.clock.trial) >= 0
    assert int(after.clock.step) >= 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_trials": 0}, "num_trials is 0; it must be a whole number from 1"),
        ({"trial_length": -3}, "trial_length is -3"),
        ({"trial_length": 2.5}, "trial_length.*2.5"),
        ({"num_trials": "5"}, "num_trials.*5"),
        ({"num_trials": True}, "num_trials.*True"),
        ({"trial_length": 2**31}, "trial_length"),
        ({"split": "test"}, "test.*train"),
        ({"split": "heldout"}, "held_out"),
    ],
)
def test_bad_options_are_refused_in_one_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        make(**options)


def test_lengths_and_names_are_told():
    env = make(num_trials=3, trial_length=5, num_agents=2)
    assert env.episode_length == 15
    assert (env.name, env.num_agents, env.num_actions) == ("counting", 2, 3)
    _, state = env.reset(jax.random.key(0))
    assert env.render(state, 4).shape == (8, 12, 3)
    assert env.describe(state) == "0 steps counted"


SHARDED = """
    import jax, numpy as np
    jax.config.update("jax_num_cpu_devices", 8)
    from functools import partial
    from jax.sharding import Mesh, PartitionSpec as P
    import osj_envs
    from osj_envs.testing.fakes import CountingGame
    from osj_envs.testing.trees import differing_leaves
    from osj_envs.trials import MultiTrial

    def rollout(env, keys):
        def one(key):
            _, state = env.reset(key)
            def step(state, key):
                actions = jax.random.randint(key, (env.num_agents,), 0, env.num_actions)
                observation, state, reward, done, info = env.step(key, state, actions)
                return state, (observation, reward, done, info)
            return jax.lax.scan(step, state, jax.random.split(key, 11))
        return jax.vmap(one)(keys)

    env = {env}
    keys = jax.random.split(jax.random.key(0), 16)
    alone = jax.jit(partial(rollout, env))(keys)
    for devices in (2, 8):
        sharded = jax.shard_map(
            partial(rollout, env),
            mesh=Mesh(np.array(jax.devices()[:devices]), ("data",)),
            in_specs=P("data"),
            out_specs=P("data"),
            check_vma=False,
        )
        assert not (bad := differing_leaves(alone, jax.jit(sharded)(keys))), bad
    print("same on", len(jax.devices()))
"""


@pytest.mark.parametrize(
    "env",
    [
        "MultiTrial(CountingGame(2, 1, 6), 2, 5)",
        pytest.param(
            "osj_envs.make('cleanup', num_agents=2, num_trials=2, trial_length=3)",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_sharded_over_devices_it_is_the_same(env):
    command = [sys.executable, "-c", textwrap.dedent(SHARDED).replace("{env}", env)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "same on 8", done.stderr[-3000:]
