"""Estimates, their bootstrap intervals, and measures of inequality, against numbers by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from osj_envs import statistics
from osj_envs.statistics import (
    effective_number,
    estimate,
    gini,
    mean_of,
    rank_correlation,
    ratio_of,
)


def one(ratio, seed=0):
    return estimate({"it": ratio}, seed)["it"]


def test_a_mean_leaves_out_what_is_undefined():
    found = one(mean_of([1.0, np.nan, 5.0]))
    assert (found.value, found.problems) == (3.0, 2)


def test_a_ratio_is_of_sums_and_not_a_mean_of_ratios():
    found = one(ratio_of([1, 9], [1, 3]))
    assert found.value == 2.5


def test_nothing_defined_is_nan_and_never_zero():
    for ratio in (mean_of([np.nan, np.nan]), ratio_of([0, 0], [0, 0])):
        found = one(ratio)
        assert math.isnan(found.value)
        assert np.isnan(found.interval).all()
        assert found.problems == 0


@pytest.mark.parametrize("values", [[4.0], [np.nan, 4.0, np.nan]])
def test_one_problem_has_no_interval(values):
    found = one(mean_of(values))
    assert found.value == 4
    assert np.isnan(found.interval).all()


def test_further_axes_are_figures_of_their_own_and_can_be_pooled():
    by_trial = mean_of([[1.0, np.nan], [3.0, 8.0]])
    found = estimate({"each": by_trial, "all": by_trial.pooled(), "flat": mean_of([7.0, 9.0])})
    assert found["each"].value.tolist() == [2, 8]
    assert found["each"].interval.shape == (2, 2)
    assert found["each"].problems.tolist() == [2, 1]
    assert found["all"].value == 4
    assert found["all"].problems == 2
    assert found["flat"].value == 8
    assert found["flat"].interval.tolist() == [7, 9]


def test_the_interval_is_the_percentile_bootstrap():
    values = np.random.default_rng(0).gamma(2.0, size=40)
    found = one(mean_of(values))
    reference = stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=20_000, random_state=1
    ).confidence_interval
    np.testing.assert_allclose(found.interval, reference, atol=0.05)
    assert found.interval[0] < values.mean() < found.interval[1]


def test_a_ratio_is_resampled_with_its_weight():
    """Total and weight of a problem go together: a constant ratio has no spread at all."""
    weight = np.random.default_rng(0).integers(1, 50, size=30)
    found = one(ratio_of(3 * weight, weight))
    np.testing.assert_allclose(found.interval, [3, 3])


def test_about_19_of_20_intervals_hold_the_truth():
    rng = np.random.default_rng(5)
    values = rng.normal(2.0, 1.0, size=(60, 400))
    interval = one(mean_of(values)).interval
    covered = ((interval[:, 0] < 2.0) & (interval[:, 1] > 2.0)).mean()
    assert 0.88 < covered < 0.98


def test_resamples_depend_on_the_seed_alone(monkeypatch):
    values = mean_of(np.random.default_rng(0).normal(size=25))
    assert (one(values, 1).interval == one(values, 1).interval).all()
    assert (one(values, 1).interval != one(values, 2).interval).any()
    monkeypatch.setattr(statistics, "_MOST_COUNTS", 25 * 600)  # four portions
    assert np.isfinite(one(values, 1).interval).all()


def test_portions_add_up(monkeypatch):
    monkeypatch.setattr(statistics, "_MOST_COUNTS", 100)
    assert statistics._portions(7, 30) == [3, 3, 1]
    assert statistics._portions(2, 500) == [1, 1]


@pytest.mark.parametrize(
    ("values", "index"),
    [
        ([3, 3, 3], 0.0),
        ([1, 0, 0, 0], 0.75),
        ([1, 3], 0.25),
        ([1, 2, 3, 4], 0.25),
        ([5], 0.0),
        ([0, 0], math.nan),
    ],
)
def test_gini(values, index):
    assert gini(values) == pytest.approx(index, nan_ok=True)


@pytest.mark.parametrize(
    ("values", "number"),
    [([2, 2, 2], 3.0), ([7, 0, 0], 1.0), ([3, 1], 16 / 10), ([5], 1.0), ([0, 0, 0], math.nan)],
)
def test_effective_number(values, number):
    assert effective_number(values) == pytest.approx(number, nan_ok=True)


def test_measures_of_inequality_work_on_the_last_axis():
    values = np.array([[[1, 3], [2, 2]], [[0, 4], [0, 0]]])
    np.testing.assert_allclose(gini(values), [[0.25, 0], [0.5, np.nan]])
    np.testing.assert_allclose(effective_number(values), [[1.6, 2], [1, np.nan]])


def test_the_rank_correlation_is_spearmans_with_ties_and_all():
    rng = np.random.default_rng(0)
    values, others = rng.integers(0, 4, (2, 30, 5))
    wanted = [stats.spearmanr(*pair).statistic for pair in zip(values, others, strict=True)]
    np.testing.assert_allclose(rank_correlation(values, others), wanted, atol=1e-12)
    assert rank_correlation([1, 2, 9], [10, 400, 401]) == pytest.approx(1)
    assert rank_correlation([1, 2, 9], [0, -4, -5]) == pytest.approx(-1)


def test_without_a_difference_there_is_no_correlation():
    for values, others in (([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [4, 4, 4]), ([5], [5])):
        assert math.isnan(rank_correlation(values, others))
