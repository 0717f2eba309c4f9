"""Schelling diagrams: python baselines/schelling.py env=cleanup [key=value ...].

Plays every problem with 0, 1, ... all players cooperating, the seating shifted by one from each
problem to the next, and tells what cooperating and defecting pay, and which conditions of a
sequential social dilemma hold (paper, section 3.1). `cooperator` and `defector` are names of
scripted policies, with cooperator_options.NAME=VALUE, or cooperator=checkpoint:RUN_DIR.

Records, table.txt, schelling.csv, metrics.json and figure.png go into a folder that belongs to the
configuration: the same command goes on where it was stopped. The last line is one JSON object.
`--help` prints every key and every policy.
"""

import dataclasses
import json
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

from omegaconf import DictConfig

import osj_envs
from baselines.players import given, make_named, title_of, unset_options
from baselines.program import run_program
from baselines.schelling_games import Game, fingerprint, name_of, open_folder, play_all, write
from osj_envs import schelling
from osj_envs.compose import compose_config
from osj_envs.devices import prepare_backend
from osj_envs.env_config import env_schemas, make_env, read_env
from osj_envs.splits import check_split

INTERRUPTED = 130
"""The exit status of a program that was stopped by hand, as shells have it."""

_FACTS = ("cooperator", "cooperator_options", "defector", "defector_options", "split")
"""What the last line says of the players."""


@dataclasses.dataclass
class SchellingConfig:
    """A Schelling diagram.

    Attributes:
        env: what is played.
        cooperator: the player of k seats: a scripted policy's name, `checkpoint:PATH`, or an
            entry as in the files of `configs/seats`.
        defector: the player of the others, likewise.
        cooperator_options: of a scripted cooperator; those that are None are its own defaults.
        defector_options: of a scripted defector, likewise.
        num_problems: problems played with each number of cooperators.
        first_problem: seed of the first; the others follow it.
        split: where the problems come from, `held_out`, `train` or `all`.
        seed: of all chance but the problems'.
        batch_size: problems played at once, or None for what suits the machine.
        out: the folder of this diagram, by default one of its own in `directory`.
        directory: where that is made.
    """

    env: Any
    cooperator: Any = "cooperator"
    defector: Any = "defector"
    cooperator_options: dict[str, Any] = dataclasses.field(default_factory=unset_options)
    defector_options: dict[str, Any] = dataclasses.field(default_factory=unset_options)
    num_problems: int = 256
    first_problem: int = 0
    split: str = "held_out"
    seed: int = 0
    batch_size: int | None = None
    out: str | None = None
    directory: str = "runs"

    def __post_init__(self) -> None:
        check_split(self.split)
        if self.num_problems < 2:
            raise ValueError(f"num_problems is {self.num_problems}; intervals take at least 2.")


def main(arguments: Sequence[str] | None = None) -> int:
    """The program; returns its exit status."""
    try:
        return run_program(arguments, __doc__, _compose, run)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return INTERRUPTED


def run(config: SchellingConfig) -> dict[str, Any]:
    """Plays what is not there yet, writes, prints, and returns what the last line says."""
    game = make_game(config)
    about = describe(config, game)
    path = config.out or pathlib.Path(config.directory) / name_of(about)
    folder = open_folder(pathlib.Path(path).expanduser().resolve(), about)
    diagram = schelling.make_diagram(play_all(game, folder, config.batch_size), config.seed)
    facts = {"env": game.env.name, **{key: about[key] for key in _FACTS}}
    write(folder, diagram, facts, title=_title(config))
    result = {**facts, **schelling.as_json(diagram), "run_dir": str(folder)}
    print(schelling.table(diagram), json.dumps(result), sep="\n\n")
    return result


def make_game(config: SchellingConfig) -> Game:
    """The environment and both players.

    Raises:
        ValueError: there is no such player.
    """
    env = make_env(read_env(config.env), is_training=False)
    return Game(
        env=env,
        cooperator=make_named(config.cooperator, env, given(config.cooperator_options)),
        defector=make_named(config.defector, env, given(config.defector_options)),
        split=check_split(config.split),
        problem_seeds=range(config.first_problem, config.first_problem + config.num_problems),
        seed=config.seed,
    )


def describe(config: SchellingConfig, game: Game) -> dict[str, Any]:
    """All that the records depend on, as JSON holds it."""
    env = read_env(config.env)
    about = {
        "osj": osj_envs.__version__,
        "env": {"name": env.name, "version": game.env.game.version, **env.options},
        "cooperator": config.cooperator,
        "cooperator_options": given(config.cooperator_options),
        "cooperator_arrays": fingerprint(game.cooperator),
        "defector": config.defector,
        "defector_options": given(config.defector_options),
        "defector_arrays": fingerprint(game.defector),
        "split": config.split,
        "num_problems": config.num_problems,
        "first_problem": config.first_problem,
        "seed": config.seed,
    }
    content: dict[str, Any] = json.loads(json.dumps(about, default=str))
    return content


def _title(config: SchellingConfig) -> str:
    cooperator = title_of(config.cooperator, given(config.cooperator_options))
    defector = title_of(config.defector, given(config.defector_options))
    return f"{config.env['name']}: {cooperator}, {defector}"


def _compose(arguments: Sequence[str]) -> DictConfig:
    schemas = {"schelling_schema": SchellingConfig, **env_schemas()}
    return compose_config("schelling", arguments, schemas)


if __name__ == "__main__":
    prepare_backend()
    sys.exit(main())
