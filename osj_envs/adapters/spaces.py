"""Spaces that sample and check inside compiled programs, with JaxMARL's names and attributes."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Num

from osj_envs.specs import BoxSpec, DiscreteSpec
from osj_envs.types import Key


class Discrete:
    """The integers 0 .. `n` - 1, int32."""

    def __init__(self, spec: DiscreteSpec) -> None:
        self.n = spec.size
        self.shape: tuple[int, ...] = ()
        self.dtype = spec.dtype

    def sample(self, key: Key) -> Int[Array, ""]:
        """An integer drawn uniformly."""
        return jax.random.randint(key, self.shape, 0, self.n, self.dtype)

    def contains(self, x: Int[Array, ""]) -> Bool[Array, ""]:
        """Whether `x` is in range."""
        return (x >= 0) & (x < self.n)


class Box:
    """Arrays of a fixed shape and dtype within bounds, both included."""

    def __init__(self, spec: BoxSpec) -> None:
        self.low = np.full(spec.shape, spec.low)
        self.high = np.broadcast_to(np.asarray(spec.high), spec.shape)
        self.shape = spec.shape
        self.dtype = spec.dtype

    def sample(self, key: Key) -> Num[Array, "..."]:
        """Codes drawn uniformly; numbers, which may be unbounded, drawn normally and clipped."""
        if np.issubdtype(self.dtype, np.integer):
            low, high = self.low.astype(np.int32), self.high.astype(np.int32)
            return jax.random.randint(key, self.shape, low, high + 1).astype(self.dtype)
        return jnp.clip(jax.random.normal(key, self.shape, self.dtype), self.low, self.high)

    def contains(self, x: Num[Array, "..."]) -> Bool[Array, ""]:
        """Whether all elements of `x` are within the bounds."""
        return ((x >= self.low) & (x <= self.high)).all()


@dataclasses.dataclass(frozen=True)
class Dict:
    """Dictionaries with one entry from each space."""

    spaces: dict[str, Box]

    def sample(self, key: Key) -> dict[str, Array]:
        """A draw from every space."""
        keys = jax.random.split(key, len(self.spaces))
        return {name: space.sample(keys[i]) for i, (name, space) in enumerate(self.spaces.items())}

    def contains(self, x: dict[str, Array]) -> Bool[Array, ""]:
        """Whether every entry of `x` is in its space."""
        return jnp.stack([space.contains(x[name]) for name, space in self.spaces.items()]).all()
