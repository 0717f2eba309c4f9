"""The losses of proximal policy optimisation, and the auxiliary losses of the recurrent state."""

import distrax
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from algorithms.config import AgentConfig, PPOConfig
from algorithms.records import Batch, NetworkOutput

Stats = dict[str, Float[Array, ""]]
"""Means over a batch, by the name under which they are logged."""


def total_loss(
    config: AgentConfig, output: NetworkOutput, batch: Batch, axis_name: str
) -> tuple[Float[Array, ""], Stats]:
    """The loss that is descended, and what it is made of.

    Args:
        config: the weights.
        output: the network's answer to the batch, under the parameters to be changed.
        batch: what was sampled, under the parameters of then.
        axis_name: of the devices.
    """
    policy = distrax.Categorical(logits=output.logits)
    loss, stats = policy_loss(config.ppo, policy.log_prob(batch.action), batch)
    stats |= {
        "policy_loss": loss,
        "value_loss": jnp.square(output.value - batch.target).mean(),
        "entropy": policy.entropy().mean(),
    }
    loss = loss + config.ppo.value_loss * stats["value_loss"]
    loss = loss - config.ppo.entropy * stats["entropy"]
    if config.record_loss:
        stats["record_loss"] = record_loss(output, batch)
        loss = loss + config.record_loss * stats["record_loss"]
    if config.event_loss:
        stats["event_loss"] = event_loss(output, batch, config.event_action, axis_name)
        loss = loss + config.event_loss * stats["event_loss"]
    return loss, stats


def policy_loss(
    config: PPOConfig, log_prob: Float[Array, "time actors"], batch: Batch
) -> tuple[Float[Array, ""], Stats]:
    """The clipped surrogate (Schulman et al. 2017, equation 7), and how far the policy moved.

    The divergence is the low-variance estimate of Schulman 2020, "Approximating KL divergence".
    """
    log_ratio = log_prob - batch.log_prob
    ratio = jnp.exp(log_ratio)
    clipped = jnp.clip(ratio, 1.0 - config.clip, 1.0 + config.clip)
    gain = jnp.minimum(ratio * batch.advantage, clipped * batch.advantage)
    stats = {
        "approx_kl": (ratio - 1.0 - log_ratio).mean(),
        "clip_fraction": (jnp.abs(ratio - 1.0) > config.clip).mean(),
    }
    return -gain.mean(), stats


def record_loss(output: NetworkOutput, batch: Batch) -> Float[Array, ""]:
    """Cross-entropy of the evidence record, whose features lie within -1 .. 1, from the state."""
    probability = 0.5 * (1.0 + jnp.clip(batch.inputs.record, -1.0, 1.0))
    return optax.sigmoid_binary_cross_entropy(output.record_logits, probability).mean()


def event_loss(
    output: NetworkOutput, batch: Batch, event_action: int, axis_name: str
) -> Float[Array, ""]:
    """Cross-entropy of whether the action taken brings about what is predicted.

    Only steps with `event_action` count, unless it is negative. The mean over devices is the mean
    over all steps that count, wherever they are.
    """
    logit = jnp.take_along_axis(output.event_logits, batch.action[..., None], axis=-1)[..., 0]
    error = optax.sigmoid_binary_cross_entropy(logit, batch.event)
    counts = (batch.action == event_action) | jnp.bool_(event_action < 0)
    share = jax.lax.pmean(counts.mean(), axis_name)
    return (error * counts).mean() / jnp.maximum(share, 1.0 / counts.size)


def normalised(
    advantage: Float[Array, "*batch"], axis_name: str, epsilon: float = 1e-8
) -> Float[Array, "*batch"]:
    """Mean 0 and deviation 1 over the whole batch of all devices."""
    mean = jax.lax.pmean(advantage.mean(), axis_name)
    variance = jax.lax.pmean(jnp.square(advantage - mean).mean(), axis_name)
    return (advantage - mean) / (jnp.sqrt(variance) + epsilon)


def explained_variance(
    value: Float[Array, "*batch"], target: Float[Array, "*batch"], axis_name: str
) -> Float[Array, ""]:
    """1 where the value is the target, 0 where it is no better than the target's mean."""
    mean = jax.lax.pmean(target.mean(), axis_name)
    variance = jax.lax.pmean(jnp.square(target - mean).mean(), axis_name)
    error = target - value
    offset = jax.lax.pmean(error.mean(), axis_name)
    unexplained = jax.lax.pmean(jnp.square(error - offset).mean(), axis_name)
    return 1.0 - unexplained / jnp.maximum(variance, 1e-8)
