"""Where a step's time goes: python -m osj_envs.bench.profile.

Each row is compiled alone, and plays 1,024 environments on every device; phases overlap less when
they are apart, so the rows need not add up to the whole.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import osj_envs
from osj_envs.bench.measure import median_seconds
from osj_envs.devices import prepare_backend
from osj_envs.random_words import draw_words
from osj_envs.testing import workloads
from osj_envs.trials import MultiTrial

COUNT, REPEATS = 1024, 50


def phases(env: MultiTrial) -> dict[str, Callable[[Any, Any], Any]]:
    """What is timed, each a function of one key and one state."""
    game, stay = env.game, jnp.zeros(env.num_agents, jnp.int32)

    def world(key: Any, state: Any) -> Any:
        return game.step_world(key, state.latent, state.world, state.clock.step, stay)

    return {
        "random words": lambda key, state: draw_words(key, (128,)),
        "randomness, movement, dynamics": world,
        "views": lambda key, state: game.observe(state.world, state.clock),
        "whole step": lambda key, state: env.step(key, state, stay)[:4],
    }


def microseconds(env: MultiTrial, count: int = COUNT, repeats: int = REPEATS) -> dict[str, float]:
    """Microseconds of each phase, for one environment's step."""
    keys, states = workloads.reset_all(env, count)
    taken = {}
    for name, phase in phases(env).items():
        work = _repeated(phase, count, repeats)
        taken[name] = median_seconds(functools.partial(work, keys, states)) / count / repeats * 1e6
    return taken


def _repeated(phase: Callable[[Any, Any], Any], count: int, repeats: int) -> Any:
    """The phase again and again; each result counts, and each repeat depends on the last."""

    def play(keys: Any, states: Any) -> Any:
        def step(carry: Any, _: Any) -> tuple[Any, None]:
            keys, states, checksum = carry
            total = jax.vmap(lambda key, state: _sum(phase(key, state)))(keys, states)
            keys = jax.vmap(jax.random.fold_in)(keys, total.astype(jnp.uint32))
            states = states.replace(world=jax.vmap(_touched)(states.world, jnp.isnan(total)))
            return (keys, states, checksum + total), None

        start = (keys, states, jnp.zeros(keys.shape[0]))
        return jax.lax.scan(step, start, length=repeats)[0][2]

    return workloads.sharded(play, workloads.mesh_for(count))


def _touched(world: Any, never: Any) -> Any:
    """The same world, though no compiler can know it and move work on it out of the loop."""
    return jax.tree.map(lambda x: jnp.where(never, jnp.zeros_like(x), x), world)


def _sum(tree: Any) -> Any:
    leaves = [x for x in jax.tree.leaves(tree) if not jnp.issubdtype(x.dtype, jax.dtypes.prng_key)]
    return sum((leaf.sum(dtype=jnp.float32) for leaf in leaves), jnp.float32(0))


if __name__ == "__main__":
    prepare_backend()
    for game_name in osj_envs.list_ids():
        for row, value in microseconds(osj_envs.make(game_name)).items():
            print(f"{game_name:10s} {row:34s} {value:8.2f} us")
