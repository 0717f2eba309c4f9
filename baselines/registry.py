"""Scripted players by name."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import osj_envs
from baselines import bounds, cleanup, harvest, oracle, roles, simple
from osj_envs.compose import nearest
from osj_envs.seats import Policy
from osj_envs.trials import MultiTrial


@dataclasses.dataclass(frozen=True)
class Entry:
    """A scripted player.

    Attributes:
        build: makes it for an environment; its further parameters are the player's options.
        games: ids of the environments that it plays, or None for all.
        privileged: it acts on what is hidden from agents, so it is a bound and no fair player.
    """

    build: Callable[..., Any]
    games: tuple[str, ...] | None = None
    privileged: bool = False


_ENTRIES = {
    "random": Entry(simple.make_random),
    "stay": Entry(simple.make_stay, games=("cleanup", "harvest")),
    "harvester": Entry(cleanup.make_harvester, games=("cleanup",)),
    "cleaner": Entry(cleanup.make_cleaner, games=("cleanup",)),
    "oracle": Entry(oracle.make_oracle, games=("cleanup",), privileged=True),
    "cooperator": Entry(roles.make_cooperator, games=roles.GAMES),
    "defector": Entry(roles.make_defector, games=roles.GAMES),
    "greedy": Entry(harvest.make_greedy, games=("harvest",)),
    "patient": Entry(harvest.make_patient, games=("harvest",)),
    "forager": Entry(harvest.make_forager, games=("harvest",)),
    "full_greedy": Entry(bounds.make_full_greedy, games=("harvest",), privileged=True),
    "full_patient": Entry(bounds.make_full_patient, games=("harvest",), privileged=True),
    "steward": Entry(bounds.make_steward, games=("harvest",), privileged=True),
    "fast_steward": Entry(bounds.make_fast_steward, games=("harvest",), privileged=True),
}


def list_names(game: str, privileged: bool | None = None) -> tuple[str, ...]:
    """The players of a game, by its id; only privileged or only fair ones if asked for."""
    return tuple(
        name
        for name, entry in _ENTRIES.items()
        if (entry.games is None or game in entry.games) and privileged in (None, entry.privileged)
    )


def option_names(name: str) -> tuple[str, ...]:
    """The options of a player."""
    return tuple(inspect.signature(_ENTRIES[name].build).parameters)[1:]


def all_options() -> tuple[str, ...]:
    """The options of all players together."""
    return tuple(dict.fromkeys(option for name in _ENTRIES for option in option_names(name)))


def make(name: str, env: MultiTrial, **options: Any) -> Policy:
    """The player called `name`, built for an environment.

    Raises:
        ValueError: the environment has no such player, or the player no such option.
    """
    known = list_names(env.name)
    if name not in known:
        question = nearest(name, known).partition(" Known")[0]
        raise ValueError(
            f"{env.name} has no scripted policy {name!r}; {question} Known are {summary(env.name)}"
        )
    for option in options:
        _check_option(name, option)
    policy: Policy = _ENTRIES[name].build(env, **options)
    return policy


def summary(game: str) -> str:
    """The players of a game in one sentence."""
    return f"{'; '.join(_kinds(game))}."


def listing() -> str:
    """The players of every game, for a person."""
    games = [(f"policies of {game}", *_kinds(game)) for game in osj_envs.list_ids()]
    return "\n".join("\n  ".join(each) for each in games)


def _kinds(game: str) -> list[str]:
    """Fair and privileged players apart, with their options."""
    kinds = {"fair": list_names(game, False), "privileged": list_names(game, True)}
    return [f"{kind}: {', '.join(map(_signature, each))}" for kind, each in kinds.items() if each]


def _signature(name: str) -> str:
    options = option_names(name)
    return f"{name} ({', '.join(options)})" if options else name


def _check_option(name: str, option: str) -> None:
    known = option_names(name)
    if not known:
        raise ValueError(f"{name} takes no options, so {option!r} is none.")
    if option not in known:
        raise ValueError(f"{name} has no option {option!r}; {nearest(option, known)}")
