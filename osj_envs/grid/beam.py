"""The beam: the faced cell, the one beyond it, and the two cells beside the faced cell.

Source: the authors' public implementation, for the shape (facts only). Cells off the map are not
hit: there is no wrap-around and no clamping. Neither agents nor items block it.
"""

import jax.numpy as jnp
from jaxtyping import Array, Int

from osj_envs.grid.movement import Agents, flat, forward

BEAM_CELLS = ((1, 0), (2, 0), (1, -1), (1, 1))
"""The cells of a beam as (ahead, to the right): faced, beyond, left and right of the faced one."""

OFF_MAP = -1
"""The cell number of a beam cell that lies off the map."""


def beam_cells(agents: Agents, height: int, width: int) -> Int[Array, "agents beam"]:
    """Flat numbers of the cells that each agent's beam would hit, `OFF_MAP` where there is none."""
    ahead, right = forward(agents.heading), forward((agents.heading + 1) % 4)
    steps = jnp.array(BEAM_CELLS)
    cells = (
        agents.position[:, None, :]
        + steps[None, :, :1] * ahead[:, None, :]
        + steps[None, :, 1:] * right[:, None, :]
    )
    inside = ((cells >= 0) & (cells < jnp.array([height, width]))).all(axis=-1)
    return jnp.where(inside, flat(cells, width), OFF_MAP)
