"""What an experiment plays: its configuration, and the games that this makes."""

import dataclasses
import pathlib
import re
from collections.abc import Mapping
from typing import Any

from llm_eval.prompts.system import REVEALS, AgentRole
from osj_envs.compose import nearest
from osj_envs.env_config import make_env, read_env
from osj_envs.splits import PROBLEM_SEEDS
from osj_envs.trials import MultiTrial

LONGEST_NAME = 100
"""Most characters of a team's name."""


@dataclasses.dataclass
class ExperimentConfig:
    """An experiment: every team plays every problem, one run each.

    Attributes:
        env: what is played; fewer trials by env.num_trials.
        title: of the experiment, and the name of its folder.
        team: who plays: one player for every seat, or a list of one for each. A player is
            `llm:MODEL` (a file of `configs/client`, or a path that ends in .yaml),
            `scripted:POLICY`, `checkpoint:PATH` or `human` (by the keys of this terminal).
        teams: several teams by name, as an experiment has them; left aside where `team` is given.
        only: names of the teams that play, where not all do.
        cooperators: numbers of cooperators; each team plays with each of them, its first players
            told that they cooperate and the others that they defect. None for no roles.
        rotate: the seating shifts by one from each problem seed to the next.
        reveal: what the models are told of the hidden rules: none, regrowth (OpenHarvest) or all.
        stop_after_trials: games stop after so many trials, of which nobody is told: up to there
            all is as in a whole game. None for whole games.
        problem_seeds: held-out problems.
        seed: of all chance but the problems'.
        games_at_once: games in progress at a time.
        budget_dollars: the most that one run may cost; None for no limit.
        directory: where the runs' folders are made.
        factories: by a player's kind, the `_target_` that makes it and the key of what follows
            the colon.
    """

    env: Any
    title: str = "custom"
    team: Any = None
    teams: dict[str, Any] = dataclasses.field(default_factory=dict)
    only: list[str] | None = None
    cooperators: list[int] | None = None
    rotate: bool = False
    reveal: str = "none"
    stop_after_trials: int | None = None
    problem_seeds: list[int] = dataclasses.field(default_factory=lambda: [0, 1, 2])
    seed: int = 0
    games_at_once: int = 4
    budget_dollars: float | None = None
    directory: str = "runs/llm_eval"
    factories: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.games_at_once < 1:
            raise ValueError(f"games_at_once is {self.games_at_once}; it must be at least 1.")
        if self.stop_after_trials is not None and self.stop_after_trials < 1:
            raise ValueError(
                f"stop_after_trials is {self.stop_after_trials}; it must be at least 1."
            )
        if not self.problem_seeds or len(set(self.problem_seeds)) < len(self.problem_seeds):
            raise ValueError("problem_seeds must be a list of different problem seeds.")
        if min(self.problem_seeds) < 0 or max(self.problem_seeds) >= PROBLEM_SEEDS:
            raise ValueError(f"problem seeds must be from 0 to {PROBLEM_SEEDS - 1:,}.")


@dataclasses.dataclass(frozen=True)
class Place:
    """A player of a roster.

    Attributes:
        player: as the configuration names it.
        role: that it is told.
    """

    player: str
    role: AgentRole = "none"


@dataclasses.dataclass(frozen=True)
class Team:
    """Who plays together.

    Attributes:
        name: of the team; also of its folder.
        places: the players, in the roster's order.
    """

    name: str
    places: tuple[Place, ...]


@dataclasses.dataclass(frozen=True)
class Game:
    """One run.

    Attributes:
        team: who plays.
        problem_seed: of the problem.
        shift: seats player p at (p + shift) mod N.
        path: of the run's folder.
    """

    team: Team
    problem_seed: int
    shift: int
    path: pathlib.Path


def make_played(config: ExperimentConfig) -> MultiTrial:
    """The environment of an experiment, with all its trials, as players are told of it.

    Raises:
        ValueError: an option of it, what is to be revealed, or where to stop is not allowed.
    """
    env = make_env(read_env(config.env), is_training=False)
    if config.stop_after_trials is not None and config.stop_after_trials > env.num_trials:
        raise ValueError(
            f"stop_after_trials is {config.stop_after_trials}; it must be from 1 to "
            f"{env.num_trials}, the trials of a game."
        )
    known = REVEALS.get(env.name, ("none",))
    if config.reveal not in known:
        raise ValueError(f"reveal is {config.reveal!r}; {nearest(config.reveal, known)}")
    return env


def up_to_the_stop(config: ExperimentConfig, env: MultiTrial) -> MultiTrial:
    """What is played of the environment: its trials up to where the experiment stops.

    No observation depends on how many trials there are.
    """
    trials = config.stop_after_trials or env.num_trials
    return MultiTrial(env.game, trials, env.trial_length, env.auto_reset, env.split)


def list_teams(config: ExperimentConfig, env: MultiTrial) -> list[Team]:
    """The teams that play, with every number of cooperators.

    Raises:
        ValueError: there is no such team, or one does not fit the seats or its roles.
    """
    named = {_name_of(config.team): config.team} if config.team else config.teams
    if not named:
        raise ValueError("There is no team; take an experiment, or name one as team=llm:MODEL.")
    plain = [_team(name, entry, env) for name, entry in named.items()]
    counts = config.cooperators
    if counts is not None:
        plain = [_with_roles(team, count) for team in plain for count in counts]
    if config.only is None:
        return plain
    by_name = {team.name: team for team in plain}
    if unknown := [name for name in config.only if name not in by_name]:
        raise ValueError(f"Unknown team: {unknown[0]!r}; {nearest(unknown[0], list(by_name))}")
    return [by_name[name] for name in dict.fromkeys(config.only)]


def list_games(config: ExperimentConfig, env: MultiTrial, teams: list[Team]) -> list[Game]:
    """All runs, team by team."""
    root = pathlib.Path(config.directory) / config.title / env.name
    return [
        Game(
            team=team,
            problem_seed=seed,
            shift=seed % env.num_agents if config.rotate else 0,
            path=root / team.name / f"seed-{seed}",
        )
        for team in teams
        for seed in config.problem_seeds
    ]


def _name_of(entry: Any) -> str:
    """A team's name, fit for a folder, after its players."""
    players = [entry] if isinstance(entry, str) else list(entry)
    return re.sub(r"[^\w.]+", "-", "_".join(map(str, players)))[:LONGEST_NAME]


def _team(name: str, entry: Any, env: MultiTrial) -> Team:
    players = [entry] * env.num_agents if isinstance(entry, str) else entry
    if isinstance(players, Mapping) or not all(isinstance(each, str) for each in players):
        raise ValueError(f"Team {name} must be a player, or a list of one for each seat.")
    if len(players) != env.num_agents:
        raise ValueError(
            f"Team {name} has {len(players)} players for {env.num_agents} seats; set "
            f"env.num_agents to {len(players)}, or take another team."
        )
    return Team(name, tuple(Place(player) for player in players))


def _with_roles(team: Team, cooperators: int) -> Team:
    if not 0 <= cooperators <= len(team.places):
        raise ValueError(
            f"cooperators has {cooperators}; it must be from 0 to {len(team.places)}, the players."
        )
    others = [each.player for each in team.places if not each.player.startswith("llm:")]
    if others:
        raise ValueError(f"Only language models can be told a role; {others[0]!r} is none.")
    places = tuple(
        Place(each.player, "cooperator" if place < cooperators else "defector")
        for place, each in enumerate(team.places)
    )
    return Team(f"{team.name}-{cooperators}-cooperate", places)
