"""How a run is spread over the devices: environments are shared out equally."""

import jax
import numpy as np
from jax.sharding import Mesh

AXIS = "envs"
"""The mesh's one axis; environments are sharded over it."""


def make_mesh(num_envs: int, num_agents: int, num_minibatches: int) -> Mesh:
    """The mesh over as many devices as can have equal shares of every minibatch.

    Raises:
        ValueError: the environments cannot be shared out.
    """
    if (num_envs * num_agents) % num_minibatches:
        raise ValueError(
            f"scale.num_envs x num_agents is {num_envs * num_agents} actors, which "
            f"agent.ppo.minibatches={num_minibatches} does not divide."
        )
    devices = jax.devices()
    fits = [
        count
        for count in range(1, len(devices) + 1)
        if num_envs % count == 0 and (num_envs // count * num_agents) % num_minibatches == 0
    ]
    if jax.process_count() > 1 and fits[-1] != len(devices):
        raise ValueError(
            f"scale.num_envs is {num_envs}, which cannot be shared equally by {len(devices)} "
            "devices of several processes; take a multiple of "
            f"{len(devices)} x agent.ppo.minibatches."
        )
    return Mesh(np.asarray(devices[: fits[-1]]), (AXIS,))
