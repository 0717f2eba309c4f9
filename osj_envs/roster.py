"""Rosters from configuration: each player is named by the `_target_` of its factory."""

from collections.abc import Mapping
from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate

from osj_envs.seats import Policy


def make_roster(seats: Mapping[str, Any], num_agents: int) -> list[Policy]:
    """The players of a file of `configs/seats`.

    Args:
        seats: one player for every seat, or under `players` a list of one for each. A player
            names its factory as `_target_`, which is called with its other entries. Equal entries
            make one player, whose seats act in one batch.
        num_agents: seats to fill.

    Raises:
        ValueError: the list does not fit the seats, or a factory refused its entries.
    """
    entries = list(seats.get("players") or [seats] * num_agents)
    if len(entries) != num_agents:
        raise ValueError(
            f"The roster has {len(entries)} players for {num_agents} seats; set env.num_agents to "
            f"{len(entries)}, or take another roster."
        )
    distinct = [entry for place, entry in enumerate(entries) if entry not in entries[:place]]
    built = [_build(entry) for entry in distinct]
    return [built[distinct.index(entry)] for entry in entries]


def _build(entry: Mapping[str, Any]) -> Policy:
    try:
        policy: Policy = instantiate(dict(entry))
    except InstantiationException as error:
        raise ValueError(str(error.__cause__ or error).splitlines()[0]) from error
    return policy
