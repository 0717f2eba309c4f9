"""What trial boundaries and auto-reset cost: at most 1.3 times a step without them."""

import dataclasses
import time
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import osj_envs
from osj_envs.testing import workloads
from osj_envs.trials import MultiTrial
from osj_envs.types import Clock, Info, State

COUNT, STEPS, ROUNDS = 1024, 100, 7


class Endless(MultiTrial):
    """The same environment with no boundary ever looked at."""

    def step(self, key: Any, state: State, actions: Any) -> tuple[Any, ...]:
        world_key, _ = jax.random.split(key)
        played = self.game.step_world(
            world_key, state.latent, state.world, state.clock.step, actions
        )
        clock = state.clock.replace(step=state.clock.step + 1)
        observation = self.game.observe(played.world, clock)
        false = jnp.bool_(False)
        info = Info(state.clock.trial, state.clock.step, false, observation, None, {})
        next_state = state.replace(world=played.world, clock=clock)
        return observation, next_state, played.reward, false, info


@pytest.mark.parametrize("is_staggered", [False, True], ids=["together", "staggered"])
@pytest.mark.parametrize("name", osj_envs.list_ids())
def test_boundaries_cost_little(benchmark: Any, name: str, is_staggered: bool) -> None:
    env = osj_envs.make(name)
    keys, states = workloads.reset_all(env, COUNT)
    clock = _spread(env) if is_staggered else _near_the_end(env)
    states = dataclasses.replace(states, clock=clock)
    plays = {
        "plain": workloads.random_play(Endless(env.game), COUNT, STEPS),
        "crossing": workloads.random_play(env, COUNT, STEPS),
    }
    compiled = {kind: play.lower(keys, states).compile() for kind, play in plays.items()}
    best = dict.fromkeys(plays, float("inf"))
    for _ in range(ROUNDS):
        for kind, play in compiled.items():
            start = time.perf_counter()
            jax.block_until_ready(play(keys, states))
            best[kind] = min(best[kind], time.perf_counter() - start)
    benchmark.pedantic(lambda: jax.block_until_ready(compiled["crossing"](keys, states)), rounds=1)
    ratio = best["crossing"] / best["plain"]
    benchmark.extra_info["ratio"] = round(ratio, 3)
    print(f"\n{benchmark.name}: {ratio:.2f} times a plain step")
    assert ratio <= 1.3


def _near_the_end(env: MultiTrial) -> Clock:
    """Clocks that all reach the episode's end halfway through the steps timed."""
    step = jnp.full(COUNT, env.trial_length - STEPS // 2)
    return Clock(trial=jnp.full(COUNT, env.num_trials - 1), step=step)


def _spread(env: MultiTrial) -> Clock:
    """Clocks all over an episode, so that some trial ends at every step."""
    at = jnp.arange(COUNT) * env.episode_length // COUNT
    return Clock(trial=at // env.trial_length, step=at % env.trial_length)
