"""Finished runs, read from their folders."""

import dataclasses
import functools
import json
import pathlib
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Int

from llm_eval.experiment import Place
from llm_eval.game import EPISODE, one_problem
from llm_eval.records import RUN, STEPS
from llm_eval.status import read_status
from osj_envs import records
from osj_envs.records import EpisodeRecord

BEHAVIOUR = (
    "provider",
    "model",
    "json_mode",
    "max_tokens",
    "reasoning_effort",
    "temperature",
    "extra_body",
)
"""Of a client's configuration, what replies depend on; the rest says how they are asked for."""

NO_COOPERATORS, ROLES_CONFIG = "cooperators-0.npz", "config.json"
"""Files in a folder of baselines/schelling.py."""

EXPLORE = "explore"
"""The mode that a model states while it tries things out."""


_FIELDS = ("env", "players", "clients", "reveal", "problem_seed", "shift")
"""Of a run's configuration, what `Run` has fields for."""

Read = TypeVar("Read")


class Unfinished(ValueError):
    """A run did not come to its end; the message says where it is."""


@dataclasses.dataclass(frozen=True)
class Modes:
    """How often the players of a run stated what they were about, by trial.

    Attributes:
        stated: steps with a valid reply, and so with a mode.
        explore: those of them in explore mode.
    """

    stated: Int[np.ndarray, "trials"]
    explore: Int[np.ndarray, "trials"]


@dataclasses.dataclass(frozen=True)
class Run:
    """A run that came to its end.

    Attributes:
        path: of its folder.
        game: the environment's id.
        options: of the environment.
        places: the players, in the roster's order.
        reveal: what the models were told of the hidden rules.
        settings: all else on which its course depends but the problem, in JSON types.
        problem_seed: of the problem.
        record: of its episode, with a problems axis of one.
    """

    path: pathlib.Path
    game: str
    options: Mapping[str, Any]
    places: tuple[Place, ...]
    reveal: str
    settings: Mapping[str, Any]
    problem_seed: int
    record: EpisodeRecord


@dataclasses.dataclass(frozen=True)
class RolesPlayed:
    """Games of scripted or learned roles, as baselines/schelling.py leaves them.

    Attributes:
        path: of their folder.
        game: the environment's id.
        label: who cooperated, and who did not.
        records: for 0 .. N cooperators, of the same problems.
    """

    path: pathlib.Path
    game: str
    label: str
    records: tuple[EpisodeRecord, ...]


@dataclasses.dataclass(frozen=True)
class Found:
    """What lies below some folders.

    Attributes:
        runs: those that came to their end.
        roles: games of scripted or learned roles with every number of cooperators.
        left_out: all others, and why each is.
    """

    runs: tuple[Run, ...]
    roles: tuple[RolesPlayed, ...]
    left_out: Mapping[pathlib.Path, str]


def read_runs(folders: Sequence[pathlib.Path]) -> Found:
    """Reads all runs at and below some folders, each once.

    Raises:
        ValueError: a folder is not there, or nothing below them came to its end.
    """
    for folder in folders:
        if not folder.is_dir():
            raise ValueError(f"There is no folder {folder}; name folders of finished runs.")
    left_out: dict[pathlib.Path, str] = {}
    runs = _read_each(_paths(folders, RUN), _read_finished, left_out)
    roles = _read_each(_paths(folders, NO_COOPERATORS), _read_roles, left_out)
    if not runs and not roles:
        raise ValueError(_nothing_found(folders, left_out))
    return Found(tuple(runs), tuple(roles), left_out)


def _paths(folders: Sequence[pathlib.Path], file: str) -> list[pathlib.Path]:
    """The folders at and below some that hold a file, in order and each once."""
    found = (path.parent for folder in folders for path in sorted(folder.rglob(file)))
    return list(dict.fromkeys(path.resolve() for path in found))


def _read_each(
    paths: Sequence[pathlib.Path],
    read: Callable[[pathlib.Path], Read],
    left_out: dict[pathlib.Path, str],
) -> list[Read]:
    """What can be read; why the others cannot is added to `left_out`."""
    contents = []
    for path in paths:
        try:
            contents.append(read(path))
        except Unfinished as error:
            left_out[path] = str(error)
        except (OSError, LookupError, ValueError, TypeError, zipfile.BadZipFile) as error:
            left_out[path] = f"it cannot be read ({type(error).__name__}: {error})"
    return contents


def _read_finished(path: pathlib.Path) -> Run:
    state = read_status(path).state
    if state != "done":
        raise Unfinished(f"it is not finished ({state})")
    return read_run(path)


def _read_roles(path: pathlib.Path) -> RolesPlayed:
    config = json.loads((path / ROLES_CONFIG).read_bytes())
    paths = [path / NO_COOPERATORS]
    players = records.load(paths[0]).returns.shape[-1]
    paths = [path / NO_COOPERATORS.replace("0", str(k)) for k in range(players + 1)]
    if missing := [each.name for each in paths if not each.exists()]:
        raise Unfinished(f"it is not finished ({', '.join(missing)} missing)")
    label = f"{config['cooperator']}, {config['defector']}"
    played = tuple(records.load(each) for each in paths)
    return RolesPlayed(path, config["env"]["name"], label, played)


def read_run(path: pathlib.Path) -> Run:
    """Reads one finished run."""
    about = json.loads((path / RUN).read_bytes())
    config = about["config"]
    options = {key: value for key, value in config["env"].items() if key != "name"}
    further = {key: value for key, value in config.items() if key not in _FIELDS}
    clients = {
        player: {key: client.get(key) for key in BEHAVIOUR}
        for player, client in config["clients"].items()
    }
    return Run(
        path=path,
        game=config["env"]["name"],
        options=options,
        places=tuple(Place(**each) for each in config["players"]),
        reveal=config["reveal"],
        settings={**further, "clients": clients, "osj": about["versions"]["osj"]},
        problem_seed=config["problem_seed"],
        record=one_problem(records.load(path / EPISODE)),
    )


@functools.lru_cache(maxsize=256)
def read_modes(path: pathlib.Path, trials: int) -> Modes:
    """Counts the modes that the players of a run stated.

    Args:
        path: of the run's folder.
        trials: of its episode.
    """
    stated, explore = np.zeros(trials, int), np.zeros(trials, int)
    with (path / STEPS).open("rb") as file:
        # One line at a time: with its prompts a run takes tens of megabytes.
        for line in map(json.loads, file):
            mode = (line["decision"] or {}).get("mode") if line["kind"] == "step" else None
            if mode is not None:
                stated[line["trial"]] += 1
                explore[line["trial"]] += mode == EXPLORE
    return Modes(stated, explore)


def _nothing_found(folders: Sequence[pathlib.Path], left_out: Mapping[pathlib.Path, str]) -> str:
    names = ", ".join(map(str, folders))
    if not left_out:
        return f"There is no run below {names}; play some with python llm_eval/run.py."
    whys = "; ".join(f"{path}: {why}" for path, why in list(left_out.items())[:3])
    return f"No run below {names} is finished: {whys}."
