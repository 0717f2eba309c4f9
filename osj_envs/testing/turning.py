"""What must not matter: worlds turned, with a band around them, or with other seats."""

from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Int

from osj_envs.grid.codes import Action, Plane
from osj_envs.grid.movement import Agents
from osj_envs.testing.latents import random_actions
from osj_envs.testing.slow_grid import COMPASS
from osj_envs.testing.trees import differing_leaves
from osj_envs.types import Observation

CLOCKWISE = {
    Action.NORTH: Action.EAST,
    Action.EAST: Action.SOUTH,
    Action.SOUTH: Action.WEST,
    Action.WEST: Action.NORTH,
}
"""The moves after a quarter turn of the world."""


def random_cases(game: Any, make: Any, config: Any, worlds: int, agents: int, seed: int) -> Any:
    """Random worlds of all kinds, their actions and their draws, batch axis first.

    Args:
        game: the module of a game's physics, which has `sample_draws`.
        make: the module that has the game's `random_latent` and `random_world`.
        config: the game's configuration.
        worlds: how many.
        agents: in each of them.
        seed: of all chance.

    Returns:
        (latents, worlds, actions, draws), with NumPy leaves.
    """
    rng = np.random.default_rng(seed)
    latents = [make.random_latent(config, rng) for _ in range(worlds)]
    starts = [make.random_world(config, latent, agents, rng) for latent in latents]
    keys = jax.random.split(jax.random.key(0), worlds)
    draws = jax.vmap(lambda key: game.sample_draws(config, agents, key))(keys)
    actions = random_actions((worlds, agents), rng)
    # Half of the agents fire, so that beams meet.
    actions[:, ::2] = Action.BEAM
    stacked = (jax.tree.map(lambda *x: np.stack(x), *trees) for trees in (latents, starts))
    return (*stacked, actions, jax.device_get(draws))


def quarter_turn(boards: np.ndarray) -> np.ndarray:
    """Boards (batch first) turned clockwise."""
    return np.rot90(boards, -1, axes=(1, 2))


def turn_agents(agents: Agents, height: int) -> Agents:
    """Agents of maps with `height` rows, turned clockwise with them."""
    rows, columns = np.asarray(agents.position)[..., 0], np.asarray(agents.position)[..., 1]
    fields: dict[str, Any] = {
        "position": np.stack([columns, height - 1 - rows], axis=-1),
        "heading": (np.asarray(agents.heading) + 1) % 4,
    }
    return Agents(**fields)


def turn_actions(actions: np.ndarray) -> np.ndarray:
    """The same actions in worlds turned clockwise."""
    turned = np.vectorize(lambda action: CLOCKWISE.get(action, action))(actions)
    return np.asarray(turned, np.int32)


def check_same_bits(expected: Any, found: Any) -> None:
    """Raises AssertionError unless all leaves are equal, whatever their order in memory."""
    trees = (
        jax.tree.map(lambda leaf: np.ascontiguousarray(np.asarray(leaf)), tree)
        for tree in (expected, found)
    )
    different = differing_leaves(*trees)
    assert not different, f"These differ: {different}."


def reseat(tree: Any, seats: Int[np.ndarray, "agents"]) -> Any:
    """The agents' leaves reordered; every leaf must have the agents on its second axis."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[:, seats], tree)


def check_reseated(seen: Observation, found: Observation, seats: Int[np.ndarray, "agents"]) -> None:
    """Raises AssertionError unless every seat sees what the agent that now sits there saw.

    Others are numbered in seat order: only turning the table round keeps the numbers, and under
    any other order only where they stand is compared.
    """
    np.testing.assert_array_equal(reseat(seen.own, seats), found.own)
    mine, theirs = reseat(seen.view, seats).copy(), np.asarray(found.view).copy()
    if not (np.diff(seats) % len(seats) == 1).all():
        for view in (mine, theirs):
            view[..., Plane.AGENT] = view[..., Plane.AGENT] > 0
    np.testing.assert_array_equal(mine, theirs)


def leaves_map(
    actions: Int[np.ndarray, "worlds agents"], agents: Agents, height: int, width: int
) -> Bool[np.ndarray, "worlds agents"]:
    """Whose move leads off the map, which is a stay there and not with a band around the map."""
    steps = [COMPASS.get(action, (0, 0)) for action in actions.reshape(-1).tolist()]
    cells = np.asarray(agents.position) + np.reshape(steps, (*actions.shape, 2))
    return np.asarray(((cells < 0) | (cells >= (height, width))).any(axis=-1))


def ring(boards: np.ndarray, band: int, value: int = 0) -> np.ndarray:
    """Boards (batch first) with a band around them."""
    return np.pad(boards, [(0, 0), (band, band), (band, band)], constant_values=value)
