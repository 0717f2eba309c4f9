"""Figures that reports alone show: made of the step records, or of several teams' records."""

import numpy as np

from llm_eval.reports.measures import shared_seeds
from llm_eval.reports.reading import read_modes
from llm_eval.reports.teams import Team, on_seeds
from osj_envs import paired
from osj_envs.statistics import Ratio, mean_of, ratio_of


def explore_share(team: Team) -> Ratio:
    """By trial: steps in explore mode, of the steps in which a player stated a mode.

    A language model states one in each valid reply, and no other player does: the share is
    undefined where there is none.
    """
    modes = [read_modes(run.path, team.num_trials) for run in team.runs]
    explore = np.stack([each.explore for each in modes])
    return ratio_of(explore, np.stack([each.stated for each in modes]))


def cleaning_share(team: Team, player: str) -> Ratio:
    """By trial: the part of the cells cleared that a player of a mixed team cleared.

    Args:
        team: of OpenCleanup.
        player: its name; all of its seats count together.
    """
    cleared = np.asarray(team.record.events["cleared"], np.float64)
    mine = cleared[..., places_of(team, player)].sum(axis=-1)
    return ratio_of(mine, cleared.sum(axis=-1))


def player_return(team: Team, player: str) -> Ratio:
    """The mean return of a trial of the seats that a player has in a team."""
    returns = np.asarray(team.record.returns, np.float64)
    return mean_of(returns[..., places_of(team, player)].mean(axis=(1, 2)))


def position(team: Team, low: Team, high: Team) -> Ratio:
    """Where a team's mean return lies between those of two others, 0 and 1; see `paired.position`.

    Args:
        team: any.
        low: a team that plays the same problems and stands for 0.
        high: likewise for 1.
    """
    seeds = shared_seeds(team, low, high)
    record, *ends = (on_seeds(each, seeds) for each in (team, low, high))
    return paired.position(record, *ends).ratio.pooled()


def places_of(team: Team, player: str) -> list[int]:
    """The places that a player has in a team's roster."""
    return [place for place, name in enumerate(team.players) if name == player]
