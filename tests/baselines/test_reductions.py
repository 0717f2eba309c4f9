"""What is said of a board is what NumPy says of all its cells at once."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.reductions import over_board

SHAPES = [(1, 1), (12, 16), (3, 7, 5), (2, 3, 4, 9)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["sum", "min", "max", "any"])
def test_it_is_the_reduction_over_both_axes(name, shape):
    cells = np.random.default_rng(0).integers(-3, 4, shape)
    cells = cells > 2 if name == "any" else cells
    reduce = jax.jit(functools.partial(over_board, getattr(jnp, name)))
    np.testing.assert_array_equal(reduce(cells), getattr(np, name)(cells, axis=(-2, -1)))


def test_it_maps_over_a_batch_and_hands_options_on():
    cells = np.random.default_rng(1).random((6, 4, 9)) < 0.5
    count = jax.vmap(functools.partial(over_board, jnp.sum, dtype=jnp.uint8))(cells)
    assert count.dtype == jnp.uint8
    np.testing.assert_array_equal(count, cells.sum(axis=(1, 2)))
