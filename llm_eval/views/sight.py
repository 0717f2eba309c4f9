"""A seat's own view laid back on the map, as NumPy arrays for the texts."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt8

from osj_envs.grid.beam import OFF_MAP, beam_cells
from osj_envs.grid.chart import chart
from osj_envs.grid.codes import Action, Heading, Plane
from osj_envs.grid.movement import Agents, wanted_positions
from osj_envs.grid.names import agent_name
from osj_envs.grid.view import Window
from osj_envs.types import Observation

Cell: TypeAlias = tuple[int, int]
"""Row and column."""

MOVES = (Action.NORTH, Action.SOUTH, Action.EAST, Action.WEST)
"""The compass moves."""

DecodeOwn: TypeAlias = Callable[[Float[Array, "features"]], Any]
"""What an agent knows of itself, from an observation's `own`."""


@dataclasses.dataclass(frozen=True)
class Other:
    """Another agent in view; its letter is its place after the viewer, who is A."""

    name: str
    cell: Cell
    heading: Heading


@dataclasses.dataclass(frozen=True)
class Sight:
    """One view, cell by cell of the map.

    Attributes:
        own: what the agent knows of itself, as plain numbers and lists.
        item: `Item` codes; meaningless out of view, as are the next two.
        colour: 0 for none, else 1 + colour.
        agent: 0 for none, 1 for the viewer, 1 + k for the agent k places after it.
        turned: heading of the agent there relative to the viewer's, from 1; 0 for no agent.
        seen: which cells are in view.
        beam: cells of the map that the beam would hit.
        lands: for each of `MOVES`, the cell that it wants; its own where the map ends.
    """

    own: Any
    item: UInt8[np.ndarray, "height width"]
    colour: UInt8[np.ndarray, "height width"]
    agent: UInt8[np.ndarray, "height width"]
    turned: UInt8[np.ndarray, "height width"]
    seen: Bool[np.ndarray, "height width"]
    beam: tuple[int, ...]
    lands: tuple[Cell, ...]

    @property
    def cell(self) -> Cell:
        """Where the viewer stands."""
        row, col = self.own.position
        return row, col

    @property
    def heading(self) -> Heading:
        """Where the viewer faces."""
        return Heading(self.own.heading)

    @functools.cached_property
    def others(self) -> tuple[Other, ...]:
        """All other agents in view, by name."""
        found = [
            Other(
                name=agent_name(int(self.agent[row, col]) - 1),
                cell=(row, col),
                heading=Heading((self.own.heading + int(self.turned[row, col]) - 1) % len(Heading)),
            )
            for row, col in np.argwhere(self.seen & (self.agent > 1)).tolist()
        ]
        return tuple(sorted(found, key=lambda other: (len(other.name), other.name)))

    def code(self, cell: Cell) -> tuple[int, int]:
        """Item and colour of a cell in view."""
        return int(self.item[cell]), int(self.colour[cell])

    def other_at(self, cell: Cell) -> Other | None:
        """The other agent on a cell, as far as it is in view."""
        return next((other for other in self.others if other.cell == cell), None)

    def beam_cells(self) -> list[Cell | None]:
        """The beam's cells in the order of `grid.beam`; None for one off the map."""
        width = self.item.shape[1]
        return [None if cell == OFF_MAP else divmod(cell, width) for cell in self.beam]


def look(shape: Cell, window: Window, decode: DecodeOwn, observation: Observation) -> Sight:
    """What one seat sees.

    Args:
        shape: rows and columns of the map.
        window: how far the agent sees.
        decode: of the game; the same object for the same game, so that one program serves all.
        observation: of the seat, without an agent axis.
    """
    own, board, seen, beam, lands = jax.device_get(_look(shape, window, decode, observation))
    return Sight(
        own=jax.tree.map(lambda number: number.tolist(), own),
        item=board[..., Plane.ITEM],
        colour=board[..., Plane.COLOUR],
        agent=board[..., Plane.AGENT],
        turned=board[..., Plane.HEADING],
        seen=seen,
        beam=tuple(beam.tolist()),
        lands=tuple((row, col) for row, col in lands.tolist()),
    )


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _look(
    shape: Cell, window: Window, decode: DecodeOwn, observation: Observation
) -> tuple[
    Any,
    UInt8[Array, "height width 4"],
    Bool[Array, "height width"],
    Int[Array, "beam"],
    Int[Array, "moves 2"],
]:
    own = decode(observation.own)
    board, seen = chart(window, shape, observation.view, own.heading, own.position)
    agents = Agents(position=own.position[None], heading=own.heading[None])
    here = jnp.tile(own.position, (len(MOVES), 1))
    lands = wanted_positions(here, jnp.array(MOVES), *shape)
    return own, board, seen, beam_cells(agents, *shape)[0], lands
