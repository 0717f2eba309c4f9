"""Checking that the rule sets of a game are numbered without a gap."""

from collections.abc import Callable
from typing import TypeAlias

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

RoundTrip: TypeAlias = Callable[
    [Int[Array, "ranks"]], tuple[Int[Array, "ranks"], Bool[Array, "ranks"]]
]
"""For ranks: the ranks of their rule sets, and whether those are rule sets at all."""


def stratified_ranks(space: int) -> Int[Array, "ranks"]:
    """Ranks from all over a space of many thousands: one of each 65,536th part, and both ends."""
    strata = np.linspace(0, space, 2**16, endpoint=False).astype(np.int32)
    inside = np.random.default_rng(0).integers(0, space // 2**16, 2**16, dtype=np.int32)
    ends = np.concatenate([np.arange(1000), space - 1 - np.arange(1000)])
    return jnp.asarray(np.concatenate([strata + inside, ends]), jnp.int32)


def assert_bijective_on(ranks: Int[Array, "ranks"], check: RoundTrip) -> None:
    """Asserts that ranks come back from their rule sets.

    As there are as many different rule sets as numbers, injective on all of them is onto.
    """
    back, is_rule_set = check(ranks)
    np.testing.assert_array_equal(back, ranks)
    assert np.all(is_rule_set)


def assert_bijective(space: int, check: RoundTrip, chunk: int = 2**20) -> None:
    """Asserts that every rank of a space comes back from its rule set."""
    for start in range(0, space, chunk):
        assert_bijective_on(jnp.arange(start, min(start + chunk, space), dtype=jnp.int32), check)
