"""Evaluates scripted players: python baselines/evaluate.py env=cleanup policy=random [key=value].

Prints a table, and the same figures as one JSON object in the last line. A policy's options are
given as policy_options.keep=2. Configuration groups are the folders of `configs/`: env; seats for a
mixed roster; bounds for the position between two other players, played on the same problems.
`--help` prints every key and every policy.
"""

import dataclasses
import json
import sys
from collections.abc import Sequence
from typing import Any

import jax
from omegaconf import DictConfig

from baselines.players import given, make_named, unset_options
from baselines.program import run_program
from osj_envs.compose import compose_config, to_record
from osj_envs.devices import prepare_backend
from osj_envs.env_config import env_schemas, make_env, read_env
from osj_envs.evaluation import evaluate
from osj_envs.metrics import as_json, summarise, table
from osj_envs.paired import make_bounds, place
from osj_envs.roster import make_roster
from osj_envs.seats import Policy, Roster
from osj_envs.splits import check_split
from osj_envs.trials import MultiTrial


@dataclasses.dataclass
class EvaluationConfig:
    """An evaluation of scripted players.

    Attributes:
        env: the environment, as it is evaluated.
        policy: the player of every seat: a scripted policy's name, or `checkpoint:PATH`.
        policy_options: of that player; those that are None are its own defaults.
        seats: a roster in its place (see `configs/seats`).
        bounds: two further players, between which the position is told (see `configs/bounds`).
        num_problems: problems played.
        first_problem: seed of the first; the others follow it.
        split: where the problems come from, `held_out`, `train` or `all`.
        wipe_at_trial: players forget everything at every trial's start.
        rotate: the seating shifts by one from each problem seed to the next.
        seed: of all chance but the problems'.
        batch_size: problems played at once, or None for what suits the machine.
    """

    env: Any
    policy: str = "random"
    policy_options: dict[str, Any] = dataclasses.field(default_factory=unset_options)
    seats: Any = None
    bounds: Any = None
    num_problems: int = 256
    first_problem: int = 0
    split: str = "held_out"
    wipe_at_trial: bool = False
    rotate: bool = False
    seed: int = 0
    batch_size: int | None = None

    def __post_init__(self) -> None:
        check_split(self.split)
        if self.num_problems < 1:
            raise ValueError(f"num_problems is {self.num_problems}; it must be at least 1.")


def main(arguments: Sequence[str] | None = None) -> int:
    """The program; returns its exit status."""
    return run_program(arguments, __doc__, _compose, run)


def load_config(arguments: Sequence[str]) -> EvaluationConfig:
    """The evaluation that a command line asks for.

    Raises:
        ConfigError: an unknown key or group member, or a value that is not allowed.
    """
    return to_record(_compose(arguments))


def run(config: EvaluationConfig) -> dict[str, Any]:
    """Plays, prints, and returns what the last line says."""
    env = make_env(read_env(config.env), is_training=False)
    key, split = jax.random.key(config.seed), check_split(config.split)
    roster = _roster(config, env)
    bounds = make_bounds(config.bounds, env) if config.bounds else None
    record = evaluate(
        env,
        roster,
        key,
        range(config.first_problem, config.first_problem + config.num_problems),
        config.batch_size,
        split=split,
        wipe_at_trial=config.wipe_at_trial,
        rotate=config.rotate,
    )
    further = [place(bounds, env, record, key, split)] if bounds else []
    metrics = summarise(env.game, record, config.seed, further)
    result = {"env": env.name, **_players(config), "split": config.split, **as_json(metrics)}
    print(table(metrics))
    print(json.dumps(result))
    return result


def _compose(arguments: Sequence[str]) -> DictConfig:
    schemas = {"baseline_schema": EvaluationConfig, **env_schemas()}
    return compose_config("baseline", arguments, schemas)


def _roster(config: EvaluationConfig, env: MultiTrial) -> Policy | Roster:
    if config.seats:
        return make_roster(config.seats, env)
    return make_named(config.policy, env, given(config.policy_options))


def _players(config: EvaluationConfig) -> dict[str, Any]:
    """Who played, for the last line."""
    bounds = {"bounds": config.bounds} if config.bounds else {}
    if config.seats:
        return {"seats": config.seats, **bounds}
    return {
        "policy": config.policy,
        "policy_options": given(config.policy_options),
        **bounds,
    }


if __name__ == "__main__":
    prepare_backend()
    sys.exit(main())
