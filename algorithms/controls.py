"""What a trained agent is evaluated on, and beside whom: each a control for a claim."""

import dataclasses

import jax
from omegaconf import OmegaConf

from algorithms.config import TrainConfig
from algorithms.policy import LearnedPolicy
from algorithms.serialisation import plain
from osj_envs.compose import CONFIG_DIR
from osj_envs.env_config import make_env
from osj_envs.evaluation import evaluate
from osj_envs.metrics import Metrics, summarise
from osj_envs.paired import Bounds, place
from osj_envs.roster import make_roster
from osj_envs.seats import Policy, Roster
from osj_envs.trials import MultiTrial
from osj_envs.types import Split

AGENT = "agent"
"""The evaluation itself; the others are its controls."""

IN_TRAINING = "in_training"
"""The agent on the evaluation's latents, in worlds laid as in training, where that has options of
its own (a curriculum)."""

RANDOM_IN_TRAINING = "random_in_training"
"""The random policy there: the level from which the training curve starts."""


@dataclasses.dataclass(frozen=True)
class Match:
    """One evaluation.

    Attributes:
        title: for a person.
        policy: in every seat, or one for each.
        env: what is played.
        split: where the latents come from.
        wipes: everything that is carried is wiped at every trial's start.
        bounds: players between which its position is told.
    """

    title: str
    policy: Policy | Roster
    env: MultiTrial
    split: Split
    wipes: bool = False
    bounds: Bounds | None = None


def make_matches(
    config: TrainConfig, policy: LearnedPolicy, split: Split, has_controls: bool
) -> dict[str, Match]:
    """The evaluation of a policy and its controls, by name.

    Args:
        config: of the run that it comes from.
        policy: trained.
        split: of the evaluation; one control plays the other one.
        has_controls: whether the controls are wanted.
    """
    env = make_env(config.env, is_training=False, auto_reset=False)
    wipes = config.agent.wipe_at_trial
    matches = {AGENT: Match(f"agent, {_words(split)}", policy, env, split, wipes)}
    if not has_controls:
        return matches
    if config.agent.memory != "none" and not wipes:
        wiped = Match("agent, memory wiped at each trial", policy, env, split, wipes=True)
        matches["memory_wiped"] = wiped
    other: Split = "held_out" if split == "train" else "train"
    matches[f"{other}_split"] = Match(f"agent, {_words(other)}", policy, env, other, wipes)
    rolls = load_seats("random", env)
    matches["random"] = Match(f"random, {_words(split)}", rolls, env, split)
    if not config.env.training:
        return matches
    training = make_env(config.env, is_training=True, auto_reset=False)
    where = f"{_words(split)} laid as in training"
    matches[IN_TRAINING] = Match(f"agent, {where}", policy, training, split, wipes)
    matches[RANDOM_IN_TRAINING] = Match(f"random, {where}", rolls, training, split)
    return matches


def play(match: Match, problem_seeds: range, seed: int = 0) -> Metrics:
    """Plays every problem once.

    Args:
        match: who plays what.
        problem_seeds: which problems.
        seed: of all chance beside the problems'.
    """
    key = jax.random.key(seed)
    record = evaluate(
        match.env,
        match.policy,
        key,
        problem_seeds,
        split=match.split,
        wipe_at_trial=match.wipes,
    )
    bounds = match.bounds
    further = [place(bounds, match.env, record, key, match.split)] if bounds else []
    return summarise(match.env.game, record, seed, further)


def load_seats(name: str, env: MultiTrial) -> Roster:
    """The players of `configs/seats/<name>.yaml` in an environment."""
    seats = OmegaConf.load(CONFIG_DIR / "seats" / f"{name}.yaml")
    return make_roster(plain(seats), env)


def _words(split: Split) -> str:
    return {"held_out": "held-out problems", "train": "training problems", "all": "all problems"}[
        split
    ]
