"""The actor-critic: encoders over a whole chunk, a recurrence over its time, and heads."""

import dataclasses
import functools
import math

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt8

from algorithms.config import AgentConfig
from algorithms.records import AgentInput, NetworkOutput
from algorithms.recurrence import GRU, LRU
from osj_envs.env import Environment
from osj_envs.grid.codes import Plane
from osj_envs.types import Observation

JOINT_PLANES = ((Plane.ITEM, Plane.COLOUR), (Plane.AGENT, Plane.HEADING))
"""Planes that share one table of embeddings, because one means little without the other."""


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What a network must know of its environment; hashable.

    Attributes:
        plane_codes: how many codes each plane of the view has, the painted one included.
        num_actions: size of the action set.
        record: features of the evidence record, 0 where it is not kept.
    """

    plane_codes: tuple[int, ...]
    num_actions: int
    record: int


class ViewEncoder(nn.Module):
    """Each cell's codes become a vector; one dense layer reads all cells.

    Planes that are no part of `JOINT_PLANES` have a table of their own; the tables' vectors add up.
    """

    plane_codes: tuple[int, ...]
    embedding_size: int
    features: int

    @nn.compact
    def __call__(self, view: UInt8[Array, "*batch rows cols planes"]) -> Float[Array, "*batch out"]:
        """The view as `features` numbers."""
        vectors = [self._embed(view, planes) for planes in self._groups()]
        flat = functools.reduce(jnp.add, vectors).reshape(*view.shape[:-3], -1)
        return nn.relu(_dense(self.features, "cells")(flat))

    def _groups(self) -> tuple[tuple[int, ...], ...]:
        planes = range(len(self.plane_codes))
        joint = [tuple(int(p) for p in group) for group in JOINT_PLANES if max(group) in planes]
        alone = [(plane,) for plane in planes if not any(plane in group for group in joint)]
        return (*joint, *alone)

    def _embed(self, view: Array, planes: tuple[int, ...]) -> Float[Array, "*batch rows cols out"]:
        sizes = [self.plane_codes[plane] for plane in planes]
        code = jnp.zeros(view.shape[:-1], jnp.int32)
        for plane, size in zip(planes, sizes, strict=True):
            code = code * size + view[..., plane]
        name = "codes_" + "_".join(map(str, planes))
        shape = (math.prod(sizes), self.embedding_size)
        table = self.param(name, nn.initializers.normal(0.5), shape)
        return table.at[code].get(mode="clip")


class ActorCritic(nn.Module):
    """The policy and value of one agent, shared by all; see `algorithms.config.AgentConfig`."""

    config: AgentConfig
    sizes: Sizes

    @nn.compact
    def __call__(
        self, hidden: Float[Array, "actors hidden"], inputs: AgentInput
    ) -> tuple[Float[Array, "actors hidden"], NetworkOutput]:
        """The recurrent state after a chunk, and the answers to its steps (time, actors)."""
        hidden, core = self._remember(hidden, self._encode(inputs), inputs)
        record = self._predict("record", core, self.sizes.record, self.config.record_loss)
        if self.config.reads_own_record:
            core = jnp.concatenate([core, self._read_record(jnp.tanh(record / 2))], axis=-1)
        events = self._predict("event", core, self.sizes.num_actions, self.config.event_loss)
        return hidden, NetworkOutput(
            logits=self._head("policy", core, self.sizes.num_actions, scale=0.01),
            value=self._head("value", core, 1, scale=1.0)[..., 0],
            record_logits=record,
            event_logits=events,
        )

    def _encode(self, inputs: AgentInput) -> Float[Array, "time actors features"]:
        config = self.config
        view = ViewEncoder(self.sizes.plane_codes, config.embedding_size, config.view_size)
        parts = [
            view(inputs.view),
            nn.relu(_dense(config.own_size, "own")(inputs.own)),
            nn.one_hot(inputs.last_action, self.sizes.num_actions),
            inputs.last_reward[..., None],
            inputs.is_first_of_trial[..., None].astype(jnp.float32),
        ]
        if config.reads_record:
            parts.append(self._read_record(inputs.record))
        if config.told_rules:
            parts.append(nn.relu(_dense(config.record_size, "rules")(inputs.rules)))
        return jnp.concatenate(parts, axis=-1)

    def _read_record(self, record: Array) -> Array:
        return nn.relu(_dense(self.config.record_size, "read_record")(record))

    def _remember(
        self, hidden: Array, features: Array, inputs: AgentInput
    ) -> tuple[Array, Float[Array, "time actors core"]]:
        size = self.config.hidden_size
        if self.config.recurrence is None:
            return hidden, nn.relu(_dense(size, "core")(features))
        recurrence = {"gru": GRU, "lru": LRU}[self.config.recurrence]
        return recurrence(size)(hidden, features, inputs.forgets)

    def _predict(self, name: str, core: Array, outputs: int, weight: float) -> Array:
        """Logits of an auxiliary target; none where its loss has no weight."""
        if not weight:
            return jnp.zeros((*core.shape[:-1], 0), core.dtype)
        return nn.Dense(outputs, name=name)(core)

    def _head(self, name: str, core: Array, outputs: int, scale: float) -> Array:
        inner = nn.relu(_dense(self.config.head_size, f"{name}_hidden")(core))
        return _dense(outputs, name, scale)(inner)


def network_sizes(config: AgentConfig, game: Environment) -> Sizes:
    """What `ActorCritic` must know of the environment's physics `game`."""
    highest = np.broadcast_to(game.view_spec.high, game.view_spec.shape[-1:])
    codes = [int(code) + 1 for code in highest]
    if config.reads_record:
        codes.append(game.painted_codes)
    record = record_size(game) if config.keeps_record else 0
    return Sizes(tuple(codes), game.num_actions, record)


def record_size(game: Environment) -> int:
    """Features of the evidence record."""
    view = jnp.zeros(game.view_spec.shape, game.view_spec.dtype)
    own = jnp.zeros(game.own_spec.shape, game.own_spec.dtype)
    observation = Observation(view=view, own=own)
    record = jax.eval_shape(lambda: game.evidence_features(game.initial_evidence(), observation))
    return record.shape[0]


def _dense(features: int, name: str, scale: float = math.sqrt(2.0)) -> nn.Dense:
    return nn.Dense(features, kernel_init=nn.initializers.orthogonal(scale), name=name)
