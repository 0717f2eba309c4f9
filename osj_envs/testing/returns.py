"""Records written by hand, of returns alone."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from osj_envs.records import BY_NAME, EpisodeRecord


def record_of(
    returns: ArrayLike,
    knowledge: Mapping[str, ArrayLike] | None = None,
    problem_seeds: Sequence[int] | None = None,
) -> EpisodeRecord:
    """A record without events of trials of ten steps.

    Args:
        returns: (problems, trials, players).
        knowledge: likewise, by name.
        problem_seeds: 0, 1, ... by default.
    """
    paid: Any = np.asarray(returns, np.float32)
    problems, trials, players = paid.shape
    seeds = range(problems) if problem_seeds is None else problem_seeds
    arrays: dict[str, Any] = {
        "knowledge": {k: np.asarray(v, np.float32) for k, v in (knowledge or {}).items()},
        "steps": np.full((problems, trials), 10, np.int32),
        "trial_length": np.full(problems, 10, np.int32),
        "seat": np.tile(np.arange(players, dtype=np.int32), (problems, 1)),
        "problem_seed": np.asarray(seeds, np.uint32),
    }
    none: dict[str, Any] = {name: {} for name in BY_NAME if name != "knowledge"}
    return EpisodeRecord(returns=paid, **none, **arrays)
