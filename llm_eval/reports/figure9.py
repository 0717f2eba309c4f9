"""Figure 9: what players of OpenHarvest know of the payoffs, against what they eat."""

from llm_eval.reports import drawing
from llm_eval.reports.compare import team_sheet
from llm_eval.reports.curves import pairs
from llm_eval.reports.items import Made, Request, Unfilled, seeds_of
from llm_eval.reports.measures import LAST, Quantity, figure, over_trials
from llm_eval.views.words import counted

KNOWN = Quantity(
    "payoffs_known_last", "payoffs known", over_trials(figure("payoffs_known"), LAST), is_share=True
)
BEST = Quantity(
    "best_stage_share", "at best stage", over_trials(figure("best_stage_share")), is_share=True
)


def make(request: Request) -> Made:
    """The figure; see `Item.make`."""
    teams = request.of_game("harvest", "Figure 9")
    measured = pairs(request, teams, KNOWN.of, BEST.of)
    points = [each for each in measured if drawing.is_defined(each[2])]
    if not points:
        raise Unfilled("Figure 9 takes runs of OpenHarvest in which somebody eats an apple.")
    picture, ((axes,),) = drawing.new_figure(1, 1)
    drawing.cloud(axes, points, request)
    drawing.title(axes, "OpenHarvest: knowing and using the payoffs")
    axes.set(
        xlabel="payoffs known as the last trial ends",
        ylabel="apples eaten at their best stage",
    )
    drawing.in_percent(axes, "x")
    drawing.in_percent(axes, "y")
    drawing.finish(picture, request, teams)
    title = "Figure 9. OpenHarvest: payoffs known and apples eaten at the best stage"
    return Made(
        summary=f"payoffs known and used by {counted(len(points), 'team')}",
        seeds=seeds_of(teams),
        sheets=(team_sheet(request, title, teams, (KNOWN, BEST)),),
        pictures={"": picture},
    )
