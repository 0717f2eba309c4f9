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
    steps = jnp.stack(jnp.indices(shape), axis=-1) - position
    row = window.ahead - (steps * forward(heading)).sum(axis=-1)
    col = window.side + (steps * forward((heading + 1) % 4)).sum(axis=-1)
    seen = (row >= 0) & (row < window.rows) & (col >= 0) & (col < window.cols)
    place = jnp.where(seen, row * window.cols + col, 0)
    words = jax.lax.bitcast_convert_type(view, jnp.uint32).reshape(-1)  # one gather, not four
    board = jnp.where(seen, words.at[place].get(mode="promise_in_bounds"), jnp.uint32(0))
    return jax.lax.bitcast_convert_type(board, jnp.uint8), seen
