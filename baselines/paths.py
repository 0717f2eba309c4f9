"""Shortest walks on a grid, for players that make their way around obstacles.

Source: breadth-first search, with all cells of a row in the bits of one word (our choice: it is
fast when thousands of small boards are searched at once).
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jaxtyping import Array, Bool, Int, Int32, UInt32

from baselines import bitboards
from osj_envs.grid.codes import Action

UNREACHABLE = np.iinfo(np.int32).max
"""`Route.distance` where no goal can be reached."""


@struct.dataclass
class Route:
    """The way to the nearest goal.

    Attributes:
        action: the move that starts a shortest walk, or a stay where there is nothing to walk to.
        distance: its steps; 0 on a goal, `UNREACHABLE` without a way.
        is_reachable: there is a way.
    """

    action: Int32[Array, ""]
    distance: Int32[Array, ""]
    is_reachable: Bool[Array, ""]


def towards(
    position: Int[Array, "2"],
    goals: Bool[Array, "height width"],
    free: Bool[Array, "height width"],
    luck: UInt32[Array, ""] | int = 0,
) -> Route:
    """How to walk to the nearest goal.

    Args:
        position: row and column; whether that cell is free does not matter.
        goals: where to; one that is not free can only be stood on.
        free: cells that may be walked on.
        luck: a random word, which decides between moves that are equally good; without one, the
            first in the order of the actions is taken.

    Raises:
        ValueError: the board is too wide for `bitboards`.
    """
    here = bitboards.one_cell(position, goals.shape)
    open_cells = bitboards.pack(free) | here
    start = bitboards.pack(goals) & open_cells

    def is_there(reached: UInt32[Array, "height"]) -> Bool[Array, ""]:
        return (reached & here).any()

    before, reached, steps = _flood(start, open_cells, is_there)
    found, is_goal = is_there(reached), is_there(start)
    options = jnp.stack([(bitboards.move(here, *way) & before).any() for way in _MOVES.values()])
    chance = (jnp.uint32(luck) >> (8 * jnp.arange(len(_MOVES), dtype=jnp.uint32))) & 0xFF
    best = jnp.argmax(jnp.where(options, 1 + chance, 0)).astype(jnp.int32)
    return Route(
        action=jnp.where(found & ~is_goal, best, Action.STAY).astype(jnp.int32),
        distance=jnp.where(found, steps, UNREACHABLE),
        is_reachable=found,
    )


def steps_away(position: Int[Array, "2"], shape: tuple[int, ...]) -> Int32[Array, "height width"]:
    """Steps to each cell as if nothing were in the way."""
    down = jnp.abs(jnp.arange(shape[0], dtype=jnp.int32) - position[0])
    across = jnp.abs(jnp.arange(shape[1], dtype=jnp.int32) - position[1])
    return down[:, None] + across[None, :]


def reachable(
    position: Int[Array, "2"], free: Bool[Array, "height width"]
) -> Bool[Array, "height width"]:
    """The cells that can be walked to over free ones, the own cell included.

    Raises:
        ValueError: the board is too wide for `bitboards`.
    """
    here = bitboards.one_cell(position, free.shape)
    _, reached, _ = _flood(here, bitboards.pack(free) | here, lambda _: jnp.bool_(False))
    return bitboards.unpack(reached, free.shape[1]).astype(bool)


_MOVES = {
    Action.NORTH: (-1, 0),
    Action.SOUTH: (1, 0),
    Action.EAST: (0, 1),
    Action.WEST: (0, -1),
}
"""Rows down and columns to the right."""


def _flood(
    start: UInt32[Array, "height"],
    open_cells: UInt32[Array, "height"],
    is_enough: Callable[[UInt32[Array, "height"]], Bool[Array, ""]],
) -> tuple[UInt32[Array, "height"], UInt32[Array, "height"], Int32[Array, ""]]:
    """Spreads by one cell a step until it is enough, or until nothing is left to be reached.

    Returns:
        What was reached a step before the last, what was reached in the end, and the steps.
    """

    def goes_on(flood: tuple[Array, Array, Array]) -> Bool[Array, ""]:
        before, reached, _ = flood
        return (before != reached).any() & ~is_enough(reached)

    def spread(flood: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        _, reached, steps = flood
        wider = reached
        for way in _MOVES.values():
            wider = wider | bitboards.move(reached, *way)
        return reached, wider & open_cells, steps + 1

    return jax.lax.while_loop(goes_on, spread, (jnp.zeros_like(start), start, jnp.int32(0)))
