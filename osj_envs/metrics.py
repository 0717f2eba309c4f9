"""Figures from the records of episodes, for every game and every kind of player.

A game adds its own in a module `metrics` beside its environment, with a function
`figures(game: Environment, record: EpisodeRecord) -> list[Figure]`. Returns are individual ones
throughout.
"""

import dataclasses
import importlib
import importlib.util
import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from osj_envs.env import Environment
from osj_envs.figures import Figure, mean_by_player, mean_by_trial
from osj_envs.records import EpisodeRecord
from osj_envs.statistics import LEVEL, Estimate, estimate, gini, mean_of

UNDEFINED = "–"
"""In a table; null in JSON."""

TABLE_WIDTH = 120
"""Most characters of a table's line."""


@dataclasses.dataclass(frozen=True)
class Metrics:
    """All figures of an evaluation.

    Attributes:
        num_problems: problems behind every figure.
        num_trials: trials of each.
        num_agents: players of each.
        return_sd: standard deviation over problems of the mean return; NaN for one problem.
        figures: what was computed.
        estimates: each figure's reported values by name.
    """

    num_problems: int
    num_trials: int
    num_agents: int
    return_sd: float
    figures: tuple[Figure, ...]
    estimates: dict[str, Estimate]


def summarise(
    game: Environment, record: EpisodeRecord, seed: int = 0, further: Sequence[Figure] = ()
) -> Metrics:
    """All figures of a game's records.

    Args:
        game: what was played.
        record: NumPy records, problems first.
        seed: of the bootstrap.
        further: figures of the same problems that take more than one record.
    """
    figures = (*common_figures(record), *_figures_of_game(game, record), *further)
    reported = {name: ratio for each in figures for name, ratio in each.reported().items()}
    problems, trials, players = record.returns.shape
    mean_return = record.returns.mean(axis=(1, 2))
    return Metrics(
        num_problems=problems,
        num_trials=trials,
        num_agents=players,
        return_sd=float(mean_return.std(ddof=1)) if problems > 1 else math.nan,
        figures=figures,
        estimates=estimate(reported, seed),
    )


def common_figures(record: EpisodeRecord) -> list[Figure]:
    """What every game has: returns, how they change over the trials, and who gets them."""
    returns = np.mean(record.returns, axis=-1)
    return [
        mean_by_trial("return_mean", "of an agent in a trial", returns, by_trial="return_by_trial"),
        Figure(
            "adaptation_gain",
            "return_mean of trials 2 to K less that of trial 1",
            mean_of(adaptation_gain(returns)),
        ),
        mean_by_trial(
            "gini", "of returns within a trial, in trials with any", gini(record.returns)
        ),
        mean_by_player("return_by_player", "return of each player", record.returns),
        *(
            mean_by_trial(name, "by an agent's own record, at a trial's end", known.mean(axis=-1))
            for name, known in record.knowledge.items()
        ),
        *(
            mean_by_player(f"{name}_by_player", "by each player's own record", known)
            for name, known in record.knowledge.items()
        ),
    ]


def adaptation_gain(returns: np.ndarray) -> np.ndarray:
    """(problems, trials) returns -> the mean of trials 2..K less that of trial 1."""
    if returns.shape[1] == 1:
        return np.full(returns.shape[0], np.nan)
    return returns[:, 1:].mean(axis=1) - returns[:, 0]


def as_json(metrics: Metrics) -> dict[str, Any]:
    """Every figure by name; None where it is undefined.

    Each has its interval beside it as `<name>_ci`, and the number of problems that define it as
    `<name>_n`.
    """
    values: dict[str, Any] = {
        "num_problems": metrics.num_problems,
        "num_trials": metrics.num_trials,
        "num_agents": metrics.num_agents,
        "return_sd": plain(metrics.return_sd),
    }
    for name, estimated in metrics.estimates.items():
        values[name] = plain(estimated.value)
        values[f"{name}_ci"] = plain(estimated.interval)
        values[f"{name}_n"] = estimated.problems.tolist()
    return values


def plain(values: Any) -> Any:
    """Nested lists of floats, with None for NaN."""
    rounded = np.round(np.asarray(values, np.float64), 6).tolist()
    return _without_nan(rounded)


def table(metrics: Metrics) -> str:
    """The figures for a person, then what each means and how many problems are behind it."""
    grid = Table(box=SIMPLE_HEAD)
    for column in ("figure", "value", f"{LEVEL:.0%} interval", "n", "by trial or player"):
        grid.add_column(column, no_wrap=True)
    for figure in metrics.figures:
        grid.add_row(figure.name, *_cells(metrics, figure))
    page = io.StringIO()
    Console(file=page, width=TABLE_WIDTH).print(grid)
    longest = max(len(figure.name) for figure in metrics.figures)
    meanings = [f"  {each.name:{longest}}  {each.meaning}" for each in metrics.figures]
    lines = [*page.getvalue().splitlines(), *meanings, "", *_notes(metrics)]
    return "\n".join(line.rstrip() for line in lines)


def _figures_of_game(game: Environment, record: EpisodeRecord) -> list[Figure]:
    package = type(game).__module__.rpartition(".")[0]
    if not package or importlib.util.find_spec(f"{package}.metrics") is None:
        return []
    return importlib.import_module(f"{package}.metrics").figures(game, record)


def _without_nan(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nan(each) for each in value]
    return None if math.isnan(value) else value


def _cells(metrics: Metrics, figure: Figure) -> tuple[str, str, str, str]:
    """A figure's value, interval, problems, and values by trial or player."""
    names = list(figure.reported())
    each = metrics.estimates[names.pop()] if figure.axis else None
    listed = " ".join(_text(value) for value in each.value) if each else ""
    if not names:
        return "", "", "", listed
    whole = metrics.estimates[names[0]]
    low, high = whole.interval
    interval = UNDEFINED if math.isnan(low) else f"{_text(low)} .. {_text(high)}"
    return _text(float(whole.value)), interval, str(whole.problems), listed


def _text(value: float) -> str:
    if math.isnan(value):
        return UNDEFINED
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _notes(metrics: Metrics) -> tuple[str, str]:
    return (
        f"{metrics.num_problems} problems, {metrics.num_trials} trials, {metrics.num_agents} "
        f"agents. n: problems that define the figure; {UNDEFINED}: it is undefined.",
        "Intervals: bootstrap over problems. Standard deviation of the mean return over problems: "
        f"{_text(metrics.return_sd)}.",
    )
