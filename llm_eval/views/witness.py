"""What a seat has seen of the world and of the others in a trial, from its own views alone."""

from collections.abc import Iterator, Mapping

import numpy as np
from pydantic import BaseModel, ConfigDict

from llm_eval.views.base import GameText
from llm_eval.views.patches import remember
from llm_eval.views.sight import Cell, Other, Sight
from llm_eval.views.words import counted, place
from osj_envs.grid.codes import Heading, Item
from osj_envs.grid.names import HEADINGS

MOST_CHANGES = 12
"""Changed cells told at a step; of more only the number is told."""

_WAYS = {
    (-1, 0): Heading.NORTH,
    (0, 1): Heading.EAST,
    (1, 0): Heading.SOUTH,
    (0, -1): Heading.WEST,
}


class Part(BaseModel):
    """A part of what was seen; written as JSON with the rest of a player's carry."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Sighting(Part):
    """Another agent as it was last seen.

    Attributes:
        name: its letter.
        cell: where it was.
        heading: where it faced.
        step: when.
        ground: what it stood on.
        doing: what it did, as far as two views in a row show it.
        times: steps of this trial in which it was in view.
        grounds: how many of them on what.
        apples: times that it went onto an apple.
    """

    name: str
    cell: Cell
    heading: int
    step: int
    ground: str
    doing: str
    times: int = 1
    grounds: Mapping[str, int] = {}
    apples: int = 0


class Witness(Part):
    """All that was seen in this trial.

    Attributes:
        board: the last view's cells: row, column, item, colour.
        others: the other agents that were seen, by name.
        trees: those seen: row, column, colour, item, step.
        events: what changed from the view before to the last one.
    """

    board: tuple[tuple[int, ...], ...] = ()
    others: tuple[Sighting, ...] = ()
    trees: tuple[tuple[int, ...], ...] = ()
    events: tuple[str, ...] = ()


def watch(game: GameText, witness: Witness, sight: Sight) -> Witness:
    """What was seen, with the next step's view."""
    before = {(row, col): (item, colour) for row, col, item, colour in witness.board}
    known = {other.name: other for other in witness.others}
    for other in sight.others:
        known[other.name] = _sighting(game, sight, other, known.get(other.name), before)
    changes = list(_changes(game, sight, before))
    if len(changes) > MOST_CHANGES:
        changes = [*changes[:MOST_CHANGES], f"{len(changes) - MOST_CHANGES} more cells changed"]
    return Witness.model_construct(
        board=_board(sight),
        others=tuple(known[name] for name in sorted(known, key=lambda name: (len(name), name))),
        trees=remember(witness.trees, game.trees(sight)),
        events=tuple(changes),
    )


def last_seen(sighting: Sighting, now: int) -> str:
    """A line about another agent."""
    ago = now - sighting.step
    when = "in view now" if not ago else f"last seen {counted(ago, 'step')} ago"
    return (
        f"{sighting.name}, {when}: at {place(sighting.cell)}, on {sighting.ground}, facing "
        f"{HEADINGS[Heading(sighting.heading)]}; {sighting.doing}"
    )


def of_trial(sighting: Sighting) -> str:
    """What a whole trial showed of another agent, for the trial's summary."""
    grounds = sorted(sighting.grounds.items(), key=lambda entry: (-entry[1], entry[0]))
    told = ", ".join(f"{count} on {ground}" for ground, count in grounds)
    return (
        f"{sighting.name} was in view for {counted(sighting.times, 'step')} ({told}) and went "
        f"onto an apple {counted(sighting.apples, 'time')}"
    )


def _board(sight: Sight) -> tuple[tuple[int, ...], ...]:
    rows, cols = np.nonzero(sight.seen)
    cells = np.stack([rows, cols, sight.item[rows, cols], sight.colour[rows, cols]], axis=1)
    return tuple(map(tuple, cells.tolist()))


def _sighting(
    game: GameText,
    sight: Sight,
    other: Other,
    known: Sighting | None,
    before: Mapping[Cell, tuple[int, int]],
) -> Sighting:
    ground = game.label(*sight.code(other.cell)).name
    doing = _doing(known, other, sight.own.step)
    stood = known is not None and known.cell == other.cell and known.step == sight.own.step - 1
    item, colour = before.get(other.cell, (Item.WALL, 0))
    ate = not stood and Item.APPLE <= item <= Item.OVERRIPE_APPLE
    if ate:
        doing = f"{doing}, onto the {game.label(item, colour).name} that was there"
    grounds = dict(known.grounds) if known else {}
    grounds[ground] = grounds.get(ground, 0) + 1
    return Sighting.model_construct(
        name=other.name,
        cell=other.cell,
        heading=int(other.heading),
        step=sight.own.step,
        ground=ground,
        doing=doing,
        times=1 + (known.times if known else 0),
        grounds=grounds,
        apples=int(ate) + (known.apples if known else 0),
    )


def _doing(known: Sighting | None, other: Other, now: int) -> str:
    """What an agent did from one view to the next."""
    if now == 0:
        return "the trial starts"
    if known is None or known.step != now - 1:
        return "it came into view"
    step = other.cell[0] - known.cell[0], other.cell[1] - known.cell[1]
    if step in _WAYS:
        return f"it moved {HEADINGS[_WAYS[step]]}"
    if step != (0, 0):
        return f"it was suddenly here, and at {place(known.cell)} before"
    return "it stood still" if other.heading == known.heading else "it turned"


def _changes(game: GameText, sight: Sight, before: Mapping[Cell, tuple[int, int]]) -> Iterator[str]:
    """The cells in both views that changed, in words."""
    for cell, old in before.items():
        if sight.seen[cell] and game.is_change(old, new := sight.code(cell)):
            yield f"{place(cell)}: {game.label(*old).name} became {game.label(*new).name}"
