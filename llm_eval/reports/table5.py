"""Table 5: what players of OpenHarvest know of the payoffs, and how they use it."""

from collections.abc import Sequence

from llm_eval.reports.compare import comparison, team_sheet
from llm_eval.reports.items import Made, Request, seeds_of
from llm_eval.reports.measures import LAST, Quantity, figure, over_trials
from llm_eval.reports.teams import Team
from llm_eval.views.words import counted


def _all_trials(key: str, heading: str, is_share: bool = False) -> Quantity:
    return Quantity(key, heading, over_trials(figure(key)), is_share)


COLUMNS = (
    Quantity(
        "payoffs_known_last",
        "payoffs known",
        over_trials(figure("payoffs_known"), LAST),
        is_share=True,
    ),
    _all_trials("best_stage_share", "at best stage", is_share=True),
    _all_trials("too_early_share", "before it", is_share=True),
    _all_trials("points_per_apple", "points per apple"),
    _all_trials("return_mean", "return"),
)

NOTES = (
    "Payoffs known to an agent at the end of the last trial; apples eaten at the stage at which "
    "their colour pays most, and before it; return of an agent in a trial.",
)


def make(request: Request) -> Made:
    """The table; see `Item.make`."""
    teams: Sequence[Team] = request.of_game("harvest", "Table 5")
    title = "Table 5. OpenHarvest: knowing the payoffs and using them"
    return Made(
        summary=f"payoffs known and used by {counted(len(teams), 'team')}",
        seeds=seeds_of(teams),
        sheets=(
            team_sheet(request, title, teams, COLUMNS, NOTES),
            *comparison(request, teams, COLUMNS),
        ),
    )
