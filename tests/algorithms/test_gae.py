"""Advantages: hand numbers, a slow reference, and nothing that leaks over an end."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algorithms.gae import advantages
from algorithms.records import Boundaries

TIME, ACTORS = 13, 3


def slow_advantages(reward, value, ends, last_value, discount, gae_lambda, crosses_trials):
    """For each step, the sum over all later steps up to the end that stops it; O(T²)."""
    result = np.zeros_like(reward)
    for actor in range(reward.shape[1]):
        for start in range(len(reward)):
            weight = 1.0
            for now in range(start, len(reward)):
                stops = ends.episode_end[now, actor]
                stops |= ends.trial_end[now, actor] and not crosses_trials
                is_last = now + 1 == len(reward)
                after = last_value[actor] if is_last else value[now + 1, actor]
                if stops:
                    is_cut = ends.time_limit[now, actor]
                    after = ends.final_value[now, actor] if is_cut else 0.0
                surprise = reward[now, actor] + discount * after - value[now, actor]
                result[start, actor] += weight * surprise
                weight *= discount * gae_lambda
                if stops:
                    break
    return result


def random_chunk(seed):
    """Rewards, values and every combination of flags."""
    rng = np.random.default_rng(seed)
    shape = (TIME, ACTORS)
    trial_end = rng.random(shape) < 0.4
    ends = Boundaries(
        trial_end=trial_end,
        episode_end=trial_end & (rng.random(shape) < 0.5),
        time_limit=rng.random(shape) < 0.5,
        final_value=rng.normal(size=shape).astype(np.float32),
    )
    reward, value = rng.normal(size=(2, *shape)).astype(np.float32)
    return reward, value, ends, rng.normal(size=ACTORS).astype(np.float32)


def as_jax(ends):
    return Boundaries(
        *map(jnp.asarray, (ends.trial_end, ends.episode_end, ends.time_limit, ends.final_value))
    )


def fast_advantages(reward, value, ends, last_value, *options):
    return np.asarray(advantages(jnp.asarray(reward), value, as_jax(ends), last_value, *options))


@given(st.integers(0, 2**31), st.booleans(), st.sampled_from([0.0, 0.7, 1.0]))
def test_as_the_slow_reference(seed, crosses_trials, gae_lambda):
    chunk = random_chunk(seed)
    options = (0.9, gae_lambda, crosses_trials)
    np.testing.assert_allclose(
        fast_advantages(*chunk, *options), slow_advantages(*chunk, *options), rtol=2e-5, atol=2e-5
    )


def test_hand_numbers():
    """Three steps, discount 1/2, lambda 1/2; the second ends an episode."""
    ends = Boundaries(
        trial_end=np.array([[False], [True], [False]]),
        episode_end=np.array([[False], [True], [False]]),
        time_limit=np.zeros((3, 1), bool),
        final_value=np.full((3, 1), 100.0, np.float32),
    )
    reward, value = np.array([[1.0], [2.0], [3.0]]), np.array([[4.0], [6.0], [2.0]])
    found = fast_advantages(reward, value, ends, np.array([8.0]), 0.5, 0.5, True)
    # 3 + 8/2 - 2 = 5; 2 - 6 = -4; 1 + 6/2 - 4 = 0, and a quarter of -4
    np.testing.assert_allclose(found[:, 0], [-1.0, -4.0, 5.0])


def one_end(kind):
    flags = {name: np.zeros((TIME, ACTORS), bool) for name in ("trial_end", "episode_end")}
    flags["trial_end"][6, 1] = True
    flags["episode_end"][6, 1] = kind == "episode"
    return flags


@pytest.mark.parametrize("is_cut", [False, True])
@pytest.mark.parametrize(
    ("kind", "crosses_trials", "leaks"),
    [
        ("episode", True, False),
        ("episode", False, False),
        ("trial", False, False),
        ("trial", True, True),
    ],
)
def test_nothing_leaks_over_an_end(kind, crosses_trials, leaks, is_cut):
    """What comes after an end changes the advantages before it exactly where it should."""
    reward, value, ends, last_value = random_chunk(seed=5)
    flags = one_end(kind)
    ends = ends.replace(time_limit=flags["trial_end"] & is_cut, **flags)
    options = (0.9, 0.95, crosses_trials)
    before = fast_advantages(reward, value, ends, last_value, *options)
    reward[7:, 1] += 1.0
    value[7:, 1] -= 2.0
    last_value[1] *= 3.0
    after = fast_advantages(reward, value, ends, last_value, *options)
    assert (before[:7, 1] == after[:7, 1]).all() != leaks
    assert (before[7:, 1] != after[7:, 1]).all()
    np.testing.assert_array_equal(before[:, [0, 2]], after[:, [0, 2]])


def test_a_cut_episode_counts_what_would_have_come():
    reward, value, ends, last_value = random_chunk(seed=6)
    ends = ends.replace(**one_end("episode"), time_limit=one_end("episode")["episode_end"])
    before = fast_advantages(reward, value, ends, last_value, 0.9, 0.95, True)
    final_value = ends.final_value.copy()
    final_value[6, 1] += 1.0
    ends = ends.replace(final_value=final_value)
    after = fast_advantages(reward, value, ends, last_value, 0.9, 0.95, True)
    np.testing.assert_allclose(after[6, 1] - before[6, 1], 0.9, rtol=1e-5)
    np.testing.assert_allclose(after[5, 1] - before[5, 1], 0.9 * 0.9 * 0.95, rtol=1e-4)
