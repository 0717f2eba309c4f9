"""A run folder holds what happened, whatever kills the run and whenever."""

import asyncio
import collections
import io
import json
import pathlib
import random
import subprocess
import sys
from typing import Any

import pytest
from rich.console import Console

from llm_eval import files, records, status
from llm_eval.clients.base import Reply, Usage
from llm_eval.clients.errors import BudgetSpent
from llm_eval.clients.recorded import Recorded
from llm_eval.clients.scripted import Scripted
from llm_eval.records import Progress, RunFolder, StepRecord
from llm_eval.tallies import Tally
from tests.llm_eval import toy
from tests.llm_eval.fakes import ask

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAME = (records.STEPS, records.RESULT)


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The folder of an uninterrupted run."""
    path = tmp_path_factory.mktemp("straight")
    asyncio.run(toy.play(path))
    return path


def ends_alike(path: pathlib.Path, straight: pathlib.Path) -> bool:
    return all((path / name).read_bytes() == (straight / name).read_bytes() for name in SAME)


def answers_of(path: pathlib.Path) -> list[tuple[str, str, str]]:
    entries, _ = files.read_lines(path / records.REPLIES)
    return sorted((e["stream"], e["prompt"], e["reply"]["text"]) for e in entries)


def test_the_toy_has_something_of_everything(straight: pathlib.Path):
    result = json.loads((straight / records.RESULT).read_text())
    assert result["invalid"]["no_json"] > 3
    assert len(answers_of(straight)) == toy.SEATS * toy.TRIALS * (toy.STEPS + 1)
    assert (straight / records.DONE).exists()
    assert not list(straight.glob(".*"))


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_any_point_a_run_ends_alike(
    tmp_path: pathlib.Path, straight: pathlib.Path, seed: int
):
    command = [sys.executable, "-m", "tests.llm_eval.toy", str(tmp_path), str(seed)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(done.stdout) >= 2
    assert ends_alike(tmp_path, straight)
    assert answers_of(tmp_path) == answers_of(straight)
    assert not list(tmp_path.glob(".*"))


def copy_cut(straight: pathlib.Path, path: pathlib.Path, sizes: dict[str, int]) -> None:
    """The folder of a run killed when its files were so long."""
    path.mkdir()
    for name in (records.RUN, records.REPLIES, records.STEPS):
        raw = (straight / name).read_bytes()
        (path / name).write_bytes(raw[: sizes.get(name, len(raw))])


@pytest.mark.parametrize("seed", range(8))
def test_a_torn_line_is_asked_again(tmp_path: pathlib.Path, straight: pathlib.Path, seed: int):
    rng = random.Random(seed)
    raw = (straight / records.REPLIES).read_bytes()
    cut = rng.randrange(len(raw))
    steps = rng.randrange(1 + (straight / records.STEPS).stat().st_size * cut // len(raw))
    copy_cut(straight, tmp_path / "run", {records.REPLIES: cut, records.STEPS: steps})
    model = asyncio.run(toy.play(tmp_path / "run"))
    assert ends_alike(tmp_path / "run", straight)
    assert answers_of(tmp_path / "run") == answers_of(straight)
    whole = raw[:cut].count(b"\n")
    unique = {request.prompt_hash for request in model.requests}
    assert len(unique) == len(answers_of(straight)) - whole


def test_a_finished_run_is_not_played_again(straight: pathlib.Path):
    before = {path.name: path.read_bytes() for path in straight.iterdir()}
    assert asyncio.run(toy.play(straight)).requests == []
    after = {path.name: path.read_bytes() for path in straight.iterdir()}
    assert before.keys() == after.keys()
    assert all(before[name] == after[name] for name in before if name != records.LOCK)


def test_a_run_stopped_by_its_budget_goes_on_to_the_same_end(
    tmp_path: pathlib.Path, straight: pathlib.Path
):
    entries, _ = files.read_lines(straight / records.REPLIES)
    cost = sum(entry["reply"]["usage"]["dollars"] for entry in entries)
    spent = 0.0
    for budget in (0.4 * cost, 0.8 * cost):
        with pytest.raises(BudgetSpent):
            asyncio.run(toy.play(tmp_path, budget))
        with RunFolder(tmp_path, {"game": "toy", "steps": toy.STEPS}, {"osj": "1"}) as folder:
            assert spent < folder.spent()["wanderer"] <= budget
            spent = folder.spent()["wanderer"]
    model = asyncio.run(toy.play(tmp_path))
    assert ends_alike(tmp_path, straight)
    assert len({request.prompt_hash for request in model.requests}) < len(entries) / 2


def test_a_damaged_line_before_the_last_is_told(tmp_path: pathlib.Path, straight: pathlib.Path):
    copy_cut(straight, tmp_path / "run", {})
    path = tmp_path / "run" / records.REPLIES
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], b"\0\0", *lines[2:]]))
    with pytest.raises(ValueError, match=r"Line 2 of .* is damaged"):
        asyncio.run(toy.play(tmp_path / "run"))


def test_a_step_that_comes_otherwise_is_told(tmp_path: pathlib.Path, straight: pathlib.Path):
    copy_cut(straight, tmp_path / "run", {})
    path = tmp_path / "run" / records.STEPS
    path.write_bytes(path.read_bytes().replace(b'"reward": 0.', b'"reward": 9.', 1))
    with pytest.raises(ValueError, match=r"Line \d+ of .* was recorded otherwise"):
        asyncio.run(toy.play(tmp_path / "run"))


def test_counts_are_those_of_the_records_however_often_a_run_is_opened(
    tmp_path: pathlib.Path, straight: pathlib.Path
):
    recorded = collections.Counter(
        entry["invalid"] for entry in files.read_lines(straight / records.STEPS)[0]
    )
    del recorded[None]
    size = (straight / records.STEPS).stat().st_size
    copy_cut(straight, tmp_path / "run", {records.STEPS: size // 2})
    half = (tmp_path / "run" / records.STEPS).read_bytes().count(b'"invalid": "')
    for path, expected in ((straight, recorded.total()), (tmp_path / "run", half)):
        for _ in range(2):
            with RunFolder(path, {"game": "toy", "steps": toy.STEPS}, {"osj": "1"}) as folder:
                assert folder.tallies["wanderer"].invalid.total() == expected
    asyncio.run(toy.play(tmp_path / "run"))
    for path in (straight, tmp_path / "run"):
        assert status.read_status(path).tallies["wanderer"].invalid == recorded


def test_a_damaged_step_is_told_when_the_run_is_opened(
    tmp_path: pathlib.Path, straight: pathlib.Path
):
    copy_cut(straight, tmp_path / "run", {})
    path = tmp_path / "run" / records.STEPS
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], b"\0\0", *lines[2:]]))
    with pytest.raises(ValueError, match=r"Line 2 of .*steps.* is damaged"):
        asyncio.run(toy.play(tmp_path / "run"))


CONFIG: dict[str, Any] = {"game": {"name": "cleanup", "seed": 3}, "players": ["a", "b"]}


def open_run(path: pathlib.Path, **changes: Any) -> RunFolder:
    return RunFolder(path, CONFIG | changes, {"jax": "1"})


def test_two_processes_cannot_write_one_run(tmp_path: pathlib.Path):
    holder = (
        "import sys, pathlib, time; from llm_eval.records import take_lock;"
        "lock = take_lock(pathlib.Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", holder, str(tmp_path)]
    other = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert records.is_held(tmp_path)
        message = rf"being written by another process \(process {other.pid} on "
        with pytest.raises(ValueError, match=message):
            open_run(tmp_path)
    finally:
        other.kill()
        other.communicate()
    assert not records.is_held(tmp_path)
    with open_run(tmp_path):
        assert records.is_held(tmp_path)


def test_a_run_that_could_not_open_is_free_again(tmp_path: pathlib.Path):
    open_run(tmp_path).close()
    with pytest.raises(ValueError, match="was begun with"):
        open_run(tmp_path, game="other")
    with open_run(tmp_path):
        pass


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"game": {"name": "cleanup", "seed": 4}}, r"config\.game\.seed = 3, and it is 4 now"),
        ({"players": ["a"]}, r"config\.players = \['a', 'b'\], and it is \['a'\] now"),
        ({"more": 1}, r"config\.more = None, and it is 1 now"),
    ],
)
def test_another_configuration_is_refused(tmp_path: pathlib.Path, changes: Any, message: str):
    open_run(tmp_path).close()
    with pytest.raises(ValueError, match=message):
        open_run(tmp_path, **changes)


def test_other_versions_are_refused(tmp_path: pathlib.Path):
    open_run(tmp_path).close()
    with pytest.raises(ValueError, match=r"versions\.jax = '1', and it is '2' now"):
        RunFolder(tmp_path, CONFIG, {"jax": "2"})


def test_versions_are_those_installed():
    versions = records.installed_versions()
    assert {"osj", "python", "jax", "numpy"} <= versions.keys()


def step_of(**fields: Any) -> StepRecord:
    return StepRecord(
        **({"kind": "step", "trial": 0, "step": 0, "seat": 0, "player": "p"} | fields)
    )


def test_a_run_that_ends_early_is_told(tmp_path: pathlib.Path):
    async def answered(path: pathlib.Path, texts: str) -> None:
        with open_run(path) as folder:
            model = Scripted(lambda request: "x")
            client = Recorded(model, folder.replies, "seat 0", "p")
            for text in texts:
                await client.complete(ask(text))
                folder.add_step(step_of(prompt=text))
            if texts == "a":
                folder.finish({})

    asyncio.run(answered(tmp_path, "abc"))
    with pytest.raises(ValueError, match=r"recorded replies unused \(\{'seat 0': 2\}\)"):
        asyncio.run(answered(tmp_path, "a"))
    (tmp_path / records.REPLIES).unlink()
    with pytest.raises(ValueError, match="holds more than 1 lines"):
        asyncio.run(answered(tmp_path, "a"))
    assert not (tmp_path / records.DONE).exists()


def test_replies_at_once_share_the_disks_turn(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
):
    synced = []
    real = files.os.fsync
    monkeypatch.setattr(files.os, "fsync", lambda fd: (synced.append(fd), real(fd)))

    async def append() -> None:
        lines = files.LastingLines(tmp_path / "lines")
        synced.clear()
        await asyncio.gather(*(lines.append({"i": i}) for i in range(20)))
        lines.close()

    asyncio.run(append())
    assert 1 <= len(synced) <= 2
    entries, _ = files.read_lines(tmp_path / "lines")
    assert [entry["i"] for entry in entries] == list(range(20))


def test_a_file_is_whole_or_old(tmp_path: pathlib.Path):
    path = tmp_path / "x.json"
    files.write_whole(path, {"a": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.write_whole(path, {"a": float("nan")})
    assert json.loads(path.read_text()) == {"a": 1}


def test_the_end_of_whole_lines_is_found_across_blocks(tmp_path: pathlib.Path):
    path = tmp_path / "lines"
    for size in (0, 1, 5, 8, 9, 40):
        path.write_bytes(b"ab\n" + b"x" * size)
        assert files._end_of_lines(path, block=8) == 3
    path.write_bytes(b"x" * 20)
    assert files._end_of_lines(path, block=8) == 0


def test_status_tells_where_runs_are(tmp_path: pathlib.Path):
    reply = Reply("x", usage=Usage(1200, 50, dollars=1.25), failures=("overloaded",), seconds=2.0)
    unpriced = Reply("x", usage=Usage(100, 5, dollars=None))

    async def answer(folder: RunFolder, given: Reply) -> None:
        client = Recorded(Scripted(lambda _: given), folder.replies, "seat 0", "p")
        await client.complete(ask("x"))
        folder.add_step(step_of(invalid="no_json"))
        folder.write_progress(
            Progress(1, 5, 8, 400, [1.0, 2.5], 3723.4), stopped="The budget is spent."
        )

    with open_run(tmp_path / "one") as folder:
        asyncio.run(answer(folder, reply))
        running = status.read_status(tmp_path / "one")
        folder.finish({})
    with open_run(tmp_path / "two") as folder:
        asyncio.run(answer(folder, unpriced))
    open_run(tmp_path / "three").close()
    runs = [status.read_status(path) for path in status.find_runs(tmp_path)]
    assert running.state == "running"
    states = {run.path.name: run.state for run in runs}
    assert states == {"one": "done", "two": "stopped", "three": "begun"}
    assert runs[0].tallies["p"].failures == {"overloaded": 1}
    assert runs[0].tallies["p"].invalid == {"no_json": 1}
    console = Console(width=150, record=True, file=io.StringIO())
    console.print(status.status_table([running, *runs], tmp_path))
    lines = [" ".join(line.split()) for line in console.export_text().splitlines()]
    assert "one running 2/5 9/400 1 2.5 1 1 1 1,200 50 2.0 1.25 1:02:03" in lines
    assert "one done 2/5 9/400 1 2.5 1 1 1 1,200 50 2.0 1.25 -" in lines
    assert "two stopped: The budget is spent. 2/5 9/400 1 2.5 1 1 0 100 5 0.0 0.00 + ? -" in lines
    assert "three begun - - - 0 0 0 0 0 - 0.00 -" in lines


def test_a_tally_survives_json():
    tally = Tally()
    tally.add_reply(Reply("x", usage=Usage(3, 4, 1, 2, 0.5), failures=("a", "b", "a"), seconds=1.5))
    tally.invalid["empty"] += 1
    assert Tally.from_json(json.loads(json.dumps(tally.to_json()))) == tally
