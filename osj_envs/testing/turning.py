"""What must not matter: worlds turned, with a band around them, or with other seats."""

from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Int

from osj_envs.grid.codes import Action, Plane
from osj_envs.grid.movement import Agents
from osj_envs.testing.trees import differing_leaves
from osj_envs.types import Observation

CLOCKWISE = {
    Action.NORTH: Action.EAST,
    Action.EAST: Action.SOUTH,
    Action.SOUTH: Action.WEST,
    Action.WEST: Action.NORTH,
}
"""The moves after a quarter turn of the world."""


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


def stay_within(
    actions: np.ndarray, before: Agents, after: Agents
) -> Int[np.ndarray, "worlds agents"]:
    """The actions with a stay for every move that led nowhere, as one off the map does."""
    is_move = np.isin(actions, list(CLOCKWISE))
    stayed: Bool[np.ndarray, "worlds agents"] = (
        np.asarray(after.position) == np.asarray(before.position)
    ).all(-1)
    return np.where(is_move & stayed, Action.STAY, actions).astype(np.int32)


def ring(boards: np.ndarray, band: int, value: int = 0) -> np.ndarray:
    """Boards (batch first) with a band around them."""
    return np.pad(boards, [(0, 0), (band, band), (band, band)], constant_values=value)
