"""Figure 4: how much of the hidden rules each agent knows by its own experience."""

from llm_eval.reports import drawing
from llm_eval.reports.compare import comparison
from llm_eval.reports.curves import by_trial, curve_sheet
from llm_eval.reports.items import GAMES, Made, Request, seeds_of
from llm_eval.reports.measures import LAST, Quantity, figure, over_trials
from llm_eval.views.words import counted

KNOWN = {
    "cleanup": Quantity("recipes_known", "recipes known", figure("recipes_known")),
    "harvest": Quantity("payoffs_known", "payoffs known", figure("payoffs_known"), is_share=True),
}
"""What there is to know in each game."""

RECIPES = 7


def make(request: Request) -> Made:
    """The figure: a panel for each game; see `Item.make`."""
    games = request.games("Figure 4")
    shown = [(KNOWN[game], request.teams.of_game(game)) for game in games]
    picture, panels = drawing.new_figure(1, len(games))
    for (quantity, teams), axes in zip(shown, panels.flat, strict=True):
        drawing.curves(axes, by_trial(request, teams, quantity.of), request)
        drawing.title(axes, f"{GAMES[teams[0].game]}: {quantity.heading} to an agent")
        if quantity.is_share:
            drawing.in_percent(axes)
            axes.set_ylabel("share of the map's payoffs")
        else:
            axes.set_ylabel(f"recipes, of {RECIPES}")
        drawing.from_zero(axes)
    everyone = [team for _, teams in shown for team in teams]
    drawing.finish(picture, request, everyone)
    return Made(
        summary=f"rules known to {counted(len(everyone), 'team')} as each trial ends",
        seeds=seeds_of(everyone),
        sheets=(
            curve_sheet("Figure 4. Hidden rules known as a trial ends", request, shown),
            *(
                sheet
                for quantity, teams in shown
                for sheet in comparison(
                    request, teams, [_at_the_end(quantity)], f"differences-{teams[0].game}"
                )
            ),
        ),
        pictures={"": picture},
        remarks=request.without(games),
    )


def _at_the_end(quantity: Quantity) -> Quantity:
    of = over_trials(quantity.of, LAST)
    return Quantity(f"{quantity.key}_last", quantity.heading, of, quantity.is_share)
