"""Figures of OpenHarvest. Source: paper, table 5, for what a team eats and how long it lasts."""

import numpy as np

from osj_envs.env import Environment
from osj_envs.figures import Figure, mean_by_player, mean_by_trial, ratio_by_trial
from osj_envs.grid.metrics import apple_figures
from osj_envs.harvest.env import Harvest
from osj_envs.records import EpisodeRecord


def figures(game: Environment, record: EpisodeRecord) -> list[Figure]:
    """All figures of this game."""
    assert isinstance(game, Harvest)
    return [
        *apple_figures(record),
        *_meals(record),
        *_orchard(record, game.config.trees),
        *_zaps(record),
    ]


def orchard_lifetime(record: EpisodeRecord) -> np.ndarray:
    """The step at which the last apple was eaten; the whole trial where the orchard survived it."""
    longest = np.asarray(record.trial_length)[:, None]
    survived = np.asarray(record.steps) >= longest
    return np.where(survived, longest, record.last_step["apples"]).astype(np.float64)


def _meals(record: EpisodeRecord) -> list[Figure]:
    """How well what is eaten pays."""
    team = {name: np.sum(counts, axis=-1) for name, counts in record.events.items()}
    apples, points = team["apples"], np.sum(record.returns, axis=-1)
    return [
        ratio_by_trial("points_per_apple", "of the apples eaten", points, apples),
        ratio_by_trial(
            "best_stage_share",
            "of the apples eaten, at the stage that pays most",
            team["ate_best"],
            apples,
        ),
        ratio_by_trial(
            "too_early_share", "of the apples eaten, before that stage", team["ate_early"], apples
        ),
        mean_by_player("apples_by_player", "eaten in a trial", record.events["apples"]),
    ]


def _orchard(record: EpisodeRecord, trees: int) -> list[Figure]:
    """What becomes of the orchard."""
    team = {name: np.sum(counts, axis=-1) for name, counts in record.events.items()}
    survived = np.equal(record.steps, np.asarray(record.trial_length)[:, None])
    return [
        mean_by_trial(
            "orchard_lifetime",
            "step of the last apple eaten; the trial's length if it survived",
            orchard_lifetime(record),
        ),
        mean_by_trial("orchard_survival", "share of trials that were not over early", survived),
        mean_by_trial(
            "apples_beyond_trees",
            f"eaten beyond the {trees} that hang as a trial starts",
            np.maximum(team["apples"] - trees, 0),
        ),
        mean_by_trial("apples_rotted", "in a trial", team["rotted"]),
        mean_by_trial("apples_regrown", "in a trial", team["regrown"]),
    ]


def _zaps(record: EpisodeRecord) -> list[Figure]:
    """How often agents are sent away."""
    zaps, hits = record.events["zaps"], record.events["zap_hits"]
    return [
        mean_by_trial("zaps", "beams fired by the team in a trial", np.sum(zaps, axis=-1)),
        mean_by_trial("zap_hits", "agents hit in a trial", np.sum(hits, axis=-1)),
        mean_by_player("zaps_by_player", "beams fired by each player", zaps),
    ]
