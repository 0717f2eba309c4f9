"""Whole worlds played by a game's dynamics with known draws, to be compared with slow rules."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from osj_envs.grid.view import Window
from osj_envs.testing import slow_grid
from osj_envs.testing.latents import random_actions
from osj_envs.types import Clock, Key


class Case(NamedTuple):
    """A game, how many play it, and how far they see."""

    config: Any
    agents: int
    window: Window
    worlds: int = 31
    steps: int = 17


class Played(NamedTuple):
    """A batch of rollouts: the draws and what came of them, batch axis first, then time."""

    latents: list[Any]
    starts: list[Any]
    actions: np.ndarray
    draws: Any
    played: Any
    observations: Any


class Physics(NamedTuple):
    """What a game is played by.

    Attributes:
        sample_draws: config, agents, key -> draws.
        step_world: config, latent, world, step, actions, draws -> `WorldStep`.
        observe: config, window, world, clock -> `Observation`.
        worlds: the module with the game's `random_latent` and `random_world`.
    """

    sample_draws: Callable[..., Any]
    step_world: Callable[..., Any]
    observe: Callable[..., Any]
    worlds: Any


def play(physics: Physics, case: Case, seed: int) -> Played:
    """Random worlds under random actions; keeps everything."""
    rng, draw = np.random.default_rng(seed), physics.worlds
    latents = [draw.random_latent(case.config, rng) for _ in range(case.worlds)]
    starts = [draw.random_world(case.config, latent, case.agents, rng) for latent in latents]
    actions = random_actions((case.worlds, case.steps, case.agents), rng)
    keys = jax.random.split(jax.random.key(seed), case.worlds)
    roll = jax.jit(jax.vmap(functools.partial(_roll, physics, case)))
    batch = roll(_stack(latents), _stack(starts), actions, keys)
    return Played(latents, starts, actions, *jax.device_get(batch))


def at(tree: Any, *index: int) -> Any:
    """One element of every leaf."""
    return jax.tree.map(lambda leaf: leaf[index], tree)


def unlike(expected: dict[str, tuple[ArrayLike, ArrayLike]]) -> list[str]:
    """The names of what is not as it should be, given what should be and what is."""
    return [
        name
        for name, (right, found) in expected.items()
        if not np.allclose(np.asarray(right, np.float32), found, rtol=0, atol=1e-6)
    ]


def check_views(case: Case, agents: Sequence[Any], board: Any, views: np.ndarray) -> None:
    """What each agent sees of a board is what the slow rules show it."""
    window, placed = case.window, [(agent.cell, agent.heading) for agent in agents]
    for viewer in range(case.agents):
        reach = window.ahead, window.behind, window.side
        expected = slow_grid.view(viewer, placed, board, *reach)
        np.testing.assert_array_equal(views[viewer], expected)


def edge_shots(case: Case, agents: Sequence[Any], fires: Sequence[bool]) -> list[str]:
    """Names of the shots that went over the map's edge."""
    size = case.config.height, case.config.width
    return [
        f"fired over the edge facing {agent.heading}"
        for agent, fired in zip(agents, fires, strict=True)
        if fired and None in slow_grid.beam(agent.cell, agent.heading, *size)
    ]


def _roll(
    physics: Physics, case: Case, latent: Any, world: Any, actions: Any, key: Key
) -> tuple[Any, Any, Any]:
    """One world played with known draws."""

    def one(carry: Any, inputs: Any) -> Any:
        world, step = carry
        action, step_key = inputs
        draws = physics.sample_draws(case.config, case.agents, step_key)
        played = physics.step_world(case.config, latent, world, step, action, draws)
        seen = physics.observe(case.config, case.window, played.world, Clock(jnp.int32(2), step))
        return (played.world, step + 1), (draws, played, seen)

    keys = jax.random.split(key, case.steps)
    rolled: tuple[Any, Any, Any] = jax.lax.scan(one, (world, jnp.int32(0)), (actions, keys))[1]
    return rolled


def _stack(trees: Sequence[Any]) -> Any:
    return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)
