"""Where an update's time goes: environment, policy, learning."""

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P
from jaxtyping import Array

from algorithms import collect
from algorithms.devices import AXIS
from algorithms.learner import SHARDING, Learner
from algorithms.records import LearnerState


def time_shares(learner: Learner, seed: int = 0, rounds: int = 5) -> dict[str, float]:
    """Times a run's update, its play alone, and its environments alone under random actions.

    Returns:
        `agent_steps_per_second` of the whole update, and the shares of its time that go into
        `environment`, `policy` (playing, less the environments) and `learning` (the rest).
    """
    state = learner.init(seed)
    environment = _fastest(sharded(learner, _environment_only), state, rounds)
    playing = _fastest(sharded(learner, _play_only), state, rounds)
    whole = _fastest_update(learner, state, rounds)
    return {
        "agent_steps_per_second": learner.agent_steps_per_update / whole,
        "environment": environment / whole,
        "policy": (playing - environment) / whole,
        "learning": 1.0 - playing / whole,
    }


def sharded(learner: Learner, work: Callable[[Learner, LearnerState], Array]) -> Any:
    """`work`, each device on its own share of the environments; one number comes of each."""
    mapped = jax.shard_map(
        lambda state: work(learner, state)[None],
        mesh=learner.mesh,
        in_specs=(SHARDING,),
        out_specs=P(AXIS),
        check_vma=False,
    )
    return jax.jit(mapped)


def _environment_only(learner: Learner, state: LearnerState) -> Array:
    """A chunk of random actions; every observation counts, or it would not be computed."""
    env = learner.player.env
    count = learner.scale.num_envs // learner.mesh.size

    def step(carry: tuple[Any, Array], key: Array) -> tuple[tuple[Any, Array], None]:
        env_state, checksum = carry
        act_key, env_key = jax.random.split(key)
        actions = jax.random.randint(act_key, (count, env.num_agents), 0, env.num_actions)
        observation, env_state, reward, *_ = jax.vmap(env.step)(
            jax.random.split(env_key, count), env_state, actions
        )
        return (env_state, checksum + _checksum((observation, reward))), None

    keys = jax.random.split(state.key, learner.scale.chunk_length)
    (_, checksum), _ = jax.lax.scan(step, (state.actors.env_state, jnp.float32(0)), keys)
    return checksum


def _play_only(learner: Learner, state: LearnerState) -> Array:
    """A chunk played by the policy."""
    keys = collect.env_keys(state.key, 0, learner.scale.num_envs // learner.mesh.size)
    _, steps, _ = collect.play_chunk(
        learner.player, state.params, state.actors, keys, learner.scale.chunk_length
    )
    return _checksum(steps)


def _checksum(tree: Any) -> Array:
    return sum((leaf.sum(dtype=jnp.float32) for leaf in jax.tree.leaves(tree)), jnp.float32(0))


def _fastest(work: Any, state: LearnerState, rounds: int) -> float:
    """Seconds of the fastest round, compilation apart."""
    jax.block_until_ready(work(state))
    return min(_seconds(lambda: jax.block_until_ready(work(state))) for _ in range(rounds))


def _fastest_update(learner: Learner, state: LearnerState, rounds: int) -> float:
    """As `_fastest`, for the update, which consumes its state."""
    update = learner.compile_update()
    state, _ = update(state)
    fastest = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        state, _ = update(state)
        fastest = min(fastest, time.perf_counter() - start)
    return fastest


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
