"""From players' names to players: language models here, all others by their factories."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from llm_eval.clients.base import Client
from llm_eval.clients.budget import Budget
from llm_eval.clients.config import ClientConfig, load_client_config
from llm_eval.clients.connect import Endpoints, record
from llm_eval.experiment import ExperimentConfig, Game, Team
from llm_eval.policy import Informed, LanguageModel, Recorder
from llm_eval.prompts.system import Reveal
from llm_eval.records import RunFolder
from osj_envs.compose import nearest
from osj_envs.roster import make_player
from osj_envs.seats import HostPolicy, Policy
from osj_envs.trials import MultiTrial

MODEL, HUMAN = "llm", "human"
"""Kinds of players that no factory makes."""


@dataclasses.dataclass(frozen=True)
class Cast:
    """All players of an experiment that its games share.

    Attributes:
        models: the endpoint of each language model, by its player's name.
        traceable: all other players, by name.
    """

    models: Mapping[str, ClientConfig]
    traceable: Mapping[str, Policy]


def make_cast(config: ExperimentConfig, env: MultiTrial, teams: list[Team]) -> Cast:
    """Makes each player once.

    Raises:
        ValueError: there is no such player, or it does not play this game.
    """
    names = dict.fromkeys(place.player for team in teams for place in team.places)
    models, traceable = {}, {}
    for player in names:
        kind, _, name = player.partition(":")
        if kind == HUMAN:
            raise ValueError("A human cannot be seated here: these games play by themselves.")
        if kind == MODEL:
            models[player] = load_client_config(name)
        else:
            traceable[player] = _traceable(player, config.factories, env)
    return Cast(models, traceable)


def seat_models(
    game: Game,
    cast: Cast,
    env: MultiTrial,
    reveal: Reveal,
    clients: Callable[[str, int], Client],
    recorder: Recorder,
) -> dict[int, HostPolicy]:
    """The language models of a run, by their place in the roster.

    Args:
        game: the run.
        cast: of the experiment.
        env: what is played.
        reveal: what they are told of the hidden rules.
        clients: from a player's name and its place to its client.
        recorder: is handed their steps.
    """
    models: dict[int, HostPolicy] = {}
    for place, each in enumerate(game.team.places):
        if each.player not in cast.models:
            continue
        options: dict[str, Any] = {
            "client": clients(each.player, place),
            "env": env,
            "seat": (place + game.shift) % env.num_agents,
            "player": each.player,
            "role": each.role,
            "recorder": recorder,
        }
        models[place] = (
            LanguageModel(**options) if reveal == "none" else Informed(**options, reveal=reveal)
        )
    return models


def recorded_clients(
    endpoints: Endpoints, cast: Cast, folder: RunFolder, budget_dollars: float | None
) -> Callable[[str, int], Client]:
    """Makes the clients of a run, whose replies are kept in its folder and paid from its budget."""
    budget = Budget(budget_dollars, spent=folder.spent())

    def client(player: str, place: int) -> Client:
        live = endpoints.client(cast.models[player], budget, player)
        return record(live, folder.replies, f"player {place}", player)

    return client


def _traceable(player: str, factories: Mapping[str, Any], env: MultiTrial) -> Policy:
    kind, _, name = player.partition(":")
    if kind not in factories or not name:
        kinds = [*(f"{each}:NAME" for each in (MODEL, *factories)), HUMAN]
        raise ValueError(f"Unknown player: {player!r}; {nearest(player, kinds)}")
    factory = factories[kind]
    return make_player({"_target_": factory["target"], factory["key"]: name}, env)
