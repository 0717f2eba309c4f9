"""A progress bar with the time left, for work that takes more than a few seconds."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

PATIENCE = 3.0
"""Seconds before a bar is shown."""


class Advance(Protocol):
    """Tells the bar how many more items are done."""

    def __call__(self, items: int) -> None:
        """`items` more are done."""


@contextlib.contextmanager
def progress_bar(title: str, total: int) -> Iterator[Advance]:
    """A bar on the standard error stream, which shows itself when the work takes a while."""
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(title, total=total)
    timer = threading.Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda items: bar.advance(task, items)
    finally:
        timer.cancel()
        timer.join()
        if bar.live.is_started:
            bar.stop()
