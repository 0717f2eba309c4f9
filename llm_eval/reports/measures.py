"""Figures of teams over problem seeds: values, intervals, and differences on shared seeds."""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from jaxtyping import Float, Int

from llm_eval.reports.teams import Team
from osj_envs.statistics import Ratio, estimate, mean_of

Spread = Literal["interval", "sd"]
"""What is drawn around values: bootstrap intervals, or one standard deviation over problem seeds,
as the paper has it."""

Of: TypeAlias = Callable[[Team], Ratio]
"""A figure of a team, by problem and perhaps by trial or player."""


@dataclasses.dataclass(frozen=True)
class Measured:
    """A figure over problem seeds.

    Attributes:
        value: NaN where it is undefined.
        low, high: ends of its bootstrap interval; NaN where fewer than two problems define it.
        sd: standard deviation over problems of each problem's own value; likewise NaN.
        seeds: problem seeds that define it.
    """

    value: Float[np.ndarray, "*rest"]
    low: Float[np.ndarray, "*rest"]
    high: Float[np.ndarray, "*rest"]
    sd: Float[np.ndarray, "*rest"]
    seeds: Int[np.ndarray, "*rest"]

    def __getitem__(self, place: Any) -> "Measured":
        """The figure at a place of its axes."""
        fields = vars(self).items()
        return Measured(**{name: np.asarray(values)[place] for name, values in fields})

    def ends(self, spread: Spread) -> tuple[np.ndarray, np.ndarray]:
        """What is drawn around the value."""
        if spread == "sd":
            return self.value - self.sd, self.value + self.sd
        return self.low, self.high


NOTHING = Measured(*(np.float64(math.nan),) * 4, seeds=np.int64(0))  # type: ignore[arg-type]
"""A figure that no problem defines."""


@dataclasses.dataclass(frozen=True)
class Quantity:
    """A figure that a table or a picture shows of each team.

    Attributes:
        key: its name in CSV files.
        heading: for a person.
        of: the figure.
        is_share: shown in per cent.
    """

    key: str
    heading: str
    of: Of
    is_share: bool = False


def measure(ratio: Ratio, seed: int) -> Measured:
    """A figure with its interval.

    Args:
        ratio: by problem.
        seed: of the bootstrap.
    """
    estimated = estimate({"": ratio}, seed)[""]
    low, high = np.moveaxis(estimated.interval, -1, 0)
    return Measured(estimated.value, low, high, _deviation(by_problem(ratio)), estimated.problems)


def by_problem(ratio: Ratio) -> Float[np.ndarray, "problems *rest"]:
    """Each problem's own value; NaN where the problem does not define it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(ratio.weight == 0, np.nan, ratio.total / ratio.weight)


def figure(name: str) -> Of:
    """A figure of docs/METRICS.md, by problem and, where it has them, trial or player."""
    return lambda team: team.ratios[name]


def over_trials(of: Of, trials: slice = slice(None)) -> Of:
    """The figure over some trials together."""

    def pooled(team: Team) -> Ratio:
        ratio = of(team)
        return Ratio(ratio.total[:, trials].sum(axis=1), ratio.weight[:, trials].sum(axis=1))

    return pooled


FIRST, LATER, LAST = slice(1), slice(1, None), slice(-1, None)
"""Trials: the first, all later ones, the last."""


def change(of: Of, later: slice, earlier: slice) -> Of:
    """The figure in some trials less that in others, problem by problem."""

    def difference(team: Team) -> Ratio:
        sides = [by_problem(over_trials(of, trials)(team)) for trials in (later, earlier)]
        return mean_of(sides[0] - sides[1])

    return difference


def shared_seeds(*teams: Team) -> tuple[int, ...]:
    """The problem seeds that all of the teams played."""
    return tuple(sorted(set.intersection(*(set(team.problem_seeds) for team in teams))))


def difference(one: Team, other: Team, of: Of, of_other: Of | None = None) -> Ratio:
    """One team's figure less another's, problem by problem, on the seeds that both played.

    Args:
        one: team.
        other: that plays the same problems.
        of: the figure, by problem alone.
        of_other: that of the other team, where it is another.
    """
    seeds = shared_seeds(one, other)
    sides = []
    for team, each in ((one, of), (other, of_other or of)):
        rows = [team.problem_seeds.index(seed) for seed in seeds]
        sides.append(by_problem(each(team))[rows])
    return mean_of(sides[0] - sides[1])


def choose_reference(teams: Sequence[Team], against: str | None) -> Team:
    """The team with which the others of a game are compared: the named, or else the first."""
    return next((team for team in teams if team.label == against), teams[0])


def differences(
    teams: Sequence[Team], reference: Team, quantities: Sequence[Quantity], seed: int
) -> Mapping[Team, list[Measured]]:
    """Each other team's figures less the reference's, for teams that share problems with it."""
    return {
        team: [measure(difference(team, reference, each.of), seed) for each in quantities]
        for team in teams
        if team is not reference and team.plays_like(reference) and shared_seeds(team, reference)
    }


def _deviation(values: Float[np.ndarray, "problems *rest"]) -> Float[np.ndarray, "*rest"]:
    """Standard deviation over the problems that define a value; NaN for fewer than two."""
    count = (~np.isnan(values)).sum(axis=0)
    filled = np.where(np.isnan(values), 0.0, values)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = filled.sum(axis=0) / count
        squares = np.where(np.isnan(values), 0.0, (values - mean) ** 2).sum(axis=0)
        return np.where(count > 1, np.sqrt(squares / (count - 1)), math.nan)
