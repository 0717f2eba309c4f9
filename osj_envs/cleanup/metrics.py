"""Figures of OpenCleanup. Source: paper, figures 5 and 8, tables 3 and 4."""

import numpy as np

from osj_envs.env import Environment
from osj_envs.figures import (
    Figure,
    mean_by_player,
    mean_by_trial,
    ratio_by_player,
    ratio_by_trial,
    step_or_nan,
)
from osj_envs.grid.metrics import apple_figures
from osj_envs.records import EpisodeRecord
from osj_envs.statistics import effective_number, rank_correlation
from osj_envs.tally import EARLY_STEPS


def figures(game: Environment, record: EpisodeRecord) -> list[Figure]:
    """All figures of this game."""
    del game  # the record says it all
    return [*apple_figures(record), *_cleaning(record), *_tools(record), *_know_how(record)]


def _cleaning(record: EpisodeRecord) -> list[Figure]:
    """Who cleans how much, and when it starts. The credit for a cell is shared equally."""
    cleared, lightened = record.events["cleared"], record.events["lightened"]
    of_player = np.sum(cleared, axis=1)
    team = np.sum(cleared, axis=-1)
    early = record.early_events["cleared"] + record.early_events["lightened"]
    first = step_or_nan(record.first_step["cleared"])
    cleaners = effective_number(cleared)
    return [
        mean_by_trial("tiles_cleared", "waste to water, by the team", team),
        mean_by_trial("tiles_lightened", "by the team", np.sum(lightened, axis=-1)),
        mean_by_trial("effective_cleaners", "1 / Σ share², in trials with a clear", cleaners),
        mean_by_trial("clear_trial_share", "trials in which anyone cleared", team > 0),
        mean_by_trial("first_clear_step", "the team's first, in trials with one", first),
        mean_by_trial(
            "early_cleaning",
            f"tiles cleared or lightened in the first {EARLY_STEPS} steps",
            np.sum(early, axis=-1),
        ),
        mean_by_player("tiles_cleared_by_player", "by each player", cleared),
        ratio_by_player(
            "cleaning_share_by_player",
            "each player's part of the tiles cleared",
            of_player,
            np.broadcast_to(of_player.sum(axis=-1, keepdims=True), of_player.shape),
        ),
    ]


def _tools(record: EpisodeRecord) -> list[Figure]:
    """How players come by their tools.

    Crafting steps are those on the way to a pick-up (`Tally.effort`): our choice, since only some
    kinds of player say what they are about.
    """
    team = {name: np.sum(counts, axis=-1) for name, counts in record.events.items()}
    picked, made, remade = team["picked_up"], team["tool_made"], team["tool_remade"]
    crafting = np.sum(record.effort["picked_up"], axis=-1)
    cells = team["cleared"] + team["lightened"]
    pick_ups = np.mean(record.events["picked_up"], axis=-1)
    return [
        mean_by_trial("pick_ups_per_agent", "in a trial", pick_ups),
        ratio_by_trial("pick_ups_per_tool", "for each working tool made", picked, made),
        ratio_by_trial("remade_tool_share", "tools made that had just been lost", remade, made),
        ratio_by_trial(
            "crafting_steps_per_cell", "steps to pick-ups, by tiles worked on", crafting, cells
        ),
    ]


def _know_how(record: EpisodeRecord) -> list[Figure]:
    """Whether players that know more recipes pick up and switch more (paper, appendix C.4).

    Spearman's ρ over the players of one trial, where both sides differ between them. A switch is
    a working tool made that is another than the one held before it in the trial.
    """
    known, events = record.knowledge["recipes_known"], record.events
    switches = np.maximum(events["tool_made"] - events["tool_remade"] - 1, 0)
    meaning = "Spearman's ρ with recipes known, within a trial"
    return [
        mean_by_trial("pick_up_correlation", meaning, rank_correlation(known, events["picked_up"])),
        mean_by_trial("tool_switch_correlation", meaning, rank_correlation(known, switches)),
    ]
