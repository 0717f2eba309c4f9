"""Figure 3: returns by trial, and of all trials together."""

from llm_eval.reports import drawing
from llm_eval.reports.compare import comparison
from llm_eval.reports.curves import by_trial, curve_sheet, overall
from llm_eval.reports.items import GAMES, Made, Request, seeds_of
from llm_eval.reports.measures import Quantity, figure, over_trials
from llm_eval.views.words import counted

RETURN = Quantity("return_mean", "return", figure("return_mean"))

COMPARED = (
    Quantity("return_mean", "return", over_trials(RETURN.of)),
    Quantity("adaptation_gain", "adaptation gain", figure("adaptation_gain")),
)


def make(request: Request) -> Made:
    """The figure: a row for each game; see `Item.make`."""
    games = request.games("Figure 3")
    shown = [team for game in games for team in request.teams.of_game(game)]
    picture, panels = drawing.new_figure(len(games), 2)
    for game, (left, right) in zip(games, panels, strict=True):
        teams = request.teams.of_game(game)
        drawing.curves(left, by_trial(request, teams, RETURN.of), request)
        drawing.title(left, f"{GAMES[game]}: return by trial")
        left.set_ylabel("mean return of an agent")
        drawing.from_zero(left)
        drawing.row_values(right, overall(request, teams, RETURN.of), request)
        drawing.title(right, f"{GAMES[game]}: all trials (dots: problems)")
        right.set_xlabel("mean return of an agent")
    drawing.finish(picture, request, shown)
    played = " and ".join(GAMES[game] for game in games)
    return Made(
        summary=f"returns of {counted(len(shown), 'team')} in {played}",
        seeds=seeds_of(shown),
        sheets=(
            curve_sheet("Figure 3. Returns by trial", request, [(RETURN, shown)]),
            *(
                sheet
                for game in games
                for sheet in comparison(
                    request, request.teams.of_game(game), COMPARED, f"differences-{game}"
                )
            ),
        ),
        pictures={"": picture},
        remarks=request.without(games),
    )
