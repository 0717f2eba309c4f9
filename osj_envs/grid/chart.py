"""A view laid back on the map: what an agent that knows where it is sees of each cell."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, UInt8

from osj_envs.grid.movement import forward
from osj_envs.grid.view import Window


def chart(
    window: Window,
    shape: tuple[int, int],
    view: UInt8[Array, "rows cols 4"],
    heading: Int[Array, ""],
    position: Int[Array, "2"],
) -> tuple[UInt8[Array, "height width 4"], Bool[Array, "height width"]]:
    """The planes of each cell of the map in one agent's view, and which cells are in view.

    Args:
        window: how far the agent sees.
        shape: rows and columns of the map.
        view: what it sees, as the planes of `grid.codes.Plane`.
        heading: where it faces.
        position: its row and column.

    Returns:
        The planes, all 0 where a cell is out of view, and whether it is in view.
    """
    ahead, right = offsets(shape, heading, position)
    row, col = window.ahead - ahead, window.side + right
    seen = (row >= 0) & (row < window.rows) & (col >= 0) & (col < window.cols)
    words = jax.lax.bitcast_convert_type(view, jnp.uint32).reshape(-1)  # one gather, not four
    unseen = words.shape[0]
    place = jnp.where(seen, row * window.cols + col, unseen)
    board = jnp.append(words, jnp.uint32(0)).at[place].get(mode="promise_in_bounds")
    return jax.lax.bitcast_convert_type(board, jnp.uint8), seen


def offsets(
    shape: tuple[int, int], heading: Int[Array, ""], position: Int[Array, "2"]
) -> tuple[Int[Array, "height width"], Int[Array, "height width"]]:
    """How far ahead of an agent, and how far to its right, each cell of the map lies."""
    # sums over an axis, since XLA keeps those: mere products it works out anew for every reader
    steps = jnp.stack(jnp.indices(shape), axis=-1) - position
    ahead, right = forward(heading), forward((heading + 1) % 4)
    return (steps * ahead).sum(axis=-1), (steps * right).sum(axis=-1)
