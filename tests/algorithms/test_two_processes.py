"""Two processes share a run, and leave what one process with as many devices would leave."""

import pathlib
import socket

import numpy as np
import pytest

from algorithms.loggers import read_rows
from tests.algorithms.tiny import run_program, start_program, tiny_arguments

PROGRAM = "algorithms/ippo_rl2.py"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def run_in_two(*arguments: str) -> list[str]:
    """What each of two processes printed, having shared a run."""
    together = {"JAX_COORDINATOR_ADDRESS": f"127.0.0.1:{free_port()}", "JAX_NUM_PROCESSES": "2"}
    command = [*arguments, "distributed=true"]
    processes = [
        start_program(PROGRAM, command, devices=1, JAX_PROCESS_ID=str(place), **together)
        for place in range(2)
    ]
    ended = [process.communicate(timeout=600) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], ended[0][1] + ended[1][1]
    return [output for output, _ in ended]


def only_run_in(folder: pathlib.Path) -> pathlib.Path:
    (path,) = folder.iterdir()
    return path


@pytest.mark.slow
def test_two_processes_train_as_one(tmp_path):
    many, one = tmp_path / "many", tmp_path / "one"
    first, second = run_in_two(*tiny_arguments(logging__directory=many, scale__agent_steps=240))
    assert first.splitlines()[-1].startswith("{")
    assert "return_mean" not in second, "one process reports"
    run_in_two(f"resume={only_run_in(many)}", "scale.agent_steps=480")
    run_program(PROGRAM, tiny_arguments(logging__directory=one), devices=2).last_line()
    rows, expected = (read_rows(only_run_in(folder) / "metrics.jsonl") for folder in (many, one))
    assert len(rows) == len(expected) == 6
    for row, other in zip(rows, expected, strict=True):
        assert row.keys() == other.keys()
        np.testing.assert_allclose(list(row.values()), list(other.values()), rtol=1e-4, atol=1e-6)
