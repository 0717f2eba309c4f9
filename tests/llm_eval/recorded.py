"""Recorded runs written by hand, in the form in which games of language models leave them."""

import csv
import itertools
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from llm_eval.clients.config import load_client_config
from llm_eval.game import EPISODE
from llm_eval.records import RunFolder, StepRecord
from llm_eval.reports.items import Made, Request
from llm_eval.reports.reading import read_runs
from llm_eval.reports.sheets import Sheet
from llm_eval.reports.teams import gather
from osj_envs import records
from osj_envs.records import EpisodeRecord
from osj_envs.tally import NEVER

EVENTS = {
    "cleanup": (
        "apples",
        "cleared",
        "fired",
        "lightened",
        "picked_up",
        "tool_made",
        "tool_remade",
    ),
    "harvest": (
        "apples",
        "ate_best",
        "ate_early",
        "ate_overripe",
        "ate_ripe",
        "ate_unripe",
        "regrown",
        "rotted",
        "zap_hits",
        "zapped",
        "zaps",
    ),
}
KNOWLEDGE = {"cleanup": "recipes_known", "harvest": "payoffs_known"}
TRIAL_LENGTH = 400


def episode(
    game: str,
    returns: Any,
    problem_seed: int = 0,
    shift: int = 0,
    known: Any = 0.0,
    first: Mapping[str, Any] | None = None,
    last: Mapping[str, Any] | None = None,
    early: Mapping[str, Any] | None = None,
    effort: Mapping[str, Any] | None = None,
    steps: Any = TRIAL_LENGTH,
    **events: Any,
) -> EpisodeRecord:
    """A record of one episode; all that is not given is 0 or has not happened.

    `returns`, `known`, `early`, `effort` and the events are (trials, players), or numbers for all;
    `first`, `last` and `steps` are (trials,).
    """
    paid: Any = np.asarray(returns, np.float32)
    trials, players = paid.shape
    names = EVENTS[game]

    def whole(values: Any) -> Any:
        return np.broadcast_to(np.asarray(values, np.float32), paid.shape).copy()

    def counts(given: Mapping[str, Any] | None) -> Any:
        assert set(given or {}) <= set(names)
        return {name: whole((given or {}).get(name, 0)) for name in names}

    def steps_of(given: Mapping[str, Any] | None) -> Any:
        told = {name: (given or {}).get(name, NEVER) for name in names}
        return {name: np.broadcast_to(np.int32(at), trials).copy() for name, at in told.items()}

    seat: Any = ((np.arange(players) + shift) % players).astype(np.int32)
    return EpisodeRecord(
        returns=paid,
        events=counts(events),
        early_events=counts(early),
        effort=counts(effort),
        first_step=steps_of(first),
        last_step=steps_of(last),
        steps=np.broadcast_to(np.int32(steps), trials).copy(),  # type: ignore[arg-type]
        trial_length=np.int32(TRIAL_LENGTH),  # type: ignore[arg-type]
        knowledge={KNOWLEDGE[game]: whole(known)},
        seat=seat,
        problem_seed=np.uint32(problem_seed),  # type: ignore[arg-type]
    )


def write_run(
    folder: pathlib.Path,
    game: str,
    players: Sequence[str],
    record: EpisodeRecord,
    *,
    roles: Sequence[str] | None = None,
    reveal: str = "none",
    modes: Sequence[Sequence[Sequence[str | None]]] = (),
    is_done: bool = True,
    team: str = "team",
    **settings: Any,
) -> pathlib.Path:
    """Writes a run and returns its folder.

    Args:
        folder: below which its own is made.
        game: of the record.
        players: in the roster's order, as the configuration names them.
        record: of the episode.
        roles: of the players.
        reveal: what they were told of the hidden rules.
        modes: by trial, step and player: what was stated, None where the reply was invalid.
        is_done: it came to its end.
        team: name of its folder.
        **settings: further ones of the environment.
    """
    seed, (trials, count) = int(record.problem_seed), record.returns.shape  # type: ignore[arg-type]
    shift = int(record.seat[0])
    models = [each for each in dict.fromkeys(players) if each.startswith("llm:")]
    config = {
        "env": {
            "name": game,
            "num_agents": count,
            "num_trials": trials,
            "trial_length": TRIAL_LENGTH,
            **settings,
        },
        "players": [
            {"player": player, "role": role}
            for player, role in zip(players, roles or ["none"] * count, strict=True)
        ],
        "clients": {
            each: load_client_config(each.removeprefix("llm:")).model_dump(mode="json")
            for each in models
        },
        "reveal": reveal,
        "stop_after_trials": None,
        "problem_seed": seed,
        "shift": shift,
        "seed": 0,
    }
    path = folder / game / team / f"seed-{seed}"
    with RunFolder(path, config, {"osj": "0.1.0"}) as run:
        for (trial, steps), player in itertools.product(enumerate(modes), range(count)):
            for step, stated in enumerate(steps):
                run.add_step(_step(trial, step, (player + shift) % count, stated[player]))
        if is_done:
            records.save(path / EPISODE, record)
            run.finish({"metrics": {}, "players": {}})
    return path


def _step(trial: int, step: int, seat: int, mode: str | None) -> StepRecord:
    decision = None if mode is None else {"mode": mode, "action": "stay"}
    return StepRecord("step", trial, step, seat, "llm", prompt="?", decision=decision, action=7)


def request(folder: pathlib.Path, **options: Any) -> Request:
    """What a report of all runs in a folder asks of its tables and figures."""
    return Request(gather(read_runs([folder])), **options)


def sheet_of(made: Made, name: str = "") -> Sheet:
    """A sheet of a table or figure by its name."""
    return next(sheet for sheet in made.sheets if sheet.name == name)


def rows_of(sheet: Sheet) -> list[dict[str, str]]:
    """The rows of a sheet as a reader of its CSV file finds them."""
    return list(csv.DictReader(sheet.csv().splitlines()))
