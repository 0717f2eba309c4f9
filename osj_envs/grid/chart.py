"""A view laid back on the map: what an agent that knows where it is sees of each cell."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, UInt8

from osj_envs.grid.movement import forward
from osj_envs.grid.view import Window


def chart(
    window: Window,
    shape: tuple[int, int],
    view: UInt8[Array, "rows cols planes"],
    heading: Int[Array, ""],
    position: Int[Array, "2"],
) -> tuple[UInt8[Array, "height width planes"], Bool[Array, "height width"]]:
    """The planes of each cell of the map in one agent's view, and which cells are in view.

    Args:
        window: how far the agent sees.
        shape: rows and columns of the map.
        view: what it sees.
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
    board = view.reshape(-1, view.shape[-1]).at[place].get(mode="promise_in_bounds")
    return jnp.where(seen[..., None], board, jnp.uint8(0)), seen
