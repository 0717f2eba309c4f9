"""Finished runs, read from their folders."""

import dataclasses
import functools
import json
import pathlib
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from llm_eval.experiment import Place
from llm_eval.files import read_lines
from llm_eval.game import EPISODE, one_problem
from llm_eval.records import RUN, STEPS
from llm_eval.status import find_runs, read_status
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

EXPLORE = "explore"
"""The mode that a model states while it tries things out."""


@dataclasses.dataclass(frozen=True)
class Modes:
    """How often the players stated what they were about; players in the order of the roster.

    Attributes:
        stated: steps with a valid reply, and so with a mode.
        explore: those of them in explore mode.
    """

    stated: np.ndarray
    explore: np.ndarray


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
        shift: player p sat at (p + shift) mod N.
        record: of its episode, with a problems axis of one.
    """

    path: pathlib.Path
    game: str
    options: Mapping[str, Any]
    places: tuple[Place, ...]
    reveal: str
    settings: Mapping[str, Any]
    problem_seed: int
    shift: int
    record: EpisodeRecord


@dataclasses.dataclass(frozen=True)
class Found:
    """What lies below some folders.

    Attributes:
        runs: those that came to their end.
        left_out: all others, and why each is.
    """

    runs: tuple[Run, ...]
    left_out: Mapping[pathlib.Path, str]


def read_runs(folders: Sequence[pathlib.Path]) -> Found:
    """Reads all runs at and below some folders, each once.

    Raises:
        ValueError: a folder is not there, or no run below them came to its end.
    """
    for folder in folders:
        if not folder.is_dir():
            raise ValueError(f"There is no folder {folder}; name folders of finished runs.")
    paths = dict.fromkeys(path.resolve() for folder in folders for path in find_runs(folder))
    runs, left_out = [], {}
    for path in paths:
        state = read_status(path).state
        try:
            if state == "done":
                runs.append(read_run(path))
            else:
                left_out[path] = f"it is not finished ({state})"
        except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
            left_out[path] = f"it cannot be read ({type(error).__name__}: {error})"
    if not runs:
        raise ValueError(_nothing_found(folders, left_out))
    return Found(tuple(runs), left_out)


def read_run(path: pathlib.Path) -> Run:
    """Reads one finished run."""
    about = json.loads((path / RUN).read_bytes())
    config = about["config"]
    options = {key: value for key, value in config["env"].items() if key != "name"}
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
        settings={"clients": clients, "seed": config["seed"], "osj": about["versions"]["osj"]},
        problem_seed=config["problem_seed"],
        shift=config["shift"],
        record=one_problem(records.load(path / EPISODE)),
    )


@functools.lru_cache(maxsize=256)
def read_modes(path: pathlib.Path, trials: int, players: int, shift: int) -> Modes:
    """Counts the modes that the players of a run stated; (trials, players).

    Args:
        path: of the run's folder.
        trials: of its episode.
        players: of its episode.
        shift: player p sat at (p + shift) mod N.
    """
    stated, explore = np.zeros((trials, players)), np.zeros((trials, players))
    for line in read_lines(path / STEPS)[0]:
        if line["kind"] == "step" and line["decision"] is not None:
            where = line["trial"], (line["seat"] - shift) % players
            stated[where] += 1
            explore[where] += line["decision"]["mode"] == EXPLORE
    return Modes(stated, explore)


def modes_of(run: Run) -> Modes:
    """Counts the modes that the players of a run stated; (trials, players)."""
    _, trials, players = run.record.returns.shape
    return read_modes(run.path, trials, players, run.shift)


def _nothing_found(folders: Sequence[pathlib.Path], left_out: Mapping[pathlib.Path, str]) -> str:
    names = ", ".join(map(str, folders))
    if not left_out:
        return f"There is no run below {names}; play some with python llm_eval/run.py."
    whys = "; ".join(f"{path}: {why}" for path, why in list(left_out.items())[:3])
    return f"No run below {names} is finished: {whys}."
