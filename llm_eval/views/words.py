"""Words and drawings that both grid worlds share."""

from collections.abc import Callable, Iterable

import numpy as np

from llm_eval.views.base import Spot
from llm_eval.views.sight import Cell, Sight
from osj_envs.grid.codes import Action
from osj_envs.grid.names import HEADINGS, agent_name
from osj_envs.grid.text import ARROWS, Label

CellLabel = Callable[[int, int], Label]
"""The label of an item and its colour, as agents can tell them apart."""

NOTHING_YET = "nothing yet"


def place(cell: Cell) -> str:
    """A cell by its absolute numbers."""
    return f"row {cell[0]}, column {cell[1]}"


def listed(lines: Iterable[str], otherwise: str = NOTHING_YET) -> str:
    """A line for each entry."""
    return "\n".join(f"- {line}" for line in lines) or otherwise


def counted(count: int, name: str) -> str:
    """A count of things, in the plural where there is not one."""
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


def points(reward: float) -> str:
    """A reward in words."""
    return f"{reward:g} point" if reward == 1 else f"{reward:g} points"


def draw_view(sight: Sight, label: CellLabel) -> str:
    """All cells in view, north up, under and beside their absolute columns and rows."""
    rows = np.flatnonzero(sight.seen.any(axis=1)).tolist()
    cols = np.flatnonzero(sight.seen.any(axis=0)).tolist()
    lines = [["", *map(str, cols)]]
    lines += [[str(row), *(_mark(sight, (row, col), label) for col in cols)] for row in rows]
    width = max(len(mark) for line in lines for mark in line)
    return "\n".join(" ".join(mark.ljust(width) for mark in line).rstrip() for line in lines)


def _mark(sight: Sight, cell: Cell, label: CellLabel) -> str:
    if cell == sight.cell:
        return agent_name(0) + ARROWS[sight.heading]
    other = sight.other_at(cell) if sight.agent[cell] else None
    return other.name + ARROWS[other.heading] if other else label(*sight.code(cell)).mark


def legend_in_view(sight: Sight, label: CellLabel) -> str:
    """What the marks in view mean, in the order of the item codes."""
    codes = {sight.code((row, col)) for row, col in np.argwhere(sight.seen).tolist()}
    labels = [label(*code) for code in sorted(codes)]
    return "Marks: " + ", ".join(f"{each.mark} {each.name}" for each in labels)


def under_agents(sight: Sight, label: CellLabel) -> str:
    """What lies under each agent in view, which hides it on the map."""
    here = [f"you are on {label(*sight.code(sight.cell)).name}"]
    here += [f"{o.name} is on {label(*sight.code(o.cell)).name}" for o in sight.others]
    return "Under agents: " + ", ".join(here)


def board_lines(sight: Sight, label: CellLabel) -> list[str]:
    """The view drawn, its marks, and what lies under the agents."""
    return [draw_view(sight, label), legend_in_view(sight, label), under_agents(sight, label)]


def plain_lines(sight: Sight) -> dict[Action, str]:
    """What turning and staying do: the same in every game."""
    return {
        Action.TURN_LEFT: turn_line(sight, -1),
        Action.TURN_RIGHT: turn_line(sight, 1),
        Action.STAY: stay_line(sight),
    }


def standing(sight: Sight) -> str:
    """Position and facing."""
    return f"Position: {place(sight.cell)}. You face {HEADINGS[sight.heading]}."


def move_line(sight: Sight, action: Action, label: CellLabel) -> str:
    """The cell that a move lands on and what is there."""
    cell = sight.lands[action]
    if cell == sight.cell:
        return "the map ends there; you would stay where you are"
    if not sight.seen[cell]:
        return f"to {place(cell)}, which is out of your view"
    line = f"to {place(cell)}: {label(*sight.code(cell)).name}"
    other = sight.other_at(cell)
    if other is None:
        return line
    return f"{line}; {other.name} is there now, and you get there only if it leaves"


def turn_line(sight: Sight, turns: int) -> str:
    """Where a turn makes the agent face."""
    return f"face {HEADINGS[type(sight.heading)((sight.heading + turns) % len(HEADINGS))]}"


def stay_line(sight: Sight) -> str:
    """What staying does."""
    return f"stay at {place(sight.cell)}"


DONE = {
    Action.TURN_LEFT: "You turned left.",
    Action.TURN_RIGHT: "You turned right.",
    Action.STAY: "You stayed.",
}
"""What came of actions that cannot fail."""


def moved(spot: Spot, action: int, blocked: bool) -> str:
    """What came of a move."""
    goal = spot.lands[action]
    if goal == spot.cell:
        return "You stayed, since the map ends there."
    if blocked:
        return f"You could not move to {place(goal)}: another agent had it or went there first."
    return f"You moved to {place(goal)}."
