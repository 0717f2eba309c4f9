"""Bounds for chance: wide enough to hold for sure, narrow enough for a wrong rate to break them."""

import math

import numpy as np
from jaxtyping import Int

SIGMAS = 5.0
"""Standard deviations allowed: a right rate passes all but once in two million seeds."""


def check_rate(hits: int, trials: int, rate: float) -> None:
    """Raises AssertionError unless `hits` of `trials` fit the rate; a rate of 0 or 1 is exact."""
    spread = SIGMAS * math.sqrt(trials * rate * (1.0 - rate))
    assert abs(hits - trials * rate) <= spread, (
        f"{hits} of {trials} is {hits / trials:.5f}; "
        f"a rate of {rate:.5f} allows {spread / trials:.5f} on either side."
    )


def check_uniform(counts: Int[np.ndarray, "kinds"]) -> None:
    """Raises AssertionError unless all kinds are equally likely (chi-square)."""
    counts = np.asarray(counts, float)
    expected, freedom = counts.mean(), counts.size - 1
    assert expected >= 25, f"About {expected:.0f} draws of each kind are too few."
    excess = ((counts - expected) ** 2).sum() / expected - freedom
    # The bound's second term covers the skew of a chi-square with few kinds.
    allowed = SIGMAS * math.sqrt(2.0 * freedom) + SIGMAS**2
    assert excess <= allowed, f"Not uniform: {counts.astype(int).tolist()} (excess {excess:.0f})."
