"""What an evaluation leaves behind: a table for a person, numbers for a program, a figure."""

import dataclasses
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from algorithms.controls import AGENT, IN_TRAINING, RANDOM_IN_TRAINING, Match, play
from algorithms.figures import Curve, Panel, draw, training_curve
from algorithms.loggers import read_rows
from osj_envs.figures import Figure
from osj_envs.metrics import UNDEFINED, Metrics, as_json, table
from osj_envs.statistics import LEVEL

ENDS = 5
"""The training curve's first and last points that are reported as its two ends, of up to 50."""


@dataclasses.dataclass(frozen=True)
class Results:
    """An evaluation with its controls.

    Attributes:
        titles: of each, by name, for a person.
        metrics: of each, by name.
        curve: of the training that came before.
    """

    titles: Mapping[str, str]
    metrics: Mapping[str, Metrics]
    curve: Curve


def play_all(
    matches: Mapping[str, Match], problem_seeds: range, seed: int, metrics_file: pathlib.Path
) -> Results:
    """Plays every match.

    Args:
        matches: by name.
        problem_seeds: of each.
        seed: of all chance beside the problems'.
        metrics_file: of the training; it need not exist.
    """
    metrics = {name: play(match, problem_seeds, seed) for name, match in matches.items()}
    titles = {name: match.title for name, match in matches.items()}
    return Results(titles, metrics, training_curve(read_rows(metrics_file)))


def write(folder: pathlib.Path, results: Results, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Writes `table.md`, `figure.png` and, last, `metrics.json`.

    Args:
        folder: is made if it is not there.
        results: to be written.
        facts: put into `metrics.json` as they are.

    Returns:
        The content of `metrics.json`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "table.md").write_text(_document(results))
    evaluation, training = _panels(results)
    draw(folder / "figure.png", results.curve, evaluation, training)
    content = {**_numbers(results), **facts}
    (folder / "metrics.json").write_text(json.dumps(content, indent=2) + "\n")
    return content


def last_line(numbers: Mapping[str, Any]) -> str:
    """The content of `metrics.json` as one line, of the controls their returns alone."""
    controls = {
        name: {key: value for key, value in figures.items() if key.startswith("return_")}
        for name, figures in numbers["controls"].items()
    }
    return json.dumps({**numbers, "controls": controls})


def for_terminal(results: Results) -> str:
    """The figures of the agent, and the returns of all by trial."""
    return f"{table(results.metrics[AGENT])}\n\n{trial_table(results)}"


def trial_table(results: Results) -> str:
    """Returns by trial with their intervals, as a table in Markdown that reads well as text."""
    trials = results.metrics[AGENT].num_trials
    head = [
        f"return of an agent ({LEVEL:.0%} interval)",
        *(f"trial {t + 1}" for t in range(trials)),
        "all trials",
    ]
    rows = [_row(results.titles[name], metrics) for name, metrics in results.metrics.items()]
    return _markdown([head, *rows])


def _row(title: str, metrics: Metrics) -> list[str]:
    by_trial, mean = metrics.estimates["return_by_trial"], metrics.estimates["return_mean"]
    cells = [_cell(v, i) for v, i in zip(by_trial.value, by_trial.interval, strict=True)]
    return [title, *cells, _cell(mean.value, mean.interval)]


def _cell(value: Any, interval: Any) -> str:
    between = "" if np.isnan(interval).any() else f" ({_interval(interval)})"
    return f"{_number(value)}{between}"


def _interval(ends: Any) -> str:
    return UNDEFINED if np.isnan(ends).any() else f"{ends[0]:.3g} to {ends[1]:.3g}"


def _number(value: Any) -> str:
    return UNDEFINED if np.isnan(value) else f"{value:.3g}"


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the head."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    rule = ["-" * width for width in widths]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in (rows[0], rule, *rows[1:])
    ]
    return "\n".join(lines)


def _document(results: Results) -> str:
    agent = results.metrics[AGENT]
    head = ["figure", "value", f"{LEVEL:.0%} interval", "meaning"]
    rows = [_figure_row(agent, f, name) for f in agent.figures for name in f.reported()]
    count = f"{agent.num_problems} problems, {agent.num_agents} agents, {agent.num_trials} trials."
    return (
        f"# Evaluation\n\n{count}\n\n![Returns](figure.png)\n\n"
        f"{trial_table(results)}\n\n## {results.titles[AGENT]}\n\n{_markdown([head, *rows])}\n"
    )


def _figure_row(metrics: Metrics, figure: Figure, name: str) -> list[str]:
    estimate = metrics.estimates[name]
    values = [_number(value) for value in np.atleast_1d(estimate.value)]
    ends = [_interval(each) for each in np.atleast_2d(estimate.interval)]
    return [f"`{name}`", ", ".join(values), ", ".join(ends), figure.meaning]


def _numbers(results: Results) -> dict[str, Any]:
    controls = {name: as_json(m) for name, m in results.metrics.items() if name != AGENT}
    numbers = {**as_json(results.metrics[AGENT]), "controls": controls}
    if results.curve.size:
        first, last = results.curve[:ENDS, 1].mean(), results.curve[-ENDS:, 1].mean()
        numbers["training"] = {"return_first": float(first), "return_last": float(last)}
    return numbers


def _panels(results: Results) -> tuple[Panel, Panel]:
    """What is played as in the evaluation, and what in worlds laid as in training."""
    laid = (IN_TRAINING, RANDOM_IN_TRAINING)
    titled = {name: (results.titles[name], metrics) for name, metrics in results.metrics.items()}
    evaluation = {name: line for name, line in titled.items() if name not in laid}
    return evaluation, {name: titled[name] for name in laid if name in titled}
