"""One job for each unfinished game of an experiment, started by a launcher of hydra.

A launcher plays the jobs one after the other here, side by side here, or on a cluster; hydra's
options choose it (`hydra/launcher=slurm`) and set it up (`hydra.launcher.partition=cpu`).
"""

import importlib.metadata
import itertools
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import hydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig

from llm_eval.experiment import ExperimentConfig, Game, list_games, list_teams, make_played
from llm_eval.play import STOPPED, load_config, play
from llm_eval.players import make_cast
from llm_eval.records import DONE, is_held
from osj_envs.compose import CONFIG_DIR, ConfigError

PROGRAM = "llm_eval.run"
"""What a job runs, with arguments of its own."""

SUBMITIT = "hydra-submitit-launcher"
"""The package behind the launchers whose name has a part of `NEED_SUBMITIT`."""

NEED_SUBMITIT = ("slurm", "submitit")


@dataclass(frozen=True)
class Wanted:
    """An experiment, one of those that a command line with sweeps asks for.

    Attributes:
        arguments: without sweeps.
        config: that they make.
        games: that it plays.
    """

    arguments: tuple[str, ...]
    config: ExperimentConfig
    games: tuple[Game, ...]


def launch(arguments: Sequence[str]) -> int:
    """Plays the unfinished games in jobs, then prints what all came to; the exit status.

    Args:
        arguments: of the program; hydra's own options and sweeps (`env=cleanup,harvest`) among
            them.

    Raises:
        ConfigError: an unknown key or group member, or a value that is not allowed.
        ValueError: a team cannot be played, two games would share a folder, or the launcher is not
            installed.
    """
    options = [each for each in arguments if each.startswith(("hydra/", "hydra."))]
    _check_installed(options)
    wanted = [_wanted(each) for each in _without_sweeps([a for a in arguments if a not in options])]
    _check_folders(wanted)
    jobs = [_job(each, game) for each in wanted for game in each.games if _is_open(game)]
    if jobs:
        print(f"Jobs, one for each unfinished game: {len(jobs)}.", file=sys.stderr)
        _start(jobs, wanted[0].config.directory, options)
    left = [game for each in wanted for game in each.games if not _is_done(game)]
    if left:
        total = sum(len(each.games) for each in wanted)
        print(
            f"{len(left)} of {total} games have not come to their end; --status tells where they "
            "are, and the same command goes on from there.",
            file=sys.stderr,
        )
        return STOPPED
    return max(play(each.config) for each in wanted)


@hydra.main(config_path=str(CONFIG_DIR), config_name="llm_eval_jobs", version_base="1.3")
def run_job(config: DictConfig) -> int:
    """Runs a job to its end; its exit status. Called without a configuration, it launches all."""
    return subprocess.run([sys.executable, "-m", PROGRAM, *config.job]).returncode


def _start(jobs: Sequence[Sequence[str]], directory: str, options: Sequence[str]) -> None:
    """Has hydra start the jobs, and waits for their end."""
    lists = ",".join(f"[{','.join(map(_quoted, job))}]" for job in jobs)
    before = sys.argv
    # hydra reads its options from the command line alone
    sys.argv = [*before[:1], "--multirun", f"directory={_quoted(directory)}", *options]
    sys.argv.append(f"job={lists}")
    try:
        run_job()
    finally:
        sys.argv = before


def _quoted(text: str) -> str:
    """The text as a value that hydra takes as it is."""
    plain = re.sub(r"(\\*)('|\Z)", lambda found: found[1] * 2 + found[2].replace("'", "\\'"), text)
    return f"'{plain}'".replace("${", "\\${")


def _wanted(arguments: tuple[str, ...]) -> Wanted:
    config = load_config(arguments)
    env = make_played(config)
    teams = list_teams(config, env)
    make_cast(config, env, teams)  # what cannot be played is told before any job
    return Wanted(arguments, config, tuple(list_games(config, env, teams)))


def _job(wanted: Wanted, game: Game) -> list[str]:
    """The arguments that play one game alone."""
    chosen = [f"only=[{_quoted(game.team.name)}]", f"problem_seeds=[{game.problem_seed}]"]
    return [*wanted.arguments, *chosen]


def _is_done(game: Game) -> bool:
    return (game.path / DONE).exists()


def _is_open(game: Game) -> bool:
    """Whether a game is to be played, and nobody plays it now."""
    if _is_done(game):
        return False
    if is_held(game.path):
        print(f"{game.path} is being played by another process.", file=sys.stderr)
        return False
    return True


def _without_sweeps(arguments: Sequence[str]) -> list[tuple[str, ...]]:
    """Every combination of what the arguments sweep over."""
    try:
        overrides = OverridesParser.create().parse_overrides([a.lstrip("-") for a in arguments])
    except HydraException as error:
        raise ConfigError(f"{str(error).splitlines()[0]}; an override reads key=value.") from error
    return list(itertools.product(*map(_choices, overrides)))


def _choices(override: Override) -> list[str]:
    if not override.is_sweep_override():
        return [str(override.input_line)]
    return [f"{override.key_or_group}={value}" for value in override.sweep_string_iterator()]


def _check_folders(wanted: Sequence[Wanted]) -> None:
    """Raises ValueError if two games would be played into one folder."""
    owner: dict[object, Wanted] = {}
    for each in wanted:
        for game in each.games:
            other = owner.setdefault(game.path, each)
            if other is not each:
                raise ValueError(
                    f"{' '.join(each.arguments)} and {' '.join(other.arguments)} would both be "
                    f"played into {game.path}; give each a title of its own, such as "
                    "title='mine-${seed}'."
                )


def _check_installed(options: Sequence[str]) -> None:
    """Raises ValueError if the launcher's package is missing."""
    chosen = [each for each in options if each.startswith("hydra/launcher=")]
    if not any(name in each for each in chosen for name in NEED_SUBMITIT):
        return
    try:
        importlib.metadata.version(SUBMITIT)
    except importlib.metadata.PackageNotFoundError as error:
        message = f"{chosen[-1]} needs the package {SUBMITIT}; pip install 'osj[llm]'."
        raise ValueError(message) from error
