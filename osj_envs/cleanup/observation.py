"""What an agent of OpenCleanup sees: its window of the board, and what it knows of itself."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jaxtyping import Array, Float, Int

from osj_envs.cleanup.constants import CleanupConfig
from osj_envs.cleanup.types import World
from osj_envs.grid.codes import Heading
from osj_envs.grid.view import Window, egocentric_views
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
        window: its last two pick-ups, older first, `EMPTY_SLOT` where there is none.
    """

    heading: Int[Array, "*agents"]
    position: Int[Array, "*agents 2"]
    step: Int[Array, "*agents"]
    trial: Int[Array, "*agents"]
    window: Int[Array, "*agents 2"]


CELLS, STEPS, TRIALS = 10.0, 100.0, 5.0
"""Units of position, step and trial in an observation: near 1 in the paper's game."""


def observe(config: CleanupConfig, window: Window, world: World, clock: Clock) -> Observation:
    """Every agent's observation, of the world alone."""
    agents = world.agents
    own = Own(
        heading=agents.heading,
        position=agents.position,
        step=jnp.broadcast_to(clock.step, agents.heading.shape),
        trial=jnp.broadcast_to(clock.trial, agents.heading.shape),
        window=world.window,
    )
    return Observation(
        view=egocentric_views(window, world.item, world.colour, agents),
        own=encode_own(config, own),
    )


def encode_own(config: CleanupConfig, own: Own) -> Float[Array, "*agents features"]:
    """Heading (one-hot), row, column, step, trial, then each slot of the window (one-hot).

    Position counts in tens of cells, step in hundreds, trial in fives; a slot has one entry for
    "nothing" and one for each base tool.
    """
    numbers = [own.position / CELLS, own.step[..., None] / STEPS, own.trial[..., None] / TRIALS]
    slots = jax.nn.one_hot(own.window + 1, config.base_tools + 1)
    slots = slots.reshape(*own.window.shape[:-1], -1)
    return jnp.concatenate([jax.nn.one_hot(own.heading, len(Heading)), *numbers, slots], axis=-1)


def decode_own(config: CleanupConfig, own: Float[Array, "*agents features"]) -> Own:
    """The numbers behind `encode_own`, exactly."""
    heading, row_col, clock, slots = jnp.split(own, [4, 6, 8], axis=-1)
    slots = slots.reshape(*slots.shape[:-1], 2, config.base_tools + 1)
    step_trial = jnp.round(clock * jnp.array([STEPS, TRIALS])).astype(jnp.int32)
    return Own(
        heading=heading.argmax(-1).astype(jnp.int32),
        position=jnp.round(row_col * CELLS).astype(jnp.int32),
        step=step_trial[..., 0],
        trial=step_trial[..., 1],
        window=slots.argmax(-1).astype(jnp.int32) - 1,
    )


def own_spec(config: CleanupConfig) -> BoxSpec:
    """Shape of what an agent knows of itself."""
    size = len(Heading) + 4 + 2 * (config.base_tools + 1)
    return BoxSpec(shape=(size,), dtype=np.dtype(np.float32), low=0.0, high=np.inf)
