"""Where runs are, read from their folders while other processes write them."""

import dataclasses
import datetime
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from llm_eval import records
from llm_eval.tallies import Tally, total


@dataclasses.dataclass(frozen=True)
class RunStatus:
    """One run.

    Attributes:
        path: of its folder.
        state: `done`, `running`, `stopped`, or `begun` if it was killed before its first step.
        progress: as last written; None before the first step.
        tallies: by player.
        stopped: why it stopped, if it said so.
    """

    path: pathlib.Path
    state: str
    progress: records.Progress | None
    tallies: Mapping[str, Tally]
    stopped: str = ""


def find_runs(root: pathlib.Path) -> list[pathlib.Path]:
    """The folders of runs at and below a folder, in order."""
    return sorted(path.parent for path in root.rglob(records.RUN))


def read_status(path: pathlib.Path) -> RunStatus:
    """Where a run is."""
    fields = _read(path / records.PROGRESS)
    tallies = {name: Tally.from_json(each) for name, each in fields.pop("players", {}).items()}
    stopped = fields.pop("stopped", "")
    progress = records.Progress(**fields) if fields else None
    if (path / records.DONE).exists():
        state = "done"
    elif records.is_held(path):
        state = "running"
    else:
        state = "stopped" if progress else "begun"
    return RunStatus(path, state, progress, tallies, stopped)


def status_table(runs: Sequence[RunStatus], root: pathlib.Path) -> Table:
    """A line for each run: where it is, returns, replies and what they came to.

    Args:
        runs: read from their folders, or by the process that plays them made of what it knows.
        root: folder against which the runs are named.
    """
    table = Table(box=None)
    headings = ("run", "state", "trial", "step", "returns", "replies", "invalid", "failures")
    for heading in (*headings, "tokens in", "tokens out", "s each", "dollars", "left"):
        table.add_column(heading, overflow="fold")
    for run in runs:
        table.add_row(*_cells(run, root))
    return table


def _cells(run: RunStatus, root: pathlib.Path) -> list[str]:
    whole, now = total(run.tallies), run.progress
    name = str(run.path.relative_to(root)) if run.path != root else run.path.name
    place = ["-", "-", "-"]
    if now is not None:
        returns = " ".join(f"{each:g}" for each in now.returns)
        place = [
            f"{now.trial + 1}/{now.num_trials}",
            f"{now.step + 1}/{now.trial_length}",
            returns,
        ]
    counts = [whole.replies, whole.invalid.total(), whole.failures.total()]
    tokens = [whole.usage.input_tokens, whole.usage.output_tokens]
    state = f"{run.state}: {run.stopped}" if run.stopped and run.state == "stopped" else run.state
    dollars = f"{whole.dollars:.2f}" + (" + ?" if whole.unpriced else "")
    numbers = [f"{each:,}" for each in counts + tokens]
    seconds = f"{whole.seconds / whole.replies:.1f}" if whole.replies else "-"
    return [name, state, *place, *numbers, seconds, dollars, _left(run)]


def _left(run: RunStatus) -> str:
    """The time that a run still takes; known only while it runs."""
    if run.state != "running" or run.progress is None or run.progress.eta_seconds is None:
        return "-"
    return str(datetime.timedelta(seconds=round(run.progress.eta_seconds)))


def _read(path: pathlib.Path) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(path.read_bytes()) if path.exists() else {}
    return fields
