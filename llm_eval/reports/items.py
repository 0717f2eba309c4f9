"""What a report is made of: its tables and figures, by name."""

import dataclasses
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from llm_eval.reports.measures import Spread
from llm_eval.reports.sheets import Sheet
from llm_eval.reports.teams import Team, Teams
from osj_envs.compose import nearest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAMES = {"cleanup": "OpenCleanup", "harvest": "OpenHarvest"}
"""Names of the games for a person."""


class Unfilled(ValueError):
    """The runs cannot fill a table or figure; the message says which it would take."""


@dataclasses.dataclass(frozen=True)
class Request:
    """What is asked of each table and figure.

    Attributes:
        teams: all that played.
        seed: of the bootstrap.
        spread: what is drawn around values.
        against: label of the team with which the others are compared; None for the first.
    """

    teams: Teams
    seed: int = 0
    spread: Spread = "interval"
    against: str | None = None

    def games(self, item: str) -> tuple[str, ...]:
        """The games in which there are teams that were told no role.

        Raises:
            Unfilled: there is none.
        """
        if games := tuple(game for game in GAMES if self.teams.of_game(game)):
            return games
        raise Unfilled(
            f"{item} takes runs in which nobody is told a role, such as those of "
            "python llm_eval/run.py experiment=homogeneous."
        )

    def without(self, games: Sequence[str]) -> tuple[str, ...]:
        """A sentence for each game that has no panel."""
        return tuple(
            f"There is no run of {title} to draw."
            for game, title in GAMES.items()
            if game not in games
        )

    def of_game(self, game: str, item: str) -> Sequence[Team]:
        """The teams of a game in which nobody is told a role.

        Raises:
            Unfilled: there is none.
        """
        if teams := self.teams.of_game(game):
            return teams
        raise Unfilled(
            f"{item} takes runs of {GAMES[game]} in which nobody is told a role, such as those of "
            f"python llm_eval/run.py experiment=homogeneous env={game}."
        )


@dataclasses.dataclass(frozen=True)
class Made:
    """A table or a figure.

    Attributes:
        summary: one line on what it shows.
        seeds: problem seeds behind each team that it shows; by game and label.
        sheets: its numbers.
        pictures: by what their file's name has after the figure's; none for a table.
        remarks: what the runs did not fill of it.
    """

    summary: str
    seeds: Mapping[str, int]
    sheets: tuple[Sheet, ...]
    pictures: "Mapping[str, Figure]" = dataclasses.field(default_factory=dict)
    remarks: tuple[str, ...] = ()


Maker = Callable[[Request], Made]


@dataclasses.dataclass(frozen=True)
class Item:
    """A table or a figure of the paper.

    Attributes:
        name: by which it is asked for.
        about: one line on what it shows.
        module: of this package, with a function `make`; it is imported when asked for, so that
            tables take no matplotlib.
    """

    name: str
    about: str
    module: str

    def make(self, request: Request) -> Made:
        """Makes it.

        Raises:
            Unfilled: the runs do not fill it.
            ModuleNotFoundError: matplotlib is not installed, and it is a figure.
        """
        module = importlib.import_module(f"llm_eval.reports.{self.module}")
        return cast(Maker, module.make)(request)


ITEMS = (
    Item("table3", "OpenCleanup: what changes after the first trial", "table3"),
    Item("table4", "OpenCleanup: tool use after the first trial", "table4"),
    Item("table5", "OpenHarvest: knowing the payoffs and using them", "table5"),
    Item("figure3", "returns by trial, and of all trials together", "figure3"),
    Item("figure4", "hidden rules known by trial: recipes and payoffs", "figure4"),
    Item("figure5", "cleaners, orchard lifetime, and return against inequality", "figure5"),
    Item("figure6", "mixed teams: who cleans, who gains, and how long orchards last", "figure6"),
    Item("figure7", "Schelling diagrams: what cooperating and defecting pay", "figure7"),
    Item("figure8", "OpenCleanup: total cleaning in an early and the last trial", "figure8"),
    Item("figure9", "OpenHarvest: payoffs known against apples eaten at the best stage", "figure9"),
)
"""All of them, in the order of the paper."""


def choose(names: Sequence[str]) -> tuple[Item, ...]:
    """The items of some names, in the order of the paper; all for no name.

    Raises:
        ValueError: there is none of that name.
    """
    known = [item.name for item in ITEMS]
    for name in names:
        if name not in known:
            raise ValueError(f"Unknown table or figure: {name!r}; {nearest(name, known)}")
    return tuple(item for item in ITEMS if not names or item.name in names)


def seeds_of(teams: Sequence[Team]) -> dict[str, int]:
    """Problem seeds behind each team, by game and label."""
    return {f"{team.game}: {team.label}": len(team.runs) for team in teams}
