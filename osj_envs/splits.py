"""Train and held-out: how the space of hidden rules is cut, and what a problem seed means.

The random split permutes a space of ranks by a fixed pseudo-random bijection and gives the first
four fifths to training. It needs no table and no rejection, so drawing from a split costs a few
integer operations, and every rank of the split is equally likely, as far as a word of 32 bits
allows (`random_words.below`): to 1.4% for the paper's games. The semantic split cuts by what the
rules mean instead, because a random cut leaves every single pairing familiar.
"""

import dataclasses
import difflib
import math
from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Int32, UInt32

from osj_envs.random_words import below
from osj_envs.types import Key, Split

SPLITS: tuple[Split, ...] = get_args(Split)
"""Names of the splits; "all" is the other two together."""

PROBLEM_SEEDS = 2**32
"""Problem seeds run from 0 to one less than this."""

_TRAIN_FIFTHS = 4
_ROUND_KEYS = (
    0x243F6A88,
    0x85A308D3,
    0x13198A2E,
    0x03707344,
    0xA4093822,
    0x299F31D0,
    0x082EFA98,
    0xEC4E6C89,
)  # Fractional digits of pi: any fixed, unrelated words would do.
_PROBLEM_STREAM = 0x05CE11E5

IntLike: TypeAlias = int | np.integer | Int[Array | np.ndarray, "..."]
World = TypeVar("World")


def check_split(split: str) -> Split:
    """The split of that name.

    Raises:
        ValueError: if it is not one of `SPLITS`.
    """
    for name in SPLITS:
        if split == name:
            return name
    nearest = difflib.get_close_matches(str(split), SPLITS, n=1, cutoff=0.0)[0]
    raise ValueError(
        f"There is no split {split!r}; it must be one of {', '.join(SPLITS)}, "
        f"and the nearest of these is {nearest!r}."
    )


def split_size(split: str, space: int) -> int:
    """How many of a space's `space` ranks a split holds; training has floor(0.8 * space)."""
    check_split(split)
    train = space * _TRAIN_FIFTHS // 5
    return {"train": train, "held_out": space - train, "all": space}[split]


def check_rank(rank: IntLike, space: int) -> None:
    """Raises ValueError where `rank` is concrete and not one whole number from 0 to `space - 1`."""
    if isinstance(rank, jax.core.Tracer):
        return
    number = np.asarray(rank)
    if number.ndim or number.dtype.kind not in "iu" or not 0 <= number < space:
        raise ValueError(f"rank is {rank}; it must be one whole number from 0 to {space - 1:,}.")


def is_held_out(rank: IntLike, space: int) -> Bool[Array, "..."]:
    """Whether ranks of a space belong to held-out; those that don't belong to training.

    Args:
        rank: ranks, of any shape.
        space: how many ranks there are; a product of two factors of like size.

    Raises:
        ValueError: if a concrete rank is out of range, or the space has no such factors.
    """
    _check_range("rank", rank, space)
    return _permute(jnp.asarray(rank, jnp.int32), space) >= split_size("train", space)


def nth_rank(index: IntLike, split: str, space: int) -> Int32[Array, "..."]:
    """The ranks of a split, in its own fixed order: a bijection from its indices onto it.

    Args:
        index: indices of any shape, from 0 to `split_size(split, space) - 1`.
        split: one of `SPLITS`.
        space: how many ranks there are; a product of two factors of like size.

    Raises:
        ValueError: if a concrete index is out of range, the split's name is unknown, or the space
            has no such factors.
    """
    _check_range("index", index, split_size(split, space))
    start = split_size("train", space) if split == "held_out" else 0
    return _unpermute(jnp.asarray(index, jnp.int32) + start, space)


def sample_rank(word: UInt32[Array, ""], split: str, space: int) -> Int32[Array, ""]:
    """A rank drawn from the whole of a split by a random word, as uniformly as `below` is.

    Raises:
        ValueError: if the split is empty (training, where the space holds one rank), its name is
            unknown, or the space is no product of two factors of like size.
    """
    size = split_size(split, space)
    if size == 0:
        raise ValueError(
            f"The split {split!r} of a space of {space} is empty; "
            "it needs at least 4 ranks, or the split 'all'."
        )
    return nth_rank(below(word, size), split, space)


def problem_key(seed: IntLike) -> Key:
    """The key that draws the held-out latent of a problem seed.

    The generator is named and the derivation is fixed, so that a seed means the same problem
    whatever JAX's default generator is.

    Args:
        seed: a whole number from 0 to 2**32 - 1; traced seeds count modulo 2**32.

    Raises:
        ValueError: if a concrete seed is out of range.
    """
    _check_range("problem seed", seed, PROBLEM_SEEDS)
    word = jnp.asarray(seed, None if isinstance(seed, jax.Array) else jnp.uint32)
    stream = jax.random.key(_PROBLEM_STREAM, impl="threefry2x32")
    return jax.random.fold_in(stream, word.astype(jnp.uint32))


@dataclasses.dataclass(frozen=True)
class SemanticSplit(Generic[World]):
    """A split by what the rules mean: some classes of worlds occur in held-out only.

    Worlds fall into classes of equal size, and `move` carries one class onto another bijectively.
    A uniform world moved into a class drawn uniformly from a split's is then uniform over the
    split: exact, and without rejection.
    """

    classify: Callable[[World], Int32[Array, ""]]
    """The class of a world, from 0 up."""
    move: Callable[[World, Int32[Array, ""]], World]
    """A world and a class -> a world of that class; bijective between any two classes."""
    held_out: tuple[bool, ...]
    """For each class, whether it belongs to held-out; the rest belong to training."""

    def __post_init__(self) -> None:
        if all(self.held_out) or not any(self.held_out):
            raise ValueError(
                f"held_out is {self.held_out}; it must leave at least one class to each split."
            )

    def is_held_out(self, world: World) -> Bool[Array, ""]:
        """Whether a world belongs to held-out."""
        return jnp.asarray(self.held_out)[self.classify(world)]

    def sample(self, word: UInt32[Array, ""], split: str, world: World) -> World:
        """A world drawn uniformly from a split.

        Args:
            word: a random word, which draws the class.
            split: one of `SPLITS`.
            world: drawn uniformly from all worlds, by another word.
        """
        if check_split(split) == "all":
            return world
        wanted = split == "held_out"
        classes = jnp.asarray(np.flatnonzero(np.asarray(self.held_out) == wanted))
        return self.move(world, classes[below(word, classes.shape[0])].astype(jnp.int32))


def _factors(space: int) -> tuple[int, int]:
    """The factorisation of a space that is nearest to a square, smaller factor first."""
    if not 0 < space < 2**31:
        raise ValueError(f"a space of {space} ranks can't be cut; it must have 1 to 2**31 - 1.")
    small = next(f for f in range(math.isqrt(space), 0, -1) if space % f == 0)
    if space // small > small**2:
        raise ValueError(
            f"a space of {space} ranks can't be cut evenly; its size must be a product a * b with "
            f"a <= b <= a**2, but the nearest to that is {small} * {space // small}."
        )
    return small, space // small


def _permute(rank: Int32[Array, "..."], space: int) -> Int32[Array, "..."]:
    """A fixed pseudo-random permutation: a Feistel network over a rank's two mixed-radix digits."""
    small, large = _factors(space)
    high, low = rank // large, rank % large
    for first, second in zip(_ROUND_KEYS[::2], _ROUND_KEYS[1::2], strict=True):
        high = (high + _hash(low, first, small)) % small
        low = (low + _hash(high, second, large)) % large
    return jnp.asarray(high * large + low)


def _unpermute(place: Int32[Array, "..."], space: int) -> Int32[Array, "..."]:
    """Undoes `_permute`."""
    small, large = _factors(space)
    high, low = place // large, place % large
    for first, second in zip(_ROUND_KEYS[-2::-2], _ROUND_KEYS[::-2], strict=True):
        low = (low - _hash(high, second, large)) % large
        high = (high - _hash(low, first, small)) % small
    return jnp.asarray(high * large + low)


def _hash(value: Int32[Array, "..."], key: int, bound: int) -> Int32[Array, "..."]:
    """An integer from 0 to `bound - 1` that depends on all bits of `value` (MurmurHash3's mix)."""
    word = value.astype(jnp.uint32) ^ jnp.uint32(key)
    word = (word ^ (word >> 16)) * jnp.uint32(0x85EBCA6B)
    word = (word ^ (word >> 13)) * jnp.uint32(0xC2B2AE35)
    return ((word ^ (word >> 16)) % jnp.uint32(bound)).astype(jnp.int32)


def _check_range(name: str, value: IntLike, end: int) -> None:
    if isinstance(value, jax.core.Tracer):
        return
    array = np.asarray(value)
    if array.dtype.kind not in "iu" or np.any(array < 0) or np.any(array >= end):
        raise ValueError(f"{name} is {value}; it must be a whole number from 0 to {end - 1:,}.")
