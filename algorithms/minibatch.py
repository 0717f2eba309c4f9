"""Minibatches: they split the actors and never the time, alike on any number of devices."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from osj_envs.types import Key


def shuffled_members(
    key: Key, first_actor: Int[Array, ""], num_actors: int, num_minibatches: int
) -> Int[Array, "minibatches members"]:
    """Deals this device's actors out to minibatches.

    Consecutive actors form groups of `num_minibatches`, and each group deals one actor to every
    minibatch, by a key of its own. So every device holds an equal share of every minibatch, and
    which actor goes where does not depend on how many devices there are.

    Args:
        key: the same on every device.
        first_actor: global index of this device's first actor.
        num_actors: actors on this device, a multiple of `num_minibatches`.
        num_minibatches: gradient steps an epoch.

    Returns:
        For each minibatch, the local indices of its actors.
    """
    num_groups = num_actors // num_minibatches
    groups = jnp.arange(num_groups) + first_actor // num_minibatches
    keys = jax.vmap(jax.random.fold_in, (None, 0))(key, groups)
    deal = jax.vmap(lambda group_key: jax.random.permutation(group_key, num_minibatches))(keys)
    return (deal + num_minibatches * jnp.arange(num_groups)[:, None]).T


def take_actors(tree: Any, members: Int[Array, "members"], axis: int) -> Any:
    """The actors' rows of every leaf."""
    return jax.tree.map(lambda leaf: jnp.take(leaf, members, axis=axis, mode="clip"), tree)
