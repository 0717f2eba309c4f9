"""Evaluates a checkpoint: python algorithms/evaluate.py checkpoint=RUN_DIR [key=value ...].

`checkpoint` is the folder of a run, or one of the folders in its `checkpoints`. The environment is
that of the run; env.trial_length=300 changes it for this evaluation. bounds=harvest tells where the
agent stands between two scripted players (a file of `configs/bounds`). Table, figure and numbers go
into a new folder within the run's. The last line is one JSON object with all figures by name.
`--help` prints every key with its value.
"""

import dataclasses
import json
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf

from algorithms import report
from algorithms.checkpointing import Which, find_checkpoint, load_about
from algorithms.config import TrainConfig, check_choice, check_range
from algorithms.controls import AGENT, make_matches
from algorithms.policy import load_policy
from algorithms.runs import new_folder
from algorithms.serialisation import plain
from osj_envs.compose import ConfigError, compose_config, to_record
from osj_envs.devices import prepare_backend
from osj_envs.env_config import env_schemas, make_env, read_env
from osj_envs.paired import make_bounds
from osj_envs.splits import check_split


@dataclasses.dataclass
class EvaluateConfig:
    """An evaluation by itself.

    Attributes:
        env: what is played, by default what the checkpoint was trained on.
        checkpoint: folder of a run or of a checkpoint.
        which: of a run's checkpoints, `latest` or `best`.
        split: where the problems' latents come from, one of `osj_envs.types.Split`.
        num_problems: problem seeds 0 up to this.
        controls: play the controls, too.
        bounds: two players, between which the agent's position is told (see `configs/bounds`).
        seed: of all chance beside the problems'.
    """

    env: Any
    checkpoint: str | None = None
    which: str = "latest"
    split: str = "held_out"
    num_problems: int = 256
    controls: bool = True
    bounds: Any = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_split(self.split)
        check_choice("which", self.which, ("latest", "best"))
        check_range("num_problems", self.num_problems, 1)
        if not self.checkpoint:
            raise ValueError("checkpoint=PATH is missing: the folder of a run or of a checkpoint.")


def main(arguments: Sequence[str] | None = None) -> int:
    """The program; returns its exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        if {"-h", "--help"} & set(arguments):
            print(__doc__, OmegaConf.to_yaml(_compose([])), sep="\n")
            return 0
        prepare_backend()
        evaluate_checkpoint(arguments)
    except (ConfigError, ValueError, TypeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def evaluate_checkpoint(arguments: Sequence[str]) -> None:
    """Plays, prints and writes."""
    asked: EvaluateConfig = to_record(_compose(arguments))
    which: Which = "best" if asked.which == "best" else "latest"
    folder = find_checkpoint(str(asked.checkpoint), which)
    config = played_config(load_about(folder).config, arguments)
    env = make_env(config.env, is_training=False)
    policy = load_policy(str(folder), env.game)
    run = run_of(folder)
    matches = make_matches(config, policy, check_split(asked.split), asked.controls)
    if asked.bounds:
        bounds = make_bounds(asked.bounds, env)
        matches[AGENT] = dataclasses.replace(matches[AGENT], bounds=bounds)
    seeds = range(asked.num_problems)
    results = report.play_all(matches, seeds, asked.seed, run / "metrics.jsonl")
    output = new_folder(run, "evaluation")
    facts = {"checkpoint": str(folder), "run_dir": str(run), "output_dir": str(output)}
    numbers = report.write(output, results, {"split": asked.split, **facts})
    print(report.for_terminal(results), report.last_line(numbers), sep="\n\n")


def played_config(config: TrainConfig, arguments: Sequence[str]) -> TrainConfig:
    """The configuration of a checkpoint's run, with the environment that is to be played.

    Raises:
        ConfigError: the arguments ask for another environment.
    """
    own = config.env
    chosen = [argument for argument in arguments if argument.lstrip("-").startswith("env=")]
    for argument in chosen:
        name = argument.partition("=")[2]
        if name != own.name:
            raise ConfigError(f"The checkpoint is of {own.name!r} and cannot play {name!r}.")
    stored = [f"env.{key}={json.dumps(value)}" for key, value in own.options.items()]
    stored += [f"env.training.{key}={json.dumps(value)}" for key, value in own.training.items()]
    rest = [argument for argument in arguments if argument not in chosen]
    node = _compose([f"env={own.name}", *stored, *rest])
    return dataclasses.replace(config, env=read_env(plain(node.env)))


def _compose(arguments: Sequence[str]) -> DictConfig:
    schemas = {"evaluate_schema": EvaluateConfig, **env_schemas()}
    return compose_config("evaluate", arguments, schemas)


def run_of(checkpoint: pathlib.Path) -> pathlib.Path:
    """The folder of the run that a checkpoint belongs to, or the one that it lies in."""
    parent = checkpoint.parent
    return parent.parent if parent.name == "checkpoints" else parent


if __name__ == "__main__":
    sys.exit(main())
