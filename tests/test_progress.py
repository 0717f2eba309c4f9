"""The progress bar shows itself only when work takes a while, and never outlives it."""

import threading
import time

import pytest

from osj_envs import progress
from osj_envs.progress import progress_bar


def test_quick_work_shows_nothing(capfd):
    with progress_bar("problems", 2) as advance:
        advance(2)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("fails", [False, True])
def test_slow_work_shows_a_bar_that_ends_with_it(monkeypatch, capfd, fails):
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setenv("FORCE_COLOR", "1")
    before = threading.active_count()

    def work():
        with progress_bar("problems", 4) as advance:
            advance(1)
            time.sleep(0.4)
            if fails:
                raise RuntimeError("broken")

    if fails:
        with pytest.raises(RuntimeError, match="broken"):
            work()
    else:
        work()
    told = capfd.readouterr()
    assert "problems" in told.err
    assert "1/4" in told.err
    assert told.out == ""
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before
