"""A figure: a named ratio over problems, and what it means to a person."""

import dataclasses
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from osj_envs.statistics import Ratio, mean_of, ratio_of
from osj_envs.tally import NEVER

Axis = Literal["trials", "players"]


@dataclasses.dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        name: its name in the JSON output.
        meaning: for a person, with its unit and with where it is undefined.
        ratio: by problem, and by trial or player where it has such an axis.
        axis: of `ratio` after the problems. A figure by trial is reported over all trials as
            `name`, and by trial as `by_trial`; one by player is reported by player only.
        by_trial: the name of the figure by trial.
    """

    name: str
    meaning: str
    ratio: Ratio
    axis: Axis | None = None
    by_trial: str = ""

    def reported(self) -> dict[str, Ratio]:
        """All that is reported of the figure, by name."""
        if self.axis == "trials":
            by_trial = self.by_trial or f"{self.name}_by_trial"
            return {self.name: self.ratio.pooled(), by_trial: self.ratio}
        return {self.name: self.ratio}


def mean_by_trial(name: str, meaning: str, values: ArrayLike, by_trial: str = "") -> Figure:
    """The mean of (problems, trials) values; those that are NaN are left out."""
    return Figure(name, meaning, mean_of(values), "trials", by_trial)


def ratio_by_trial(name: str, meaning: str, total: ArrayLike, weight: ArrayLike) -> Figure:
    """The ratio of two (problems, trials) sums."""
    return Figure(name, meaning, ratio_of(total, weight), "trials")


def mean_by_player(name: str, meaning: str, values: ArrayLike) -> Figure:
    """The mean of (problems, trials, players) values over problems and trials."""
    return Figure(name, meaning, mean_of(np.asarray(values, np.float64).mean(axis=1)), "players")


def ratio_by_player(name: str, meaning: str, total: ArrayLike, weight: ArrayLike) -> Figure:
    """The ratio of two (problems, players) sums."""
    return Figure(name, meaning, ratio_of(total, weight), "players")


def step_or_nan(step: ArrayLike) -> np.ndarray:
    """First or last steps as floats, NaN for what never happened."""
    return np.where(np.equal(step, NEVER), np.nan, step)
