"""Plays a whole episode in one scan, every seat filled by a traceable player."""

import dataclasses
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jaxtyping import Array, Float32, Int, Int32

from osj_envs import tally as tallies
from osj_envs.env import Environment
from osj_envs.records import EpisodeRecord
from osj_envs.seats import (
    NO_ACTION,
    InsideView,
    Policy,
    Privileged,
    Roster,
    SeatView,
    SeesState,
)
from osj_envs.tally import StepCounts, Tally
from osj_envs.trials import MultiTrial
from osj_envs.types import Evidence, Key, Latent, Observation, State

Seats: TypeAlias = tuple[int, ...]
"""Places in a roster."""

_SHARED: Any = {"state": None}
_INSIDE_AXES = InsideView(
    **{field.name: _SHARED.get(field.name, 0) for field in dataclasses.fields(InsideView)}
)
"""Under `vmap` over players: all but the state has a players axis."""


@struct.dataclass
class Memory:
    """What the players carry from step to step; each leaf has a players axis first.

    Attributes:
        carries: of each distinct policy's players.
        evidence: each player's own record.
        last_action: each player's previous action, or `NO_ACTION`.
        last_reward: what it brought.
    """

    carries: tuple[Any, ...]
    evidence: Evidence
    last_action: Int32[Array, "players"]
    last_reward: Float32[Array, "players"]


@struct.dataclass
class Running:
    """An episode in progress."""

    observation: Observation
    state: State
    memory: Memory
    tally: Tally
    knowledge: dict[str, Float32[Array, "trials players"]]


@dataclasses.dataclass(frozen=True)
class Table:
    """Who plays what, fixed for an episode.

    Attributes:
        env: without auto-reset.
        players: the distinct policies.
        places: the places in the roster that each of them fills.
        seat: the seat of each player, or None where they sit in the roster's order.
        wipes: all that is carried is wiped at every trial's start.
    """

    env: MultiTrial
    players: tuple[Policy, ...]
    places: tuple[Seats, ...]
    seat: Int32[Array, "players"] | None
    wipes: bool


def play(
    env: MultiTrial,
    roster: Policy | Roster,
    key: Key,
    latent: Latent,
    wipe_at_trial: bool = False,
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
    table = Table(_one_episode(env), players, places, seat, wipe_at_trial)
    reset_key, carry_key, play_key = jax.random.split(key, 3)
    fresh = _initial_memory(table, carry_key, latent)
    start = _start(table, fresh, reset_key, latent)

    def step(running: Running, index: Int[Array, ""]) -> tuple[Running, None]:
        return _step(table, fresh, running, jax.random.fold_in(play_key, index)), None

    ended, _ = jax.lax.scan(step, start, jnp.arange(env.episode_length))
    return _to_record(table, ended)


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


def _one_episode(env: MultiTrial) -> MultiTrial:
    return MultiTrial(env.game, env.num_trials, env.trial_length, False, env.split)


def _initial_memory(table: Table, key: Key, latent: Latent) -> Memory:
    count = table.env.num_agents
    evidence = table.env.game.initial_evidence()
    carries = []
    for policy, places in zip(table.players, table.places, strict=True):
        carry = jax.vmap(policy.initial_carry)(_pick(places, jax.random.split(key, count)))
        if isinstance(policy, Privileged):
            carry = jax.vmap(policy.told, in_axes=(0, None))(carry, latent)
        carries.append(carry)
    return Memory(
        carries=tuple(carries),
        evidence=jax.tree.map(lambda x: jnp.broadcast_to(x, (count, *x.shape)), evidence),
        last_action=jnp.full(count, NO_ACTION, jnp.int32),
        last_reward=jnp.zeros(count, jnp.float32),
    )


def _start(table: Table, memory: Memory, key: Key, latent: Latent) -> Running:
    env = table.env
    observation, state = env.reset(key, latent)
    no_actions = jnp.zeros(env.num_agents, jnp.int32)
    *_, info = jax.eval_shape(env.step, key, state, no_actions)
    names = tuple(sorted(info.events))
    knowledge = jax.vmap(env.game.knowledge, in_axes=(0, None))(memory.evidence, latent)
    return Running(
        observation=_by_player(table, observation),
        state=state,
        memory=memory,
        tally=tallies.empty(names, env.num_trials, env.num_agents),
        knowledge=jax.tree.map(lambda x: jnp.zeros((env.num_trials, *x.shape)), knowledge),
    )


def _step(table: Table, fresh: Memory, running: Running, key: Key) -> Running:
    """All players act once."""
    acting_key, env_key = jax.random.split(key)
    memory = _wiped(table, fresh, running)
    views = _seat_views(table, memory, running)
    inside = _inside(table, views, running.state)
    carries, actions = _act(table, memory.carries, views, inside, acting_key)
    played = table.env.step(env_key, running.state, _by_seat(table, actions))
    observation, state, reward, _, info = played
    observation, reward, told = _by_player(table, (observation, reward, info.outcome))
    final_observation, events = _by_player(table, (info.final_observation, info.events))
    evidence = jax.vmap(table.env.game.update_evidence)(
        memory.evidence, running.observation, actions, final_observation, told
    )
    counted = ~running.state.done
    now = StepCounts(info.trial, info.step, counted, info.trial_done, reward, events)
    return Running(
        observation=observation,
        state=state,
        memory=Memory(carries, evidence, actions, reward),
        tally=tallies.add(running.tally, now),
        knowledge=_snapshot(table.env.game, running, evidence, now),
    )


def _wiped(table: Table, fresh: Memory, running: Running) -> Memory:
    """The memory before a step, as new at a trial's start where the table wipes."""
    if not table.wipes:
        return running.memory
    begins = running.state.clock.step == 0
    return jax.tree.map(lambda new, old: jnp.where(begins, new, old), fresh, running.memory)


def _seat_views(table: Table, memory: Memory, running: Running) -> SeatView:
    """What each player is given; players first."""
    count, clock = table.env.num_agents, running.state.clock
    first_of_trial = jnp.broadcast_to(clock.step == 0, (count,))
    forgets = first_of_trial & (table.wipes | (clock.trial == 0))
    return SeatView(
        observation=running.observation,
        evidence=memory.evidence,
        legal_actions=jnp.ones((count, table.env.num_actions), jnp.bool_),
        last_action=memory.last_action,
        last_reward=memory.last_reward,
        trial=jnp.broadcast_to(clock.trial, (count,)),
        is_first_of_trial=first_of_trial,
        is_first_of_episode=forgets,
    )


def _inside(table: Table, views: SeatView, state: State) -> InsideView:
    """The views with all that is hidden, for those players alone that ask for it."""
    count = table.env.num_agents
    seat = jnp.arange(count, dtype=jnp.int32) if table.seat is None else table.seat
    return InsideView(**vars(views), state=state, seat=seat)


def _act(
    table: Table, carries: tuple[Any, ...], views: SeatView, inside: InsideView, key: Key
) -> tuple[tuple[Any, ...], Int32[Array, "players"]]:
    """Each distinct policy acts for all of its players at once."""
    keys = jax.random.split(key, table.env.num_agents)
    actions = jnp.zeros(table.env.num_agents, jnp.int32)
    after = []
    for policy, places, carry in zip(table.players, table.places, carries, strict=True):
        keys_here = _pick(places, keys)
        if isinstance(policy, SeesState):
            act = jax.vmap(policy.act, in_axes=(0, _INSIDE_AXES, 0))
            carry, decision = act(carry, _pick_inside(places, inside), keys_here)
        else:
            carry, decision = jax.vmap(policy.act)(carry, _pick(places, views), keys_here)
        actions = actions.at[np.array(places)].set(decision.action.astype(jnp.int32))
        after.append(carry)
    return tuple(after), actions


def _pick_inside(places: Seats, inside: InsideView) -> InsideView:
    """The players at these places, with the one state that they share."""
    own = {name: _pick(places, value) for name, value in vars(inside).items() if name != "state"}
    return InsideView(**own, state=inside.state)


def _pick(places: Seats, tree: Any) -> Any:
    """The players at these places; the tree itself where that is all of them."""
    whole = len(places) == jax.tree.leaves(tree)[0].shape[0]
    return tree if whole else jax.tree.map(lambda x: x[np.array(places)], tree)


def _by_player(table: Table, tree: Any) -> Any:
    """From seat order to the roster's."""
    return tree if table.seat is None else jax.tree.map(lambda x: x[table.seat], tree)


def _by_seat(table: Table, actions: Int32[Array, "players"]) -> Int32[Array, "agents"]:
    """From the roster's order to seat order."""
    return actions if table.seat is None else jnp.zeros_like(actions).at[table.seat].set(actions)


def _snapshot(
    game: Environment,
    running: Running,
    evidence: Evidence,
    now: StepCounts,
) -> dict[str, Float32[Array, "trials players"]]:
    """What the records have established, written down for the trial in progress."""

    def write(old: Array, known: Array) -> Array:
        return jnp.where(tallies.current_trial(old.shape[0], now)[:, None], known, old)

    known = jax.vmap(game.knowledge, in_axes=(0, None))(evidence, running.state.latent)
    return jax.tree.map(write, running.knowledge, known)


def _to_record(table: Table, ended: Running) -> EpisodeRecord:
    tally = ended.tally
    count = table.env.num_agents

    def by_name(sums: Array) -> dict[str, Array]:
        return {name: sums[:, place] for place, name in enumerate(tally.names)}

    return EpisodeRecord(
        returns=tally.returns,
        events=by_name(tally.count),
        early_events=by_name(tally.early),
        effort=by_name(tally.effort),
        first_step=by_name(tally.first_step),
        last_step=by_name(tally.last_step),
        steps=tally.steps,
        trial_length=jnp.int32(table.env.trial_length),
        knowledge=ended.knowledge,
        seat=jnp.arange(count, dtype=jnp.int32) if table.seat is None else table.seat,
    )
