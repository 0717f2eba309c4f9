"""Random words: independent, uniform, and what is made of them."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from osj_envs.random_words import below, draw_words, key_words, unit

SHAPES = ((), (3, 5), (), (7,), (1, 1))


def test_the_parts_have_their_shapes_and_share_no_word():
    parts = draw_words(jax.random.key(0), *SHAPES)
    assert [part.shape for part in parts] == list(SHAPES)
    assert all(part.dtype == jnp.uint32 for part in parts)
    words = np.concatenate([np.ravel(part) for part in parts])
    assert len(set(words.tolist())) == sum(map(np.size, parts)) == 25


def test_every_part_depends_on_the_key():
    one, other = (draw_words(jax.random.key(seed), *SHAPES) for seed in (1, 2))
    assert all((np.asarray(a) != np.asarray(b)).all() for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("implementation", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_keys_of_every_kind_give_words(implementation):
    key = jax.random.key(3, impl=implementation)
    parts = draw_words(key, *SHAPES)
    assert [part.shape for part in parts] == list(SHAPES)
    words = np.concatenate([np.ravel(part) for part in parts])
    assert len(set(words.tolist())) == 25


def test_a_raw_key_draws_as_the_typed_one_that_it_stands_for():
    raw, typed = draw_words(jax.random.PRNGKey(3), (9,)), draw_words(jax.random.key(3), (9,))
    np.testing.assert_array_equal(raw[0], typed[0])


def test_the_words_of_keys_are_all_that_these_are_made_of():
    keys = jax.random.split(jax.random.key(4), 3)
    words = key_words(keys)
    assert words.shape == (6,)
    np.testing.assert_array_equal(words.reshape(3, 2), jax.random.key_data(keys))


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 7, 10])
def test_parts_are_uniform_and_independent(bound):
    keys = jax.random.split(jax.random.key(bound), 20_000)
    parts = jax.vmap(lambda key: jnp.stack(draw_words(key, (), (), ())))(keys)
    drawn = np.asarray(below(parts, bound))
    assert drawn.dtype == np.int32
    assert set(np.unique(drawn)) == set(range(bound))
    for one, other in itertools.combinations(range(3), 2):
        if bound > 1:
            pairs = np.bincount(drawn[:, one] * bound + drawn[:, other], minlength=bound**2)
            assert scipy.stats.chisquare(pairs).pvalue > 1e-4


def test_unit_runs_from_0_to_just_under_1():
    words = jnp.array([0, 255, 256, 2**31, 2**32 - 1], jnp.uint32)
    np.testing.assert_array_equal(unit(words), [0, 0, 2.0**-24, 0.5, 1 - 2.0**-24])


def test_unit_is_uniform():
    (words,) = draw_words(jax.random.key(9), (50_000,))
    assert scipy.stats.kstest(np.asarray(unit(words)), "uniform").pvalue > 1e-3


def test_a_word_known_to_be_small_still_draws_uniformly():
    words = jnp.arange(60_000, dtype=jnp.uint32)
    assert np.ptp(np.bincount(np.asarray(below(words, 7)))) <= 1


def test_below_a_bound_that_leaves_a_remainder_counts_as_stated():
    bound, ends = 46_126_080, jnp.array([2**32 - 1, 46_126_079, 46_126_080], jnp.uint32)
    np.testing.assert_array_equal(below(ends, bound), [(2**32 - 1) % bound, bound - 1, 0])
