"""Random boards of both games on which nothing changes but by what agents do."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from osj_envs.cleanup import dynamics as cleanup_dynamics
from osj_envs.cleanup.types import EMPTY_SLOT
from osj_envs.cleanup.types import Draws as CleanupDraws
from osj_envs.grid.codes import Item
from osj_envs.grid.movement import Agents
from osj_envs.harvest import dynamics as harvest_dynamics
from osj_envs.harvest.constants import Lost
from osj_envs.trials import MultiTrial
from osj_envs.types import Clock


@dataclasses.dataclass
class Board:
    """A random board, and how to play one step on it."""

    env: MultiTrial
    latent: Any
    world: Any

    def observation(self, seat: int) -> Any:
        clock = Clock(trial=jnp.int32(1), step=jnp.int32(7))
        observation = jax.device_get(self.env.game.observe(self.world, clock))
        return jax.tree.map(lambda x: x[seat], observation)

    def step(self, actions: np.ndarray) -> Any:
        """Without growth, spawning or regrowth."""
        return jax.device_get(_CORES[self.env.name](self, jnp.array(actions, jnp.int32)))


def scatter(env: MultiTrial, rng: np.random.Generator) -> Board:
    """A board of an episode's map, with agents close together, anything anywhere."""
    latent = env.sample_latent(jax.random.key(int(rng.integers(1 << 30))))
    world = env.game.lay_world(jax.random.key(int(rng.integers(1 << 30))), latent)
    world = world.replace(agents=_crowd(env, rng))
    return Board(env, latent, _SCATTERS[env.name](env, latent, world, rng))


def _crowd(env: MultiTrial, rng: np.random.Generator) -> Agents:
    """Agents on distinct cells of a small square, often at the map's edge."""
    config, count = env.game.config, env.num_agents
    size = 4
    room = np.array([config.height - size, config.width - size])
    corner = rng.integers(0, room + 1)
    if rng.random() < 0.5:
        axis = rng.integers(2)
        corner[axis] = room[axis] * rng.integers(2)
    cells = rng.permutation(size * size)[:count]
    position = corner + np.stack([cells // size, cells % size], axis=1)
    return Agents(
        position=jnp.array(position, jnp.int32),
        heading=jnp.array(rng.integers(0, 4, count), jnp.int32),
    )


def _scatter_cleanup(env: MultiTrial, latent: Any, world: Any, rng: np.random.Generator) -> Any:
    config, item = env.game.config, np.array(world.item)
    colour = np.array(world.colour)
    taken = {tuple(cell) for cell in np.array(world.agents.position).tolist()}
    for cell in np.ndindex(item.shape):
        if rng.random() < 0.35 and item[cell] < Item.STATION:
            waste = rng.random() < 0.6
            item[cell] = Item.WASTE + rng.integers(config.shades) if waste else Item.RIPE_APPLE
            colour[cell] = 1 + rng.integers(config.hues) if waste else 0
            if not waste and cell in taken:
                item[cell] = Item.ORCHARD
    for position in np.array(world.agents.position).tolist():
        if rng.random() < 0.4:
            item[tuple(position)] = Item.STATION + rng.integers(config.base_tools)
            colour[tuple(position)] = 0
    working = np.flatnonzero(np.array(latent.rules.effect))
    pairs = np.where(
        rng.random(env.num_agents) < 0.7,
        rng.choice(working, env.num_agents),
        rng.integers(0, config.pairs, env.num_agents),
    )
    window = np.stack(np.divmod(pairs, config.base_tools), axis=1)
    window[rng.random(env.num_agents) < 0.2, 0] = EMPTY_SLOT
    window[(rng.random(env.num_agents) < 0.5) & (window[:, 0] == EMPTY_SLOT), 1] = EMPTY_SLOT
    return world.replace(
        item=jnp.array(item), colour=jnp.array(colour), window=jnp.array(window, jnp.int32)
    )


def _scatter_harvest(env: MultiTrial, latent: Any, world: Any, rng: np.random.Generator) -> Any:
    """Apples in the middle of a stage; trees under agents are bare."""
    del latent
    config, count = env.game.config, env.game.config.trees
    trees = rng.permutation(config.cells)[:count]
    here = np.array(world.agents.position) @ np.array([config.width, 1])
    beside = (here[:, None] + np.array([0, 1, -1, config.width, -config.width])).reshape(-1)
    wanted = [cell for cell in dict.fromkeys(beside.tolist()) if 0 <= cell < config.cells]
    kept = [cell for cell in trees.tolist() if cell not in wanted]
    trees = np.array((wanted + kept)[:count])
    spare = np.setdiff1d(np.arange(config.cells), trees)[: config.spawn_cells]
    lost = np.where(rng.random(count) < 0.7, Lost.HANGING, rng.integers(1, 4, count))
    lost = np.where(np.isin(trees, here), Lost.EATEN, lost)
    age = rng.integers(0, 3, count) * 20 + rng.integers(1, 18, count)
    layout = world.layout.replace(
        trees=jnp.array(trees, jnp.uint16), spawns=jnp.array(spare, jnp.uint16)
    )
    return world.replace(
        layout=layout,
        tree_colour=jnp.array(rng.integers(0, config.colours, count), jnp.int8),
        trees=world.trees.replace(
            lost=jnp.array(lost, jnp.uint8),
            age=jnp.array(age, jnp.uint8),
            stage_steps=jnp.full(count, 20, jnp.uint8),
            delay=jnp.full(count, 9, jnp.uint8),
        ),
        cooldown=jnp.array(rng.integers(0, 3, env.num_agents), jnp.int32),
    )


def _cleanup_core(board: Board, actions: Any) -> Any:
    config = board.env.game.config
    draws = CleanupDraws(
        cell=jnp.full((config.height, config.width), 0xFFFFFFFF, jnp.uint32),
        spawn=jnp.float32(1),
        skew=jnp.float32(0),
        hue=jnp.int32(0),
        shade=jnp.int32(0),
        priority=jnp.arange(board.env.num_agents, dtype=jnp.uint32),
    )
    step = jnp.int32(0)
    return _cleanup_step(config, board.latent, board.world, step, actions, draws)


def _harvest_core(board: Board, actions: Any) -> Any:
    config, count = board.env.game.config, board.env.num_agents
    draws = harvest_dynamics.sample_draws(config, count, jax.random.key(0))
    draws = draws.replace(tree=jnp.full(config.trees, 0xFFFFFFFF, jnp.uint32))
    return _harvest_step(config, board.latent, board.world, actions, draws)


_cleanup_step = jax.jit(cleanup_dynamics.step_world, static_argnums=0)
_harvest_step = jax.jit(harvest_dynamics.step_world, static_argnums=0)
_SCATTERS = {"cleanup": _scatter_cleanup, "harvest": _scatter_harvest}
_CORES = {"cleanup": _cleanup_core, "harvest": _harvest_core}
