"""Agent-steps a second while training with `scale=quick`, one epoch, and where the time goes."""

from typing import Any

import pytest

import osj_envs
from algorithms.compose import load_train_config
from algorithms.config import MEMORIES
from algorithms.learner import make_learner
from algorithms.timing import time_shares
from osj_envs.env_config import make_env

OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in MEMORIES if name != "gru"]


@pytest.mark.parametrize("game", osj_envs.list_ids())
@pytest.mark.parametrize("memory", ["gru", *OTHERS])
def test_training(benchmark: Any, memory: str, game: str) -> None:
    one_epoch = "agent.ppo.epochs=1"
    config = load_train_config([f"env={game}", f"agent.memory={memory}", one_epoch])
    learner = make_learner(config, make_env(config.env, is_training=True))
    figures: dict[str, float] = {}
    benchmark.pedantic(lambda: figures.update(time_shares(learner)), rounds=1)
    benchmark.extra_info.update({name: round(value, 3) for name, value in figures.items()})
    shares = ", ".join(f"{name} {figures[name]:.0%}" for name in list(figures)[1:])
    rate = figures["agent_steps_per_second"]
    print(f"\n{game}, {memory}: {rate:,.0f} agent-steps a second; {shares}")
    assert all(value > 0 for value in figures.values())
