"""Table 4: how the tools of OpenCleanup are used after the first trial."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import bootstrap

from llm_eval.reports.compare import comparison, team_sheet
from llm_eval.reports.items import Made, Request, Unfilled, seeds_of
from llm_eval.reports.measures import LATER, Quantity, by_problem, figure, over_trials
from llm_eval.reports.teams import Team
from llm_eval.views.words import counted
from osj_envs.statistics import LEVEL, RESAMPLES


def _later(key: str, heading: str, is_share: bool = False) -> Quantity:
    return Quantity(key, heading, over_trials(figure(key), LATER), is_share)


COLUMNS = (
    _later("pick_ups_per_agent", "pick-ups"),
    _later("pick_ups_per_tool", "per tool"),
    _later("remade_tool_share", "remade", is_share=True),
    _later("crafting_steps_per_cell", "steps per cell"),
    _later("pick_up_correlation", "ρ pick-ups"),
    _later("tool_switch_correlation", "ρ switches"),
)

NOTES = (
    "Pick-ups of an agent in a trial; for each working tool made; tools made that had just been "
    "lost; steps on the way to pick-ups by cells cleared or lightened.",
    "ρ: mean over trials of Spearman's correlation of the recipes that players know with their "
    "pick-ups and their changes of tool.",
)

CORRELATIONS = {"pick_up_correlation": "pick-ups", "tool_switch_correlation": "changes of tool"}


def make(request: Request) -> Made:
    """The table; see `Item.make`."""
    found = request.of_game("cleanup", "Table 4")
    teams = [team for team in found if team.num_trials > 1]
    if not teams:
        raise Unfilled("Table 4 takes runs of OpenCleanup of at least two trials.")
    title = "Table 4. OpenCleanup: tool use after the first trial"
    medians = [_median(teams, name, of, request.seed) for name, of in CORRELATIONS.items()]
    sheet = team_sheet(request, title, teams, COLUMNS, (*NOTES, *filter(None, medians)))
    return Made(
        summary=f"tool use of {counted(len(teams), 'team')} after the first trial",
        seeds=seeds_of(teams),
        sheets=(sheet, *comparison(request, teams, COLUMNS)),
    )


def _median(teams: Sequence[Team], name: str, of: str, seed: int) -> str:
    """The median of a correlation over all runs and trials (paper, C.4), as a note."""
    most = max(team.num_trials for team in teams)
    runs = np.concatenate([_widened(by_problem(team.ratios[name]), most) for team in teams])
    runs = runs[~np.isnan(runs).all(axis=1)]
    if not len(runs):
        return ""
    trials = int((~np.isnan(runs)).sum())
    sentence = f"Over {trials} trials of {len(runs)} runs the median ρ with {of} is"
    median = np.nanmedian(runs)
    if len(runs) < 2:
        return f"{sentence} {median:.2f}."
    low, high = bootstrap(
        (np.arange(len(runs)),),
        lambda rows: np.nanmedian(runs[rows]),
        n_resamples=RESAMPLES,
        vectorized=False,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return f"{sentence} {median:.2f} ({low:.2f} .. {high:.2f}, by bootstrap over runs)."


def _widened(values: np.ndarray, trials: int) -> np.ndarray:
    """(runs, trials) values, filled up with NaN."""
    missing = trials - values.shape[1]
    return np.pad(values, ((0, 0), (0, missing)), constant_values=np.nan)
