"""What figures of several teams draw, and the CSV sheets of those by trial."""

from collections.abc import Sequence

import numpy as np

from llm_eval.reports.items import GAMES, Request
from llm_eval.reports.measures import Measured, Of, Quantity, by_problem, measure, over_trials
from llm_eval.reports.sheets import SEEDS, Cell, Column, Sheet
from llm_eval.reports.teams import Team

COLUMNS = (
    Column("game", "game"),
    Column("figure", "figure"),
    Column("team", "team"),
    Column("seeds", SEEDS),
    Column("trial", "trial"),
    Column("value", "value"),
)
"""`trial` counts from 1 and is `all` for all trials together."""


def by_trial(request: Request, teams: Sequence[Team], of: Of) -> list[tuple[str, Measured]]:
    """A figure of each team by trial, by label."""
    return [(team.label, measure(of(team), request.seed)) for team in teams]


def overall(
    request: Request, teams: Sequence[Team], of: Of
) -> list[tuple[str, Measured, np.ndarray]]:
    """A figure of each team over all trials, and its value for each problem; by label."""
    pooled = over_trials(of)
    return [
        (team.label, measure(pooled(team), request.seed), by_problem(pooled(team)))
        for team in teams
    ]


def pairs(
    request: Request, teams: Sequence[Team], one: Of, other: Of
) -> list[tuple[str, Measured, Measured]]:
    """Two figures of each team, by problem alone; by label."""
    return [
        (team.label, measure(one(team), request.seed), measure(other(team), request.seed))
        for team in teams
    ]


def curve_sheet(
    title: str,
    request: Request,
    shown: Sequence[tuple[Quantity, Sequence[Team]]],
    name: str = "",
) -> Sheet:
    """What a figure draws, by trial and over all trials.

    Args:
        title: of the sheet.
        request: of the report.
        shown: each figure by trial, and the teams of which it is drawn.
        name: of its file.
    """
    rows: list[tuple[Cell, ...]] = []
    for quantity, teams in shown:
        for team in teams:
            ratio = quantity.of(team)
            start = (GAMES[team.game], quantity.key, team.label, len(team.runs))
            each = measure(ratio, request.seed)
            rows += [(*start, trial + 1, each[trial]) for trial in range(team.num_trials)]
            rows.append((*start, "all", measure(over_trials(quantity.of)(team), request.seed)))
    return Sheet(title, COLUMNS, rows, name=name)
