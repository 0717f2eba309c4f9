"""The games of a Schelling diagram and the folder that they are kept in."""

import csv
import dataclasses
import hashlib
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from osj_envs import records, schelling
from osj_envs.evaluation import evaluate
from osj_envs.progress import progress_bar
from osj_envs.records import EpisodeRecord
from osj_envs.schelling import Diagram
from osj_envs.schelling_figure import draw
from osj_envs.seats import Policy
from osj_envs.trials import MultiTrial
from osj_envs.types import Split

CONFIG_FILE = "config.json"
"""Says whose games a folder holds; the first file written."""


@dataclasses.dataclass(frozen=True)
class Game:
    """What is played, and by whom.

    Attributes:
        env: the environment.
        cooperator: the player of the first places of a roster.
        defector: the player of the others.
        split: where the problems come from.
        problem_seeds: of the problems, each played with every number of cooperators.
        seed: of all chance but the problems'.
    """

    env: MultiTrial
    cooperator: Policy
    defector: Policy
    split: Split
    problem_seeds: range
    seed: int

    def roster(self, cooperators: int) -> list[Policy]:
        """The players; so many of them cooperate, and come first."""
        others = self.env.num_agents - cooperators
        return [self.cooperator] * cooperators + [self.defector] * others


def play_all(
    game: Game, folder: pathlib.Path, batch_size: int | None = None
) -> list[EpisodeRecord]:
    """The records for 0 .. N cooperators: those in the folder, and the others, which are played.

    Each is written as soon as it is there.
    """
    paths = [folder / f"cooperators-{k}.npz" for k in range(game.env.num_agents + 1)]
    missing = [k for k, path in enumerate(paths) if not path.exists()]
    problems = len(game.problem_seeds)
    with progress_bar("problems of all games", len(missing) * problems) as advance:
        for k in missing:
            record = evaluate(
                game.env,
                game.roster(k),
                jax.random.key(game.seed),
                game.problem_seeds,
                batch_size,
                split=game.split,
                rotate=True,
                advance=advance,
            )
            records.save(paths[k], record)
    return [records.load(path) for path in paths]


def open_folder(path: pathlib.Path, config: Mapping[str, Any]) -> pathlib.Path:
    """The folder of a diagram, made if it is not there.

    Args:
        path: of the folder.
        config: all that the records depend on, as JSON holds it.

    Raises:
        ValueError: it is the folder of another diagram, or of something else.
    """
    path.mkdir(parents=True, exist_ok=True)
    file = path / CONFIG_FILE
    if not file.exists():
        if any(path.iterdir()):
            raise ValueError(f"{path} is no folder of a Schelling diagram, and it is not empty.")
        file.write_text(json.dumps(config, indent=2) + "\n")
    _check_same(path, json.loads(file.read_text()), config)
    return path


def name_of(config: Mapping[str, Any]) -> str:
    """A name for the folder that no other configuration has."""
    text = json.dumps(config, sort_keys=True)
    return f"schelling-{config['env']['name']}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def fingerprint(policy: Policy) -> str:
    """A hash of a player's arrays: those of another checkpoint have another one."""
    digest = hashlib.sha256()
    for leaf in jax.tree.leaves(policy):
        if isinstance(leaf, jax.Array | np.ndarray):
            digest.update(f"{leaf.shape} {leaf.dtype}".encode())
            digest.update(np.ascontiguousarray(leaf).tobytes())
    return digest.hexdigest()[:16]


def write(folder: pathlib.Path, diagram: Diagram, facts: Mapping[str, Any], title: str) -> None:
    """Writes `table.txt`, `schelling.csv`, `figure.png` and, last, `metrics.json`."""
    (folder / "table.txt").write_text(schelling.table(diagram) + "\n")
    rows = schelling.as_rows(diagram)
    with (folder / "schelling.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    draw(folder / "figure.png", diagram, title)
    content = {**facts, **schelling.as_json(diagram)}
    (folder / "metrics.json").write_text(json.dumps(content, indent=2) + "\n")


def _check_same(path: pathlib.Path, there: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    keys: Sequence[str] = [key for key in {**there, **asked} if there.get(key) != asked.get(key)]
    if keys:
        key = keys[0]
        raise ValueError(
            f"{path} holds another diagram: its {key} is {there.get(key)}, not {asked.get(key)}; "
            "name another folder with out=DIR."
        )
