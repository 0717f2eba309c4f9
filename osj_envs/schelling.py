"""Schelling diagrams: what cooperating and defecting pay, by how many others cooperate.

Source: paper, section 3.1 and appendix C.1. With R_c(l) and R_d(l) the mean return of a cooperator
and of a defector where l of all N players cooperate, the two curves are C(x) = R_c(x + 1) and
D(x) = R_d(x) for x = 0 .. N - 1 cooperating co-players. The paper's condition (ii) is on a
cooperator that defectors exploit, R_c(0) where only the others are counted: the lone cooperator of
C(0).
"""

import dataclasses
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from osj_envs.metrics import TABLE_WIDTH, UNDEFINED, plain
from osj_envs.paired import check_same_problems
from osj_envs.records import EpisodeRecord
from osj_envs.statistics import LEVEL, Estimate, estimate, mean_of

Verdict = Literal["holds", "fails", "not shown"]

CURVES = ("cooperator", "defector", "advantage", "team")
"""C(x), D(x), D(x) - C(x), and the mean return of all players with k = 0 .. N cooperators."""


@dataclasses.dataclass(frozen=True)
class Condition:
    """One of the conditions of a sequential social dilemma.

    Attributes:
        name: in the JSON output.
        formula: what must be greater than what.
        meaning: the same in words.
    """

    name: str
    formula: str
    meaning: str


CONDITIONS = (
    Condition(
        "cooperation_pays", "C(N-1) > D(0)", "(i) that all cooperate pays more than that none does"
    ),
    Condition("exploitation_hurts", "C(N-1) > C(0)", "(ii) and more than to cooperate alone"),
    Condition("fear", "D(0) > C(0)", "(iii) fear: defecting pays where no other cooperates"),
    Condition("greed", "D(N-1) > C(N-1)", "(iii) greed: defecting pays where all others do"),
)
"""The paper's three; the last is met by fear, by greed, or by both."""


@dataclasses.dataclass(frozen=True)
class Diagram:
    """A Schelling diagram.

    Attributes:
        num_problems: problems behind it, each played with every number of cooperators.
        num_trials: trials of each.
        num_agents: N.
        curves: by name, see `CURVES`.
        margins: of the conditions by name: the left side less the right, problem by problem.
    """

    num_problems: int
    num_trials: int
    num_agents: int
    curves: Mapping[str, Estimate]
    margins: Mapping[str, Estimate]

    def verdict(self, condition: str) -> Verdict:
        """Whether a condition holds, by the interval of its margin."""
        return verdict(self.margins[condition])

    @property
    def is_dilemma(self) -> Verdict:
        """Whether (i), (ii) and one of fear and greed hold."""
        fear_or_greed = [self.verdict(name) for name in ("fear", "greed")]
        third: Verdict = "not shown"
        if "holds" in fear_or_greed:
            third = "holds"
        elif fear_or_greed == ["fails", "fails"]:
            third = "fails"
        all_three = [self.verdict("cooperation_pays"), self.verdict("exploitation_hurts"), third]
        if "fails" in all_three:
            return "fails"
        return "holds" if all_three == ["holds"] * 3 else "not shown"


def verdict(margin: Estimate) -> Verdict:
    """`holds` where the whole interval is above 0, `fails` where all is below, else not shown."""
    low, high = margin.interval
    if low > 0:
        return "holds"
    return "fails" if high < 0 else "not shown"


def make_diagram(records: Sequence[EpisodeRecord], seed: int = 0) -> Diagram:
    """The diagram of games that differ in the number of cooperators alone.

    Args:
        records: of the same problems; in record k the first k players of the roster cooperate,
            k = 0 .. N.
        seed: of the bootstrap, which resamples problems for all numbers of cooperators together.

    Raises:
        ValueError: not one record for each k, or records of different problems.
    """
    problems, trials, players = records[0].returns.shape
    if len(records) != players + 1:
        raise ValueError(f"{players} players make {players + 1} games, not {len(records)}.")
    check_same_problems(*records)
    returns = [np.asarray(record.returns, np.float64).mean(axis=1) for record in records]
    sides = {
        "cooperator": [returns[x + 1][:, : x + 1].mean(axis=1) for x in range(players)],
        "defector": [returns[x][:, x:].mean(axis=1) for x in range(players)],
    }
    by_problem = {name: np.stack(side, axis=1) for name, side in sides.items()}
    by_problem["advantage"] = by_problem["defector"] - by_problem["cooperator"]
    by_problem["team"] = np.stack([each.mean(axis=1) for each in returns], axis=1)
    margins = _margins(by_problem["cooperator"], by_problem["defector"])
    estimates = estimate({k: mean_of(v) for k, v in (by_problem | margins).items()}, seed)
    return Diagram(
        num_problems=problems,
        num_trials=trials,
        num_agents=players,
        curves={name: estimates[name] for name in CURVES},
        margins={name: estimates[name] for name in margins},
    )


def _margins(cooperator: np.ndarray, defector: np.ndarray) -> dict[str, np.ndarray]:
    """(problems,) margins of the conditions; the curves are (problems, co-players)."""
    return {
        "cooperation_pays": cooperator[:, -1] - defector[:, 0],
        "exploitation_hurts": cooperator[:, -1] - cooperator[:, 0],
        "fear": defector[:, 0] - cooperator[:, 0],
        "greed": defector[:, -1] - cooperator[:, -1],
    }


def as_json(diagram: Diagram) -> dict[str, Any]:
    """Curves by number of cooperating co-players, margins and verdicts, with their intervals."""
    values: dict[str, Any] = {
        "num_problems": diagram.num_problems,
        "num_trials": diagram.num_trials,
        "num_agents": diagram.num_agents,
    }
    for name, curve in diagram.curves.items():
        values[f"return_{name}"] = plain(curve.value)
        values[f"return_{name}_ci"] = plain(curve.interval)
    for name, margin in diagram.margins.items():
        values[name] = diagram.verdict(name)
        values[f"{name}_margin"] = plain(margin.value)
        values[f"{name}_margin_ci"] = plain(margin.interval)
    return {**values, "is_dilemma": diagram.is_dilemma}


def as_rows(diagram: Diagram) -> list[dict[str, float]]:
    """One row for each number of cooperating co-players, for a CSV file."""
    rows = []
    for x in range(diagram.num_agents):
        row: dict[str, float] = {"cooperating_co_players": x}
        for name in CURVES[:-1]:
            curve = diagram.curves[name]
            row |= {name: plain(curve.value[x])}
            row |= dict(zip((f"{name}_low", f"{name}_high"), plain(curve.interval[x]), strict=True))
        rows.append(row)
    return rows


def table(diagram: Diagram) -> str:
    """The diagram for a person."""
    parts = (_curve_table(diagram), _condition_table(diagram))
    page = io.StringIO()
    console = Console(file=page, width=TABLE_WIDTH)
    for part in parts:
        console.print(part)
    lines = [*page.getvalue().splitlines(), *_notes(diagram)]
    return "\n".join(line.rstrip() for line in lines)


def _curve_table(diagram: Diagram) -> Table:
    grid = Table(box=SIMPLE_HEAD)
    for column in ("cooperating others x", "cooperator C(x)", "defector D(x)", "D(x) - C(x)"):
        grid.add_column(column, no_wrap=True)
    grid.add_column("all N, x cooperate", no_wrap=True)
    for x in range(diagram.num_agents + 1):
        curves = [diagram.curves[name] for name in CURVES]
        cells = [_cell(c.value[x], c.interval[x]) if x < len(c.value) else "" for c in curves]
        grid.add_row(str(x), *cells)
    return grid


def _condition_table(diagram: Diagram) -> Table:
    grid = Table(box=SIMPLE_HEAD)
    for column in ("condition", "that is", "margin", "verdict"):
        grid.add_column(column, no_wrap=True)
    for each in CONDITIONS:
        margin = diagram.margins[each.name]
        verdict = diagram.verdict(each.name)
        grid.add_row(each.meaning, each.formula, _cell(margin.value, margin.interval), verdict)
    grid.add_row("a sequential social dilemma", "(i), (ii) and (iii)", "", diagram.is_dilemma)
    return grid


def _cell(value: Any, interval: Any) -> str:
    if math.isnan(value):
        return UNDEFINED
    low, high = interval
    ends = "" if math.isnan(low) else f" ({low:.3g} .. {high:.3g})"
    return f"{value:.3g}{ends}"


def _notes(diagram: Diagram) -> tuple[str, str, str]:
    return (
        f"Mean returns of a trial; {diagram.num_problems} problems, {diagram.num_trials} trials, "
        f"N = {diagram.num_agents} agents.",
        f"In brackets: {LEVEL:.0%} intervals, by bootstrap over problems, each of which is played "
        "with every number",
        "of cooperators. Not shown: the interval of the margin holds 0.",
    )
