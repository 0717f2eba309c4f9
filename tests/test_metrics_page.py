"""The page on metrics names every figure of every game, and nothing else."""

import pathlib
import re

import jax
import numpy as np
import pytest

import osj_envs
from baselines.registry import make
from osj_envs import metrics, paired, schelling
from osj_envs.records import EpisodeRecord
from osj_envs.rollout import play
from osj_envs.testing.returns import record_of

PAGE = (pathlib.Path(__file__).resolve().parents[1] / "docs" / "METRICS.md").read_text()
SECTIONS = {part.split("\n")[0]: part for part in PAGE.split("\n## ")}
TITLES = {"cleanup": "OpenCleanup", "harvest": "OpenHarvest"}


def named(*titles: str) -> set[str]:
    """The figures between backticks in the first columns of these sections' tables."""
    rows = [row for title in titles for row in re.findall(r"^\| (`.*?) \|", SECTIONS[title], re.M)]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def empty_record(game: str) -> EpisodeRecord:
    """A record of the game's shape in which nothing happens."""
    env = osj_envs.make(game)
    key = jax.random.key(0)
    latent = jax.eval_shape(env.problem, 0)
    idle = make("stay", env)
    shapes = jax.eval_shape(lambda *told: play(env, idle, *told), key, latent)
    return jax.tree.map(lambda leaf: np.zeros((2, *leaf.shape), leaf.dtype), shapes)


@pytest.mark.parametrize("game", osj_envs.list_ids())
def test_every_figure_of_a_game_is_named_and_every_name_is_a_figure(game):
    summary = metrics.summarise(osj_envs.make(game).game, empty_record(game))
    figures = {figure.name for figure in summary.figures}
    shared = {"position", "return_difference", "return_sd"}
    assert figures | shared == named("Every game", "Games with apples", TITLES[game])


def test_figures_by_trial_are_named_as_the_page_says():
    for game in osj_envs.list_ids():
        summary = metrics.summarise(osj_envs.make(game).game, empty_record(game))
        special = {"return_by_trial", "apples_by_trial"}
        by_trial = {
            name
            for figure in summary.figures
            if figure.axis == "trials"
            for name in figure.reported()
            if name not in (figure.name, f"{figure.name}_by_trial")
        }
        assert by_trial == special


def test_figures_of_several_records_are_named():
    one = record_of([[[1.0]], [[2.0]]])
    figures = (paired.position(one, one, one), paired.return_difference(one, one))
    assert {figure.name for figure in figures} <= named("Every game")


def test_every_figure_of_a_diagram_is_named():
    one = record_of([[[1.0]], [[2.0]]])
    values = schelling.as_json(schelling.make_diagram([one, one]))
    ends = ("_ci", "_margin", "num_problems", "num_trials", "num_agents")
    assert {name for name in values if not name.endswith(ends)} == named("Schelling diagrams")
