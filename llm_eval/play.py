"""Plays what is left of an experiment, and prints what all its games came to."""

import asyncio
import contextlib
import json
import pathlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from omegaconf import DictConfig
from rich.console import Console
from rich.live import Live
from rich.table import Table

from llm_eval.clients.connect import Endpoints
from llm_eval.clients.errors import ClientError
from llm_eval.experiment import (
    ExperimentConfig,
    Game,
    list_games,
    list_teams,
    make_played,
)
from llm_eval.game import Played, Stage
from llm_eval.keyboard import Keyboard, Person, check_terminal
from llm_eval.outcome import summarise
from llm_eval.players import Cast, make_cast
from llm_eval.records import DONE
from llm_eval.status import status_table
from osj_envs.compose import compose_config, to_record
from osj_envs.env_config import env_schemas
from osj_envs.metrics import TABLE_WIDTH
from osj_envs.trials import MultiTrial

STOPPED, WRONG, INTERRUPTED = 1, 2, 130
"""Exit statuses: some runs stopped before their end; wrong arguments; stopped by hand."""

REFRESHES = 2
"""Live tables a second."""


def load_config(arguments: Sequence[str]) -> ExperimentConfig:
    """The experiment that a command line asks for.

    Raises:
        ConfigError: an unknown key or group member, or a value that is not allowed.
    """
    config: ExperimentConfig = to_record(compose(arguments))
    return config


def compose(arguments: Sequence[str]) -> DictConfig:
    """The same with nothing but its keys checked.

    Raises:
        ConfigError: an unknown key or group member.
    """
    schemas: dict[str, Any] = {"llm_eval_schema": ExperimentConfig, **env_schemas()}
    return compose_config("llm_eval", arguments, schemas)


def play(config: ExperimentConfig) -> int:
    """Plays what is left to play, and prints what all games came to; the exit status."""
    env = make_played(config)
    teams = list_teams(config, env)
    games = list_games(config, env, teams)
    cast = make_cast(config, env, teams)
    with _person(cast, env, games) as person:
        stage = Stage(config, env, cast, Endpoints(), person)
        ended = asyncio.run(_play_all(stage, games))
    stopped = {game: end for game, end in ended.items() if isinstance(end, Exception)}
    for game, error in stopped.items():
        print(f"{game.path}: {error}", file=sys.stderr)
    if stopped:
        print(
            f"{len(stopped)} of {len(games)} games did not come to their end; the same command "
            "goes on from there.",
            file=sys.stderr,
        )
        return STOPPED
    played = {team: [each for game, each in _played(ended) if game.team == team] for team in teams}
    tables, values = summarise(env.game, played, config.seed)
    facts: dict[str, Any] = {"env": env.name, "experiment": config.title, "reveal": config.reveal}
    print(tables)
    if (stop := config.stop_after_trials) is not None:
        print(f"Stopped after trial {stop} of {env.num_trials}.")
        facts["stopped_after_trials"] = stop
    print(json.dumps({**facts, "problem_seeds": config.problem_seeds, **values}))
    return 0


@contextlib.contextmanager
def _person(cast: Cast, env: MultiTrial, games: Sequence[Game]) -> Iterator[Person | None]:
    """Who is at the keyboard, if anybody has something to play there."""
    if not cast.has_human or all((game.path / DONE).exists() for game in games):
        yield None
        return
    check_terminal(sys.stdin)
    console = Console(stderr=True)
    console.print("The game is being prepared, which takes up to a minute.")
    with Keyboard(sys.stdin) as keys:
        yield Person(keys, console, env.name)


async def _play_all(stage: Stage, games: Sequence[Game]) -> dict[Game, Played | Exception]:
    """Every game's end; one that stops does not stop the others.

    Where a person plays, games are played one by one and the screen is theirs.
    """
    places = asyncio.Semaphore(1 if stage.person else stage.config.games_at_once)

    async def end_of(game: Game) -> Played | Exception:
        async with places:
            try:
                return await stage.play(game)
            except (ClientError, ValueError) as error:
                return error

    root = pathlib.Path(stage.config.directory)

    def picture() -> Table:
        return status_table(list(stage.status.values()), root)

    console = wide(Console(stderr=True))
    live = Live(get_renderable=picture, console=console, refresh_per_second=REFRESHES)
    async with stage.endpoints:
        with contextlib.nullcontext() if stage.person else live:
            ends = await asyncio.gather(*(end_of(game) for game in games))
    return dict(zip(games, ends, strict=True))


def wide(console: Console) -> Console:
    """The console, wide enough for a table where it is no terminal."""
    if not console.is_terminal:
        console.width = TABLE_WIDTH
    return console


def _played(ended: dict[Game, Played | Exception]) -> list[tuple[Game, Played]]:
    return [(game, end) for game, end in ended.items() if isinstance(end, Played)]
