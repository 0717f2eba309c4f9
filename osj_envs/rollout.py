"""Plays a whole episode in one scan, every seat filled by a traceable player."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from osj_envs import table as tables
from osj_envs.records import EpisodeRecord
from osj_envs.seats import Policy, Roster
from osj_envs.table import Memory, Running, Seats, Table
from osj_envs.trials import MultiTrial
from osj_envs.types import Key, Latent


def play(
    env: MultiTrial,
    roster: Policy | Roster,
    key: Key,
    latent: Latent,
    wipe_at_trial: bool | Bool[Array, ""] = False,
    shift: Int[Array, ""] | None = None,
) -> EpisodeRecord:
    """Plays one episode to its end; pure, to be jitted and vmapped.

    Args:
        env: what is played; its `auto_reset` does not matter.
        roster: the player of each seat, or one policy for all. Seats that hold the very same
            object are played in one batch.
        key: of all chance in the episode.
        latent: the problem.
        wipe_at_trial: control: carry, evidence, last action and reward are wiped at every trial's
            start, as at an episode's.
        shift: seats player p at (p + shift) mod N instead of p.

    Raises:
        ValueError: the roster has not one player a seat, or one that is not traceable.
    """
    players, places = group_seats(roster, env.num_agents)
    seat = None if shift is None else (jnp.arange(env.num_agents) + shift) % env.num_agents
    table = Table(tables.one_episode(env), players, places, seat, wipe_at_trial)
    reset_key, carry_key, play_key = jax.random.split(key, 3)
    fresh = tables.initial_memory(table, carry_key, latent)
    start = tables.begin(table, fresh, reset_key, latent)

    def step(running: Running, keys: Key) -> tuple[Running, None]:
        return _step(table, fresh, running, keys), None

    ended, _ = jax.lax.scan(step, start, tables.keys_of_steps(env, play_key))
    return tables.to_record(table, ended)


def group_seats(
    roster: Policy | Roster, num_agents: int
) -> tuple[tuple[Policy, ...], tuple[Seats, ...]]:
    """The distinct policies of a roster, and the places that each of them fills.

    Raises:
        ValueError: the roster has not one player a seat, or one that is not traceable.
    """
    seated = [roster] * num_agents if isinstance(roster, Policy) else list(roster)
    if len(seated) != num_agents:
        raise ValueError(f"The roster has {len(seated)} players for {num_agents} seats.")
    for place, policy in enumerate(seated):
        if not policy.is_traceable:
            raise ValueError(
                f"Player {place}, {type(policy).__name__}, is not traceable; only traceable "
                "policies can play in a scanned rollout."
            )
    distinct = {id(policy): policy for policy in seated}
    places = [tuple(i for i, p in enumerate(seated) if id(p) == each) for each in distinct]
    return tuple(distinct.values()), tuple(places)


def _step(table: Table, fresh: Memory, running: Running, keys: Key) -> Running:
    """All players act once."""
    memory = _wiped(table, fresh, running)
    views = tables.seat_views(table, memory, running)
    carries, actions = tables.act(table, memory.carries, views, running.state, keys[1:])
    return tables.advance(table, running, memory.evidence, carries, actions, keys[0])[0]


def _wiped(table: Table, fresh: Memory, running: Running) -> Memory:
    """The memory before a step, as new at a trial's start where the table wipes."""
    if table.wipes is False:
        return running.memory
    begins = (running.state.clock.step == 0) & table.wipes
    return jax.tree.map(lambda new, old: jnp.where(begins, new, old), fresh, running.memory)
