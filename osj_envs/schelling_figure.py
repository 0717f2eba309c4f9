"""A Schelling diagram as a picture, in the form of the paper's figure 7."""

import pathlib

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from osj_envs.schelling import Diagram
from osj_envs.statistics import LEVEL

STYLES = {
    "cooperator": ("#0072B2", "o", "cooperator, C(x)"),
    "defector": ("#D55E00", "s", "defector, D(x)"),
}
"""Colour, marker and label; the colour blind can tell them apart (Okabe and Ito 2008)."""


def draw(path: pathlib.Path, diagram: Diagram, title: str) -> None:
    """Writes C and D with their intervals over the number of cooperating co-players, as PNG."""
    figure = Figure(figsize=(5.2, 4.0), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    plot(axes, diagram)
    axes.set_title(title)
    caption = f"{diagram.num_problems} problems, {LEVEL:.0%} intervals"
    axes.annotate(caption, (1, -0.2), xycoords="axes fraction", ha="right", fontsize="small")
    figure.savefig(path, dpi=150)


def plot(axes: Axes, diagram: Diagram) -> None:
    """Draws C and D with their intervals over the number of cooperating co-players."""
    others = range(diagram.num_agents)
    for name, (colour, marker, label) in STYLES.items():
        curve = diagram.curves[name]
        axes.fill_between(others, *curve.interval.T, color=colour, alpha=0.2, linewidth=0)
        axes.plot(others, curve.value, color=colour, marker=marker, label=label)
    axes.set(xlabel="cooperating co-players x", ylabel="mean return of a trial")
    if min(diagram.curves[name].interval.min() for name in STYLES) >= 0:
        axes.set_ylim(bottom=0.0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
