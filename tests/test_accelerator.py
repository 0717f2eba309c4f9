"""The program for accelerators tells devices apart that play differently."""

import sys
from typing import Any

import jax
import numpy as np
import pytest

from osj_envs.bench import accelerator


def test_equal_totals_are_no_error_apart() -> None:
    totals = np.arange(50.0)
    assert accelerator.standard_errors(totals, totals) == 0


def test_a_wrong_rate_is_many_errors_apart_and_chance_is_not() -> None:
    rng = np.random.default_rng(0)
    draws = rng.binomial(200, 0.05, 1024), rng.binomial(200, 0.05, 1024)
    assert accelerator.standard_errors(*draws) < accelerator.MOST_ERRORS
    wrong = rng.binomial(200, 0.06, 1024)
    assert accelerator.standard_errors(draws[0], wrong) > accelerator.MOST_ERRORS


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the devices play: `here` by default, `cpu` where the CPU is chosen."""
    kinds: dict[str, Any] = {}

    def play(*_: Any) -> Any:
        return kinds["here" if jax.config.jax_default_device is None else "cpu"]

    monkeypatch.setattr(accelerator, "_totals", play)
    monkeypatch.setattr(accelerator.golden, "record", play)
    return kinds


@pytest.mark.parametrize(("leaf", "is_good"), [("same", True), ("other", False)])
def test_a_golden_game_must_be_the_same(played: dict[str, Any], leaf: str, is_good: bool) -> None:
    for kind, state in {"cpu": "same", "here": leaf}.items():
        played[kind] = {"sums": {"reward": 1.0}, "fingerprints": {"state": state}}
    check = accelerator.compare_golden("harvest")
    assert check.is_good == is_good
    assert ("state" in check.told) != is_good


@pytest.mark.parametrize(("shift", "is_good"), [(0.0, True), (0.01, True), (2.0, False)])
def test_random_games_must_have_the_same_means(
    played: dict[str, Any], shift: float, is_good: bool
) -> None:
    totals = np.random.default_rng(0).normal(size=400)
    played["cpu"] = {"reward": totals, "ate": totals}
    played["here"] = {"reward": totals, "ate": totals + shift}
    check = accelerator.compare_statistics("harvest")
    assert check.is_good == is_good
    assert ("most apart is ate" in check.told) == (shift > 0)


@pytest.mark.slow  # compiles a whole game
def test_random_games_of_one_device_are_identical() -> None:
    check = accelerator.compare_statistics("harvest", count=3, steps=5)
    assert check.is_good
    assert "by 0.0" in check.told


def test_the_table_says_what_is_asked_for() -> None:
    rows = accelerator.table(
        {"cleanup/steps_per_second/4096": 20e6, "cleanup/resets_per_second": 5.0}
    ).splitlines()
    assert rows[2].endswith("| 20,000,000.0 | 14,000,000: met | 35,000,000: MISSED |")
    assert rows[3].endswith("| 5.0 |  |  |")
    assert len({row.count("|") for row in rows}) == 1


def test_without_an_accelerator_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["accelerator"])
    assert accelerator.main() == 2
    assert "osj[cuda]" in capsys.readouterr().err


@pytest.mark.parametrize(("is_good", "status"), [(True, 0), (False, 1)])
def test_a_failed_check_is_a_failed_program(
    is_good: bool, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = [accelerator.Check("a game", is_good, "")]
    monkeypatch.setattr(sys, "argv", ["accelerator", "--rehearse"])
    monkeypatch.setattr(accelerator, "run", lambda games, counts: (checks, {}))
    assert accelerator.main() == status
