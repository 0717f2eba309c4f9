"""Environment steps a second of a fair scripted player in the evaluation."""

from typing import Any

import jax
import pytest

import osj_envs
from baselines import registry
from osj_envs.evaluation import CPU_BATCH, evaluate

PLAYERS = {"cleanup": "cleaner", "harvest": "greedy"}


@pytest.mark.parametrize("game", PLAYERS)
def test_scripted_player(benchmark: Any, game: str) -> None:
    env = osj_envs.make(game, num_trials=1, trial_length=100)
    policy = registry.make(PLAYERS[game], env)
    count = CPU_BATCH * len(jax.devices())

    def play() -> None:
        evaluate(env, policy, jax.random.key(0), range(count), batch_size=count)

    benchmark.pedantic(play, rounds=3, warmup_rounds=1)
    rate = count * env.episode_length / benchmark.stats.stats.median
    benchmark.extra_info["env_steps_per_second"] = round(rate)
    print(f"\n{game}, {PLAYERS[game]}: {rate:,.0f} env_steps_per_second")
