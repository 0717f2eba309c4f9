"""Recurrences over a chunk: what comes before them has seen all steps at once."""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


class GRU(nn.Module):
    """A gated recurrent unit whose input side is one product over the whole chunk.

    Source: Cho et al. 2014, with the reset gate applied after the recurrent product, so that
    both products of a step start at once.
    """

    features: int

    @nn.compact
    def __call__(
        self,
        hidden: Float[Array, "actors hidden"],
        inputs: Float[Array, "time actors features"],
        forgets: Bool[Array, "time actors"],
    ) -> tuple[Float[Array, "actors hidden"], Float[Array, "time actors hidden"]]:
        """The state after the chunk, and after each step; `forgets` wipes it before a step."""
        size = self.features
        outside = nn.Dense(3 * size, name="input")(inputs)
        weights = self.param("recurrent", nn.initializers.orthogonal(), (size, 3 * size))
        bias = self.param("candidate_bias", nn.initializers.zeros, (size,))
        # two products: the gradient of one that is then sliced takes half as long again on a CPU
        to_gates, to_candidate = weights[:, : 2 * size], weights[:, 2 * size :]

        def step(hidden: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
            gates, forgets = now
            hidden = jnp.where(forgets[:, None], 0.0, hidden)
            both = nn.sigmoid(gates[:, : 2 * size] + hidden @ to_gates)
            reset, update = both[:, :size], both[:, size:]
            candidate = nn.tanh(gates[:, 2 * size :] + reset * (hidden @ to_candidate + bias))
            hidden = candidate + update * (hidden - candidate)
            return hidden, hidden

        return jax.lax.scan(step, hidden, (outside, forgets))


class LRU(nn.Module):
    """A linear recurrence with a complex diagonal, run as a parallel scan.

    The state is stored as real parts followed by imaginary parts. Source: Orvieto et al. 2023
    (stable exponential parametrisation, ring initialisation, normalisation), with a normalised,
    gated, residual layer on top.
    """

    features: int
    least_modulus: float = 0.9
    greatest_modulus: float = 0.999

    @nn.compact
    def __call__(
        self,
        hidden: Float[Array, "actors hidden"],
        inputs: Float[Array, "time actors features"],
        forgets: Bool[Array, "time actors"],
    ) -> tuple[Float[Array, "actors hidden"], Float[Array, "time actors hidden"]]:
        """The state after the chunk, and the output of each step, as for `GRU`."""
        decay, scale = self._decay()
        inputs = nn.Dense(self.features, name="input")(inputs)
        driven = nn.Dense(self.features, use_bias=False, name="drive")(inputs)
        driven = _to_complex(driven) * scale
        kept = jnp.where(forgets[..., None], 0.0, decay)
        driven = driven.at[0].add(kept[0] * _to_complex(hidden))
        _, states = jax.lax.associative_scan(_compose, (kept, driven))
        flat = _to_real(states)
        read = nn.Dense(2 * self.features, name="read")(nn.LayerNorm(name="norm")(flat))
        return flat[-1], inputs + nn.glu(read)

    def _decay(self) -> tuple[Array, Array]:
        """The diagonal, and what keeps the state's size near the input's."""
        half = self.features // 2
        low, high = self.least_modulus**2, self.greatest_modulus**2

        def sample_log_rate(key: Any, shape: tuple[int, ...]) -> Array:
            squared = jax.random.uniform(key, shape, minval=low, maxval=high)
            return jnp.log(-0.5 * jnp.log(squared))

        def sample_log_phase(key: Any, shape: tuple[int, ...]) -> Array:
            return jnp.log(jax.random.uniform(key, shape, minval=1e-3, maxval=0.3))

        rate = jnp.exp(self.param("log_rate", sample_log_rate, (half,)))
        phase = jnp.exp(self.param("log_phase", sample_log_phase, (half,)))
        decay = jnp.exp(jax.lax.complex(-rate, phase))
        return decay, jnp.sqrt(-jnp.expm1(-2 * rate))


def _compose(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """One linear step after another, as one linear step."""
    return first[0] * second[0], second[0] * first[1] + second[1]


def _to_complex(flat: Float[Array, "*batch hidden"]) -> Array:
    real, imaginary = jnp.split(flat, 2, axis=-1)
    return jax.lax.complex(real, imaginary)


def _to_real(states: Array) -> Float[Array, "*batch hidden"]:
    return jnp.concatenate([states.real, states.imag], axis=-1)
