"""The smallest training runs of OpenCleanup, for the tests of everything around the learner."""

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

from algorithms.compose import load_train_config
from algorithms.config import TrainConfig
from algorithms.learner import Learner, make_learner
from osj_envs.env_config import make_env

ROOT = pathlib.Path(__file__).resolve().parents[2]

SIZES = {
    "env.num_agents": 2,
    "env.num_trials": 2,
    "env.trial_length": 7,
    "scale.num_envs": 8,
    "scale.chunk_length": 5,
    "scale.agent_steps": 480,
    "agent.hidden_size": 6,
    "agent.embedding_size": 2,
    "agent.view_size": 11,
    "agent.own_size": 3,
    "agent.head_size": 13,
    "agent.ppo.minibatches": 2,
    "agent.ppo.epochs": 1,
    "evaluation.every": 3,
    "evaluation.problems": 4,
    "evaluation.final_problems": 5,
    "evaluation.controls": False,
    "logging.wandb": "disabled",
}
"""Six updates of 80 agent-steps; no two sizes of the network are equal."""


def tiny_arguments(**changes: Any) -> list[str]:
    """A command line; changes are keys with __ for the dot."""
    changed = {key.replace("__", "."): value for key, value in changes.items()}
    return [f"{key}={_text(value)}" for key, value in {**SIZES, **changed}.items()]


def make_tiny_config(**changes: Any) -> TrainConfig:
    """The configuration of that command line."""
    return load_train_config(tiny_arguments(**changes))


def make_tiny_learner(**agent: Any) -> tuple[Learner, TrainConfig]:
    """A learner, and its configuration; options are those of the agent."""
    config = make_tiny_config(**{f"agent__{key}": value for key, value in agent.items()})
    return make_learner(config, make_env(config.env, is_training=True)), config


def start_program(
    program: str, arguments: list[str], devices: int = 2, **environment: str
) -> "subprocess.Popen[str]":
    """Starts `python <program> <arguments>`, a program of the suite."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / program), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "JAX_NUM_CPU_DEVICES": str(devices),
            **environment,
        },
    )


def run_program(program: str, arguments: list[str], **options: Any) -> "Finished":
    """Runs a program of the suite to its end."""
    process = start_program(program, arguments, **options)
    output, errors = process.communicate(timeout=600)
    return Finished(process.returncode, output, errors)


class Finished:
    """A program that has ended."""

    def __init__(self, status: int, output: str, errors: str) -> None:
        self.status, self.output, self.errors = status, output, errors

    def last_line(self) -> dict[str, Any]:
        """The last line of its output, which must be a JSON object."""
        assert self.status == 0, self.errors
        result: dict[str, Any] = json.loads(self.output.splitlines()[-1])
        return result


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
