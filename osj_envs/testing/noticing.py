"""Who notices what: worlds that differ in one thing, and the agents to whom they look different."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool

from osj_envs.grid.movement import Agents
from osj_envs.grid.view import Window
from osj_envs.testing.slow_grid import AHEAD, Cell
from osj_envs.types import Observation


def copies(world: Any, count: int) -> Any:
    """A batch of the same world, with NumPy leaves that can be changed one by one."""
    return jax.tree.map(lambda leaf: np.stack([np.asarray(leaf)] * count), world)


def who_notices(look: Callable[[Any], Observation], worlds: Any) -> Bool[np.ndarray, "worlds a"]:
    """For each world but the first, which agents get another observation than in the first.

    Args:
        look: the observations of a batch of worlds.
        worlds: the batch.
    """
    seen = jax.device_get(look(worlds))
    leaves = [leaf.reshape(*leaf.shape[:2], -1) for leaf in (seen.view, seen.own)]
    differs = [(leaf[1:] != leaf[:1]).any(axis=-1) for leaf in leaves]
    return np.logical_or(*differs)


def sees(window: Window, agents: Agents, viewer: int, cell: Cell) -> bool:
    """Whether a cell is in an agent's window, by the rules."""
    down, across = AHEAD[int(agents.heading[viewer])]
    row, column = np.subtract(cell, agents.position[viewer])
    forwards, sidewards = row * down + column * across, column * down - row * across
    return bool(-window.behind <= forwards <= window.ahead and abs(sidewards) <= window.side)


def who_sees(window: Window, agents: Agents, cell: Cell) -> list[bool]:
    """Which agents have a cell in their windows."""
    return [sees(window, agents, viewer, cell) for viewer in range(len(agents.heading))]


def move_and_turn(worlds: Any, free: list[Cell]) -> list[tuple[int, Cell]]:
    """Changes one agent's cell or heading in each world but the first.

    Args:
        worlds: copies of one world: one, and one for each agent with each cell of `free`, and for
            each with each of the three other headings.
        free: cells on which nobody stands.

    Returns:
        For each change, whose it is and the cell on which that agent then stands.
    """
    agents = worlds.agents
    position, heading = agents.position[0].copy(), agents.heading[0].copy()
    changes = []
    for agent in range(len(heading)):
        for cell in free:
            changes.append((agent, cell))
            agents.position[len(changes), agent] = cell
        for quarters in range(1, 4):
            changes.append((agent, tuple(position[agent].tolist())))
            agents.heading[len(changes), agent] = (heading[agent] + quarters) % 4
    return changes


def who_should(
    window: Window, agents: Agents, changes: list[tuple[int, Cell]]
) -> Bool[np.ndarray, "worlds a"]:
    """Who may notice each of `move_and_turn`'s changes: that agent, and who sees where it is."""
    table = []
    for agent, cell in changes:
        old = tuple(np.asarray(agents.position[agent]).tolist())
        row = np.array(who_sees(window, agents, old)) | who_sees(window, agents, cell)
        row[agent] = True
        table.append(row)
    return np.array(table)
