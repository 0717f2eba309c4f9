"""Egocentric views: a window turned so that the agent faces up, in compact integer planes.

Source: window from the paper; compact codes are our choice, since writing one-hot channels costs
more than all of the physics.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, UInt8, UInt32

from osj_envs.checks import check_whole
from osj_envs.grid.codes import Heading, Item, Plane
from osj_envs.grid.movement import Agents, flat
from osj_envs.specs import BoxSpec

MAX_AGENTS = 255
"""Agents that the one byte of a view's plane tells apart."""

MAX_REACH = 1000
"""Cells; farther than any map is wide, and few enough to pad a map with."""


@dataclasses.dataclass(frozen=True)
class Window:
    """How far an agent sees, in cells: the paper's 11 by 11 by default.

    Raises:
        ValueError: a distance is no whole number from 0 up.
    """

    ahead: int = 9
    behind: int = 1
    side: int = 5

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            check_whole(f"window.{field.name}", getattr(self, field.name), 0, MAX_REACH)

    @property
    def rows(self) -> int:
        """Rows of a view; the agent stands in row `ahead`."""
        return self.ahead + 1 + self.behind

    @property
    def cols(self) -> int:
        """Columns of a view; the agent stands in column `side`."""
        return 2 * self.side + 1

    @property
    def reach(self) -> int:
        """The farthest that any window cell is from the agent along one axis."""
        return max(self.ahead, self.behind, self.side)

    def offsets(self) -> Int[np.ndarray, "headings rows cols 2"]:
        """For each heading, the (row, column) steps from the agent to each cell of its window."""
        ahead = self.ahead - np.arange(self.rows)[:, None] + np.zeros((1, self.cols), int)
        right = np.arange(self.cols)[None, :] - self.side + np.zeros((self.rows, 1), int)
        north = np.stack([-ahead, right], axis=-1)
        turns = [north]
        for _ in range(3):
            rows, cols = turns[-1][..., 0], turns[-1][..., 1]
            turns.append(np.stack([cols, -rows], axis=-1))
        return np.stack(turns)


def check_window(window: Window | None) -> Window:
    """The window, the paper's by default.

    Raises:
        ValueError: it is none.
    """
    window = Window() if window is None else window
    if not isinstance(window, Window):
        raise ValueError(f"window is {window!r}; it must be an osj_envs.grid.view.Window.")
    return window


def view_spec(window: Window, highest_item: int, colours: int, num_agents: int) -> BoxSpec:
    """Shape and code ranges of one agent's view, by plane."""
    highest = {
        Plane.ITEM: highest_item,
        Plane.COLOUR: colours,
        Plane.AGENT: num_agents,
        Plane.HEADING: len(Heading),
    }
    return BoxSpec(
        shape=(window.rows, window.cols, len(Plane)),
        dtype=np.dtype(np.uint8),
        low=0,
        high=tuple(float(highest[plane]) for plane in Plane),
    )


def egocentric_views(
    window: Window,
    item: UInt8[Array, "height width"],
    colour: UInt8[Array, "height width"],
    agents: Agents,
) -> UInt8[Array, "agents rows cols planes"]:
    """What each agent sees, as the planes of `grid.codes.Plane`; cells off the map are walls."""
    board = _walled(_pack(item, colour, agents), window.reach)
    stride = board.shape[1]
    offsets = window.offsets()
    steps = (offsets[..., 0] * stride + offsets[..., 1]).reshape(len(Heading), -1)
    here = flat(agents.position + window.reach, stride)
    cells = here[:, None] + jnp.asarray(steps, jnp.int32)[agents.heading]
    seen = board.reshape(-1).at[cells].get(mode="promise_in_bounds", wrap_negative_indices=False)
    views = _unpack(_relative_to_viewer(seen, agents))
    return views.reshape(-1, window.rows, window.cols, len(Plane))


def _pack(
    item: UInt8[Array, "height width"], colour: UInt8[Array, "height width"], agents: Agents
) -> UInt32[Array, "height width"]:
    """All planes of a cell in one word, agents and headings absolute, so that one gather does.

    The agents are written into the board: a selection by cell would be done again for each cell of
    each view.
    """
    number = jnp.arange(1, agents.heading.shape[0] + 1, dtype=jnp.uint32)
    heading = agents.heading.astype(jnp.uint32) + 1
    agent = _shift(number, Plane.AGENT) | _shift(heading, Plane.HEADING)
    board = item.astype(jnp.uint32) | _shift(colour.astype(jnp.uint32), Plane.COLOUR)
    row, col = agents.position[:, 0], agents.position[:, 1]
    return board.at[row, col].add(agent, unique_indices=True, mode="promise_in_bounds")


def _walled(board: UInt32[Array, "height width"], reach: int) -> UInt32[Array, "rows cols"]:
    """The board with walls around it; written into them, which is faster than `jnp.pad`."""
    walls = jnp.full([size + 2 * reach for size in board.shape], Item.WALL, board.dtype)
    return jax.lax.dynamic_update_slice(walls, board, (reach, reach))


def _relative_to_viewer(
    seen: UInt32[Array, "agents cells"], agents: Agents
) -> UInt32[Array, "agents cells"]:
    """Counts agents and headings from the viewer, so that every agent sees itself the same way."""
    count = agents.heading.shape[0]
    viewer = jnp.arange(count, dtype=jnp.uint32)[:, None]
    facing = agents.heading.astype(jnp.uint32)[:, None]
    number = (seen >> (8 * Plane.AGENT)) & 0xFF
    heading = seen >> (8 * Plane.HEADING)
    behind = jnp.where(number > viewer, number - 1 - viewer, number + count - 1 - viewer)
    turned = (heading + 3 - facing) % 4
    relative = _shift(1 + behind, Plane.AGENT) | _shift(1 + turned, Plane.HEADING)
    return (seen & 0xFFFF) | jnp.where(number > 0, relative, jnp.uint32(0))


def _shift(code: UInt32[Array, "*shape"], plane: Plane) -> UInt32[Array, "*shape"]:
    """A code moved to its plane's byte."""
    return code << (8 * plane)


def _unpack(words: UInt32[Array, "*shape"]) -> UInt8[Array, "*shape planes"]:
    """One byte a plane, the first plane in the lowest byte."""
    return jax.lax.bitcast_convert_type(words, jnp.uint8)
