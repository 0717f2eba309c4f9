"""Which devices a run uses: every core of a CPU, or every accelerator of every process."""

import os

import jax
import numpy as np
from jax.sharding import Mesh

AXIS = "envs"
"""The mesh's one axis; environments are sharded over it."""


def prepare_backend(is_distributed: bool = False) -> None:
    """Makes each CPU core a device of its own; must come before JAX is first used.

    A loop of small operations keeps one core busy at most, so it takes several devices to use
    several cores. Set `JAX_NUM_CPU_DEVICES` to overrule the count.

    Args:
        is_distributed: joins the other processes of this run (`jax.distributed`, which finds them
            by the cluster's environment variables or its own).
    """
    if "JAX_NUM_CPU_DEVICES" not in os.environ:
        jax.config.update("jax_num_cpu_devices", usable_cores())
    if is_distributed:
        jax.distributed.initialize()


def usable_cores() -> int:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
