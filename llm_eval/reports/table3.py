"""Table 3: what changes in OpenCleanup after the first trial."""

from llm_eval.reports.compare import SEED_COUNT, TEAM, comparison, who_plays
from llm_eval.reports.further import explore_share
from llm_eval.reports.items import Made, Request, seeds_of
from llm_eval.reports.measures import (
    FIRST,
    LATER,
    Of,
    Quantity,
    change,
    figure,
    measure,
    over_trials,
)
from llm_eval.reports.sheets import INTERVALS, Column, Sheet, columns_of
from llm_eval.reports.teams import Team
from llm_eval.views.words import counted
from osj_envs.tally import EARLY_STEPS

COLUMNS = (
    Quantity("explore_share", "explore mode", explore_share, is_share=True),
    Quantity("first_clear_step", "first clear, step", figure("first_clear_step")),
    Quantity("first_apple_step", "first apple, step", figure("first_apple_step")),
    Quantity("early_cleaning", f"cells in {EARLY_STEPS} steps", figure("early_cleaning")),
)
"""By trial."""

NOTES = (
    "Explore mode: of the steps for which a language model stated a mode. Steps count from 0, and "
    "are of trials in which it happened.",
    f"Cells in {EARLY_STEPS} steps: cleared or lightened by the team. Change: later trials less "
    "the first, problem by problem.",
)


def make(request: Request) -> Made:
    """The table; see `Item.make`."""
    teams = request.of_game("cleanup", "Table 3")
    rows = [row for team in teams for row in _rows(team, request.seed)]
    columns = (TEAM, SEED_COUNT, Column("trials", "trials"), *columns_of(COLUMNS))
    title = "Table 3. OpenCleanup: what changes after the first trial"
    notes = (*NOTES, INTERVALS, *who_plays(teams))
    later = [
        Quantity(each.key, each.heading, over_trials(each.of, LATER), each.is_share)
        for each in COLUMNS
    ]
    return Made(
        summary=f"the first trial and the later ones of {counted(len(teams), 'team')}",
        seeds=seeds_of(teams),
        sheets=(Sheet(title, columns, rows, notes), *comparison(request, teams, later)),
    )


def _rows(team: Team, seed: int) -> list[tuple]:
    """The first trial, the later ones, and the change."""

    def row(name: str, ofs: list[Of]) -> tuple:
        return (team.label, len(team.runs), name, *(measure(of(team), seed) for of in ofs))

    first = row("1", [over_trials(each.of, FIRST) for each in COLUMNS])
    if team.num_trials == 1:
        return [first]
    return [
        first,
        row(later_trials(team), [over_trials(each.of, LATER) for each in COLUMNS]),
        row("change", [change(each.of, LATER, FIRST) for each in COLUMNS]),
    ]


def later_trials(team: Team) -> str:
    """The trials after the first."""
    return f"2 to {team.num_trials}" if team.num_trials > 2 else "2"
