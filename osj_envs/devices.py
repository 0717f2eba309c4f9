"""Which devices a program uses: every core of a CPU, or every accelerator of every process."""

import os

import jax


def prepare_backend(is_distributed: bool = False) -> None:
    """Makes each CPU core a device of its own; must come before JAX is first used.

    A loop of small operations keeps one core busy at most, so it takes several devices to use
    several cores. Set `JAX_NUM_CPU_DEVICES` to overrule the count.

    Args:
        is_distributed: joins the other processes of this run by `jax.distributed`. It finds them
            by the cluster's environment variables; where there is no cluster, by
            `JAX_COORDINATOR_ADDRESS`, `JAX_NUM_PROCESSES` and `JAX_PROCESS_ID`.
    """
    if "JAX_NUM_CPU_DEVICES" not in os.environ:
        jax.config.update("jax_num_cpu_devices", usable_cores())
    if is_distributed:
        jax.distributed.initialize(
            num_processes=_number("JAX_NUM_PROCESSES"), process_id=_number("JAX_PROCESS_ID")
        )


def usable_cores() -> int:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _number(variable: str) -> int | None:
    value = os.environ.get(variable)
    return int(value) if value else None
