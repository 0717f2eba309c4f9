"""Probe environments: tiny games of known value, each of which needs one ability of a learner.

No two of their sizes are equal where it matters: all are different primes.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jaxtyping import Array, Float, Int, UInt8

from osj_envs.env import Environment
from osj_envs.specs import BoxSpec
from osj_envs.types import Clock, Key, Observation, WorldStep

ROWS, COLS, PLANES, OWN = 5, 3, 2, 2


@struct.dataclass
class Outcome:
    reward: Float[Array, "agents"]


@struct.dataclass
class World:
    """`shown` is what each agent sees: 0 for nothing, else 1 + a symbol."""

    shown: Int[Array, "agents"]


class Probe(Environment):
    """What probes have in common: each agent sees one symbol, the step and the trial."""

    name = "probe"
    version = 1
    painted_codes = 2

    def __init__(self, num_agents: int = 2, num_actions: int = 3) -> None:
        self.num_agents = num_agents
        self.num_actions = num_actions

    def sample_latent(self, key: Key, split: str = "train") -> Int[Array, "agents"]:
        return jax.random.randint(key, (self.num_agents,), 0, self.num_actions)

    def lay_world(self, key: Key, latent: Array) -> World:
        return World(shown=jnp.zeros((self.num_agents,), jnp.int32))

    def observe(self, world: World, clock: Clock) -> Observation:
        view = jnp.zeros((self.num_agents, ROWS, COLS, PLANES), jnp.uint8)
        view = view.at[:, 1, 2, 0].set(world.shown.astype(jnp.uint8))
        own = jnp.stack([clock.step, clock.trial]).astype(jnp.float32) / 10.0
        return Observation(view=view, own=jnp.broadcast_to(own, (self.num_agents, OWN)))

    def result(self, world: World, reward: Float[Array, "agents"]) -> WorldStep:
        return WorldStep(
            world=world,
            reward=reward,
            outcome=Outcome(reward=reward),
            events={"paid": (reward > 0).astype(jnp.float32)},
            is_over=jnp.bool_(False),
        )

    def reveal(self, latent: Array) -> Float[Array, "features"]:
        return jax.nn.one_hot(latent, self.num_actions).reshape(-1)

    @property
    def view_spec(self) -> BoxSpec:
        return BoxSpec((ROWS, COLS, PLANES), np.dtype(np.uint8), 0, (float(self.num_actions), 1.0))

    @property
    def own_spec(self) -> BoxSpec:
        return BoxSpec((OWN,), np.dtype(np.float32), 0.0, np.inf)

    def describe(self, latent: Array, world: World, clock: Clock) -> str:
        return f"{self.name}: {latent} {world} {clock}"

    def render(self, world: World, cell_pixels: int) -> UInt8[np.ndarray, "height width 3"]:
        return np.zeros((cell_pixels, cell_pixels, 3), np.uint8)

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        return ("num_agents", "num_actions")

    def knowledge(self, evidence: Array, latent: Any) -> dict[str, Float[Array, ""]]:
        return {"symbols_known": (evidence > 0).sum().astype(jnp.float32)}

    def initial_evidence(self) -> Float[Array, "actions"]:
        return jnp.zeros((self.num_actions,))

    def evidence_features(
        self, evidence: Array, observation: Observation
    ) -> Float[Array, "features"]:
        return evidence

    def paint_evidence(
        self, evidence: Array, observation: Observation
    ) -> UInt8[Array, "rows cols"]:
        return jnp.full((ROWS, COLS), (evidence > 0).any(), jnp.uint8)


class Echo(Probe):
    """Pays 1 for the symbol that an agent sees now: no memory needed.

    Every agent sees a symbol of its own, so agents that were mixed up would lose.
    """

    name = "echo"

    def lay_world(self, key: Key, latent: Array) -> World:
        return World(shown=self._draw(key))

    def step_world(self, key, latent, world, step, actions) -> WorldStep:
        paid = (actions + 1 == world.shown).astype(jnp.float32)
        return self.result(World(shown=self._draw(key)), paid)

    def update_evidence(self, evidence, observation, action, next_observation, outcome) -> Array:
        return evidence

    def _draw(self, key: Key) -> Int[Array, "agents"]:
        return 1 + jax.random.randint(key, (self.num_agents,), 0, self.num_actions)


class Payday(Probe):
    """Pays 1 with the last step of a trial and else nothing, whatever is done."""

    name = "payday"

    def __init__(self, trial_length: int, num_agents: int = 2) -> None:
        super().__init__(num_agents)
        self.trial_length = trial_length

    def step_world(self, key, latent, world, step, actions) -> WorldStep:
        is_last = jnp.full((self.num_agents,), step == self.trial_length - 1, jnp.float32)
        return self.result(world, is_last)

    def update_evidence(self, evidence, observation, action, next_observation, outcome) -> Array:
        return evidence


class Recall(Probe):
    """Pays 1 for the hidden symbol, with a trial's first step; only the first trial shows it.

    It takes a memory that outlives trials: the record holds the symbol that was seen.
    """

    name = "recall"

    def lay_world(self, key: Key, latent: Array) -> World:
        return World(shown=1 + latent)

    def observe(self, world: World, clock: Clock) -> Observation:
        is_shown = (clock.trial == 0) & (clock.step == 0)
        return super().observe(World(shown=jnp.where(is_shown, world.shown, 0)), clock)

    def step_world(self, key, latent, world, step, actions) -> WorldStep:
        return self.result(world, ((actions == latent) & (step == 0)).astype(jnp.float32))

    def update_evidence(self, evidence, observation, action, next_observation, outcome) -> Array:
        seen = observation.view[1, 2, 0].astype(jnp.int32)
        return jnp.maximum(evidence, jax.nn.one_hot(seen - 1, self.num_actions))


class HiddenArm(Probe):
    """Pays 1 for the hidden arm with every step, and never shows it: explore, then exploit.

    The record holds which arms have paid (1) and which have not (-1).
    """

    name = "hidden_arm"

    def step_world(self, key, latent, world, step, actions) -> WorldStep:
        return self.result(world, (actions == latent).astype(jnp.float32))

    def update_evidence(self, evidence, observation, action, next_observation, outcome) -> Array:
        sign = jnp.where(outcome.reward > 0, 1.0, -1.0)
        return jnp.where(jnp.arange(self.num_actions) == action, sign, evidence)
