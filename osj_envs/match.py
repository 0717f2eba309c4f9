"""Plays an episode step by step on the host, with any mixture of players.

Traceable players act in compiled batches, as in a rollout; host players (a language model, a human)
are asked at the same time, each with its own view. A roster of traceable players leaves the same
record here as in `osj_envs.rollout`, given the same key.
"""

import asyncio
import copy
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jaxtyping import Array, Float32, Int, Int32

from osj_envs import table as tables
from osj_envs.records import EpisodeRecord
from osj_envs.seats import HostPolicy, Policy, Privileged, SeatView
from osj_envs.table import Memory, Running, Table
from osj_envs.trials import MultiTrial
from osj_envs.types import Info, Key, Latent

MixedRoster: TypeAlias = Sequence[Policy | HostPolicy]
"""The player of each seat, traceable or not."""


@struct.dataclass
class Step:
    """What a step brought, in NumPy, players first.

    Attributes:
        trial: that it belongs to.
        step: its index within the trial.
        trial_done: it is the trial's last.
        actions: of each player.
        rewards: of each player.
        returns: so far in each trial, by player.
    """

    trial: int
    step: int
    trial_done: bool
    actions: Int32[np.ndarray, "players"]
    rewards: Float32[np.ndarray, "players"]
    returns: Float32[np.ndarray, "trials players"]


OnStep: TypeAlias = Callable[[Step], None]


@dataclass(frozen=True)
class _Programs:
    """What is compiled, once for a match."""

    start: Callable[..., tuple[Running, Any]]
    keys: Callable[..., Key]
    decide: Callable[..., tuple[SeatView, tuple[Any, ...], Int32[Array, "players"], Any, Any]]
    advance: Callable[..., tuple[Running, Info]]


class Match:
    """An environment and a roster, compiled once for any number of episodes."""

    def __init__(self, env: MultiTrial, roster: MixedRoster) -> None:
        """Raises ValueError: the roster has not one player a seat."""
        if len(roster) != env.num_agents:
            raise ValueError(f"The roster has {len(roster)} players for {env.num_agents} seats.")
        self.env = tables.one_episode(env)
        self._hosts = {
            place: cast(HostPolicy, player)
            for place, player in enumerate(roster)
            if not player.is_traceable
        }
        traceable = {place: player for place, player in enumerate(roster) if player.is_traceable}
        distinct = {id(player): player for player in traceable.values()}
        self._players = tuple(_on_device(cast(Policy, player)) for player in distinct.values())
        self._places = tuple(
            tuple(place for place, player in traceable.items() if id(player) == each)
            for each in distinct
        )
        self._programs = self._compile()

    def with_hosts(self, hosts: Mapping[int, HostPolicy]) -> "Match":
        """The same compiled programs with other host players, by their place in the roster.

        Raises:
            ValueError: they are in other places than those of this match.
        """
        if hosts.keys() != self._hosts.keys():
            raise ValueError(
                f"Host players sit in places {sorted(self._hosts)}, not {sorted(hosts)}."
            )
        other = copy.copy(self)
        other._hosts = dict(sorted(hosts.items()))
        return other

    async def play(
        self,
        key: Key,
        latent: Latent,
        shift: int | Int[Array, ""] = 0,
        on_step: OnStep | None = None,
    ) -> EpisodeRecord:
        """Plays one episode to its end.

        Args:
            key: of all chance in the episode.
            latent: the problem.
            shift: seats player p at (p + shift) mod N.
            on_step: is told of every step.

        Returns:
            The record, in NumPy.

        Raises:
            Exception: what a host player raises, once all others of its step have answered.
        """
        seat = (jnp.arange(self.env.num_agents) + shift) % self.env.num_agents
        reset_key, carry_key, play_key = jax.random.split(key, 3)
        running, host_keys = self._programs.start(reset_key, carry_key, latent, seat)
        carries = {
            place: _initial_carry(player, host_keys[place], latent)
            for place, player in self._hosts.items()
        }
        all_keys = self._programs.keys(play_key)
        for index in range(self.env.episode_length):
            views, traced, chosen, keys, env_key = self._programs.decide(
                running, all_keys, index, seat
            )
            carries, actions = await self._ask(carries, views, chosen, keys)
            running, info = self._programs.advance(running, traced, actions, env_key, seat)
            carries = await self._tell(carries, running, info)
            if on_step is not None:
                on_step(_told(running, info, actions))
            if bool(running.state.done):
                break
        return cast(EpisodeRecord, jax.device_get(tables.to_record(self._table(seat), running)))

    def _table(self, seat: Int32[Array, "players"]) -> Table:
        return Table(self.env, self._players, self._places, seat, wipes=False)

    def _compile(self) -> _Programs:
        @jax.jit
        def start(
            reset_key: Key, carry_key: Key, latent: Latent, seat: Array
        ) -> tuple[Running, Key]:
            table = self._table(seat)
            memory = tables.initial_memory(table, carry_key, latent)
            host_keys = jax.random.split(carry_key, self.env.num_agents)
            return tables.begin(table, memory, reset_key, latent), host_keys

        @jax.jit
        def keys(key: Key) -> Key:
            return tables.keys_of_steps(self.env, key)

        @jax.jit
        def decide(running: Running, all_keys: Key, index: Array, seat: Array) -> Any:
            table, memory = self._table(seat), running.memory
            env_key, keys = all_keys[index, 0], all_keys[index, 1:]
            views = tables.seat_views(table, memory, running)
            carries, actions = tables.act(table, memory.carries, views, running.state, keys)
            return views, carries, actions, keys, env_key

        @jax.jit
        def advance(
            running: Running, carries: Any, actions: Array, key: Key, seat: Array
        ) -> tuple[Running, Info]:
            memory: Memory = running.memory
            return tables.advance(
                self._table(seat), running, memory.evidence, carries, actions, key
            )

        return _Programs(start, keys, decide, advance)

    async def _ask(
        self, carries: dict[int, Any], views: SeatView, actions: Array, keys: Key
    ) -> tuple[dict[int, Any], Int32[np.ndarray, "players"]]:
        """The host players' carries and the actions of all."""
        chosen = np.array(actions)
        if not self._hosts:
            return carries, chosen
        shown = jax.device_get(views)
        answers = await _all_of(
            player.act(carries[place], _of(shown, place), keys[place])
            for place, player in self._hosts.items()
        )
        acted = {}
        for place, (carry, decision) in zip(self._hosts, answers, strict=True):
            acted[place], chosen[place] = carry, int(decision.action)
        return acted, chosen

    async def _tell(self, carries: dict[int, Any], running: Running, info: Info) -> dict[int, Any]:
        """The host players' carries, told what came of their actions."""
        if not self._hosts:
            return carries
        outcome, trial_done, trial = jax.device_get((info.outcome, info.trial_done, info.trial))
        told = {
            place: player.see(carries[place], _of(outcome, place))
            for place, player in self._hosts.items()
        }
        if not trial_done:
            return told
        evidence = jax.device_get(running.memory.evidence)
        ended = await _all_of(
            player.end_trial(told[place], int(trial), _of(evidence, place))
            for place, player in self._hosts.items()
        )
        return dict(zip(self._hosts, ended, strict=True))


async def _all_of(calls: Any) -> list[Any]:
    """All answers; the first failure is raised only when every call has ended, so none is lost."""
    answers = await asyncio.gather(*cast(list[Awaitable[Any]], list(calls)), return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return answers


def _on_device(player: Policy) -> Policy:
    """The player with arrays that compiled code takes; one that is no pytree as it is."""
    moved: Policy = jax.tree.map(
        lambda leaf: jnp.asarray(leaf) if isinstance(leaf, np.ndarray) else leaf, player
    )
    return moved


def _initial_carry(player: HostPolicy, key: Key, latent: Latent) -> Any:
    carry = player.initial_carry(key)
    return player.told(carry, jax.device_get(latent)) if isinstance(player, Privileged) else carry


def _of(tree: Any, place: int) -> Any:
    """One player's part."""
    return jax.tree.map(lambda leaf: leaf[place], tree)


def _told(running: Running, info: Info, actions: Int32[np.ndarray, "players"]) -> Step:
    told = (info.trial, info.step, info.trial_done, running.memory.last_reward)
    trial, step, trial_done, rewards = jax.device_get(told)
    returns = np.asarray(running.tally.returns)
    return Step(int(trial), int(step), bool(trial_done), actions, rewards, returns)
