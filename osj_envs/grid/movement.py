"""Agents on a grid: where they stand and face, turning, and simultaneous movement.

Source: the authors' public implementation, for the rules (facts only). Nothing here depends on an
agent's index.
"""

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Int, UInt32

from osj_envs.grid.codes import Action, Heading
from osj_envs.random_words import below, unit


@struct.dataclass
class Agents:
    """Where the agents are.

    Attributes:
        position: row and column, int32; row 0 is the north edge, column 0 the west edge.
        heading: `Heading` codes, int32.
    """

    position: Int[Array, "agents 2"]
    heading: Int[Array, "agents"]


def forward(heading: Int[Array, "*shape"]) -> Int[Array, "*shape 2"]:
    """The step (rows, columns) that leads one cell ahead."""
    rows = (heading == Heading.SOUTH).astype(jnp.int32) - (heading == Heading.NORTH)
    cols = (heading == Heading.EAST).astype(jnp.int32) - (heading == Heading.WEST)
    return jnp.stack([rows, cols], axis=-1)


def turn(heading: Int[Array, "agents"], actions: Int[Array, "agents"]) -> Int[Array, "agents"]:
    """Headings after the turns among the actions."""
    right = (actions == Action.TURN_RIGHT).astype(jnp.int32)
    left = (actions == Action.TURN_LEFT).astype(jnp.int32)
    return (heading + right - left) % len(Heading)


def wanted_positions(
    position: Int[Array, "agents 2"], actions: Int[Array, "agents"], height: int, width: int
) -> Int[Array, "agents 2"]:
    """Where each agent wants to be: its own cell if it does not move or would leave the map."""
    rows = (actions == Action.SOUTH).astype(jnp.int32) - (actions == Action.NORTH)
    cols = (actions == Action.EAST).astype(jnp.int32) - (actions == Action.WEST)
    moved = position + jnp.stack([rows, cols], axis=-1)
    inside = ((moved >= 0) & (moved < jnp.array([height, width]))).all(axis=-1, keepdims=True)
    return jnp.where(inside, moved, position)


def resolve_moves(
    cell: Int[Array, "agents"], wanted: Int[Array, "agents"], priority: UInt32[Array, "agents"]
) -> Bool[Array, "agents"]:
    """Who moves when all move at once.

    An agent that stays keeps its cell; of several that want one cell the greatest priority wins;
    two agents do not swap; whoever loses stays, and so does, to a fixed point, everyone who
    wanted the cell of one that stays. Chains and cycles of three or more move.

    Args:
        cell: each agent's cell, as one number; all distinct.
        wanted: the cell that each wants, its own if it does not move.
        priority: random words; two equal ones block each other.
    """
    others = ~jnp.eye(cell.shape[0], dtype=bool)
    moves = wanted != cell
    rivals = others & moves[:, None] & moves[None, :] & (wanted[:, None] == wanted[None, :])
    outdone = (rivals & (priority[None, :] >= priority[:, None])).any(axis=1)
    enters = others & (wanted[:, None] == cell[None, :])
    swaps = (enters & enters.T).any(axis=1)
    return moves & ~_blocked_behind(~moves | outdone | swaps, enters)


def _blocked_behind(
    stays: Bool[Array, "agents"], enters: Bool[Array, "agents agents"]
) -> Bool[Array, "agents"]:
    """Those that stay, and all that queue behind them (pointer doubling along the queue)."""
    agents = stays.shape[0]
    index = jnp.arange(agents)
    ahead = jnp.where(enters.any(axis=1), (enters * index).sum(axis=1), index)
    for _ in range((agents - 1).bit_length()):
        stays = stays | stays[ahead]
        ahead = ahead[ahead]
    return stays


def move(
    agents: Agents,
    actions: Int[Array, "agents"],
    priority: UInt32[Array, "agents"],
    height: int,
    width: int,
) -> tuple[Agents, Bool[Array, "agents"]]:
    """Turns and moves all agents at once; also who wanted to move and could not."""
    wanted = wanted_positions(agents.position, actions, height, width)
    moves = resolve_moves(flat(agents.position, width), flat(wanted, width), priority)
    moved = Agents(
        position=jnp.where(moves[:, None], wanted, agents.position),
        heading=turn(agents.heading, actions),
    )
    return moved, (actions <= Action.WEST) & (actions >= Action.NORTH) & ~moves


def flat(position: Int[Array, "*shape 2"], width: int) -> Int[Array, "*shape"]:
    """Row and column as one number, row-major."""
    return position[..., 0] * width + position[..., 1]


def occupied(agents: Agents, height: int, width: int) -> Bool[Array, "height width"]:
    """The cells on which an agent stands."""
    return covers(flat(agents.position, width), height, width).any(axis=0)


def covers(
    cells: Int[Array, "*shape"], height: int, width: int
) -> Bool[Array, "*shape height width"]:
    """For each flat cell number, the map with only that cell set; none for one off the map."""
    return cells[..., None, None] == jnp.arange(height * width).reshape(height, width)


def place_agents(
    allowed: Bool[Array, "h w"],
    fallback: Bool[Array, "h w"],
    luck: UInt32[Array, "h w"],
    order: UInt32[Array, "agents"],
    turns: UInt32[Array, "agents"],
) -> Agents:
    """Places agents on distinct cells, uniformly and whatever their index, with uniform headings.

    Args:
        allowed: cells to be taken first.
        fallback: cells to be taken when those are used up.
        luck: random words: which cells are taken.
        order: random words: by whom.
        turns: random words: which way each faces.
    """
    width = allowed.shape[1]
    score = jnp.where(allowed, 2.0, fallback.astype(jnp.float32)) + unit(luck)
    # XLA picks the greatest floats without a sort of all; whole numbers, it sorts on CPU.
    _, cells = jax.lax.top_k(score.reshape(-1), order.shape[0])
    cells = cells[jnp.argsort(order)]
    position = jnp.stack([cells // width, cells % width], axis=-1).astype(jnp.int32)
    return Agents(position=position, heading=below(turns, len(Heading)))
