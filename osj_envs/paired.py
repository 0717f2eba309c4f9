"""Figures from several records of the same problems: each problem is its own control."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from osj_envs.evaluation import evaluate
from osj_envs.figures import Figure, mean_by_trial, ratio_by_trial
from osj_envs.records import EpisodeRecord
from osj_envs.roster import make_roster
from osj_envs.seats import Roster
from osj_envs.trials import MultiTrial
from osj_envs.types import Key, Split


def check_same_problems(*records: EpisodeRecord) -> None:
    """Raises ValueError unless all records are of the same problem seeds in the same order."""
    seeds: list[Any] = [record.problem_seed for record in records]
    if any(each is None or not np.array_equal(each, seeds[0]) for each in seeds):
        raise ValueError("Only records of the same problem seeds, in one order, can be compared.")


def return_difference(record: EpisodeRecord, other: EpisodeRecord) -> Figure:
    """The mean return of an agent in a trial, less that of the other record on the same problem.

    Raises:
        ValueError: the records are of different problems.
    """
    check_same_problems(record, other)
    difference = _returns(record) - _returns(other)
    meaning = "return_mean less that of the other, on the same problem"
    return mean_by_trial("return_difference", meaning, difference)


def position(record: EpisodeRecord, low: EpisodeRecord, high: EpisodeRecord) -> Figure:
    """Where a mean return lies between those of two others on the same problems, 0 and 1.

    Sums over problems are divided, not single problems: on one where the two others are about
    equal its own position would say nothing and count as much as any.

    Raises:
        ValueError: the records are of different problems.
    """
    check_same_problems(record, low, high)
    above, room = _returns(record) - _returns(low), _returns(high) - _returns(low)
    meaning = "return_mean on a scale on which the lower bound is 0 and the upper 1"
    return ratio_by_trial("position", meaning, above, room)


@dataclasses.dataclass(frozen=True)
class Bounds:
    """The two ends of a scale.

    Attributes:
        low: players that stand for 0.
        high: players that stand for 1.
    """

    low: Roster
    high: Roster


def make_bounds(config: Mapping[str, Any], env: MultiTrial) -> Bounds:
    """The players of a file of `configs/bounds`.

    Raises:
        ValueError: they are of another game, or a factory refused its entries.
    """
    if config["env"] != env.name:
        raise ValueError(f"The bounds are of {config['env']!r} and do not fit {env.name!r}.")
    return Bounds(make_roster(config["low"], env), make_roster(config["high"], env))


def place(bounds: Bounds, env: MultiTrial, record: EpisodeRecord, key: Key, split: Split) -> Figure:
    """The position of a record; plays the bounds on the problems of the record."""
    seeds: Any = record.problem_seed
    low, high = (evaluate(env, each, key, seeds, split=split) for each in (bounds.low, bounds.high))
    return position(record, low, high)


def _returns(record: EpisodeRecord) -> np.ndarray:
    """(problems, trials) returns of an agent."""
    return np.asarray(record.returns, np.float64).mean(axis=-1)
