"""Estimates over problems, with bootstrap confidence intervals."""

import dataclasses
from collections.abc import Mapping

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from scipy.stats import rankdata

LEVEL = 0.95
"""Of every confidence interval."""

RESAMPLES = 2000
"""Bootstrap samples: the ends of an interval wobble by a few per cent of its width."""

_MOST_COUNTS = 2**22
"""Resampled counts held in memory at once."""

Values = Float[np.ndarray, "problems *rest"]


@dataclasses.dataclass(frozen=True)
class Ratio:
    """A figure that is a sum over problems divided by another: a mean, or a share.

    Attributes:
        total: each problem's part of the sum.
        weight: each problem's part of the divisor; the figure is undefined where all are 0.
    """

    total: Values
    weight: Values

    def pooled(self) -> "Ratio":
        """The same over all of the further axes together."""
        rest = tuple(range(1, self.total.ndim))
        return Ratio(self.total.sum(axis=rest), self.weight.sum(axis=rest))


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A figure and how sure it is.

    Attributes:
        value: NaN where it is undefined.
        interval: ends of the confidence interval; NaN where fewer than two problems define it.
        problems: how many problems define it: those whose weight is not 0.
    """

    value: Float[np.ndarray, "*rest"]
    interval: Float[np.ndarray, "*rest 2"]
    problems: Int[np.ndarray, "*rest"]


def mean_of(values: ArrayLike) -> Ratio:
    """The mean over problems (first axis), with those left out for which the value is NaN."""
    values = np.asarray(values, np.float64)
    is_defined = ~np.isnan(values)
    return Ratio(np.where(is_defined, values, 0.0), is_defined.astype(np.float64))


def ratio_of(total: ArrayLike, weight: ArrayLike) -> Ratio:
    """`total` summed over problems (first axis) by `weight` summed over problems."""
    return Ratio(np.asarray(total, np.float64), np.asarray(weight, np.float64))


def estimate(ratios: Mapping[str, Ratio], seed: int = 0) -> dict[str, Estimate]:
    """Figures with percentile bootstrap intervals over whole problems (Efron 1979).

    Problems are resampled with replacement, and everything that belongs to a problem goes with
    it; all figures see the same resamples.

    Args:
        ratios: figures of the same problems, by name.
        seed: of the resamples.
    """
    flat = [Ratio(_columns(ratio.total), _columns(ratio.weight)) for ratio in ratios.values()]
    total = np.concatenate([ratio.total for ratio in flat], axis=1)
    weight = np.concatenate([ratio.weight for ratio in flat], axis=1)
    together = Estimate(
        value=_divide(total.sum(axis=0), weight.sum(axis=0)),
        interval=_interval(total, weight, np.random.default_rng(seed)),
        problems=np.count_nonzero(weight, axis=0),
    )
    ends = np.cumsum([ratio.total.shape[1] for ratio in flat])
    return {
        name: _part(together, slice(end - part.total.shape[1], end), ratio.total.shape[1:])
        for (name, ratio), part, end in zip(ratios.items(), flat, ends, strict=True)
    }


def gini(values: ArrayLike) -> Float[np.ndarray, "*rest"]:
    """Mean absolute difference of all pairs (last axis) by twice the mean: 0 when all are equal.

    NaN where the values add up to nothing, since shares of nothing are undefined.
    """
    values = np.asarray(values, np.float64)
    differences = np.abs(values[..., :, None] - values[..., None, :]).mean(axis=(-2, -1))
    return _divide(differences, 2 * values.mean(axis=-1))


def effective_number(values: ArrayLike) -> Float[np.ndarray, "*rest"]:
    """1 / Σ share² over the last axis: how many equal contributors would be as concentrated.

    NaN where there are none.
    """
    values = np.asarray(values, np.float64)
    return _divide(values.sum(axis=-1) ** 2, (values**2).sum(axis=-1))


def rank_correlation(values: ArrayLike, others: ArrayLike) -> Float[np.ndarray, "*rest"]:
    """Spearman's ρ over the last axis; NaN where either side is all equal."""
    ranks = [rankdata(each, axis=-1) for each in (values, others)]
    one, other = (each - each.mean(axis=-1, keepdims=True) for each in ranks)
    spread = np.sqrt((one**2).sum(axis=-1) * (other**2).sum(axis=-1))
    return _divide((one * other).sum(axis=-1), spread)


def _columns(values: Values) -> Float[np.ndarray, "problems figures"]:
    return values.reshape(values.shape[0], -1)


def _part(together: Estimate, columns: slice, shape: tuple[int, ...]) -> Estimate:
    return Estimate(
        value=together.value[columns].reshape(shape),
        interval=together.interval[columns].reshape(*shape, 2),
        problems=together.problems[columns].reshape(shape),
    )


def _interval(
    total: Float[np.ndarray, "problems figures"],
    weight: Float[np.ndarray, "problems figures"],
    rng: np.random.Generator,
) -> Float[np.ndarray, "figures 2"]:
    """The middle `LEVEL` of the resampled values, of those that are defined."""
    values = []
    for size in _portions(RESAMPLES, total.shape[0]):
        counts = _resample(rng, size, total.shape[0])
        values.append(_divide(counts @ total, counts @ weight))
    is_known = np.count_nonzero(weight, axis=0) > 1
    ends = [_quantiles(column) for column in np.concatenate(values).T]
    return np.where(is_known[:, None], np.stack(ends), np.nan)


def _quantiles(values: Float[np.ndarray, "resamples"]) -> Float[np.ndarray, "2"]:
    defined = values[~np.isnan(values)]
    ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    return np.quantile(defined, ends) if defined.size else np.full(2, np.nan)


def _portions(total: int, width: int) -> list[int]:
    """`total` in portions of so many rows that each fits in memory."""
    size = max(1, _MOST_COUNTS // width)
    return [min(size, total - start) for start in range(0, total, size)]


def _resample(
    rng: np.random.Generator, size: int, problems: int
) -> Int[np.ndarray, "resamples problems"]:
    """How often each problem is drawn in each resample."""
    return rng.multinomial(problems, np.full(problems, 1 / problems), size)


def _divide(total: np.ndarray, weight: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(weight == 0, np.nan, total / weight)
