"""One agent's view of OpenHarvest drawn in ASCII, for the record that is made of such views.

A drawing has one token a cell, apart by blanks; cells beyond it are ground.

    .  ground          r0 r1 r2  an apple by stage   r-  a tree without one (r, y: colour 0, 1)
    ^ > v <  behind a cell: the viewer, by its heading      *  behind a cell: another agent
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, UInt8

from osj_envs.grid.codes import Heading, Item
from osj_envs.grid.movement import Agents
from osj_envs.grid.view import Window, egocentric_views
from osj_envs.harvest.constants import HarvestConfig
from osj_envs.harvest.observation import Own, encode_own
from osj_envs.harvest.types import NOTHING_EATEN, Outcome
from osj_envs.types import Observation

DRAWN = HarvestConfig(colours=2, height=5, width=7, diamonds=0, quarters=1, spawn_cells=1)
"""The game of the drawings."""

EYE = Window(9, 9, 9)
"""Sees the whole map from everywhere."""

FACING = "^>v<"


def see(drawing: str, step: int, window: Window = EYE) -> Observation:
    """What the viewer sees of a drawing, at a step of the second trial."""
    rows = [line.split() for line in drawing.strip().splitlines()]
    item, colour = np.zeros((2, DRAWN.height, DRAWN.width), np.uint8)
    item[:] = Item.GROUND
    viewer, others = [], []
    for row, line in enumerate(rows):
        for col, token in enumerate(line):
            if token[0] in "ry":
                kind = Item.EMPTY_TREE if token[1] == "-" else Item.APPLE + int(token[1])
                item[row, col], colour[row, col] = kind, 1 + "ry".index(token[0])
            if token[-1] in FACING:
                viewer.append((row, col, FACING.index(token[-1])))
            if token[-1] == "*":
                others.append((row, col, Heading.NORTH))
    places = np.array([*viewer, *others], np.int32)
    return _look(window, item, colour, places, step)


@functools.partial(jax.jit, static_argnums=0)
def _look(
    window: Window,
    item: UInt8[Array, "height width"],
    colour: UInt8[Array, "height width"],
    places: Int[Array, "agents 3"],
    step: int,
) -> Observation:
    """What the first agent sees; compiled once for each number of agents."""
    agents = Agents(position=places[:, :2], heading=places[:, 2])
    own = Own(
        heading=places[0, 2],
        position=places[0, :2],
        step=jnp.int32(step),
        trial=jnp.int32(1),
        frozen=jnp.int32(0),
        cooldown=jnp.int32(0),
    )
    view = egocentric_views(window, item, colour, agents)[0]
    return Observation(view=view, own=encode_own(own))


def told(colour: int = NOTHING_EATEN, stage: int = NOTHING_EATEN, reward: float = 0.0) -> Outcome:
    """The outcome of a step in which the viewer ate this, or nothing."""
    return Outcome(
        reward=jnp.float32(reward),
        blocked=jnp.bool_(False),
        eaten_colour=jnp.int32(colour),
        eaten_stage=jnp.int32(stage),
        zapped=jnp.bool_(False),
    )
