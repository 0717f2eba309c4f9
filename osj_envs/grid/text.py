"""What the texts of the grid worlds share: labels, boards with numbered edges, and agents."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from osj_envs.grid.codes import Heading
from osj_envs.grid.movement import Agents
from osj_envs.grid.names import HEADINGS, agent_name


class Label(NamedTuple):
    """What lies on a cell: two or so characters for the board, and words."""

    mark: str
    name: str


class Place(NamedTuple):
    """Where an agent stands and faces."""

    row: int
    col: int
    heading: Heading


ARROWS = {Heading.NORTH: "^", Heading.EAST: ">", Heading.SOUTH: "v", Heading.WEST: "<"}
"""The mark of a heading, after an agent's letter."""


def places(agents: Agents) -> list[Place]:
    """Row, column and heading of each agent."""
    positions = np.asarray(agents.position).tolist()
    headings = np.asarray(agents.heading).tolist()
    return [Place(row, col, Heading(h)) for (row, col), h in zip(positions, headings, strict=True)]


def draw_cells(marks: Sequence[Sequence[str]], agents: Agents) -> str:
    """The marks of all cells, rows and columns numbered; an agent hides what it stands on."""
    shown = [list(row) for row in marks]
    for seat, (row, col, heading) in enumerate(places(agents)):
        shown[row][col] = agent_name(seat) + ARROWS[heading]
    return number_cells(shown)


def number_cells(marks: Sequence[Sequence[str]]) -> str:
    """The marks of all cells below and beside the numbers of their columns and rows."""
    numbered = [[str(row), *line] for row, line in enumerate(marks)]
    lines = [["", *map(str, range(len(marks[0])))], *numbered]
    width = max(len(mark) for line in lines for mark in line)
    return "\n".join(" ".join(mark.ljust(width) for mark in line).rstrip() for line in lines)


def describe_place(seat: int, place: Place, label: Label) -> str:
    """Where an agent stands, on what, and where it faces."""
    return (
        f"{agent_name(seat)}: row {place.row}, column {place.col}, on {label.name}, "
        f"faces {HEADINGS[place.heading]}"
    )


def arrows_legend() -> str:
    """What an agent's mark means."""
    arrows = " ".join(f"A{arrow}" for arrow in ARROWS.values())
    return f"{arrows} agent A facing {', '.join(HEADINGS.values())}"
