"""Rosters from configuration: each player is named by the `_target_` of its factory."""

import functools
import inspect
from collections.abc import Mapping
from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate

from osj_envs.seats import Policy
from osj_envs.trials import MultiTrial


def make_roster(seats: Mapping[str, Any], env: MultiTrial) -> list[Policy]:
    """The players of a file of `configs/seats`.

    Args:
        seats: one player for every seat, or under `players` a list of one for each. Equal entries
            make one player, whose seats act in one batch.
        env: what is played.

    Raises:
        ValueError: the list does not fit the seats, or a factory refused its entries.
    """
    entries = list(seats.get("players") or [seats] * env.num_agents)
    if len(entries) != env.num_agents:
        raise ValueError(
            f"The roster has {len(entries)} players for {env.num_agents} seats; set "
            f"env.num_agents to {len(entries)}, or take another roster."
        )
    distinct = [entry for place, entry in enumerate(entries) if entry not in entries[:place]]
    built = [make_player(entry, env) for entry in distinct]
    return [built[distinct.index(entry)] for entry in entries]


def make_player(entry: Mapping[str, Any], env: MultiTrial) -> Policy:
    """One player.

    Args:
        entry: names its factory as `_target_`, which is called with the other entries, and with
            what is played where it has a parameter `env` or `game`.
        env: what is played.

    Raises:
        ValueError: there is no such factory, or it refused its entries.
    """
    try:
        factory: functools.partial[Policy] = instantiate({**entry, "_partial_": True})
        offered = {"env": env, "game": env.game}
        wanted = offered.keys() & inspect.signature(factory.func).parameters.keys() - entry.keys()
        return factory(**{name: offered[name] for name in wanted})
    except (InstantiationException, TypeError) as error:
        raise ValueError(str(error.__cause__ or error).splitlines()[0]) from error
