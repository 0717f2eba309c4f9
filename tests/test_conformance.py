"""The promises that every environment makes, over every registered one and over the fake."""

import functools

import jax
import jax.numpy as jnp
import pytest

import osj_envs
from osj_envs.testing.conformance import CHECKS, check_boundaries, check_no_auto_reset
from osj_envs.testing.fakes import CountingGame
from osj_envs.trials import MultiTrial


def make_counting(num_agents=2, **protocol):
    if num_agents < 1:
        raise ValueError(f"num_agents is {num_agents}.")
    return MultiTrial(CountingGame(num_agents), **protocol)


MAKERS = {name: functools.partial(osj_envs.make, name) for name in osj_envs.list_ids()}
MAKERS |= {"counting": make_counting}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conformance(check, name):
    check(MAKERS[name])


def plainly(condition, function, otherwise, *operands):
    return jax.lax.cond(condition, lambda: function(*operands), lambda: otherwise)


@pytest.mark.parametrize("name", MAKERS)
def test_no_key_is_used_twice_where_a_trial_or_an_episode_begins(name, monkeypatch):
    """The checker does not look into `rarely`, so a plain condition stands in for it."""
    monkeypatch.setattr("osj_envs.trials.rarely", plainly)
    env = MAKERS[name](num_agents=3, num_trials=2, trial_length=1)
    with jax.debug_key_reuse(True):
        state = jax.jit(env.reset)(jax.random.key(0))[1]
        jax.jit(env.step)(jax.random.key(1), state, jnp.zeros(3, jnp.int32))


class Forgetful(MultiTrial):
    """Carries a leaf of the world over a trial's end."""

    def _begin_trial(self, key, ended):
        state = super()._begin_trial(key, ended)
        content = state.world.content.replace(total=ended.world.content.total)
        return state.replace(world=state.world.replace(content=content))


class Generous(MultiTrial):
    """Pays after the episode's end."""

    def step(self, key, state, actions):
        observation, state, reward, done, info = super().step(key, state, actions)
        return observation, state, reward + 1.0, done, info


@pytest.mark.parametrize(
    ("broken", "check"), [(Forgetful, check_boundaries), (Generous, check_no_auto_reset)]
)
def test_the_checks_can_fail(broken, check, monkeypatch):
    monkeypatch.setattr("osj_envs.testing.conformance.MultiTrial", broken)
    with pytest.raises(AssertionError):
        check(lambda num_agents=2, **protocol: broken(CountingGame(num_agents), **protocol))
