"""What the agents learn from: transforms of the individual rewards of one environment.

Metrics never see these; they report individual returns.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from algorithms.config import RewardConfig


def transform(
    config: RewardConfig, trace: Float[Array, "agents"], reward: Float[Array, "agents"]
) -> tuple[Float[Array, "agents"], Float[Array, "agents"]]:
    """The next trace (0 at an episode's start) and the rewards to learn from."""
    if config.kind == "common":
        return trace, jnp.full_like(reward, reward.mean())
    if config.kind == "svo" and reward.size > 1:
        return trace, svo(reward, config.weight, config.angle)
    if config.kind == "inequity_aversion" and reward.size > 1:
        trace = config.smoothing * trace + reward
        return trace, reward - inequity(trace, config.alpha, config.beta)
    return trace, reward


def svo(reward: Float[Array, "agents"], weight: float, angle: float) -> Float[Array, "agents"]:
    """Less the distance between the reward's angle and a social value orientation.

    The reward's angle is that of (own reward, mean of the others'). Where nobody was paid there
    is none, and the reward stays 0 (our choice).

    Args:
        reward: individual rewards of at least two agents.
        weight: cost of each radian of distance.
        angle: the orientation in degrees: 0 selfish, 45 prosocial, 90 altruistic.

    Source: McKee et al. 2020, equations 2 and 3.
    """
    others = (reward.sum() - reward) / (reward.size - 1)
    distance = jnp.abs(jnp.deg2rad(angle) - jnp.arctan2(others, reward))
    return reward - weight * jnp.where((reward == 0) & (others == 0), 0.0, distance)


def inequity(trace: Float[Array, "agents"], alpha: float, beta: float) -> Float[Array, "agents"]:
    """The disutility of having less (alpha) and of having more (beta) than the others.

    Args:
        trace: temporally smoothed rewards of at least two agents.
        alpha: aversion to disadvantage.
        beta: aversion to advantage.

    Source: Hughes et al. 2018, equation 3.
    """
    more = trace[None, :] - trace[:, None]
    envy, guilt = jnp.maximum(more, 0).sum(1), jnp.maximum(-more, 0).sum(1)
    return (alpha * envy + beta * guilt) / (trace.size - 1)
