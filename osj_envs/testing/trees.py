"""Comparing pytrees leaf by leaf, and reducing them to a fingerprint."""

import hashlib
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

FLOAT_GRID = 2.0**-12
"""Floats count in these steps in a fingerprint, so that rounding of another machine is the same."""


def named_leaves(tree: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Every leaf as (path, array); typed random keys as their words."""
    for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
        is_key = isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        yield jax.tree_util.keystr(path), np.asarray(jax.random.key_data(leaf) if is_key else leaf)


def differing_leaves(expected: Any, actual: Any) -> list[str]:
    """The paths of the leaves whose shape, dtype or bits differ.

    Raises:
        ValueError: the two trees have different structures.
    """
    shapes = [str(jax.tree.structure(tree)) for tree in (expected, actual)]
    if shapes[0] != shapes[1]:
        raise ValueError(f"The trees differ in structure: {shapes[0]} and {shapes[1]}.")
    pairs = zip(named_leaves(expected), named_leaves(actual), strict=True)
    return [path for (path, left), (_, right) in pairs if not _same_bits(left, right)]


def _same_bits(left: np.ndarray, right: np.ndarray) -> bool:
    same_kind = left.dtype == right.dtype and left.shape == right.shape
    return same_kind and left.tobytes() == right.tobytes()


def fingerprint(tree: Any) -> str:
    """A hash of every leaf's path, shape, dtype and values, floats to the nearest `FLOAT_GRID`."""
    digest = hashlib.sha256()
    for path, leaf in named_leaves(tree):
        digest.update(f"{path} {leaf.shape} {leaf.dtype}".encode())
        if np.issubdtype(leaf.dtype, np.floating):
            leaf = np.round(leaf / FLOAT_GRID).astype(np.int64)
        digest.update(np.ascontiguousarray(leaf).tobytes())
    return digest.hexdigest()[:16]
