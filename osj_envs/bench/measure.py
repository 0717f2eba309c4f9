"""Timings of compiled programs, and of a calibration kernel that stands for the machine."""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import osj_envs
from osj_envs.testing import workloads

ROUNDS = 5
MEBIBYTE = 1 << 20


def median_seconds(work: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Seconds of a round in the middle, after one that does not count."""
    jax.block_until_ready(work())
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        jax.block_until_ready(work())
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def calibration_rate() -> float:
    """Passes a second of a kernel of integer work, on every device, that no change here alters."""
    count = 64 * len(jax.devices())
    words = jnp.arange(count * 4096, dtype=jnp.uint32).reshape(count, 4096)

    def mix(words: Any) -> Any:
        def step(words: Any, _: Any) -> tuple[Any, None]:
            return (words ^ (words >> 7)) * jnp.uint32(2654435761) + words[:, ::-1], None

        return jax.lax.scan(step, words, length=50)[0]

    kernel = workloads.sharded(mix, workloads.mesh_for(count))
    return 50 / median_seconds(lambda: kernel(words))


def step_rate(name: str, count: int, steps: int, **options: Any) -> tuple[float, float]:
    """Environment steps a second under random actions, and the seconds that compiling took."""
    env = osj_envs.make(name, **options)
    keys, states = workloads.reset_all(env, count)
    start = time.perf_counter()
    play = workloads.random_play(env, count, steps).lower(keys, states).compile()
    compiling = time.perf_counter() - start
    return count * steps / median_seconds(lambda: play(keys, states)), compiling


def reset_rate(name: str, count: int) -> float:
    """Resets a second, each with a new latent."""
    env = osj_envs.make(name)
    keys = jax.random.split(jax.random.key(0), count)
    reset = workloads.sharded(jax.vmap(env.reset), workloads.mesh_for(count))
    return count / median_seconds(lambda: reset(keys))


def peak_megabytes(name: str, count: int, steps: int = 20) -> float:
    """The most memory, in MiB, of a process of its own that plays `count` environments."""
    command = [sys.executable, "-m", "osj_envs.bench.memory", name, str(count), str(steps)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def own_peak_megabytes() -> float:
    """The most memory that this process has held, in MiB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEBIBYTE
