"""Mixed teams beside the teams in which each of their players plays alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from llm_eval.reports.further import player_return
from llm_eval.reports.items import GAMES, Request
from llm_eval.reports.measures import (
    NOTHING,
    Measured,
    difference,
    figure,
    measure,
    over_trials,
    shared_seeds,
)
from llm_eval.reports.sheets import INTERVALS, SEEDS, Column, Sheet
from llm_eval.reports.teams import Team, player_label
from osj_envs.statistics import Ratio

RETURN = over_trials(figure("return_mean"))

COLUMNS = (
    Column("game", "game"),
    Column("team", "team"),
    Column("player", "player"),
    Column("seeds", SEEDS),
    Column("return_mixed", "return in the mixed team"),
    Column("return_own", "in a team of its own"),
    Column("seeds_shared", "shared seeds"),
    Column("return_difference", "mixed less own"),
)


@dataclass(frozen=True)
class Member:
    """A player of a mixed team.

    Attributes:
        team: the mixed one.
        player: its name.
        own: the team that it fills alone, on the same problems; None if that was not played.
        mixed_return: its return in the mixed team.
        own_return: in its own.
        shared: problem seeds that both teams played.
        gain: its return in the mixed team less that in its own, on the shared seeds.
    """

    team: Team
    player: str
    own: Team | None
    mixed_return: Measured
    own_return: Measured
    shared: int
    gain: Measured

    @property
    def label(self) -> str:
        """Its name in tables and legends."""
        return player_label(self.player)


def members(request: Request, team: Team) -> list[Member]:
    """The players of a mixed team, in the roster's order."""
    return [_member(request, team, player) for player in dict.fromkeys(team.players)]


def own_team(request: Request, team: Team, player: str) -> Team | None:
    """The team that a player fills alone on the same problems, told as much; the first if many."""
    alike = (
        other
        for other in request.teams.of_game(team.game)
        if set(other.players) == {player}
        and other.plays_like(team)
        and other.runs[0].reveal == team.runs[0].reveal
    )
    return next(alike, None)


def member_sheet(title: str, everyone: Sequence[Member]) -> Sheet:
    """What each player earns in its mixed team, and in its own."""
    rows = [
        (
            GAMES[each.team.game],
            each.team.label,
            each.label,
            len(each.team.runs),
            each.mixed_return,
            each.own_return,
            each.shared,
            each.gain,
        )
        for each in everyone
    ]
    return Sheet(title, COLUMNS, rows, (INTERVALS,))


def _member(request: Request, team: Team, player: str) -> Member:
    def in_mixed(one: Team) -> Ratio:
        return player_return(one, player)

    own = own_team(request, team, player)
    shared = len(shared_seeds(team, own)) if own else 0
    paired = difference(team, own, in_mixed, RETURN) if own and shared else None
    return Member(
        team=team,
        player=player,
        own=own,
        mixed_return=measure(in_mixed(team), request.seed),
        own_return=measure(RETURN(own), request.seed) if own else NOTHING,
        shared=shared,
        gain=measure(paired, request.seed) if paired else NOTHING,
    )
