"""A run is judged against a stored one, the machines' speeds apart."""

import pytest

from osj_envs.bench import compare, measure, rows

STORED = {"calibration": 100.0, "a/steps_per_second/1024": 1000.0, "a/compile_seconds/1024": 1.0}


def test_a_slower_machine_is_no_loss() -> None:
    now = {"calibration": 50.0, "a/steps_per_second/1024": 500.0, "a/compile_seconds/1024": 9.0}
    assert compare.losses(now, STORED) == {"a/steps_per_second/1024": 0.0}


@pytest.mark.parametrize(("rate", "is_slow"), [(810.0, False), (790.0, True), (1500.0, False)])
def test_a_loss_of_over_a_fifth_is_told(rate: float, is_slow: bool) -> None:
    now = STORED | {"a/steps_per_second/1024": rate}
    assert bool(compare.too_slow(now, STORED)) == is_slow


def test_targets_are_floors_or_ceilings() -> None:
    assert rows.Target(5).is_met(6)
    assert not rows.Target(5).is_met(4)
    assert rows.Target(5, is_ceiling=True).is_met(4)
    assert not rows.Target(5, is_ceiling=True).is_met(6)


@pytest.mark.slow
@pytest.mark.parametrize("game", ["cleanup", "harvest"])
def test_a_rate_is_measured(game: str) -> None:
    rate, compiling = measure.step_rate(game, 2, 3)
    assert rate > 0
    assert compiling > 0
