"""Learners of probe environments, small enough to learn within seconds."""

from typing import Any

import jax
import numpy as np

from algorithms.config import (
    AgentConfig,
    EnvConfig,
    PPOConfig,
    RewardConfig,
    ScaleConfig,
    TrainConfig,
)
from algorithms.learner import Learner, Metrics, make_learner
from algorithms.records import LearnerState
from osj_envs.env import Environment
from osj_envs.trials import MultiTrial

SMALL = {"hidden_size": 32, "view_size": 31, "own_size": 7, "head_size": 29, "record_size": 13}


def make_config(
    num_envs: int = 64,
    chunk_length: int = 21,
    ppo: dict[str, Any] | None = None,
    reward: dict[str, Any] | None = None,
    staggered: bool = True,
    **agent: Any,
) -> TrainConfig:
    """A run's configuration; what is not said of the agent is small."""
    return TrainConfig(
        env=EnvConfig("cleanup", {}, {}),
        agent=AgentConfig(
            **{**SMALL, **agent}, ppo=PPOConfig(**{"learning_rate": 3e-3, **(ppo or {})})
        ),
        scale=ScaleConfig(num_envs=num_envs, chunk_length=chunk_length, staggered=staggered),
        reward=RewardConfig(**(reward or {})),
    )


def make_probe_learner(
    game: Environment, num_trials: int, trial_length: int, **options: Any
) -> Learner:
    """A learner of episodes of a probe; `options` are those of `make_config`."""
    return make_learner(make_config(**options), MultiTrial(game, num_trials, trial_length))


def learn(learner: Learner, updates: int, seed: int = 0) -> tuple[LearnerState, list[Metrics]]:
    """The state after some updates from scratch, and each update's metrics."""
    update = learner.compile_update()
    state = learner.init(seed)
    history = []
    for _ in range(updates):
        state, metrics = update(state)
        history.append(jax.device_get(metrics))
    return state, history


def mean_of_last(history: list[Metrics], name: str, updates: int = 10) -> np.ndarray:
    """A metric's mean over the last updates."""
    return np.nanmean([metrics[name] for metrics in history[-updates:]], axis=0)
