"""The grid worlds' shared rules once more: one agent and one cell at a time, in plain Python.

Written from the rules of the games and not from the fast code, to compare that with.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from osj_envs.grid.codes import Action, Heading

Cell: TypeAlias = tuple[int, int]
"""Row and column."""

COMPASS: dict[int, Cell] = {
    Action.NORTH: (-1, 0),
    Action.SOUTH: (1, 0),
    Action.EAST: (0, 1),
    Action.WEST: (0, -1),
}
"""What the four moves add to a cell."""

AHEAD: dict[int, Cell] = {
    Heading.NORTH: (-1, 0),
    Heading.EAST: (0, 1),
    Heading.SOUTH: (1, 0),
    Heading.WEST: (0, -1),
}
"""What a step ahead adds to a cell."""

CLOCKWISE = (Heading.NORTH, Heading.EAST, Heading.SOUTH, Heading.WEST)

QUARTERS: dict[int, int] = {Action.TURN_LEFT: -1, Action.TURN_RIGHT: 1}
"""Quarter turns clockwise of the two turns."""


def is_on_map(cell: Cell, height: int, width: int) -> bool:
    """Whether a cell lies on the map."""
    return 0 <= cell[0] < height and 0 <= cell[1] < width


def wanted_cell(cell: Cell, action: int, height: int, width: int) -> Cell:
    """Where an agent wants to be; a move off the map is a stay."""
    step = COMPASS.get(action, (0, 0))
    target = (cell[0] + step[0], cell[1] + step[1])
    return target if is_on_map(target, height, width) else cell


def turned(heading: int, action: int) -> int:
    """The heading after an action."""
    return CLOCKWISE[(_quarters_from_north(heading) + QUARTERS.get(action, 0)) % 4]


def winners(cells: Sequence[int], wanted: Sequence[int], order: Sequence[int]) -> tuple[bool, ...]:
    """Who may try to enter the cell it wants: of those who move to one cell, the first in `order`.

    Args:
        cells: each agent's cell.
        wanted: the cell that each wants.
        order: the agents, the one that wins against all others first.
    """
    first: dict[int, int] = {}
    for agent in order:
        if wanted[agent] != cells[agent]:
            first.setdefault(wanted[agent], agent)
    return tuple(first.get(wanted[agent]) == agent for agent in range(len(cells)))


def who_moves(cells: Sequence[int], wanted: Sequence[int], wins: Sequence[bool]) -> list[bool]:
    """Who moves when all move at once, given who won each contested cell.

    Whoever did not win stays; two do not swap; and as long as someone wants the cell of one that
    stays, that one stays too.
    """
    agents = range(len(cells))
    stays = {a for a in agents if not wins[a]}
    for a in agents:
        for b in agents:
            if a != b and wanted[a] == cells[b] and wanted[b] == cells[a]:
                stays |= {a, b}
    while True:
        kept = {cells[a] for a in stays}
        more = {a for a in agents if a not in stays and wanted[a] in kept}
        if not more:
            return [a not in stays for a in agents]
        stays |= more


class Walker(Protocol):
    """An agent of a slow reference."""

    cell: Cell
    heading: int


def move_all(
    agents: Sequence[Walker], actions: Sequence[int], order: Sequence[int], height: int, width: int
) -> list[bool]:
    """Turns and moves all agents, changing them; returns who wanted to move and did not."""
    number = {cell: index for index, cell in enumerate(cells_of(height, width))}
    targets = [
        wanted_cell(agent.cell, action, height, width)
        for agent, action in zip(agents, actions, strict=True)
    ]
    cells = [number[agent.cell] for agent in agents]
    wanted = [number[target] for target in targets]
    moves = who_moves(cells, wanted, winners(cells, wanted, order))
    for agent, action, target, does in zip(agents, actions, targets, moves, strict=True):
        agent.heading = turned(agent.heading, action)
        agent.cell = target if does else agent.cell
    return [action in COMPASS and not does for action, does in zip(actions, moves, strict=True)]


def beam(cell: Cell, heading: int, height: int, width: int) -> list[Cell | None]:
    """The faced cell, the one beyond it, and those left and right of the faced one.

    None stands for a cell off the map.
    """
    row, column = AHEAD[heading]
    faced = (cell[0] + row, cell[1] + column)
    beyond = (faced[0] + row, faced[1] + column)
    left, right = (AHEAD[turned(heading, turn)] for turn in (Action.TURN_LEFT, Action.TURN_RIGHT))
    beside = [(faced[0] + side[0], faced[1] + side[1]) for side in (left, right)]
    return [hit if is_on_map(hit, height, width) else None for hit in (faced, beyond, *beside)]


Seen: TypeAlias = tuple[int, int, int, int]
"""The four planes of a view at one cell: item, colour, agent, heading."""


def view(
    viewer: int,
    agents: Sequence[tuple[Cell, int]],
    board: Mapping[Cell, tuple[int, int]],
    ahead: int,
    behind: int,
    side: int,
) -> list[list[Seen]]:
    """What one agent sees, row by row, the farthest row ahead first, left to right.

    Args:
        viewer: which agent sees.
        agents: (cell, heading) of every agent.
        board: (item, colour) of every cell of the map.
        ahead: how many cells it sees ahead.
        behind: and behind.
        side: and to each side.
    """
    (row, column), heading = agents[viewer]
    front, right = AHEAD[heading], AHEAD[turned(heading, Action.TURN_RIGHT)]
    rows = []
    for forwards in range(ahead, -behind - 1, -1):
        cells = [
            (
                row + forwards * front[0] + sidewards * right[0],
                column + forwards * front[1] + sidewards * right[1],
            )
            for sidewards in range(-side, side + 1)
        ]
        rows.append([_seen(cell, viewer, agents, board) for cell in cells])
    return rows


def _seen(
    cell: Cell,
    viewer: int,
    agents: Sequence[tuple[Cell, int]],
    board: Mapping[Cell, tuple[int, int]],
) -> Seen:
    if cell not in board:
        return (0, 0, 0, 0)
    item, colour = board[cell]
    for other, (place, heading) in enumerate(agents):
        if place == cell:
            quarters = _quarters_from_north(heading) - _quarters_from_north(agents[viewer][1])
            return (item, colour, 1 + (other - viewer) % len(agents), 1 + quarters % 4)
    return (item, colour, 0, 0)


def _quarters_from_north(heading: int) -> int:
    return CLOCKWISE.index(Heading(heading))


def cells_of(height: int, width: int) -> Iterable[Cell]:
    """All cells of a map, row by row."""
    return ((row, column) for row in range(height) for column in range(width))
