"""Figure 5: how widely cleaning is shared, how long orchards last, and who is paid."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from llm_eval.reports import drawing
from llm_eval.reports.compare import comparison
from llm_eval.reports.curves import by_trial, curve_sheet, pairs
from llm_eval.reports.items import GAMES, Made, Request, seeds_of
from llm_eval.reports.measures import (
    FIRST,
    LAST,
    Quantity,
    change,
    figure,
    over_trials,
)
from llm_eval.reports.sheets import Sheet
from llm_eval.reports.teams import Team
from llm_eval.views.words import counted

SOCIAL = {
    "cleanup": Quantity("effective_cleaners", "effective cleaners", figure("effective_cleaners")),
    "harvest": Quantity("orchard_lifetime", "orchard lifetime", figure("orchard_lifetime")),
}
"""What each game's dilemma is about."""

RETURN = Quantity("return_mean", "return", figure("return_mean"))
GINI = Quantity("gini", "Gini", figure("gini"))

UNITS = {"cleanup": "1 / Σ share² of cells cleared", "harvest": "step of the last apple"}


def make(request: Request) -> Made:
    """The figure: a row for each game; see `Item.make`."""
    games = request.games("Figure 5")
    picture, panels = drawing.new_figure(len(games), 3)
    for game, row in zip(games, panels, strict=True):
        _draw_row(request, request.teams.of_game(game), SOCIAL[game], row)
    shown = [(SOCIAL[game], request.teams.of_game(game)) for game in games]
    everyone = [team for _, teams in shown for team in teams]
    drawing.finish(picture, request, everyone)
    sheet = curve_sheet(
        "Figure 5. Sharing the work, keeping the orchard, sharing the returns",
        request,
        [*shown, (RETURN, everyone), (GINI, everyone)],
    )
    headings = " and ".join(quantity.heading for quantity, _ in shown)
    return Made(
        summary=f"{headings} of {counted(len(everyone), 'team')}, and return against inequality",
        seeds=seeds_of(everyone),
        sheets=(sheet, *(each for q, teams in shown for each in _compared(request, q, teams))),
        pictures={"": picture},
        remarks=request.without(games),
    )


def _draw_row(
    request: Request, teams: Sequence[Team], social: Quantity, row: Sequence[Axes]
) -> None:
    name, unit = GAMES[teams[0].game], UNITS[teams[0].game]
    left, middle, right = row
    drawing.curves(left, by_trial(request, teams, social.of), request)
    drawing.title(left, f"{name}: {social.heading}")
    left.set_ylabel(unit)
    drawing.from_zero(left)
    ends = (over_trials(social.of, trials) for trials in (FIRST, LAST))
    drawing.row_pairs(middle, pairs(request, teams, *ends), request)
    drawing.title(middle, "first trial (hollow) and last")
    middle.set_xlabel(unit)
    points = pairs(request, teams, over_trials(GINI.of), over_trials(RETURN.of))
    drawing.cloud(right, [each for each in points if drawing.is_defined(each[1])], request)
    drawing.title(right, f"{name}: return and inequality")
    right.set(xlabel="Gini of returns within a trial", ylabel="mean return of an agent")


def _compared(request: Request, social: Quantity, teams: Sequence[Team]) -> tuple[Sheet, ...]:
    """How the teams differ in all trials together, and from the first trial to the last."""
    quantities = [
        *(
            Quantity(each.key, each.heading, over_trials(each.of))
            for each in (social, GINI, RETURN)
        ),
        Quantity(f"{social.key}_change", "last less first trial", change(social.of, LAST, FIRST)),
    ]
    return comparison(request, teams, quantities, f"differences-{teams[0].game}")
