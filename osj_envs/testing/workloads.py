"""What is timed: programs that a jitted scan runs over every device."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from osj_envs.random_words import below, key_words
from osj_envs.trials import MultiTrial
from osj_envs.types import Observation

AXIS = "envs"


def mesh_for(count: int) -> Mesh:
    """As many devices as can have equal shares of `count` environments."""
    devices = jax.devices()
    fits = max(n for n in range(1, len(devices) + 1) if count % n == 0)
    return Mesh(np.asarray(devices[:fits]), (AXIS,))


def sharded(function: Callable[..., Any], mesh: Mesh) -> Any:
    """`function` of arrays with an environment axis, jitted, each device with its share."""
    mapped = jax.shard_map(
        function, mesh=mesh, in_specs=P(AXIS), out_specs=P(AXIS), check_vma=False
    )
    return jax.jit(mapped)


def reset_all(env: MultiTrial, count: int) -> tuple[Any, Any]:
    """Keys and states of `count` environments, on their devices."""
    keys = jax.random.split(jax.random.key(0), count)
    reset = sharded(jax.vmap(lambda key: env.reset(key)[1]), mesh_for(count))
    return keys, jax.block_until_ready(reset(keys))


def random_play(env: MultiTrial, count: int, steps: int) -> Any:
    """Plays random actions; every observation is used, or it would never be computed."""

    def play(keys: Any, states: Any) -> tuple[Any, Any, Any]:
        def step(carry: Any, _: Any) -> tuple[Any, None]:
            keys, states, checksum = carry
            keys, step_keys, actions = jax.vmap(_drawn, in_axes=(0, None))(keys, env)
            played = jax.vmap(env.step)(step_keys, states, actions)
            observation, states, reward = played[:3]
            return (keys, states, checksum + _sum(observation) + reward.sum(axis=1)), None

        start = (keys, states, jnp.zeros(keys.shape[0]))
        return jax.lax.scan(step, start, length=steps)[0]

    return sharded(play, mesh_for(count))


def _drawn(key: Any, env: MultiTrial) -> tuple[Any, Any, Any]:
    """The next key, the step's key and all actions, by one call of the generator."""
    keys = jax.random.split(key, 2 + (env.num_agents + 1) // 2)
    return keys[0], keys[1], below(key_words(keys[2:])[: env.num_agents], env.num_actions)


def _sum(observation: Observation) -> Any:
    view = observation.view.astype(jnp.uint32).sum(axis=(1, 2, 3, 4))
    return view.astype(jnp.float32) + observation.own.sum(axis=(1, 2))
