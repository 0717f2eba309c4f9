"""What a player of a grid world remembers of the board, and how it looks around for more.

Made from its own views alone. Game-neutral: a game says what it takes the cells for that it saw in
an earlier trial.
"""

from collections.abc import Callable
from typing import TypeAlias

import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Int, Int32, UInt8

from osj_envs.grid.chart import chart, offsets
from osj_envs.grid.codes import Action, Heading, Item, Plane
from osj_envs.grid.view import Window

UNSEEN = Item.WALL
"""`Memory.item` of a cell never seen in this episode; no cell of a map is a wall."""

NOT_YET = -1
"""`Memory.seen_at` of a cell not yet seen in this trial."""

Renew: TypeAlias = Callable[
    [UInt8[Array, "height width"], UInt8[Array, "height width"]],
    tuple[UInt8[Array, "height width"], UInt8[Array, "height width"]],
]
"""(item, colour) as last seen -> what a player takes them for as the next trial starts."""


@struct.dataclass
class Memory:
    """One player's picture of the board, kept for an episode.

    Attributes:
        item: `Item` code of each cell when last seen; in a trial in which it has not been seen,
            what the player takes it for. `UNSEEN` if it never was.
        colour: likewise, 0 for none, else 1 + colour.
        seen_at: the step of this trial at which each cell was last seen, or `NOT_YET`.
        others: the cells on which other agents are in sight now.
    """

    item: UInt8[Array, "height width"]
    colour: UInt8[Array, "height width"]
    seen_at: Int32[Array, "height width"]
    others: Bool[Array, "height width"]


def initial(shape: tuple[int, int]) -> Memory:
    """Nothing seen yet."""
    return Memory(
        item=jnp.full(shape, UNSEEN, jnp.uint8),
        colour=jnp.zeros(shape, jnp.uint8),
        seen_at=jnp.full(shape, NOT_YET, jnp.int32),
        others=jnp.zeros(shape, bool),
    )


def update(
    memory: Memory,
    window: Window,
    view: UInt8[Array, "rows cols 4"],
    heading: Int[Array, ""],
    position: Int[Array, "2"],
    step: Int[Array, ""],
    is_first_of_trial: Bool[Array, ""],
    renew: Renew,
) -> Memory:
    """The memory with what is in view now.

    Args:
        memory: before.
        window: how far the player sees.
        view: what it sees.
        heading: where it faces.
        position: its row and column.
        step: steps taken in this trial.
        is_first_of_trial: the world has just been laid.
        renew: what the player then takes the cells for that it has seen before.
    """
    renewed_item, renewed_colour = renew(memory.item, memory.colour)
    item = jnp.where(is_first_of_trial, renewed_item, memory.item)
    colour = jnp.where(is_first_of_trial, renewed_colour, memory.colour)
    height, width = item.shape
    board, seen = chart(window, (height, width), view, heading, position)
    return Memory(
        item=jnp.where(seen, board[..., Plane.ITEM], item),
        colour=jnp.where(seen, board[..., Plane.COLOUR], colour),
        seen_at=jnp.where(seen, step, jnp.where(is_first_of_trial, NOT_YET, memory.seen_at)),
        others=board[..., Plane.AGENT] > 1,
    )


def age(memory: Memory, step: Int[Array, ""]) -> Int32[Array, "height width"]:
    """Steps since each cell was last seen; one more than the trial is old where it was not."""
    return step - memory.seen_at


@struct.dataclass
class Glance:
    """A turn that shows something wanted.

    Attributes:
        action: the turn, or a stay where none does.
        shows: how many of the wanted cells come into view; 0 where none does.
    """

    action: Int32[Array, ""]
    shows: Int32[Array, ""]


def glance(
    window: Window,
    wanted: Bool[Array, "height width"],
    heading: Int[Array, ""],
    position: Int[Array, "2"],
) -> Glance:
    """The turn that leads to more of the wanted cells.

    The heading of now counts for nothing: what it shows is in view already. It turns to the side
    that shows more, and to the left where only a look back shows any.
    """
    right, back, left = (
        _shown(window, wanted, (heading + turn) % len(Heading), position) for turn in (1, 2, 3)
    )
    most = jnp.maximum(jnp.maximum(left, right), back)
    aside = jnp.where(right > left, Action.TURN_RIGHT, Action.TURN_LEFT)
    return Glance(jnp.where(most > 0, aside, Action.STAY).astype(jnp.int32), most)


def _shown(
    window: Window,
    wanted: Bool[Array, "height width"],
    heading: Int[Array, ""],
    position: Int[Array, "2"],
) -> Int32[Array, ""]:
    """How many of the wanted cells are in view from here in that heading."""
    height, width = wanted.shape
    ahead, right = offsets((height, width), heading, position)
    seen = (ahead >= -window.behind) & (ahead <= window.ahead) & (jnp.abs(right) <= window.side)
    return (wanted & seen).sum(dtype=jnp.int32)
