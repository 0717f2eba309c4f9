"""Figure 8: how much a team cleans in an early trial and in the last one."""

from collections.abc import Sequence

from llm_eval.reports import drawing
from llm_eval.reports.compare import team_sheet
from llm_eval.reports.curves import pairs
from llm_eval.reports.items import Made, Request, Unfilled, seeds_of
from llm_eval.reports.measures import LAST, Of, Quantity, change, figure, over_trials
from llm_eval.reports.teams import Team
from llm_eval.views.words import counted
from osj_envs.statistics import Ratio

CLEARED = figure("tiles_cleared")


def make(request: Request) -> Made:
    """The figure; see `Item.make`."""
    found = request.of_game("cleanup", "Figure 8")
    teams = [team for team in found if team.num_trials > 1]
    if not teams:
        raise Unfilled("Figure 8 takes runs of OpenCleanup of at least two trials.")
    picture, ((axes,),) = drawing.new_figure(1, 1)
    rows = pairs(request, teams, early, over_trials(CLEARED, LAST))
    drawing.row_pairs(axes, rows, request)
    drawing.title(axes, f"OpenCleanup: {_trials(teams)}")
    axes.set_xlabel("cells cleared by the team in a trial")
    axes.set_xlim(left=0)
    axes.set_yticklabels([drawing.with_seeds(team) for team in teams])
    around = drawing.spread_text(request.spread)
    drawing.caption(picture, f"{around}; in brackets: problem seeds")
    quantities = [
        Quantity("tiles_cleared_early", "early trial", early),
        Quantity("tiles_cleared_last", "last trial", over_trials(CLEARED, LAST)),
        Quantity("tiles_cleared_change", "last less early", _change),
    ]
    title = f"Figure 8. OpenCleanup: cells cleared by the team, {_trials(teams)}"
    return Made(
        summary=f"cells cleared by {counted(len(teams), 'team')}, {_trials(teams)}",
        seeds=seeds_of(teams),
        sheets=(team_sheet(request, title, teams, quantities),),
        pictures={"": picture},
    )


def early_trial(team: Team) -> slice:
    """The second trial as in the paper, since in the first one agents still learn the recipes.

    The first where there are but two.
    """
    return slice(1, 2) if team.num_trials > 2 else slice(1)


def early(team: Team) -> Ratio:
    """Cells cleared in the early trial."""
    return over_trials(CLEARED, early_trial(team))(team)


def _change(team: Team) -> Ratio:
    of: Of = change(CLEARED, LAST, early_trial(team))
    return of(team)


def _trials(teams: Sequence[Team]) -> str:
    """Which trials are compared."""
    numbers = {(early_trial(team).stop, team.num_trials) for team in teams}
    if len(numbers) > 1:
        return "an early trial (hollow) and the last"
    first, last = numbers.pop()
    return f"trial {first} (hollow) and trial {last}"
