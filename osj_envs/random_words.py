"""Random words, all that a draw needs from one call of JAX's generator.

XLA compiles the generator anew for every call, which costs more than all that is made of the words:
so a step, a trial's start and a latent take one block of words each, cut into named parts.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Int32, UInt32

from osj_envs.types import Key


def draw_words(key: Key, *shapes: tuple[int, ...]) -> list[UInt32[Array, "..."]]:
    """Independent random words, uint32, in each of the shapes."""
    sizes = [math.prod(shape) for shape in shapes]
    words = key_words(jax.random.split(key, (sum(sizes) + 1) // 2))[: sum(sizes)]
    parts = jnp.split(words, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def key_words(keys: Key) -> UInt32[Array, "words"]:
    """The words that new keys are made of, two each, to be used instead of the keys.

    They are the generator's output as it is. `jax.random.bits` folds two such words into one, and
    so takes twice as long for as many. Keys of four words may say the same twice.
    """
    return jax.random.key_data(keys)[..., :2].reshape(-1)


def unit(word: UInt32[Array, "*shape"]) -> Float32[Array, "*shape"]:
    """A number in [0, 1) from a random word, uniform over the multiples of 2**-24."""
    return (word >> 8).astype(jnp.float32) / (1 << 24)


def below(word: UInt32[Array, "*shape"], bound: int) -> Int32[Array, "*shape"]:
    """A whole number from 0 to `bound - 1` from a random word.

    Uniform but for what 2**32 leaves over: two numbers' chances differ by less than
    `bound / 2**32` of either. The remainder serves, since it stays as uniform where the word is
    known to be small, as one is that made an apple grow.
    """
    return (word % jnp.uint32(bound)).astype(jnp.int32)
