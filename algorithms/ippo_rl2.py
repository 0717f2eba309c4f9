"""Trains RL² agents by independent PPO: python algorithms/ippo_rl2.py env=cleanup [key=value ...].

Configuration groups are the folders of `configs/`: env, agent, scale, reward, logging. A member
is taken by group=member (agent=evidence), a single value by group.key=value
(agent.ppo.entropy=0.02). `--help` prints every key with its value.
"""

import dataclasses
import json
import sys
import time
from collections.abc import Iterator, Sequence

import jax
import numpy as np
from omegaconf import OmegaConf

from algorithms.compose import ConfigError, compose_config, load_train_config
from algorithms.config import TrainConfig, make_env
from algorithms.devices import prepare_backend
from algorithms.learner import Learner, Metrics, make_learner
from algorithms.records import LearnerState


@dataclasses.dataclass(frozen=True)
class Progress:
    """Where a run stands after an update.

    Attributes:
        state: of the learner; the next update consumes it, so copy what is to be kept.
        update: how many updates are done, those before a resume included.
        figures: by name; see `readable`.
    """

    state: LearnerState
    update: int
    figures: dict[str, float]


def main(arguments: Sequence[str] | None = None) -> int:
    """The program; returns its exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if {"-h", "--help"} & set(arguments):
        print(__doc__, OmegaConf.to_yaml(compose_config("config", [])), sep="\n")
        return 0
    try:
        config = load_train_config(arguments)
        prepare_backend(config.distributed)
        run(config)
    except (ConfigError, ValueError, TypeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def run(config: TrainConfig) -> LearnerState:
    """Trains, and reports on the way; returns the last state."""
    learner = make_learner(config, make_env(config.env, is_training=True))
    state = learner.init(config.seed)
    for progress in train(learner, state):
        state = progress.state
        if progress.update % config.logging.every == 0:
            print(json.dumps({"update": progress.update, **progress.figures}), flush=True)
    return state


def train(learner: Learner, state: LearnerState) -> Iterator[Progress]:
    """Updates from where `state` stands to the end of the run, one at a time."""
    update = learner.compile_update()
    for done in range(int(state.updates) + 1, learner.num_updates + 1):
        start = time.perf_counter()
        state, metrics = update(state)
        metrics = jax.device_get(metrics)
        seconds = time.perf_counter() - start
        speed = {
            "agent_steps": float(done * learner.agent_steps_per_update),
            "agent_steps_per_second": learner.agent_steps_per_update / seconds,
        }
        yield Progress(state, done, {**speed, **readable(metrics)})


def readable(metrics: Metrics) -> dict[str, float]:
    """Single numbers: figures by trial as `name/1` and so on, those of no finished trial left out."""
    flat: dict[str, float] = {}
    for name, value in metrics.items():
        if np.ndim(value):
            flat |= {f"{name}/{trial}": float(x) for trial, x in enumerate(value, start=1)}
        else:
            flat[name] = float(value)
    return {name: value for name, value in flat.items() if not np.isnan(value)}


if __name__ == "__main__":
    sys.exit(main())
