"""Sheets that several tables and figures have: teams, and how they differ on shared seeds."""

from collections.abc import Sequence

from llm_eval.reports.items import GAMES, Request
from llm_eval.reports.measures import (
    Quantity,
    choose_reference,
    differences,
    measure,
    shared_seeds,
)
from llm_eval.reports.sheets import INTERVALS, SEEDS, Cell, Column, Sheet, columns_of
from llm_eval.reports.teams import Team, player_label

TEAM = Column("team", "team")
SEED_COUNT = Column("seeds", SEEDS)


def team_sheet(
    request: Request,
    title: str,
    teams: Sequence[Team],
    quantities: Sequence[Quantity],
    notes: Sequence[str] = (),
) -> Sheet:
    """A row of figures for each team.

    Args:
        request: of the report.
        title: of the sheet.
        teams: of one game.
        quantities: a column for each.
        notes: beneath, besides those on intervals and mixed teams.
    """
    rows: list[tuple[Cell, ...]] = [
        (team.label, len(team.runs), *(measure(each.of(team), request.seed) for each in quantities))
        for team in teams
    ]
    columns = (TEAM, SEED_COUNT, *columns_of(quantities))
    return Sheet(title, columns, rows, (*notes, INTERVALS, *who_plays(teams)))


def comparison(
    request: Request, teams: Sequence[Team], quantities: Sequence[Quantity], name: str = ""
) -> tuple[Sheet, ...]:
    """How teams of one game differ from one of them; no sheet where none can be compared."""
    reference = choose_reference(teams, request.against)
    found = differences(teams, reference, quantities, request.seed)
    if not found:
        return ()
    rows: list[tuple[Cell, ...]] = [
        (team.label, len(shared_seeds(team, reference)), *values) for team, values in found.items()
    ]
    title = f"{GAMES[reference.game]}: differences from {reference.label} on shared problem seeds"
    columns = (TEAM, SEED_COUNT, *columns_of(quantities))
    notes = ("Problem by problem; differences of shares are in percentage points.", INTERVALS)
    return (Sheet(title, columns, rows, notes, name or "differences"),)


def who_plays(teams: Sequence[Team]) -> tuple[str, ...]:
    """A note for each mixed team."""
    return tuple(
        f"{team.label}: {', '.join(map(player_label, team.players))}."
        for team in teams
        if team.is_mixed
    )
