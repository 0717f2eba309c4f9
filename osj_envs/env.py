"""The contract of an environment: one trial's physics, knowing nothing of trials and episodes."""

import abc
from typing import Any

import numpy as np
from jaxtyping import Array, Float, Int, UInt8

from osj_envs.specs import BoxSpec, DiscreteSpec
from osj_envs.types import Clock, Evidence, Key, Latent, Observation, Split, World, WorldStep


class Environment(abc.ABC):
    """Physics of one environment; `osj_envs.trials.MultiTrial` puts trials and episodes around it.

    Every method is pure, and all but `describe` and `render` can be jitted and vmapped.

    Attributes:
        name: the id in the registry.
        version: rises when behaviour does, and only then.
        num_agents: seats.
        num_actions: size of the action set.
    """

    name: str
    version: int
    num_agents: int
    num_actions: int

    @abc.abstractmethod
    def sample_latent(self, key: Key, split: Split = "train") -> Latent:
        """Draws everything that stays hidden and fixed for an episode."""

    @abc.abstractmethod
    def lay_world(self, key: Key, latent: Latent) -> World:
        """Lays the world as a trial starts."""

    @abc.abstractmethod
    def step_world(
        self,
        key: Key,
        latent: Latent,
        world: World,
        step: Int[Array, ""],
        actions: Int[Array, "agents"],
    ) -> WorldStep:
        """All agents act at once; `step` is the index of this step within the trial."""

    @abc.abstractmethod
    def observe(self, world: World, clock: Clock) -> Observation:
        """What each agent sees; the latent is not at hand here, so it cannot leak."""

    @abc.abstractmethod
    def initial_evidence(self) -> Evidence:
        """One agent's record of its own experience, as an episode starts."""

    @abc.abstractmethod
    def update_evidence(
        self,
        evidence: Evidence,
        observation: Observation,
        action: Int[Array, ""],
        next_observation: Observation,
        outcome: Any,
    ) -> Evidence:
        """The record after one step, from one agent's own view and outcome alone.

        `next_observation` is the one before any reset.
        """

    @abc.abstractmethod
    def evidence_features(
        self, evidence: Evidence, observation: Observation
    ) -> Float[Array, "features"]:
        """One agent's record as numbers."""

    @abc.abstractmethod
    def paint_evidence(
        self, evidence: Evidence, observation: Observation
    ) -> UInt8[Array, "rows cols"]:
        """What the record says of each cell in view, 0 .. `painted_codes` - 1; 0 for nothing."""

    @property
    @abc.abstractmethod
    def painted_codes(self) -> int:
        """How many codes `paint_evidence` uses."""

    @abc.abstractmethod
    def knowledge(self, evidence: Evidence, latent: Latent) -> dict[str, Float[Array, ""]]:
        """How much of the hidden rules one agent's record has established, by name.

        For the metrics alone: the latent says how much there is to know.
        """

    @abc.abstractmethod
    def reveal(self, latent: Latent) -> Float[Array, "features"]:
        """The hidden rules as numbers, for the control that is told them (an upper bound)."""

    @property
    @abc.abstractmethod
    def view_spec(self) -> BoxSpec:
        """Shape, dtype and code range of one agent's view."""

    @property
    @abc.abstractmethod
    def own_spec(self) -> BoxSpec:
        """Shape, dtype and range of what one agent knows of itself."""

    @property
    def action_spec(self) -> DiscreteSpec:
        """The actions of one agent."""
        return DiscreteSpec(self.num_actions)

    @classmethod
    @abc.abstractmethod
    def option_names(cls) -> tuple[str, ...]:
        """The constructor's options."""

    @abc.abstractmethod
    def describe(self, latent: Latent, world: World, clock: Clock) -> str:
        """The board as text for a person, hidden rules included."""

    @abc.abstractmethod
    def render(self, world: World, cell_pixels: int) -> UInt8[np.ndarray, "height width 3"]:
        """The board as an RGB picture."""
