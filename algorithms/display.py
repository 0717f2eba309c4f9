"""Shows a person how a run is getting on: a bar on a terminal, a line now and then elsewhere."""

import collections
import contextlib
import time
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from algorithms.loggers import Row, finished_trials

WINDOW = 20
"""Updates over which the return that is shown is a mean."""

LINE_SECONDS = 10.0
"""Between two lines where there is no terminal."""


class Display:
    """A logger for a person, on the standard error stream."""

    def __init__(self, num_updates: int, first_update: int, console: Console | None = None) -> None:
        """Shows nothing yet.

        Args:
            num_updates: of the whole run.
            first_update: how many of them are done already.
            console: where to show it.
        """
        self._console = console or Console(stderr=True)
        self._num_updates, self._first_update = num_updates, first_update
        self._returns: collections.deque[tuple[float, float]] = collections.deque(maxlen=WINDOW)
        self._seconds = 0.0
        self._last_line = time.monotonic()
        self._bar: Progress | None = None
        if self._console.is_terminal:
            columns = (BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
            self._bar = Progress(*columns, console=self._console, refresh_per_second=2)
            self._task = self._bar.add_task(
                "compiling", total=num_updates, completed=first_update, start=False
            )
            self._bar.start()

    def log(self, row: Row) -> None:
        """Shows the row's agent-steps, speed, return and finished trials."""
        finished = finished_trials(row.figures)
        if finished:
            self._returns.append((finished, row.figures["return_mean"] * finished))
        self._seconds += row.times["seconds"]
        text = self._describe(row)
        if self._bar:
            self._bar.start_task(self._task)
            self._bar.update(self._task, completed=row.update, description=text)
        elif time.monotonic() - self._last_line >= LINE_SECONDS or row.update == self._num_updates:
            self._last_line = time.monotonic()
            left = self._seconds_left(row.update)
            self.say(f"{text}, {left // 60:.0f}:{left % 60:02.0f} left")

    def say(self, text: str) -> None:
        """A line of text."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Leaves the terminal to somebody else."""
        if self._bar:
            self._bar.stop()
        yield
        if self._bar:
            self._bar.start()

    def summarise(self, results: Mapping[str, Any]) -> None:
        """Nothing: the evaluation prints its own table."""

    def close(self, has_failed: bool) -> None:
        """Takes the bar down."""
        del has_failed
        if self._bar:
            self._bar.stop()

    def _describe(self, row: Row) -> str:
        trials = sum(finished for finished, _ in self._returns)
        total = sum(returned for _, returned in self._returns)
        mean = f"{total / trials:.3g}" if trials else "–"
        return (
            f"update {row.update}/{self._num_updates}, {row.agent_steps / 1e6:.2f} M agent-steps, "
            f"{row.times['agent_steps_per_second']:,.0f}/s, return {mean}, "
            f"{row.figures['trials_total']:,.0f} trials"
        )

    def _seconds_left(self, update: int) -> float:
        return self._seconds / (update - self._first_update) * (self._num_updates - update)
