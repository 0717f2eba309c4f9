"""Timings of compiled programs, and of a calibration kernel that stands for the machine."""

import dataclasses
import functools
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
PASSES = 400
MEBIBYTE = 1 << 20


@dataclasses.dataclass(frozen=True)
class Rate:
    """How fast work went, in the middle of several rounds.

    Attributes:
        per_second: units of work a second.
        per_pass: units of work in the time of one pass of the calibration kernel, which is timed
            next to each round, so that a busy or another machine changes it little.
    """

    per_second: float
    per_pass: float


def seconds(work: Callable[[], Any]) -> float:
    """Seconds until the result of `work` is there."""
    start = time.perf_counter()
    jax.block_until_ready(work())
    return time.perf_counter() - start


def median_seconds(work: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Seconds of a round in the middle, after one that does not count."""
    seconds(work)
    return statistics.median(seconds(work) for _ in range(rounds))


def rate(work: Callable[[], Any], units: int, rounds: int = ROUNDS) -> Rate:
    """How fast `work`, of so many units, goes; a round that compiles does not count."""
    kernel = calibration()
    seconds(kernel)
    seconds(work)
    passes, taken = zip(*((seconds(kernel), seconds(work)) for _ in range(rounds)), strict=True)
    relative = statistics.median(PASSES * t / k for t, k in zip(taken, passes, strict=True))
    return Rate(units / statistics.median(taken), units / relative)


@functools.cache
def calibration() -> Callable[[], Any]:
    """Passes of a kernel of integer work, on every device, that no change elsewhere alters."""
    count = 64 * len(jax.devices())
    words = jnp.arange(count * 4096, dtype=jnp.uint32).reshape(count, 4096)

    def mix(words: Any) -> Any:
        def step(words: Any, _: Any) -> tuple[Any, None]:
            return (words ^ (words >> 7)) * jnp.uint32(2654435761) + words[:, ::-1], None

        return jax.lax.scan(step, words, length=PASSES)[0]

    kernel = workloads.sharded(mix, workloads.mesh_for(count))
    return lambda: kernel(words)


def step_rate(name: str, count: int, steps: int, **options: Any) -> tuple[Rate, float]:
    """Environment steps under random actions, and the seconds that compiling took."""
    env = osj_envs.make(name, **options)
    keys, states = workloads.reset_all(env, count)
    start = time.perf_counter()
    play = workloads.random_play(env, count, steps).lower(keys, states).compile()
    compiling = time.perf_counter() - start
    return rate(lambda: play(keys, states), count * steps), compiling


def reset_rate(name: str, count: int) -> Rate:
    """Resets, each with a new latent."""
    env = osj_envs.make(name)
    keys = jax.random.split(jax.random.key(0), count)
    reset = workloads.sharded(jax.vmap(env.reset), workloads.mesh_for(count))
    return rate(lambda: reset(keys), count)


def peak_megabytes(name: str, count: int, steps: int = 20) -> float:
    """The most memory, in MiB, of a process of its own that plays `count` environments."""
    command = [sys.executable, "-m", "osj_envs.bench.memory", name, str(count), str(steps)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def own_peak_megabytes() -> float:
    """The most memory that this process has held, in MiB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEBIBYTE
