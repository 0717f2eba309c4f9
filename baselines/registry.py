"""Scripted players by name."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import osj_envs
from baselines import simple
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
    "stay": Entry(simple.make_stay, games=("cleanup",)),
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
