"""Figure 7: Schelling diagrams of the teams that played with every number of cooperators."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from llm_eval.reports import drawing
from llm_eval.reports.items import GAMES, Made, Request, Unfilled
from llm_eval.reports.measures import Measured, shared_seeds
from llm_eval.reports.sheets import INTERVALS, SEEDS, Cell, Column, Sheet
from llm_eval.reports.teams import Team, on_seeds
from llm_eval.views.words import counted
from osj_envs import schelling
from osj_envs.schelling import CONDITIONS, Diagram
from osj_envs.schelling_figure import plot
from osj_envs.statistics import Estimate

NEEDED = (
    "Figure 7 takes runs of a team with every number of cooperators on the same problem seeds, "
    "such as those of python llm_eval/run.py experiment=schelling, or a folder of "
    "python baselines/schelling.py"
)

WORDS = {
    "cooperation_pays": "(i)",
    "exploitation_hurts": "(ii)",
    "fear": "fear",
    "greed": "greed",
}
"""The conditions in a panel's title."""

CURVE_COLUMNS = (
    Column("game", "game"),
    Column("team", "team"),
    Column("seeds", SEEDS),
    Column("cooperating_co_players", "cooperating others"),
    *(Column(name, name) for name in schelling.CURVES[:-1]),
)
CONDITION_COLUMNS = (
    Column("game", "game"),
    Column("team", "team"),
    Column("seeds", SEEDS),
    Column("condition", "condition"),
    Column("margin", "margin"),
    Column("verdict", "verdict"),
)


@dataclass(frozen=True)
class Played:
    """A diagram, and whose it is."""

    game: str
    label: str
    diagram: Diagram


def make(request: Request) -> Made:
    """The figure: a row for each team, a column for each game; see `Item.make`."""
    played, lacking = _all_diagrams(request)
    if not played:
        raise Unfilled(f"{NEEDED}{'; ' if lacking else ''}{'; '.join(lacking)}.")
    games = [game for game in GAMES if any(each.game == game for each in played)]
    labels = list(dict.fromkeys(each.label for each in played))
    picture, panels = drawing.new_figure(len(labels), len(games))
    for axes in panels.flat:
        axes.set_visible(False)
    for each in played:
        axes = panels[labels.index(each.label), games.index(each.game)]
        axes.set_visible(True)
        plot(axes, each.diagram)
        seeds = f"{each.diagram.num_problems} problem seeds"
        drawing.title(axes, f"{GAMES[each.game]}: {each.label} ({seeds})")
        axes.set_xlabel(f"cooperating co-players x\n{_verdicts(each.diagram)}")
    drawing.caption(picture, drawing.spread_text("interval"))
    return Made(
        summary=counted(len(played), "Schelling diagram"),
        seeds={f"{each.game}: {each.label}": each.diagram.num_problems for each in played},
        sheets=(_curve_sheet(played), _condition_sheet(played)),
        pictures={"": picture},
        remarks=(*(_sentence(each) for each in played), *(f"{each}." for each in lacking)),
    )


def _all_diagrams(request: Request) -> tuple[list[Played], list[str]]:
    """Every diagram that the runs make, and what the others lack."""
    groups: dict[str, dict[int, Team]] = {}
    for team in request.teams.with_roles:
        if team.game in GAMES and team.cooperators is not None:
            groups.setdefault(team.character, {})[team.cooperators] = team
    played, lacking = [], []
    for by_count in groups.values():
        some = next(iter(by_count.values()))
        numbers = range(len(some.places) + 1)
        missing = [k for k in numbers if k not in by_count]
        seeds = shared_seeds(*by_count.values())
        if missing or not seeds:
            lack = f"games with {', '.join(map(str, missing))}" if missing else "shared problems of"
            lacking.append(f"{some.label} in {GAMES[some.game]} lacks {lack} cooperators")
            continue
        found = [on_seeds(by_count[k], seeds) for k in numbers]
        played.append(Played(some.game, some.label, schelling.make_diagram(found, request.seed)))
    for roles in request.teams.scripted_roles:
        diagram = schelling.make_diagram(roles.records, request.seed)
        played.append(Played(roles.game, roles.label, diagram))
    return played, lacking


def _verdicts(diagram: Diagram) -> str:
    return ", ".join(f"{WORDS[each.name]} {diagram.verdict(each.name)}" for each in CONDITIONS)


def _sentence(played: Played) -> str:
    dilemma = f"a sequential social dilemma: {played.diagram.is_dilemma}"
    return f"{GAMES[played.game]}, {played.label}: {_verdicts(played.diagram)}; {dilemma}."


def _curve_sheet(played: Sequence[Played]) -> Sheet:
    rows: list[tuple[Cell, ...]] = []
    for each in played:
        curves = [_measured(each.diagram.curves[name]) for name in schelling.CURVES[:-1]]
        start = (GAMES[each.game], each.label, each.diagram.num_problems)
        rows += [(*start, x, *(one[x] for one in curves)) for x in range(each.diagram.num_agents)]
    return Sheet("Figure 7. Schelling diagrams", CURVE_COLUMNS, rows, (INTERVALS,))


def _condition_sheet(played: Sequence[Played]) -> Sheet:
    rows: list[tuple[Cell, ...]] = [
        (
            GAMES[each.game],
            each.label,
            each.diagram.num_problems,
            condition.name,
            _measured(each.diagram.margins[condition.name]),
            each.diagram.verdict(condition.name),
        )
        for each in played
        for condition in CONDITIONS
    ]
    title = "Figure 7. Conditions of a sequential social dilemma"
    return Sheet(title, CONDITION_COLUMNS, rows, (INTERVALS,), "conditions")


def _measured(estimate: Estimate) -> Measured:
    """An estimate without a standard deviation, which diagrams do not have."""
    low, high = np.moveaxis(estimate.interval, -1, 0)
    unknown = np.full(np.shape(estimate.value), np.nan)
    return Measured(estimate.value, low, high, unknown, estimate.problems)
