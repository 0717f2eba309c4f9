"""A run is judged against a stored one, the machines' speeds apart."""

import pathlib
import sys

import pytest

from osj_envs.bench import __main__ as bench
from osj_envs.bench import compare, measure, rows

STORED = {"a/steps_per_second/1024": 1000.0, "a/steps_per_pass/1024": 10.0}


def test_seconds_of_another_machine_are_not_compared() -> None:
    now = {"a/steps_per_second/1024": 500.0, "a/steps_per_pass/1024": 10.0}
    assert compare.losses(now, STORED) == {"a/steps_per_pass/1024": 0.0}


@pytest.mark.parametrize(("rate", "is_slow"), [(8.1, False), (7.9, True), (15.0, False)])
def test_a_loss_of_over_a_fifth_is_told(rate: float, is_slow: bool) -> None:
    now = STORED | {"a/steps_per_pass/1024": rate}
    assert bool(compare.too_slow(now, STORED)) == is_slow


def test_on_another_kind_of_machine_more_may_be_lost(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "stored.json"
    compare.store(path, STORED)
    assert compare.load(path) == (STORED, compare.MOST_LOST)
    monkeypatch.setattr(compare, "machine", lambda: "another")
    assert compare.load(path) == (STORED, compare.MOST_LOST_ELSEWHERE)


@pytest.mark.parametrize("text", [None, "", "{}", "[1]", '{"machine": "m"}'])
def test_a_file_that_is_no_stored_run_is_refused(
    text: str | None,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "none.json"
    if text is not None:
        path.write_text(text)
    assert run(monkeypatch, "--against", str(path)) == 2
    assert "holds no stored run; write one by --json" in capsys.readouterr().err


def test_targets_are_floors_or_ceilings() -> None:
    assert rows.Target(5).is_met(6)
    assert not rows.Target(5).is_met(4)
    assert rows.Target(5, is_ceiling=True).is_met(4)
    assert not rows.Target(5, is_ceiling=True).is_met(6)


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """What the program measures; no program is compiled."""
    taken = {"steps_per_second/1024": 200_000.0, "steps_per_pass/1024": 20.0}
    for kind in ("quick", "full"):
        monkeypatch.setattr(rows, kind, lambda game: [(game, lambda: _named(game, taken))])
    monkeypatch.setattr(rows, "ratios", lambda game, figures: {})
    # other tests may have begun to use JAX, and then it is too late to choose the devices
    monkeypatch.setattr(bench, "prepare_backend", lambda: None)
    return taken


def _named(game: str, taken: dict[str, float]) -> dict[str, float]:
    return {f"{game}/{name}": value for name, value in taken.items()}


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["bench", *arguments])
    return bench.main()


def test_a_run_is_stored_and_a_later_one_that_is_slower_fails(
    figures: dict[str, float],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stored = str(tmp_path / "stored.json")
    assert run(monkeypatch, "--json", stored) == 0
    shown = capsys.readouterr().out
    assert "at least 120,000: met" in shown
    assert "at least 150,000: met" in shown
    assert "SocialJax" in shown
    assert run(monkeypatch, "--quick", "--against", stored) == 0
    figures |= {"steps_per_second/1024": 140_000.0, "steps_per_pass/1024": 14.0}
    capsys.readouterr()
    assert run(monkeypatch, "--quick", "--against", stored) == 1
    told = capsys.readouterr()
    assert "harvest/steps_per_pass/1024 is 30% below" in told.err
    assert "at least 150,000: MISSED" in told.out


def test_one_good_attempt_of_three_is_enough(
    figures: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = {"cleanup/steps_per_pass/1024": 200.0}
    attempts = iter([100.0, 199.0, 100.0])

    def again(is_quick: bool) -> dict[str, float]:
        return {"cleanup/steps_per_pass/1024": next(attempts)}

    monkeypatch.setattr(bench, "run", again)
    assert bench.confirm(again(True), stored, True) == {}
    assert list(attempts) == [100.0], "no third attempt is made"


def test_figures_of_several_runs_are_their_medians(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rates = iter([5.0, 1.0, 2.0])
    monkeypatch.setattr(bench.osj_envs, "list_ids", lambda: ["cleanup"])
    monkeypatch.setattr(rows, "quick", lambda game: [(game, lambda: {"a": next(rates)})])
    assert bench.run(True, runs=3) == {"a": 2.0}


def test_a_number_of_runs_below_one_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run(monkeypatch, "--runs", "0")
    assert "--runs is 0; it must be at least 1." in capsys.readouterr().err


@pytest.mark.slow  # compiles both games
@pytest.mark.parametrize("game", ["cleanup", "harvest"])
def test_a_rate_counts_the_steps_of_all_environments(
    game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "seconds", lambda work: (work(), 0.5)[1])
    rate, compiling = measure.step_rate(game, 2, 3, num_agents=2)
    assert rate == measure.Rate(2 * 3 / 0.5, 2 * 3 / measure.PASSES)
    assert compiling > 0


def test_a_rate_is_also_told_in_passes_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter([9.0, 9.0, 2.0, 6.0, 1.0, 4.0, 4.0, 4.0])
    monkeypatch.setattr(measure, "calibration", lambda: None)
    monkeypatch.setattr(measure, "seconds", lambda work: next(taken))
    rate = measure.rate(lambda: None, 12, rounds=3)
    assert rate == measure.Rate(12 / 4, 12 / (3 * measure.PASSES))
