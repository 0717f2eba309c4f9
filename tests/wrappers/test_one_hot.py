"""One-hot views say exactly what the codes say."""

import jax
import numpy as np
import pytest

import osj_envs
from osj_envs.wrappers import OneHotView


@pytest.fixture(scope="module")
def env():
    return osj_envs.make("cleanup", num_agents=3, num_trials=2, trial_length=2, initial_waste=0.5)


def decode(view: np.ndarray, highest: tuple[float, ...]) -> np.ndarray:
    """Codes from channels, plane by plane; each plane has exactly one channel set."""
    planes, start = [], 0
    for high in highest:
        block = view[..., start : start + int(high) + 1]
        assert (block.sum(axis=-1) == 1).all()
        planes.append(block.argmax(axis=-1))
        start += int(high) + 1
    assert start == view.shape[-1]
    return np.stack(planes, axis=-1)


def test_views_decode_to_the_codes_over_resets_and_steps(env) -> None:
    wrapped = OneHotView(env)
    assert wrapped.num_agents == 3
    key = jax.random.key(3)
    (obs, state), (hot, hot_state) = env.reset(key), wrapped.reset(key)
    highest = env.game.view_spec.high
    step, hot_step = jax.jit(env.step), jax.jit(wrapped.step)
    for step_key in jax.random.split(key, 5):
        assert wrapped.view_spec.contains(hot.view)
        np.testing.assert_array_equal(decode(np.asarray(hot.view), highest), obs.view)
        np.testing.assert_array_equal(hot.own, obs.own)
        actions = jax.random.randint(step_key, (3,), 0, env.num_actions)
        obs, state, _, done, info = step(step_key, state, actions)
        hot, hot_state, _, hot_done, hot_info = hot_step(step_key, hot_state, actions)
        assert done == hot_done
        final = decode(np.asarray(hot_info.final_observation.view), highest)
        np.testing.assert_array_equal(final, info.final_observation.view)
