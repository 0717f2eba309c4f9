"""Plays one run into its folder, and goes on with one that was stopped."""

import dataclasses
import json
import time
from collections.abc import Mapping
from typing import Any, cast

import jax
import numpy as np

from llm_eval.clients.base import Client
from llm_eval.clients.connect import Endpoints
from llm_eval.clients.errors import ClientError
from llm_eval.experiment import ExperimentConfig, Game, up_to_the_stop
from llm_eval.players import Cast, recorded_clients, seat_asked
from llm_eval.prompts.system import Reveal
from llm_eval.records import RESULT, Progress, RunFolder, StepRecord, installed_versions
from llm_eval.status import RunStatus, read_status
from llm_eval.tallies import Tally
from osj_envs import records
from osj_envs.env_config import read_env
from osj_envs.match import Match, Step
from osj_envs.metrics import as_json, summarise
from osj_envs.records import EpisodeRecord
from osj_envs.trials import MultiTrial

EPISODE = "episode.npz"
"""A finished run's record, in its folder."""


@dataclasses.dataclass(frozen=True)
class Played:
    """A run that came to its end.

    Attributes:
        record: of its episode, without a problems axis.
        replies: what each language model's came to, by player.
    """

    record: EpisodeRecord
    replies: Mapping[str, Mapping[str, Any]]


class Stage:
    """All that the games of an experiment share; compiled once for each team.

    Args:
        config: of the experiment.
        env: as the players are told of it.
        cast: the players.
        endpoints: to be held open around all games.
        person: the client that asks people; None where none is seated.

    Attributes:
        played: the environment up to where the experiment stops.
        status: of every game begun, by its folder, for a live table.
    """

    def __init__(
        self,
        config: ExperimentConfig,
        env: MultiTrial,
        cast: Cast,
        endpoints: Endpoints,
        person: Client | None = None,
    ) -> None:
        self.config = config
        self.env = env
        self.played = up_to_the_stop(config, env)
        self.cast = cast
        self.status: dict[str, RunStatus] = {}
        self.endpoints = endpoints
        self.person = person
        self._matches: dict[tuple[str | None, ...], Match] = {}

    async def play(self, game: Game) -> Played:
        """Plays a run to its end, or reads one that ended.

        Raises:
            ClientError: nobody answered, or the budget is spent; the folder says so too.
            ValueError: the folder holds another run.
        """
        about = describe(self.config, game, self.cast)
        with RunFolder(game.path, about, installed_versions()) as folder:
            book = _Book(self, game, folder)
            if not folder.is_done:
                try:
                    await self._play(game, folder, book)
                except ClientError as error:
                    book.stop(str(error))
                    raise
            book.show("done")
        result = json.loads((game.path / RESULT).read_bytes())
        return Played(records.load(game.path / EPISODE), result["players"])

    async def _play(self, game: Game, folder: RunFolder, book: "_Book") -> None:
        clients = recorded_clients(
            self.endpoints, self.cast, folder, self.config.budget_dollars, self.person
        )
        reveal = cast(Reveal, self.config.reveal)
        hosts = seat_asked(game, self.cast, self.env, reveal, clients, book.pending.append)
        match = self._match(game, hosts).with_hosts(hosts)
        key = jax.random.fold_in(jax.random.key(self.config.seed), game.problem_seed)
        latent = self.played.problem(game.problem_seed)
        played = await match.play(key, latent, game.shift, book.add)
        seed: Any = np.asarray(game.problem_seed, np.uint32)
        record = dataclasses.replace(played, problem_seed=seed)
        records.save(game.path / EPISODE, record)
        folder.finish(_result(self, record, folder.tallies))

    def _match(self, game: Game, hosts: Mapping[int, Any]) -> Match:
        """The programs of all teams that seat the same traceable players in the same places."""
        seated = [
            None if place in hosts else each.player for place, each in enumerate(game.team.places)
        ]
        if tuple(seated) not in self._matches:
            roster = [
                hosts[place] if player is None else self.cast.traceable[player]
                for place, player in enumerate(seated)
            ]
            self._matches[tuple(seated)] = Match(self.played, roster)
        return self._matches[tuple(seated)]


class _Book:
    """Writes down a game's steps and where it is."""

    def __init__(self, stage: Stage, game: Game, folder: RunFolder) -> None:
        self.pending: list[StepRecord] = []
        self._stage = stage
        self._game = game
        self._folder = folder
        self._begun = time.monotonic()
        self._steps = 0
        self._progress = read_status(game.path).progress
        self.show("running")

    def add(self, step: Step) -> None:
        """Takes a step: the records of those who were asked, and those of the other players."""
        others = [
            StepRecord(
                "step",
                step.trial,
                step.step,
                self._seat(place),
                each.player,
                action=int(step.actions[place]),
                reward=float(step.rewards[place]),
            )
            for place, each in enumerate(self._game.team.places)
            if not self._stage.cast.is_asked(each.player)
        ]
        # Rewrites come in the order of their replies, which a resumed run does not repeat.
        for record in sorted([*self.pending, *others], key=lambda each: (each.kind, each.seat)):
            self._folder.add_step(record)
        self.pending.clear()
        self._steps += 1
        self._progress = self._where(step)
        self._folder.write_progress(self._progress)
        self.show("running")

    def stop(self, why: str) -> None:
        """Writes why the run stops before its end."""
        env = self._stage.played
        nowhere = Progress(0, env.num_trials, 0, env.trial_length, [0.0] * env.num_agents)
        self._folder.write_progress(self._progress or nowhere, stopped=why)
        self.show("stopped", why)

    def show(self, state: str, why: str = "") -> None:
        """Updates the live table."""
        tallies = self._folder.tallies
        status = RunStatus(self._game.path, state, self._progress, tallies, why)
        self._stage.status[str(self._game.path)] = status

    def _seat(self, place: int) -> int:
        return (place + self._game.shift) % self._stage.env.num_agents

    def _where(self, step: Step) -> Progress:
        env = self._stage.played
        left = (env.num_trials - step.trial) * env.trial_length - step.step - 1
        seconds = (time.monotonic() - self._begun) / self._steps
        by_seat = np.roll(step.returns[step.trial], self._game.shift)
        return Progress(
            step.trial,
            env.num_trials,
            step.step,
            env.trial_length,
            by_seat.tolist(),
            seconds * left,
        )


def describe(config: ExperimentConfig, game: Game, cast: Cast) -> dict[str, Any]:
    """All on which a run depends, in JSON types."""
    env = read_env(config.env)
    return {
        "env": {"name": env.name, **env.options},
        "players": [dataclasses.asdict(place) for place in game.team.places],
        "clients": {
            place.player: cast.models[place.player].model_dump(mode="json")
            for place in game.team.places
            if place.player in cast.models
        },
        "reveal": config.reveal,
        "stop_after_trials": config.stop_after_trials,
        "problem_seed": game.problem_seed,
        "shift": game.shift,
        "seed": config.seed,
    }


def one_problem(record: EpisodeRecord) -> EpisodeRecord:
    """The record with a problems axis of one."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[None], record)


def _result(stage: Stage, record: EpisodeRecord, tallies: Mapping[str, Tally]) -> dict[str, Any]:
    return {
        "metrics": as_json(summarise(stage.played.game, one_problem(record))),
        "stopped_after_trials": stage.config.stop_after_trials,
        "players": {name: _counts(tallies[name]) for name in sorted(tallies)},
    }


def _counts(tally: Tally) -> dict[str, Any]:
    """What the replies came to, without what a repeated run would measure otherwise."""
    return {
        "replies": tally.replies,
        "invalid": dict(sorted(tally.invalid.items())),
        "failures": dict(sorted(tally.failures.items())),
        "input_tokens": tally.usage.input_tokens,
        "output_tokens": tally.usage.output_tokens,
        "dollars": tally.dollars,
        "unpriced_replies": tally.unpriced,
    }
