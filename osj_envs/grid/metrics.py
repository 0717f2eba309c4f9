"""Figures of the games in which agents eat apples."""

import numpy as np

from osj_envs.figures import Figure, mean_by_trial, step_or_nan
from osj_envs.records import EpisodeRecord


def apple_figures(record: EpisodeRecord) -> list[Figure]:
    """How many apples a team eats, and when it eats its first."""
    eaten = np.sum(record.events["apples"], axis=-1)
    first = step_or_nan(record.first_step["apples"])
    return [
        mean_by_trial("apples_per_trial", "eaten by the team", eaten, "apples_by_trial"),
        mean_by_trial("apple_trial_share", "trials in which anyone ate one", eaten > 0),
        mean_by_trial("first_apple_step", "the team's first, in trials with one", first),
    ]
