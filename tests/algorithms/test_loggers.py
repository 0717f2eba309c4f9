"""What is written of a run: complete, on disk at once, and the same after an interruption."""

import io
import json
import pathlib
import subprocess
import sys
import time

import pytest
from rich.console import Console

from algorithms import display, runs
from algorithms.compose import load_train_config
from algorithms.display import Display
from algorithms.loggers import JsonLines, Row, Wandb, keep_until, make_loggers, read_rows
from algorithms.runs import Job
from tests.algorithms.tiny import tiny_arguments


@pytest.fixture(autouse=True)
def _no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WANDB_RUN_ID", "WANDB_SWEEP_ID", "WANDB_RESUME", "WANDB_SWEEP_PARAM_PATH"):
        monkeypatch.delenv(name, raising=False)


def row(update: int, **figures: float) -> Row:
    figures = {"return_mean": 0.1 * update, "trials_finished/1": 3.0, "trials_total": 3.0 * update}
    times = {"seconds": 0.5, "agent_steps_per_second": 160.0}
    return Row(update, 80 * update, figures, times)


def prepare(folder: pathlib.Path, wandb: str) -> Job:
    arguments = tiny_arguments(logging__directory=folder, logging__wandb=wandb)
    return runs.prepare(load_train_config(arguments), arguments)


@pytest.fixture
def files(tmp_path: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    return tmp_path / "metrics.jsonl", tmp_path / "times.jsonl"


def test_a_row_is_on_disk_when_it_is_logged(files):
    logger = JsonLines(*files)
    logger.log(row(1))
    figures, times = (json.loads(path.read_text()) for path in files)
    assert figures == {
        "update": 1,
        "agent_steps": 80,
        "return_mean": 0.1,
        "trials_finished/1": 3.0,
        "trials_total": 3.0,
    }
    assert times == {
        "update": 1,
        "agent_steps": 80,
        "seconds": 0.5,
        "agent_steps_per_second": 160.0,
    }
    logger.close(has_failed=False)


def test_rows_after_the_checkpoint_are_dropped_and_all_others_kept(files):
    logger = JsonLines(*files)
    for update in range(1, 6):
        logger.log(row(update))
    logger.close(has_failed=True)
    whole = files[0].read_text()
    assert keep_until(files[0], 3) == 2
    assert keep_until(files[1], 3) == 2
    assert files[0].read_text() == "".join(whole.splitlines(keepends=True)[:3])
    logger = JsonLines(*files)
    for update in (4, 5):
        logger.log(row(update))
    logger.close(has_failed=False)
    assert files[0].read_text() == whole
    assert keep_until(files[0], 5) == 0


def test_a_line_that_was_cut_off_is_dropped(files):
    logger = JsonLines(*files)
    logger.log(row(1))
    logger.close(has_failed=True)
    with files[0].open("a") as file:
        file.write('{"update": 2, "retu')
    assert [each["update"] for each in read_rows(files[0])] == [1]
    keep_until(files[0], 7)
    assert files[0].read_text().count("\n") == 1
    assert read_rows(files[0].with_name("none.jsonl")) == []


def test_a_run_without_wandb_does_not_load_it(tmp_path):
    job = prepare(tmp_path, "disabled")
    (logger,) = make_loggers(job)
    assert isinstance(logger, JsonLines)
    logger.close(has_failed=False)
    assert not (job.folder.path / "wandb").exists()


def test_wandb_runs_offline_within_the_run_folder_and_says_nothing(tmp_path, capfd):
    job = prepare(tmp_path, "offline")
    for _ in range(2):  # as when a run is resumed
        logger = Wandb(job)
        assert logger._run.id == job.folder.path.name
        assert logger._run.offline
        assert logger._run.config["agent.hidden_size"] == 6
        logger.log(row(1))
        logger.log(row(2))
        logger.summarise({"return_mean": 0.5, "return_by_trial": [0.4, 0.6]})
        assert logger._run.summary["evaluation/return_mean"] == 0.5
        logger.close(has_failed=False)
    offline = list((job.folder.path / "wandb").glob("offline-run-*"))
    assert offline
    assert all(list(folder.glob(f"run-{job.folder.path.name}.wandb")) for folder in offline)
    assert capfd.readouterr() == ("", "")


def test_wandb_is_handed_no_row_twice(tmp_path, capfd):
    logger = Wandb(prepare(tmp_path, "offline"))
    logger.log(row(5))
    logger.log(row(3))
    logger.log(row(6))
    assert logger._run.summary["return_mean"] == pytest.approx(0.6)
    logger.close(has_failed=True)
    assert capfd.readouterr() == ("", "")


def test_wandb_does_not_slow_the_loop(tmp_path):
    logger = Wandb(prepare(tmp_path, "offline"))
    logger.log(row(1))
    start = time.process_time()
    for update in range(2, 102):
        logger.log(row(update))
    assert (time.process_time() - start) / 100 < 0.01
    logger.close(has_failed=False)


def test_the_values_of_a_sweep_are_no_conflict(tmp_path, monkeypatch, capfd):
    """A sweep sets and locks its values before ours, be they spelt otherwise or name groups."""
    swept = {"agent": "rl2", "agent.ppo.learning_rate": "1e-3", "seed": 0}
    params = tmp_path / "config-abc123.yaml"
    lines = ["wandb_version: 1", *(f"{k}:\n  value: {json.dumps(v)}" for k, v in swept.items())]
    params.write_text("\n\n".join(lines) + "\n")
    script = (
        "import sys; from algorithms import runs; from algorithms.loggers import Wandb\n"
        "from algorithms.compose import load_train_config\n"
        "arguments = sys.argv[1:]\n"
        "logger = Wandb(runs.prepare(load_train_config(arguments), arguments))\n"
        "config = dict(logger._run.config)\n"
        "print(logger._run.id, config['agent'], config['agent.ppo.learning_rate'],\n"
        "      config['agent.hidden_size'])\n"
        "logger.close(False)"
    )
    for name, value in {
        "WANDB_SWEEP_ID": "sweep1",
        "WANDB_RUN_ID": "abc123",
        "WANDB_SWEEP_PARAM_PATH": str(params),
        "PYTHONPATH": str(pathlib.Path(__file__).parents[2]),
    }.items():
        monkeypatch.setenv(name, value)
    arguments = tiny_arguments(logging__directory=tmp_path, logging__wandb="offline")
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.stdout, done.stderr) == ("abc123 rl2 1e-3 6\n", "")


def make_display(is_terminal: bool, updates: int = 40, first: int = 0) -> Display:
    console = Console(file=io.StringIO(), force_terminal=is_terminal, width=200)
    return Display(updates, first, console)


def shown(to: Display) -> str:
    return to._console.file.getvalue()  # type: ignore[attr-defined]


def test_without_a_terminal_there_is_a_line_now_and_then(monkeypatch):
    clock = iter(range(0, 1000, 3))
    monkeypatch.setattr(display.time, "monotonic", lambda: float(next(clock)))
    to = make_display(is_terminal=False, updates=42)
    for update in range(1, 43):
        to.log(row(update))
    lines = shown(to).splitlines()
    assert len(lines) == 11  # every fourth update, and the last
    assert "\x1b" not in shown(to)
    assert "update 42/42" in lines[-1]
    assert "0:00 left" in lines[-1]
    assert lines[0].startswith("update 4/42, 0.00 M agent-steps, 160/s, return 0.25, 12 trials")
    assert "0:19 left" in lines[0]


def test_the_return_shown_is_a_mean_over_trials(monkeypatch):
    monkeypatch.setattr(display, "LINE_SECONDS", 0.0)
    to = make_display(is_terminal=False)
    times = {"seconds": 1.0, "agent_steps_per_second": 2.0}
    for update, (value, trials) in enumerate([(1.0, 1.0), (4.0, 3.0)], start=1):
        figures = {"return_mean": value, "trials_finished/2": trials, "trials_total": 4.0}
        to.log(Row(update, update, figures, times))
    to.log(Row(3, 3, {"trials_finished/2": 0.0, "trials_total": 4.0}, times))
    assert "return 3.25" in shown(to).splitlines()[-1]


def test_a_terminal_shows_a_bar_and_leaves_the_screen_to_others():
    to = make_display(is_terminal=True, updates=4, first=1)
    assert to._bar is not None
    to.log(row(2))
    assert to._bar.tasks[0].completed == 2
    assert to._bar.tasks[0].total == 4
    with to.paused():
        assert not to._bar.live.is_started
    assert to._bar.live.is_started
    to.close(has_failed=False)
    assert "update 2/4" in shown(to)
