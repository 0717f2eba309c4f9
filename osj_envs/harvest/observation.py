"""What an agent of OpenHarvest sees: its window of the board, and what it knows of itself."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jaxtyping import Array, Float, Int, UInt8

from osj_envs.grid.codes import Heading, Item
from osj_envs.grid.view import Window, egocentric_views
from osj_envs.harvest.constants import HarvestConfig
from osj_envs.harvest.dynamics import hangs, stage
from osj_envs.harvest.types import World
from osj_envs.specs import BoxSpec
from osj_envs.types import Clock, Observation


@struct.dataclass
class Own:
    """What an agent knows of itself, as whole numbers, int32.

    Attributes:
        heading: `Heading` code.
        position: absolute row and column.
        step: steps taken in this trial.
        trial: index of the trial.
        frozen: steps for which it still cannot act.
        cooldown: steps for which it still cannot zap.
    """

    heading: Int[Array, "*agents"]
    position: Int[Array, "*agents 2"]
    step: Int[Array, "*agents"]
    trial: Int[Array, "*agents"]
    frozen: Int[Array, "*agents"]
    cooldown: Int[Array, "*agents"]


CELLS, STEPS, TRIALS, WAITS = 10.0, 100.0, 5.0, 10.0
"""Units of position, step, trial and waits in an observation: near 1 in the paper's game."""


def observe(config: HarvestConfig, window: Window, world: World, clock: Clock) -> Observation:
    """Every agent's observation, of the world alone."""
    agents = world.agents
    own = Own(
        heading=agents.heading,
        position=agents.position,
        step=jnp.broadcast_to(clock.step, agents.heading.shape),
        trial=jnp.broadcast_to(clock.trial, agents.heading.shape),
        frozen=world.frozen,
        cooldown=world.cooldown,
    )
    item, colour = board(config, world)
    return Observation(view=egocentric_views(window, item, colour, agents), own=encode_own(own))


def board(
    config: HarvestConfig, world: World
) -> tuple[UInt8[Array, "height width"], UInt8[Array, "height width"]]:
    """`Item` codes of what is on each cell, and 1 + colour where a tree stands, else 0."""
    trees, layout = world.trees, world.layout
    item = jnp.where(hangs(trees), jnp.uint8(Item.APPLE) + stage(trees), jnp.uint8(Item.EMPTY_TREE))
    tree = item.astype(jnp.uint32) | ((world.tree_colour.astype(jnp.uint32) + 1) << 8)
    board = jnp.full(config.cells, Item.GROUND, jnp.uint32)
    for cells, words in ((layout.spawns, jnp.uint32(Item.SPAWN)), (layout.trees, tree)):
        board = board.at[cells].set(words, unique_indices=True, mode="promise_in_bounds")
    board = board.reshape(config.height, config.width)
    return (board & 0xFF).astype(jnp.uint8), (board >> 8).astype(jnp.uint8)


def encode_own(own: Own) -> Float[Array, "*agents features"]:
    """Heading (one-hot), row, column, step, trial, then the waits until it can act and zap.

    Position and waits count in tens, step in hundreds, trial in fives.
    """
    numbers = [
        jax.nn.one_hot(own.heading, len(Heading)),
        own.position / CELLS,
        own.step[..., None] / STEPS,
        own.trial[..., None] / TRIALS,
        own.frozen[..., None] / WAITS,
        own.cooldown[..., None] / WAITS,
    ]
    return jnp.concatenate(numbers, axis=-1)


def decode_own(own: Float[Array, "*agents features"]) -> Own:
    """The numbers behind `encode_own`, exactly."""
    heading, numbers = jnp.split(own, [len(Heading)], axis=-1)
    units = jnp.array([CELLS, CELLS, STEPS, TRIALS, WAITS, WAITS])
    whole = jnp.round(numbers * units).astype(jnp.int32)
    return Own(
        heading=heading.argmax(-1).astype(jnp.int32),
        position=whole[..., :2],
        step=whole[..., 2],
        trial=whole[..., 3],
        frozen=whole[..., 4],
        cooldown=whole[..., 5],
    )


def own_spec() -> BoxSpec:
    """Shape of what an agent knows of itself."""
    return BoxSpec(shape=(len(Heading) + 6,), dtype=np.dtype(np.float32), low=0.0, high=np.inf)
