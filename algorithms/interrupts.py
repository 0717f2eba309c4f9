"""Stops between two updates instead of within one."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupt:
    """Whether somebody wants the program to stop."""

    def __init__(self) -> None:
        self.received: signal.Signals | None = None

    def note(self, number: int, frame: FrameType | None) -> None:
        """A signal handler; a second signal stops at once."""
        del frame
        self.received = signal.Signals(number)
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)


@contextlib.contextmanager
def noted_interrupts() -> Iterator[Interrupt]:
    """Within, the first interrupt or request to terminate is noted and nothing else."""
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    before = {number: signal.signal(number, interrupt.note) for number in SIGNALS}
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
