"""Generalised advantage estimation over chunks that trials and episodes end within.

Source: Schulman et al. 2016, section 3, with the ends of trials and episodes kept apart (ours).
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algorithms.records import Boundaries


def advantages(
    reward: Float[Array, "time *actors"],
    value: Float[Array, "time *actors"],
    boundaries: Boundaries,
    last_value: Float[Array, "*actors"],
    discount: float,
    gae_lambda: float,
    crosses_trials: bool,
) -> Float[Array, "time *actors"]:
    """How much better each action did than its state's value.

    Args:
        reward: of each step.
        value: predicted before each step.
        boundaries: what ended with each step.
        last_value: of the observation after the chunk.
        discount: per step, across trial boundaries too.
        gae_lambda: 0 trusts the value, 1 the sampled return.
        crosses_trials: whether what comes after a trial's end counts towards its steps; nothing
            ever counts across an episode's end.
    """
    ends = boundaries.episode_end
    if not crosses_trials:
        ends = ends | boundaries.trial_end
    following = jnp.concatenate([value[1:], last_value[None]])
    after_end = jnp.where(boundaries.time_limit, boundaries.final_value, 0.0)
    surprise = reward + discount * jnp.where(ends, after_end, following) - value
    decay = jnp.where(ends, 0.0, discount * gae_lambda)

    def backward(
        later: Float[Array, "*actors"], step: tuple[Array, Array]
    ) -> tuple[Float[Array, "*actors"], Float[Array, "*actors"]]:
        now = step[0] + step[1] * later
        return now, now

    nothing = jnp.zeros_like(last_value)
    return jax.lax.scan(backward, nothing, (surprise, decay), reverse=True)[1]
