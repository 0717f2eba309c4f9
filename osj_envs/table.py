"""An episode in progress, and how its players act in it: what both runners are made of."""

import dataclasses
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jaxtyping import Array, Bool, Float32, Int32

from osj_envs import tally as tallies
from osj_envs.env import Environment
from osj_envs.records import EpisodeRecord
from osj_envs.seats import (
    NO_ACTION,
    InsideView,
    Policy,
    Privileged,
    SeatView,
    SeesState,
)
from osj_envs.tally import StepCounts, Tally
from osj_envs.trials import MultiTrial
from osj_envs.types import Evidence, Info, Key, Latent, Observation, State

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
    wipes: bool | Bool[Array, ""]


def one_episode(env: MultiTrial) -> MultiTrial:
    """The environment without auto-reset."""
    return MultiTrial(env.game, env.num_trials, env.trial_length, False, env.split)


def keys_of_steps(env: MultiTrial, key: Key) -> Key:
    """For each step of an episode the environment's key, then one for each player.

    All at once: to make few keys takes the generator about as long as to make many.
    """
    return jax.random.split(key, (env.episode_length, 1 + env.num_agents))


def initial_memory(table: Table, key: Key, latent: Latent) -> Memory:
    """What the players carry as an episode starts."""
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


def begin(table: Table, memory: Memory, key: Key, latent: Latent) -> Running:
    """An episode before its first step."""
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


def advance(
    table: Table,
    running: Running,
    evidence: Evidence,
    carries: tuple[Any, ...],
    actions: Int32[Array, "players"],
    key: Key,
) -> tuple[Running, Info]:
    """The episode after all have acted, and what the step told, both by player.

    Args:
        table: who plays.
        running: before the step.
        evidence: each player's record before the step.
        carries: of the traceable players, after they acted.
        actions: of all players.
        key: of the step's chance.
    """
    observation, state, reward, _, info = table.env.step(
        key, running.state, _by_seat(table, actions)
    )
    observation, reward = _by_player(table, (observation, reward))
    told = (info.final_observation, info.outcome, info.events)
    final_observation, outcome, events = _by_player(table, told)
    info = dataclasses.replace(
        info, final_observation=final_observation, outcome=outcome, events=events
    )
    evidence = jax.vmap(table.env.game.update_evidence)(
        evidence, running.observation, actions, final_observation, outcome
    )
    counted = ~running.state.done
    now = StepCounts(info.trial, info.step, counted, info.trial_done, reward, events)
    after = Running(
        observation=observation,
        state=state,
        memory=Memory(carries, evidence, actions, reward),
        tally=tallies.add(running.tally, now),
        knowledge=_snapshot(table.env.game, running, evidence, now),
    )
    return after, info


def seat_views(table: Table, memory: Memory, running: Running) -> SeatView:
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


def act(
    table: Table, carries: tuple[Any, ...], views: SeatView, state: State, keys: Key
) -> tuple[tuple[Any, ...], Int32[Array, "players"]]:
    """Each distinct policy acts for all of its players at once; 0 for those of no policy here."""
    inside = _inside(table, views, state)
    actions = jnp.zeros(table.env.num_agents, jnp.int32)
    after = []
    for policy, places, carry in zip(table.players, table.places, carries, strict=True):
        keys_here = _pick(places, keys)
        if isinstance(policy, SeesState):
            decide = jax.vmap(policy.act, in_axes=(0, _INSIDE_AXES, 0))
            carry, decision = decide(carry, _pick_inside(places, inside), keys_here)
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


def to_record(table: Table, ended: Running) -> EpisodeRecord:
    """What is kept of an episode that has ended."""
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
