"""How teams and players look, the same in all figures of a report."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llm_eval.reports.items import Request
from llm_eval.reports.teams import player_label

COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#9A8B00",
    "#000000",
)
"""The colour blind can tell them apart (Okabe and Ito 2008); the yellow is darkened for paper."""

MARKERS = "osD^vPX*<>hp"
"""Beside colours, so that teams differ in print and beyond the number of colours."""

GREY = "#6E6E6E"
"""Of scripted players beside others."""

LINE, SCRIPTED_LINE, MIXED_LINE, TOLD_LINE = "-", "--", ":", "-."
"""Of curves: of players, scripted ones, mixed teams, and those that are told hidden rules."""


@dataclass(frozen=True)
class Style:
    """How a team or a player is drawn, in all figures of a report."""

    colour: str
    marker: str
    line: str

    def of_line(self) -> dict[str, Any]:
        """Options of a curve."""
        return {
            "color": self.colour,
            "marker": self.marker,
            "linestyle": self.line,
            "markersize": 5,
            "linewidth": 1.6,
        }


def styles(request: Request) -> Mapping[str, Style]:
    """A style for the label of every team and player, the same in all figures of a report.

    A player that is told hidden rules has the colour of the one that is not. Scripted players are
    grey beside others, as the scale that those are read on.
    """
    lines, kin = _lines_and_kin(request)
    scripted = {name for name, line in lines.items() if line == SCRIPTED_LINE}
    has_others = any(line in (LINE, TOLD_LINE) for line in lines.values())
    grey = scripted if has_others else set()
    # Mixed teams come last, so that those that play alone have the colours that differ most.
    names = sorted(lines, key=lambda name: (name in grey, lines[name] == MIXED_LINE, name))
    coloured = dict.fromkeys(kin[name] for name in names if name not in grey)
    colours = dict(zip(coloured, itertools.cycle(COLOURS), strict=False))
    return {
        name: Style(GREY if name in grey else colours[kin[name]], marker, lines[name])
        for name, marker in zip(names, itertools.cycle(MARKERS), strict=False)
    }


def _lines_and_kin(request: Request) -> tuple[dict[str, str], dict[str, str]]:
    """For every label its line, and the name with which it shares its colour."""
    lines: dict[str, str] = {}
    kin: dict[str, str] = {}
    for player in {player for team in request.teams.plain for player in team.players}:
        label = player_label(player)
        lines[label] = SCRIPTED_LINE if player.startswith("scripted:") else LINE
        kin[label] = label
    for team in request.teams.plain:
        alone = player_label(team.players[0])
        line = TOLD_LINE if team.runs[0].reveal != "none" else lines[alone]
        lines[team.label] = MIXED_LINE if team.is_mixed else line
        kin[team.label] = team.label if team.is_mixed else alone
    return lines, kin
