"""How the figures are drawn: panels, curves, pairs of values, clouds, legends."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter

from llm_eval.reports.items import Request
from llm_eval.reports.measures import Measured, Spread
from llm_eval.reports.styles import Style, styles
from llm_eval.reports.teams import Team
from osj_envs.statistics import LEVEL

MOST_SHADES = 5
"""More curves have their spread as bars alone, since shades would hide each other."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"

PANEL, WIDE_PANEL = (4.3, 3.3), (6.4, 4.0)
"""Width and height in inches of a panel among others, and of one by itself."""

LEGEND_COLUMN, LEGEND_ROW = 2.5, 0.21
"""Width and height of a legend's entry in inches."""

SHIFT, WIDEST = 0.05, 0.5
"""Between the curves of teams that would hide each other, and between the outermost, in trials."""


def new_figure(rows: int, columns: int) -> tuple[Figure, np.ndarray]:
    """A figure and its panels, (rows, columns), with letters where there are several."""
    width, height = PANEL if rows * columns > 1 else WIDE_PANEL
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, columns, squeeze=False)
    for place, axes in enumerate(panels.flat):
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        if panels.size > 1:
            letter = LETTERS[place % len(LETTERS)] * (place // len(LETTERS) + 1)
            axes.set_label(f"({letter}) ")
    return figure, panels


def title(axes: Axes, text: str) -> None:
    """Says what a panel shows, after its letter."""
    axes.set_title(f"{axes.get_label()}{text}", loc="left", fontsize="medium")


def finish(
    figure: Figure, request: Request, shown: Iterable[Team], labels: Iterable[str] = ()
) -> None:
    """Writes the legend with the problem seeds of each team, and what the spread is.

    Args:
        figure: whose panels are drawn.
        request: of the report.
        shown: teams in the legend.
        labels: players in the legend.
    """
    known = styles(request)
    counts: dict[str, list[int]] = {}
    for team in shown:
        counts.setdefault(team.label, []).append(len(team.runs))
    texts = {label: f"{label} ({_counted(each)})" for label, each in counts.items()}
    texts |= {label: label for label in labels if label not in texts}
    names = [label for label in known if label in texts]
    handles = [Line2D([], [], **known[label].of_line(), label=texts[label]) for label in names]
    width, height = figure.get_size_inches()
    columns = max(1, min(len(handles), int(width // LEGEND_COLUMN)))
    rows = -(-len(handles) // columns)
    figure.set_size_inches(width, height + LEGEND_ROW * (rows + 2))
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize="small",
        title=f"{spread_text(request.spread)}; in brackets: problem seeds",
        title_fontsize="small",
    )


def caption(figure: Figure, text: str) -> None:
    """Says beneath the panels what a legend would say."""
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + 2 * LEGEND_ROW)
    figure.supxlabel(text, fontsize="small")


def with_seeds(team: Team) -> str:
    """A team's label with its problem seeds."""
    return f"{team.label} ({len(team.runs)})"


def curves(axes: Axes, drawn: Sequence[tuple[str, Measured]], request: Request) -> None:
    """Draws a figure by trial for each label, side by side so that none hides another."""
    known = styles(request)
    apart = min(SHIFT, WIDEST / max(1, len(drawn)))
    for place, (label, measured) in enumerate(drawn):
        style = known[label]
        trials = np.arange(1, len(measured.value) + 1) + (place - (len(drawn) - 1) / 2) * apart
        low, high = measured.ends(request.spread)
        if len(drawn) <= MOST_SHADES:
            axes.fill_between(trials, low, high, color=style.colour, alpha=0.15, linewidth=0)
        axes.vlines(trials, low, high, color=style.colour, alpha=0.6, linewidth=1)
        # Unclipped: what is 0 in every trial would be half hidden by the axis.
        axes.plot(trials, measured.value, **style.of_line(), clip_on=False)
    axes.set_xlabel("trial")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def row_values(
    axes: Axes,
    rows: Sequence[tuple[str, Measured, np.ndarray]],
    request: Request,
) -> None:
    """Draws a figure for each label in a row of its own, the single problems as dots.

    Args:
        axes: of the panel.
        rows: label, figure, and its value for each problem.
        request: of the report.
    """
    known = styles(request)
    for place, (label, measured, problems) in enumerate(rows):
        _bar(axes, place, measured, known[label], request.spread)
        axes.plot(problems, np.full(len(problems), place + 0.22), ".", color="0.45", markersize=4)
    _label_rows(axes, [row[0] for row in rows])


def row_pairs(
    axes: Axes,
    rows: Sequence[tuple[str, Measured, Measured]],
    request: Request,
) -> None:
    """Draws two values for each label in a row of its own: hollow, then full.

    Args:
        axes: of the panel.
        rows: label, the value that is drawn hollow, and the one drawn full.
        request: of the report.
    """
    known = styles(request)
    for place, (label, before, after) in enumerate(rows):
        style = known[label]
        _bar(axes, place - 0.14, before, style, request.spread, is_hollow=True)
        _bar(axes, place + 0.14, after, style, request.spread)
    _label_rows(axes, [row[0] for row in rows])


def cloud(axes: Axes, points: Sequence[tuple[str, Measured, Measured]], request: Request) -> None:
    """Draws one figure over another, a point for each label, with both spreads.

    Args:
        axes: of the panel.
        points: label, the figure along x, and the one along y.
        request: of the report.
    """
    known = styles(request)
    for label, x, y in points:
        style = known[label]
        sides = [_sides(each, request.spread) for each in (x, y)]
        axes.errorbar(
            [float(x.value)],
            [float(y.value)],
            xerr=sides[0],
            yerr=sides[1],
            color=style.colour,
            marker=style.marker,
            markersize=8,
            elinewidth=1,
            alpha=0.85,
        )
    axes.margins(0.08)
    axes.locator_params(axis="x", nbins=6)


def from_zero(axes: Axes) -> None:
    """Lets the y axis begin at 0, where nothing is below."""
    if axes.get_ylim()[0] > 0 or axes.dataLim.y0 >= 0:
        axes.set_ylim(bottom=0)


def in_percent(axes: Axes, which: str = "y") -> None:
    """Writes shares in per cent."""
    axis = axes.yaxis if which == "y" else axes.xaxis
    axis.set_major_formatter(PercentFormatter(xmax=1))


def _bar(
    axes: Axes,
    y: float,
    measured: Measured,
    style: Style,
    spread: Spread,
    is_hollow: bool = False,
) -> None:
    axes.errorbar(
        [float(measured.value)],
        [y],
        xerr=_sides(measured, spread),
        color=style.colour,
        marker=style.marker,
        markersize=6,
        markerfacecolor="white" if is_hollow else style.colour,
        elinewidth=1.6,
        capsize=2,
    )


def _sides(measured: Measured, spread: Spread) -> np.ndarray:
    """Lengths of the bar below and above the value; 0 where there is none."""
    low, high = measured.ends(spread)
    sides = np.array([[measured.value - low], [high - measured.value]], np.float64)
    return np.where(np.isnan(sides), 0.0, np.maximum(sides, 0.0))


def _label_rows(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), labels, fontsize="small")
    axes.set_ylim(len(labels) - 0.4, -0.6)


def _counted(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def spread_text(spread: Spread) -> str:
    """What is drawn around values."""
    if spread == "sd":
        return "one standard deviation over problem seeds"
    return f"{LEVEL:.0%} bootstrap intervals over problem seeds"


def is_defined(measured: Measured) -> bool:
    """Whether a single figure has a value."""
    return not math.isnan(float(measured.value))
