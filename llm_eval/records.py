"""One folder for each run, written as it happens; a run that was killed goes on where it was.

`run.json` holds the configuration and the versions, `replies.jsonl` every reply the moment it
arrives, `steps.jsonl` every step, `progress.json` where the run is, `result.json` what came of it,
and `done` marks its end.
"""

import collections
import dataclasses
import fcntl
import importlib.metadata
import json
import os
import pathlib
import platform
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import IO, Any, Self

import osj_envs
from llm_eval.clients.base import Reply
from llm_eval.files import LastingLines, RepeatedLines, sync_folder, write_whole
from llm_eval.tallies import Tally

RUN, REPLIES, STEPS = "run.json", "replies.jsonl", "steps.jsonl"
PROGRESS, RESULT, DONE, LOCK = "progress.json", "result.json", "done", "lock"

LOCK_WAITS = (0.0, 0.05, 0.2, 0.5)
"""Seconds between the attempts to hold a folder: a reader holds it for a moment."""

VALID = b'"invalid": null'
"""In the line of a step without an invalid reply; within a text the quotes would be escaped."""

VERSIONED = ("jax", "jaxlib", "numpy", "flax", "pydantic", "openai", "anthropic")
"""Packages whose versions are kept with a run, where they are installed."""


@dataclasses.dataclass(frozen=True)
class StepRecord:
    """A seat's step, or its rewrite of the notes after a trial.

    Attributes:
        kind: `step` or `rewrite`.
        trial, step: where in the episode, from 0; a rewrite has the last step's.
        seat: whose.
        player: who sits there.
        prompt: what the player was shown; None if it was not asked or reads no text.
        decision: the parsed reply in JSON types; None if there is none.
        invalid: why not (`parsing.InvalidKind`); None where the reply was valid or not asked for.
        action: the environment action that was taken; None for a rewrite.
        reward: that it brought.
        outcome: what else came of it, in JSON types.
    """

    kind: str
    trial: int
    step: int
    seat: int
    player: str
    prompt: str | None = None
    decision: Mapping[str, Any] | None = None
    invalid: str | None = None
    action: int | None = None
    reward: float = 0.0
    outcome: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Progress:
    """Where a run is.

    Attributes:
        trial, step: from 0.
        num_trials, trial_length: of the game.
        returns: of the trial so far, by seat.
        eta_seconds: until its end, if known.
    """

    trial: int
    num_trials: int
    step: int
    trial_length: int
    returns: Sequence[float]
    eta_seconds: float | None = None


class Replies:
    """The replies of a run, by seat, those recorded earlier first; a `ReplyLog`.

    Args:
        path: of the file.
        tallies: of each player, in which replies are counted.
    """

    def __init__(self, path: pathlib.Path, tallies: dict[str, Tally]) -> None:
        self._lines = LastingLines(path)
        self._tallies = tallies
        self._left: dict[str, collections.deque[Mapping[str, Any]]] = {}
        for entry in self._lines.entries:
            self._left.setdefault(entry["stream"], collections.deque()).append(entry)
            self._count(entry)

    def next_of(self, stream: str) -> Mapping[str, Any] | None:
        """Takes the first recorded entry of a stream that was not replayed yet."""
        left = self._left.get(stream)
        return left.popleft() if left else None

    async def append(self, entry: Mapping[str, Any]) -> None:
        """Adds an entry; when this returns it outlives the process and the machine."""
        self._count(entry)
        await self._lines.append(entry)

    def check_all_replayed(self) -> None:
        """Raises ValueError if the run ended before some recorded replies were asked for."""
        if left := {stream: len(entries) for stream, entries in self._left.items() if entries}:
            raise ValueError(
                f"The run ended with recorded replies unused ({left}); go on with the version "
                "that began it, or begin a new one."
            )

    def close(self) -> None:
        """Closes the file."""
        self._lines.close()

    def _count(self, entry: Mapping[str, Any]) -> None:
        tally = self._tallies.setdefault(entry["player"], Tally())
        tally.add_reply(Reply.from_json(entry["reply"]))


class RunFolder:
    """One run, written by one process at a time.

    Args:
        path: of the folder, made if it is not there.
        config: the resolved configuration, in JSON types; a resumed run has the same.
        versions: of the programs, likewise.

    Attributes:
        path: of the folder.
        replies: for `clients.recorded.Recorded`.
        tallies: by player, of all that is recorded.
        is_done: the run ended; its result is in `result.json`.

    Raises:
        ValueError: another process writes the run, or it was begun with another configuration.
    """

    def __init__(
        self, path: pathlib.Path, config: Mapping[str, Any], versions: Mapping[str, str]
    ) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._lock = take_lock(path)
        try:
            _check_same(path / RUN, {"config": dict(config), "versions": dict(versions)})
            self.tallies: dict[str, Tally] = {}
            self.replies = Replies(path / REPLIES, self.tallies)
            self._steps = RepeatedLines(path / STEPS)
            for player, kind in _invalid_in(path / STEPS):
                self._count_invalid(player, kind)
            self.is_done = (path / DONE).exists()
        except BaseException:
            self._lock.close()
            raise

    def spent(self) -> dict[str, float]:
        """Dollars by player, of all recorded replies."""
        return {player: tally.dollars for player, tally in self.tallies.items()}

    def add_step(self, record: StepRecord) -> None:
        """Records a step.

        Raises:
            ValueError: an earlier process recorded another one in its place.
        """
        is_new = self._steps.append(dataclasses.asdict(record))
        if is_new and record.invalid is not None:
            self._count_invalid(record.player, record.invalid)

    def write_progress(self, progress: Progress, stopped: str = "") -> None:
        """Tells other processes where the run is.

        Args:
            progress: of the run.
            stopped: why it stops before its end; empty if it goes on.
        """
        players = {name: tally.to_json() for name, tally in sorted(self.tallies.items())}
        fields = {**dataclasses.asdict(progress), "returns": [float(x) for x in progress.returns]}
        content = {**fields, "players": players, "stopped": stopped}
        write_whole(self.path / PROGRESS, content, is_lasting=False)

    def finish(self, result: Mapping[str, Any]) -> None:
        """Writes the result, and then the mark that all is there.

        Raises:
            ValueError: something recorded earlier did not come again.
        """
        self.replies.check_all_replayed()
        self._steps.finish()
        write_whole(self.path / RESULT, result)
        (self.path / DONE).touch()
        sync_folder(self.path)
        self.is_done = True

    def close(self) -> None:
        """Closes the files and lets other processes have the run."""
        self.replies.close()
        self._steps.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _count_invalid(self, player: str, kind: str) -> None:
        self.tallies.setdefault(player, Tally()).invalid[kind] += 1


def take_lock(path: pathlib.Path) -> IO[bytes]:
    """Holds the folder until the file is closed or the process ends, however it ends.

    Raises:
        ValueError: another process holds it.
    """
    file = (path / LOCK).open("a+b", buffering=0)
    if not any(_lock_now(file, fcntl.LOCK_EX, wait) for wait in LOCK_WAITS):
        file.seek(0)
        holder = file.read().decode("ascii", "replace").strip()
        file.close()
        raise ValueError(
            f"The run {path} is being written by another process ({holder}); wait for its end or "
            "take another folder."
        )
    file.truncate(0)
    file.write(f"process {os.getpid()} on {socket.gethostname()}\n".encode("ascii", "replace"))
    return file


def is_held(path: pathlib.Path) -> bool:
    """Whether a process writes the run now."""
    if not (path / LOCK).exists():
        return False
    with (path / LOCK).open("rb") as file:
        return not _lock_now(file, fcntl.LOCK_SH)


def _lock_now(file: IO[bytes], mode: int, wait: float = 0.0) -> bool:
    """Whether the lock could be taken, after some seconds."""
    time.sleep(wait)
    try:
        fcntl.flock(file, mode | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _invalid_in(path: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Player and kind of each invalid reply in a file of steps."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if VALID not in line:
                try:
                    step = json.loads(line)
                except ValueError as error:
                    message = f"Line {number} of {path} is damaged; begin a new run."
                    raise ValueError(message) from error
                yield step["player"], step["invalid"]


def _check_same(path: pathlib.Path, run: Mapping[str, Any]) -> None:
    """Writes what the run is, or compares it with what was written when it began."""
    if not path.exists():
        write_whole(path, run)
        return
    begun, now = _flat(json.loads(path.read_bytes())), _flat(json.loads(json.dumps(run)))
    for key in sorted(begun.keys() | now.keys()):
        if begun.get(key) != now.get(key):
            raise ValueError(
                f"The run {path.parent} was begun with {key} = {begun.get(key)!r}, and it is "
                f"{now.get(key)!r} now; go on with the same, or take another folder."
            )


def _flat(node: Any, prefix: str = "") -> dict[str, Any]:
    """Every value by its dotted key."""
    if not isinstance(node, dict) or not node:
        return {prefix: node}
    dotted = ((f"{prefix}.{key}" if prefix else key, value) for key, value in node.items())
    return {key: value for name, inner in dotted for key, value in _flat(inner, name).items()}


def installed_versions() -> dict[str, str]:
    """Of the suite, of Python and of the packages that a run depends on."""
    versions = {"osj": osj_envs.__version__, "python": platform.python_version()}
    for name in VERSIONED:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions
