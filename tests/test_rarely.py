"""Conditional work: the same as a plain condition, for any batch, and only where it is needed."""

import functools

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from osj_envs.rarely import rarely
from osj_envs.testing.trees import differing_leaves


def work(x, y):
    """Something whose result has two leaves of different shapes and dtypes."""
    return {"sum": x + y.sum(), "flag": (y > x).astype(jnp.uint8)}


def plain(condition, otherwise, x, y):
    return jax.tree.map(lambda new, old: jnp.where(condition, new, old), work(x, y), otherwise)


def fast(condition, otherwise, x, y):
    return rarely(condition, work, otherwise, x, y)


def cases(*shape, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    otherwise = {"sum": rng.random(shape).astype(np.float32)}
    otherwise["flag"] = rng.integers(5, 9, (*shape, 3)).astype(np.uint8)
    x, y = rng.random(shape), rng.random((*shape, 3))
    return rng.random(shape) < share, otherwise, x.astype(np.float32), y.astype(np.float32)


def same(shape, arguments):
    slow, quick = plain, fast
    for _ in shape:
        slow, quick = jax.vmap(slow), jax.vmap(quick)
    return not differing_leaves(jax.jit(slow)(*arguments), jax.jit(quick)(*arguments))


@pytest.mark.parametrize("condition", [True, False])
def test_without_a_batch(condition):
    _, *rest = cases()
    assert same((), (np.bool_(condition), *rest))


@pytest.mark.parametrize(
    "shape", [(1,), (2,), (63,), (64,), (65,), (199,), (1, 1), (5, 31), (2, 3, 29), (1031,)]
)
def test_a_batch_of_any_size_and_depth(shape):
    for share in (0.0, 0.1, 0.9, 1.0):
        assert same(shape, cases(*shape, share=share, seed=len(shape)))


def test_only_the_last_or_only_the_first_of_a_batch():
    size = 131
    _, *rest = cases(size)
    for index in (0, size - 1):
        assert same((size,), (np.arange(size) == index, *rest))


@pytest.mark.parametrize("shared", ["condition", "otherwise", "x", "y"])
def test_an_argument_that_the_whole_batch_shares(shared):
    names = ("condition", "otherwise", "x", "y")
    arguments = cases(70)
    axes = tuple(None if name == shared else 0 for name in names)
    for first in range(2):
        given = tuple(
            jax.tree.map(lambda leaf, first=first: leaf[first], argument)
            if name == shared
            else argument
            for name, argument in zip(names, arguments, strict=True)
        )
        slow, quick = (jax.vmap(f, in_axes=axes)(*given) for f in (plain, fast))
        assert not differing_leaves(slow, quick)


def test_a_batch_axis_that_is_not_the_first():
    condition, otherwise, x, y = cases(70)
    expected = jax.vmap(plain)(condition, otherwise, x, y)
    found = jax.vmap(fast, in_axes=(0, 0, 0, 1))(condition, otherwise, x, y.T)
    assert not differing_leaves(expected, found)


def test_one_within_another():
    """As a new episode is begun within a new trial."""

    def inner(condition, x, y):
        return rarely(condition, work, work(y[0], y * 2), x, y)

    def outer(first, second, otherwise, x, y):
        return rarely(first, inner, otherwise, second, x, y)

    def slow(first, second, otherwise, x, y):
        within = plain(second, work(y[0], y * 2), x, y)
        return jax.tree.map(lambda new, old: jnp.where(first, new, old), within, otherwise)

    first, otherwise, x, y = cases(150, share=0.7)
    second, *_ = cases(150, share=0.5, seed=9)
    arguments = first, second, otherwise, x, y
    assert not differing_leaves(
        jax.jit(jax.vmap(slow))(*arguments), jax.jit(jax.vmap(outer))(*arguments)
    )


def test_within_a_scan():
    def scan(function, start, conditions):
        def step(carry, condition):
            told = jax.vmap(function)(condition, carry, carry["sum"], carry["flag"] * 0.1)
            return told, told["sum"]

        return jax.lax.scan(step, start, conditions)

    _, start, *_ = cases(90)
    conditions = np.random.default_rng(0).random((7, 90)) < 0.2
    ends = [jax.jit(functools.partial(scan, f))(start, conditions) for f in (plain, fast)]
    # Sums may be added in another order.
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-5), *ends)


def test_the_work_is_done_for_few_more_than_need_it():
    """Counted by a callback: a batch pays only for what it needs."""
    done = []

    def counted(x, y):
        jax.debug.callback(lambda _: done.append(1), x)
        return work(x, y)

    size = 640
    _, otherwise, x, y = cases(size)
    step = jax.jit(jax.vmap(lambda c, *rest: rarely(c, counted, *rest)))
    for needed in (0, 1, 64, 65, size):
        done.clear()
        jax.block_until_ready(step(np.arange(size) < needed, otherwise, x, y))
        jax.effects_barrier()
        assert needed <= len(done) <= needed + (needed > 0) * size // 8


def test_it_is_compiled_once():
    @jax.jit
    @chex.assert_max_traces(n=1)
    def step(*arguments):
        return jax.vmap(fast)(*arguments)

    for share in (0.0, 0.5, 1.0):
        step(*cases(20, share=share))
