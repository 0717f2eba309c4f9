"""Table 5: what players of OpenHarvest know of the payoffs, and how they use it."""

import math
from collections.abc import Sequence

from llm_eval.reports.compare import comparison, team_sheet
from llm_eval.reports.further import position
from llm_eval.reports.items import Made, Request, seeds_of
from llm_eval.reports.measures import LAST, Quantity, figure, over_trials, shared_seeds
from llm_eval.reports.teams import Team
from llm_eval.views.words import counted
from osj_envs.statistics import Ratio, mean_of


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


SCALE = ("scripted:greedy", "scripted:steward")
"""Players whose returns are 0 and 1 of the position."""


def make(request: Request) -> Made:
    """The table; see `Item.make`."""
    teams = request.of_game("harvest", "Table 5")
    scale = [_alone(teams, player) for player in SCALE]
    further = () if None in scale else (_position(*filter(None, scale)),)
    title = "Table 5. OpenHarvest: knowing the payoffs and using them"
    sheet = team_sheet(request, title, teams, (*COLUMNS, *further), NOTES)
    return Made(
        summary=f"payoffs known and used by {counted(len(teams), 'team')}",
        seeds=seeds_of(teams),
        sheets=(sheet, *comparison(request, teams, COLUMNS)),
    )


def _alone(teams: Sequence[Team], player: str) -> Team | None:
    """The team that a player fills alone, if it was played."""
    return next((team for team in teams if set(team.players) == {player}), None)


def _position(low: Team, high: Team) -> Quantity:
    """The position between two teams, of those that played the same problems."""

    def of(team: Team) -> Ratio:
        if not (team.plays_like(low) and low.plays_like(high) and shared_seeds(team, low, high)):
            return mean_of([math.nan])
        return position(team, low, high)

    return Quantity("position", "greedy 0, steward 1", of)
