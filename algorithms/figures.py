"""The figure of a run: how training went, and how well the agent adapts over the trials."""

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from algorithms.loggers import finished_trials
from osj_envs.metrics import Metrics
from osj_envs.statistics import LEVEL

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Of the lines; the colour blind can tell them apart (Okabe and Ito 2008)."""

NORMAL = 1.96
"""Standard errors on either side of a mean that hold `LEVEL` of a normal distribution."""

RETURN = "return of an agent in a trial"

Curve = Float[np.ndarray, "points 4"]
"""Agent-steps, mean return, and the ends of its interval."""


Panel = Mapping[str, tuple[str, Metrics]]
"""Title and figures of evaluations, by name."""


def draw(path: pathlib.Path, curve: Curve, evaluation: Panel, training: Panel) -> None:
    """Writes the figure as PNG.

    Args:
        path: of the file.
        curve: of training; no points, no panel.
        evaluation: returns by trial, worlds as in the evaluation.
        training: the same, worlds laid as in training. Where empty, no panel.

    A random policy in the last of them is the level that the training curve is compared with.
    """
    count = bool(curve.size) + 1 + bool(training)
    figure = Figure(figsize=(5.5 * count, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    panels = iter(np.atleast_1d(figure.subplots(1, count)))
    if curve.size:
        _draw_training(next(panels), curve, _random_level({**evaluation, **training}))
    if training:
        _draw_trials(next(panels), training, "Worlds laid as in training")
    _draw_trials(next(panels), evaluation, "Evaluation")
    figure.savefig(path, dpi=150)


def training_curve(rows: Sequence[Mapping[str, Any]], points: int = 50) -> Curve:
    """The mean return of the trials in training, smoothed.

    A point is the mean over some consecutive updates, weighted by the trials that finished, and
    its interval is that of a mean of independent updates (our choice: they share parameters and
    episodes, so it is a guide to the eye).

    Args:
        rows: of the metrics file.
        points: how many at most.
    """
    rows = [row for row in rows if "return_mean" in row]
    parts = [[rows[i] for i in part] for part in np.array_split(np.arange(len(rows)), points)]
    made = [_point(part) for part in parts if part]
    return np.asarray(made, np.float64).reshape(-1, 4)


def _point(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float, float, float]:
    returns = np.asarray([row["return_mean"] for row in rows])
    weights = np.asarray([finished_trials(row) for row in rows])
    mean = np.average(returns, weights=weights)
    variance = np.average((returns - mean) ** 2, weights=weights)
    margin = NORMAL * np.sqrt(variance / max(len(rows) - 1, 1))
    return rows[-1]["agent_steps"], mean, mean - margin, mean + margin


def _random_level(panel: Panel) -> Metrics | None:
    levels = [metrics for name, (_, metrics) in panel.items() if name.startswith("random")]
    return levels[-1] if levels else None


def _draw_training(axes: Axes, curve: Curve, level: Metrics | None) -> None:
    steps, mean, low, high = curve.T
    axes.plot(steps / 1e6, mean, color=COLOURS[0], label="agent")
    axes.fill_between(steps / 1e6, low, high, color=COLOURS[0], alpha=0.25, linewidth=0)
    if level is not None:
        estimate = level.estimates["return_mean"]
        axes.axhline(float(estimate.value), color=COLOURS[-1], linestyle="--", label="random")
        axes.axhspan(*estimate.interval, color=COLOURS[-1], alpha=0.15, linewidth=0)
    axes.set(title="Training", xlabel="million agent-steps", ylabel=RETURN)
    axes.legend(frameon=False)


def _draw_trials(axes: Axes, panel: Panel, title: str) -> None:
    for (label, metrics), colour in zip(panel.values(), COLOURS, strict=False):
        estimate = metrics.estimates["return_by_trial"]
        trials = 1 + np.arange(metrics.num_trials)
        axes.plot(trials, estimate.value, marker="o", color=colour, label=label)
        axes.fill_between(trials, *estimate.interval.T, color=colour, alpha=0.15, linewidth=0)
    axes.set(title=f"{title}, {LEVEL:.0%} intervals", xlabel="trial", ylabel=RETURN)
    axes.set_ylim(bottom=0.0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(frameon=False, fontsize="small")
