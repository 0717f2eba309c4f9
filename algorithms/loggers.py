"""Where a run is written down: JSON lines always, wandb if wanted.

Figures are a function of the configuration and go to one file, measured times to another, so that
a run that was interrupted leaves the very same figures as one that was not.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from algorithms.runs import Job
from algorithms.serialisation import flatten, to_dict
from osj_envs.compose import ConfigError


@dataclasses.dataclass(frozen=True)
class Row:
    """What there is to say of an update.

    Attributes:
        update: how many updates are done.
        agent_steps: steps of single agents so far.
        figures: by name; the same whenever and wherever the run is repeated on like machines.
        times: seconds and rates by name.
    """

    update: int
    agent_steps: int
    figures: Mapping[str, float]
    times: Mapping[str, float]


class Logger(Protocol):
    """Takes rows."""

    def log(self, row: Row) -> None:
        """Writes a row down."""

    def summarise(self, results: Mapping[str, Any]) -> None:
        """Writes down what the evaluation after training found."""

    def close(self, has_failed: bool) -> None:
        """Nothing more will come."""


class JsonLines:
    """One JSON object a row, on disk when `log` returns."""

    def __init__(self, metrics_file: pathlib.Path, times_file: pathlib.Path) -> None:
        """Adds to the files."""
        self._metrics = metrics_file.open("a", buffering=1)
        self._times = times_file.open("a", buffering=1)

    def log(self, row: Row) -> None:
        """A line with the figures, and one with the times."""
        place = {"update": row.update, "agent_steps": row.agent_steps}
        self._times.write(json.dumps({**place, **row.times}) + "\n")
        self._metrics.write(json.dumps({**place, **row.figures}) + "\n")

    def summarise(self, results: Mapping[str, Any]) -> None:
        """Nothing: the evaluation has files of its own."""

    def close(self, has_failed: bool) -> None:
        """Closes the files."""
        del has_failed
        self._metrics.close()
        self._times.close()


class Wandb:
    """A wandb run in the run's folder; it prints nothing, and asks for no account offline."""

    def __init__(self, job: Job) -> None:
        """Begins the wandb run, or goes on with it.

        Raises:
            ConfigError: wandb refuses.
        """
        import wandb  # takes half a second, which a run without it need not pay

        options: dict[str, Any] = {
            "mode": job.config.logging.wandb,
            "dir": job.folder.path,
            "resume": "allow",
            "settings": wandb.Settings(
                silent=True, console="off", disable_git=True, save_code=False, x_disable_stats=True
            ),
        }
        try:
            self._run = wandb.init(**options, **_identity(job))
        except wandb.Error as error:
            raise ConfigError(
                f"wandb could not start: {error} logging=offline needs no account."
            ) from error
        self._is_interrupted = False
        # what a sweep has set is locked, and is in there already
        self._run.config.setdefaults(dict(flatten(to_dict(job.config))))

    def log(self, row: Row) -> None:
        """Hands the row on, unless it was handed on before an interruption."""
        if row.update >= self._run.step:
            values = {"agent_steps": row.agent_steps, **row.figures, **row.times}
            self._run.log(values, step=row.update, commit=True)

    def summarise(self, results: Mapping[str, Any]) -> None:
        """The results as `evaluation/<name>`."""
        self._run.summary.update({f"evaluation/{name}": value for name, value in results.items()})

    def mark_interrupted(self) -> None:
        """The run will be gone on with; a sweep hands it out again."""
        self._is_interrupted = True
        self._run.mark_preempting()

    def close(self, has_failed: bool) -> None:
        """Ends the wandb run; with status 0 it would count as finished."""
        self._run.finish(exit_code=int(has_failed or self._is_interrupted))


def make_loggers(job: Job) -> list[Logger]:
    """The loggers of a run."""
    loggers: list[Logger] = [JsonLines(job.folder.metrics_file, job.folder.times_file)]
    if job.config.logging.wandb != "disabled":
        loggers.append(Wandb(job))
    return loggers


@contextlib.contextmanager
def open_loggers(loggers: list[Logger]) -> Iterator[list[Logger]]:
    """Closes them at the end, whatever happens."""
    has_failed = True
    try:
        yield loggers
        has_failed = False
    finally:
        for logger in loggers:
            logger.close(has_failed)


def mark_interrupted(loggers: Iterable[Logger]) -> None:
    """Tells wandb, where it is used, that the run stops before its end and will be gone on with."""
    for logger in loggers:
        if isinstance(logger, Wandb):
            logger.mark_interrupted()


def finished_trials(figures: Mapping[str, float]) -> float:
    """Trials that finished with an update."""
    return sum(v for name, v in figures.items() if name.startswith("trials_finished/"))


def read_rows(path: pathlib.Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines; a last line that was cut off does not count."""
    if not path.exists():
        return []
    lines = path.read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def keep_until(path: pathlib.Path, update: int) -> int:
    """Drops the rows after an update, which the resumed run will write again.

    Returns:
        How many were dropped.
    """
    rows = read_rows(path)
    kept = [row for row in rows if row["update"] <= update]
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text("".join(json.dumps(row) + "\n" for row in kept))
    draft.replace(path)
    return len(rows) - len(kept)


def _identity(job: Job) -> dict[str, Any]:
    """Which wandb run this is; in a sweep, the agent has said so."""
    if "WANDB_SWEEP_ID" in os.environ:
        return {}
    name = job.folder.path.name
    wandb_id = job.folder.about()["wandb_id"]
    return {"project": job.config.logging.project, "id": wandb_id, "name": name}
