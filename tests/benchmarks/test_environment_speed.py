"""Environment steps a second: random actions, five agents, every view computed and used."""

import time
from typing import Any

import jax
import pytest

import osj_envs
from osj_envs.bench.rows import STEPS
from osj_envs.testing import workloads

ENVIRONMENTS = osj_envs.list_ids()


@pytest.mark.parametrize("count", STEPS)
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_steps(benchmark: Any, name: str, count: int) -> None:
    env = osj_envs.make(name)
    keys, states = workloads.reset_all(env, count)
    play = workloads.random_play(env, count, STEPS[count])
    start = time.perf_counter()
    play = play.lower(keys, states).compile()
    compile_seconds = time.perf_counter() - start
    benchmark.pedantic(lambda: jax.block_until_ready(play(keys, states)), rounds=5, warmup_rounds=1)
    report(benchmark, "env_steps_per_second", count * STEPS[count])
    benchmark.extra_info["compile_seconds"] = round(compile_seconds, 2)


@pytest.mark.parametrize("count", [1024])
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_resets(benchmark: Any, name: str, count: int) -> None:
    env = osj_envs.make(name)
    keys = jax.random.split(jax.random.key(0), count)
    reset = workloads.sharded(jax.vmap(env.reset), workloads.mesh_for(count))
    benchmark.pedantic(lambda: jax.block_until_ready(reset(keys)), rounds=10, warmup_rounds=1)
    report(benchmark, "resets_per_second", count)


def report(benchmark: Any, name: str, done: int) -> None:
    """Puts a rate into the benchmark's record and on the terminal."""
    rate = done / benchmark.stats.stats.median
    benchmark.extra_info[name] = round(rate)
    print(f"\n{benchmark.name}: {rate:,.0f} {name}")
