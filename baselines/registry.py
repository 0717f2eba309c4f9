"""Scripted players by name."""

import dataclasses
import difflib
from collections.abc import Callable
from typing import Any

from baselines import simple
from osj_envs.seats import Policy
from osj_envs.trials import MultiTrial


@dataclasses.dataclass(frozen=True)
class Entry:
    """A scripted player.

    Attributes:
        build: makes it for an environment.
        games: ids of the environments that it plays, or None for all.
    """

    build: Callable[[MultiTrial], Any]
    games: tuple[str, ...] | None = None


_ENTRIES = {
    "random": Entry(simple.make_random),
    "stay": Entry(simple.make_stay, games=("cleanup",)),
}


def list_names(game: str) -> tuple[str, ...]:
    """The players of a game, by its id."""
    return tuple(
        name for name, entry in _ENTRIES.items() if entry.games is None or game in entry.games
    )


def make(name: str, env: MultiTrial) -> Policy:
    """The player called `name`, built for an environment.

    Raises:
        ValueError: the environment has no such player.
    """
    known = list_names(env.name)
    if name not in known:
        best = difflib.get_close_matches(str(name), known, n=1, cutoff=0.0)[0]
        raise ValueError(
            f"{env.name} has no scripted policy {name!r}; did you mean {best!r}? "
            f"Known: {', '.join(known)}."
        )
    policy: Policy = _ENTRIES[name].build(env)
    return policy
