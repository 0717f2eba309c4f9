"""Figure 6: mixed teams: who gains, who cleans, and how long orchards last."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from llm_eval.reports import drawing
from llm_eval.reports.curves import by_trial, curve_sheet
from llm_eval.reports.further import cleaning_share
from llm_eval.reports.items import GAMES, Made, Request, Unfilled, seeds_of
from llm_eval.reports.measures import Quantity, figure, measure
from llm_eval.reports.mixed import Member, member_sheet, members
from llm_eval.reports.sheets import SEEDS, Cell, Column, Sheet
from llm_eval.reports.styles import GREY
from llm_eval.reports.teams import Team
from llm_eval.views.words import counted

LIFETIME = Quantity("orchard_lifetime", "orchard lifetime", figure("orchard_lifetime"))

NEEDED = (
    "Figure 6 takes runs in which different players play together and are told no role, such as "
    "those of python llm_eval/run.py experiment=arena, and shows beside them the runs in which "
    "each of these players plays alone (experiment=homogeneous)."
)

SHARE_COLUMNS = (
    Column("team", "team"),
    Column("player", "player"),
    Column("seeds", SEEDS),
    Column("trial", "trial"),
    Column("cleaning_share", "share of the cleaning", is_share=True),
)


def make(request: Request) -> Made:
    """The figure: a picture for each mixed team; see `Item.make`."""
    mixed = [team for team in request.teams.plain if team.is_mixed and team.game in GAMES]
    if not mixed:
        raise Unfilled(NEEDED)
    found = {team: members(request, team) for team in mixed}
    groups: dict[tuple[str, tuple[str, ...]], list[Team]] = {}
    for team in mixed:
        groups.setdefault((team.label, team.players), []).append(team)
    pictures = [_draw(request, [found[team] for team in teams]) for teams in groups.values()]
    suffixes = [""] if len(pictures) == 1 else [str(number + 1) for number in range(len(pictures))]
    everyone = [each for team in mixed for each in found[team]]
    own = dict.fromkeys(each.own for each in everyone if each.own)
    names = ", ".join(dict.fromkeys(team.label for team in mixed))
    return Made(
        summary=f"mixed teams ({names}) and {counted(len(own), 'team')} of their players alone",
        seeds=seeds_of([*mixed, *own]),
        sheets=(
            member_sheet("Figure 6. Returns in mixed teams", everyone),
            *_share_sheet(request, mixed),
            *_lifetime_sheet(request, mixed, list(own)),
        ),
        pictures=dict(zip(suffixes, pictures, strict=True)),
        remarks=_remarks(everyone),
    )


def _draw(request: Request, teams: Sequence[Sequence[Member]]) -> Figure:
    """A picture of the same players in one game or both."""
    picture, panels = drawing.new_figure(len(teams), 2)
    for players, (left, right) in zip(teams, panels, strict=True):
        team = players[0].team
        rows = [(each.label, each.own_return, each.mixed_return) for each in players]
        drawing.row_pairs(left, rows, request)
        drawing.title(left, f"{GAMES[team.game]}: return alone (hollow), mixed")
        left.set_xlabel("mean return of a player in a trial")
        if team.game == "cleanup":
            _draw_shares(request, players, right)
        else:
            _draw_lifetimes(request, players, right)
    everyone = [each for players in teams for each in players]
    shown = [*(each.own for each in everyone if each.own), *(each[0].team for each in teams)]
    drawing.finish(picture, request, shown, [each.label for each in everyone])
    return picture


def _draw_shares(request: Request, players: Sequence[Member], axes: Axes) -> None:
    team = players[0].team
    drawn = [
        (each.label, measure(cleaning_share(team, each.player), request.seed)) for each in players
    ]
    drawing.curves(axes, drawn, request)
    drawing.title(axes, f"OpenCleanup: who cleans in {team.label}")
    axes.set_ylabel("share of the cells cleared")
    if len(players) == len(team.players):
        axes.axhline(1 / len(players), color=GREY, linewidth=1, zorder=1)
        axes.set_ylabel("share of the cells cleared; grey: equal")
    drawing.in_percent(axes)
    axes.set_ylim(bottom=0)


def _draw_lifetimes(request: Request, players: Sequence[Member], axes: Axes) -> None:
    teams = [players[0].team, *(each.own for each in players if each.own)]
    drawing.curves(axes, by_trial(request, teams, LIFETIME.of), request)
    drawing.title(axes, f"OpenHarvest: {LIFETIME.heading}")
    axes.set_ylabel("step of the last apple")
    axes.set_ylim(bottom=0)


def _share_sheet(request: Request, mixed: Sequence[Team]) -> tuple[Sheet, ...]:
    rows: list[tuple[Cell, ...]] = []
    for team in mixed:
        for each in members(request, team) if team.game == "cleanup" else ():
            shares = measure(cleaning_share(team, each.player), request.seed)
            rows += [
                (team.label, each.label, len(team.runs), trial + 1, shares[trial])
                for trial in range(team.num_trials)
            ]
    title = "Figure 6. OpenCleanup: shares of the cells cleared"
    return (Sheet(title, SHARE_COLUMNS, rows, name="cleaning"),) if rows else ()


def _lifetime_sheet(
    request: Request, mixed: Sequence[Team], own: Sequence[Team]
) -> tuple[Sheet, ...]:
    teams = [team for team in (*mixed, *own) if team.game == "harvest"]
    if not teams:
        return ()
    title = "Figure 6. OpenHarvest: orchard lifetime"
    return (curve_sheet(title, request, [(LIFETIME, teams)], "orchards"),)


def _remarks(everyone: Sequence[Member]) -> tuple[str, ...]:
    """Which players were not seen alone."""
    missing = [f"{each.label} in {GAMES[each.team.game]}" for each in everyone if not each.own]
    if not missing:
        return ()
    listed = ", ".join(dict.fromkeys(missing))
    return (f"No run shows these players in a team of their own: {listed}.",)
