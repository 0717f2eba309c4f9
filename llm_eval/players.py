"""From players' names to players: models and people here, all others by their factories."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from llm_eval.clients.base import Client
from llm_eval.clients.budget import Budget
from llm_eval.clients.config import ClientConfig, load_client_config
from llm_eval.clients.connect import Endpoints, record
from llm_eval.experiment import ExperimentConfig, Game, Team
from llm_eval.human import Human
from llm_eval.policy import Informed, LanguageModel
from llm_eval.prompts.system import Reveal
from llm_eval.records import RunFolder
from llm_eval.seated import Recorder
from osj_envs.compose import nearest
from osj_envs.roster import make_player
from osj_envs.seats import HostPolicy, Policy
from osj_envs.trials import MultiTrial

MODEL, HUMAN = "llm", "human"
"""Kinds of players that no factory makes; they are asked while the others are computed."""


@dataclasses.dataclass(frozen=True)
class Cast:
    """All players of an experiment that its games share.

    Attributes:
        models: the endpoint of each language model, by its player's name.
        traceable: all other players but people, by name.
        has_human: somebody plays at the keyboard.
    """

    models: Mapping[str, ClientConfig]
    traceable: Mapping[str, Policy]
    has_human: bool = False

    def is_asked(self, player: str) -> bool:
        """Whether a player is a language model or a person."""
        return player in self.models or player == HUMAN


def make_cast(config: ExperimentConfig, env: MultiTrial, teams: list[Team]) -> Cast:
    """Makes each player once.

    Raises:
        ValueError: there is no such player, or it does not play this game.
    """
    names = dict.fromkeys(place.player for team in teams for place in team.places)
    models, traceable = {}, {}
    for player in names:
        kind, _, name = player.partition(":")
        if player == HUMAN:
            continue
        if kind == MODEL:
            models[player] = load_client_config(name)
        else:
            traceable[player] = _traceable(player, config.factories, env)
    return Cast(models, traceable, HUMAN in names)


def seat_asked(
    game: Game,
    cast: Cast,
    env: MultiTrial,
    reveal: Reveal,
    clients: Callable[[str, int], Client],
    recorder: Recorder,
) -> dict[int, HostPolicy]:
    """The language models and people of a run, by their place in the roster.

    Args:
        game: the run.
        cast: of the experiment.
        env: what is played.
        reveal: what the models are told of the hidden rules.
        clients: from a player's name and its place to its client.
        recorder: is handed their steps.
    """
    asked: dict[int, HostPolicy] = {}
    for place, each in enumerate(game.team.places):
        if not cast.is_asked(each.player):
            continue
        options: dict[str, Any] = {
            "client": clients(each.player, place),
            "env": env,
            "seat": (place + game.shift) % env.num_agents,
            "player": each.player,
            "recorder": recorder,
        }
        if each.player == HUMAN:
            asked[place] = Human(**options)
        elif reveal == "none":
            asked[place] = LanguageModel(**options, role=each.role)
        else:
            asked[place] = Informed(**options, role=each.role, reveal=reveal)
    return asked


def recorded_clients(
    endpoints: Endpoints,
    cast: Cast,
    folder: RunFolder,
    budget_dollars: float | None,
    person: Client | None,
) -> Callable[[str, int], Client]:
    """Makes the clients of a run, whose replies are kept in its folder and paid from its budget."""
    budget = Budget(budget_dollars, spent=folder.spent())

    def client(player: str, place: int) -> Client:
        live = person if player == HUMAN else endpoints.client(cast.models[player], budget, player)
        assert live is not None, "nobody is at the keyboard"
        return record(live, folder.replies, f"player {place}", player)

    return client


def _traceable(player: str, factories: Mapping[str, Any], env: MultiTrial) -> Policy:
    kind, _, name = player.partition(":")
    if kind not in factories or not name:
        kinds = [*(f"{each}:NAME" for each in (MODEL, *factories)), HUMAN]
        raise ValueError(f"Unknown player: {player!r}; {nearest(player, kinds)}")
    factory = factories[kind]
    return make_player({"_target_": factory["target"], factory["key"]: name}, env)
