"""A run that was interrupted ends as one that was not: parameters, worlds and figures alike."""

import json
import pathlib
import random
import signal
import time
from typing import Any

import jax
import numpy as np
import orbax.checkpoint as ocp
import pytest

from algorithms import ippo_rl2, train
from algorithms.checkpointing import find_checkpoint, load_about
from algorithms.display import Display
from algorithms.loggers import Row, read_rows
from tests.algorithms.tiny import run_program, start_program, tiny_arguments

PROGRAM = "algorithms/ippo_rl2.py"


@pytest.fixture(autouse=True)
def _one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """JAX has been used in this process, so its devices are what they are."""
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "1")
    for name in ("WANDB_RUN_ID", "WANDB_SWEEP_ID", "WANDB_RESUME"):
        monkeypatch.delenv(name, raising=False)


def run(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    """Runs the program here; returns its output."""
    capsys.readouterr()
    assert ippo_rl2.main(arguments) == status
    return capsys.readouterr().out


def new_run(folder: pathlib.Path, **changes: Any) -> list[str]:
    return tiny_arguments(logging__directory=folder, **changes)


def only_run_in(folder: pathlib.Path) -> pathlib.Path:
    (path,) = folder.iterdir()
    return path


def saved_arrays(run_folder: pathlib.Path) -> dict[str, np.ndarray]:
    """All arrays of the newest checkpoint by name."""
    newest = find_checkpoint(str(run_folder))
    here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    arrays = {}
    for item in ("params", "training"):
        stored = ocp.StandardCheckpointer().metadata(newest / item).item_metadata.tree
        like = {n: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=here) for n, x in stored.items()}
        restored = ocp.StandardCheckpointer().restore(newest / item, like)
        arrays |= {f"{item}/{name}": np.asarray(leaf) for name, leaf in restored.items()}
    return arrays


def evaluation(run_folder: pathlib.Path) -> dict[str, Any]:
    numbers: dict[str, Any] = json.loads((run_folder / "evaluation" / "metrics.json").read_text())
    del numbers["run_dir"]
    return numbers


def assert_same_run(one: pathlib.Path, other: pathlib.Path) -> None:
    assert (one / "metrics.jsonl").read_bytes() == (other / "metrics.jsonl").read_bytes()
    first, second = saved_arrays(one), saved_arrays(other)
    assert set(first) == set(second)
    for name, leaf in first.items():
        np.testing.assert_array_equal(leaf, second[name], err_msg=name)
    assert evaluation(one) == evaluation(other)


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The folder of a run of six updates that nothing happened to."""
    folder = tmp_path_factory.mktemp("straight")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_NUM_CPU_DEVICES", "1")
        assert ippo_rl2.main(new_run(folder)) == 0
    return only_run_in(folder)


def test_a_run_writes_down_every_update(straight):
    rows = read_rows(straight / "metrics.jsonl")
    assert [row["update"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert [row["agent_steps"] for row in rows] == [80, 160, 240, 320, 400, 480]
    assert ["held_out/return_mean" in row for row in rows] == [False, False, True] * 2
    assert [row["update"] for row in read_rows(straight / "times.jsonl")] == [1, 2, 3, 4, 5, 6]
    saved = sorted(path.name for path in (straight / "checkpoints").iterdir())
    assert saved == ["3", "6"]
    assert load_about(straight / "checkpoints" / "6").trials == rows[-1]["trials_total"] > 0
    files = {path.name for path in (straight / "evaluation").iterdir()}
    assert files == {"table.md", "figure.png", "metrics.json"}


def test_asked_to_stop_it_saves_and_goes_on_from_there(straight, tmp_path, capsys, monkeypatch):
    log = Display.log

    def interrupting(self: Display, row: Row) -> None:
        log(self, row)
        if row.update == 2:
            signal.raise_signal(signal.SIGTERM)

    with monkeypatch.context() as patch:
        patch.setattr(Display, "log", interrupting)
        run(capsys, *new_run(tmp_path), status=ippo_rl2.INTERRUPTED)
    stopped = only_run_in(tmp_path)
    assert find_checkpoint(str(stopped)).name == "2"
    result = json.loads(run(capsys, f"resume={stopped}").splitlines()[-1])
    assert result["run_dir"] == str(stopped)
    assert_same_run(straight, stopped)


def test_lines_after_the_checkpoint_are_written_again(straight, tmp_path, capsys, monkeypatch):
    def failing(*arguments: Any) -> None:
        raise ValueError("the disk is full")

    with monkeypatch.context() as patch:  # fails between logging and saving update 3
        patch.setattr(train.Checkpoints, "save", failing)
        run(capsys, *new_run(tmp_path), status=2)
    stopped = only_run_in(tmp_path)
    assert len(read_rows(stopped / "metrics.jsonl")) == 3
    capsys.readouterr()
    assert ippo_rl2.main([f"resume={stopped}"]) == 0
    assert "3 logged updates after it are done again" in capsys.readouterr().err
    assert_same_run(straight, stopped)


def test_more_steps_go_on_as_if_there_had_been_more_from_the_start(straight, tmp_path, capsys):
    run(capsys, *new_run(tmp_path, scale__agent_steps=240))
    shorter = only_run_in(tmp_path)
    assert load_about(find_checkpoint(str(shorter))).update == 3
    run(capsys, f"resume={shorter}", "scale.agent_steps=480")
    assert_same_run(straight, shorter)


def test_a_finished_run_is_not_trained_again(straight, capsys):
    before = {p: p.stat().st_mtime_ns for p in (straight / "checkpoints").rglob("*")}
    assert ippo_rl2.main([f"resume={straight}"]) == 0
    output, errors = capsys.readouterr()
    assert "is finished" in errors
    last = json.loads(output.splitlines()[-1])
    assert last["run_dir"] == str(straight)
    assert last["return_mean"] == evaluation(straight)["return_mean"]
    assert before == {p: p.stat().st_mtime_ns for p in (straight / "checkpoints").rglob("*")}


def test_a_run_that_diverges_says_so(tmp_path, capsys):
    arguments = new_run(tmp_path, agent__ppo__learning_rate=1e30, agent__ppo__epochs=3)
    assert ippo_rl2.main([*arguments, "agent.ppo.max_gradient_norm=1e30"]) == 2
    assert "error: Training diverged" in capsys.readouterr().err


@pytest.mark.slow
def test_killed_again_and_again_it_ends_as_if_never_killed(tmp_path):
    many = {"scale__agent_steps": 40 * 80, "checkpoint__minutes": 0, "evaluation__every": 10}
    run_program(PROGRAM, new_run(tmp_path / "straight", **many)).last_line()
    straight = only_run_in(tmp_path / "straight")
    dice = random.Random(0)
    process = start_program(PROGRAM, new_run(tmp_path / "killed", **many))
    for _ in range(3):
        wait_for_progress(process, tmp_path / "killed", updates=dice.randint(1, 8))
        time.sleep(dice.uniform(0.0, 0.05))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed = only_run_in(tmp_path / "killed")
        process = start_program(PROGRAM, [f"resume={killed}"])
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    assert_same_run(straight, killed)


def wait_for_progress(process: Any, folder: pathlib.Path, updates: int) -> None:
    """Until the only run in the folder has done some more updates."""

    def done() -> int:
        rows = [read_rows(path) for path in folder.glob("*/metrics.jsonl")]
        return rows[0][-1]["update"] if rows and rows[0] else 0

    first, end = done(), time.monotonic() + 300
    while not first < done() >= first + updates:
        if process.poll() is not None:
            assert process.returncode == 0, process.communicate()[1]
            return
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
