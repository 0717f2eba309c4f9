"""Stand-ins for environments, so that the protocol around them can be tested by itself."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jaxtyping import Array, Float, Int, UInt8, UInt32

from osj_envs.env import Environment
from osj_envs.specs import BoxSpec
from osj_envs.types import Clock, Key, Observation, Split, WorldStep


def key_words(key: Key) -> UInt32[Array, "words"]:
    """A random key's words, whether it is typed or raw."""
    return jax.random.key_data(key) if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else key


@struct.dataclass
class CountingLatent:
    """The words of the key that drew it, and after how many steps a trial is over."""

    key: UInt32[Array, "words"]
    length: Int[Array, ""]


@struct.dataclass
class CountingWorld:
    """The words of the key that laid it, the steps since, and the sum of each agent's actions."""

    key: UInt32[Array, "words"]
    count: Int[Array, ""]
    total: Int[Array, "agents"]


@struct.dataclass
class CountingOutcome:
    """What each agent is told: its reward."""

    reward: Float[Array, "agents"]


class CountingGame(Environment):
    """A game of which every number is known beforehand, and which compiles in no time.

    In step n of a trial, from 0, agent i is paid (n + 1) * 10 ** i, whatever it does. A trial is
    over after a number of steps that the latent says, uniform from `shortest` to `longest`.
    Observation: `view` holds the step, `own` the trial, the step, the steps counted by the world
    and the sum of one's actions.
    """

    name = "counting"
    version = 1
    num_actions = 3
    painted_codes = 2

    def __init__(self, num_agents: int = 2, shortest: int = 99, longest: int = 99) -> None:
        """Trials last `shortest` to `longest` steps, if the protocol does not cut them off."""
        self.num_agents = num_agents
        self.shortest = shortest
        self.longest = longest

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """The constructor's options."""
        return ("num_agents", "shortest", "longest")

    def sample_latent(self, key: Key, split: Split = "train") -> CountingLatent:
        """Draws the length; held-out latents have a negative one, so that they can be told."""
        length = jax.random.randint(key, (), self.shortest, self.longest + 1, jnp.int32)
        return CountingLatent(key=key_words(key), length=length if split == "train" else -length)

    def lay_world(self, key: Key, latent: CountingLatent) -> CountingWorld:
        """Nothing counted yet."""
        total = jnp.zeros(self.num_agents, jnp.int32)
        return CountingWorld(key=key_words(key), count=jnp.int32(0), total=total)

    def step_world(
        self,
        key: Key,
        latent: CountingLatent,
        world: CountingWorld,
        step: Int[Array, ""],
        actions: Int[Array, "agents"],
    ) -> WorldStep:
        """Counts on, and pays."""
        reward = (step + 1.0) * 10.0 ** jnp.arange(self.num_agents)
        count = world.count + 1
        return WorldStep(
            world=replace(world, count=count, total=world.total + actions),
            reward=reward,
            outcome=CountingOutcome(reward=reward),
            events={"acted": jnp.ones(self.num_agents)},
            is_over=count >= abs(latent.length),
        )

    def observe(self, world: CountingWorld, clock: Clock) -> Observation:
        """The clock, the count and the sums."""
        shared = jnp.stack([clock.trial, clock.step, world.count])
        own = jnp.concatenate(
            [jnp.broadcast_to(shared, (self.num_agents, 3)), world.total[:, None]], axis=1
        )
        view = jnp.broadcast_to(clock.step.astype(jnp.uint8), (self.num_agents, 2, 3, 1))
        return Observation(view=view, own=own.astype(jnp.float32))

    def initial_evidence(self) -> Int[Array, ""]:
        """No step seen."""
        return jnp.int32(0)

    def update_evidence(
        self,
        evidence: Int[Array, ""],
        observation: Observation,
        action: Int[Array, ""],
        next_observation: Observation,
        outcome: Any,
    ) -> Int[Array, ""]:
        """One more step seen."""
        return evidence + 1

    def evidence_features(
        self, evidence: Int[Array, ""], observation: Observation
    ) -> Float[Array, "features"]:
        """The steps seen."""
        return evidence[None].astype(jnp.float32)

    def paint_evidence(
        self, evidence: Int[Array, ""], observation: Observation
    ) -> UInt8[Array, "rows cols"]:
        """Whether any step was seen, on every cell."""
        return jnp.full((2, 3), evidence > 0, jnp.uint8)

    def knowledge(
        self, evidence: Int[Array, ""], latent: CountingLatent
    ) -> dict[str, Float[Array, ""]]:
        """The steps seen."""
        return {"steps_seen": evidence.astype(jnp.float32)}

    def reveal(self, latent: CountingLatent) -> Float[Array, "features"]:
        """The length."""
        return latent.length[None].astype(jnp.float32)

    @property
    def view_spec(self) -> BoxSpec:
        """One plane of steps."""
        return BoxSpec((2, 3, 1), np.dtype(np.uint8), 0, 255)

    @property
    def own_spec(self) -> BoxSpec:
        """Trial, step, count and sum."""
        return BoxSpec((4,), np.dtype(np.float32), -np.inf, np.inf)

    def describe(self, latent: CountingLatent, world: CountingWorld, clock: Clock) -> str:
        """The count."""
        return f"{world.count} steps counted"

    def render(self, world: CountingWorld, cell_pixels: int) -> UInt8[np.ndarray, "h w 3"]:
        """A grey picture, the lighter the later."""
        return np.full((2 * cell_pixels, 3 * cell_pixels, 3), int(world.count) % 256, np.uint8)


def _worn(leaf: Array) -> Array:
    return ~leaf if leaf.dtype == bool else leaf + jnp.ones_like(leaf)


@struct.dataclass
class Marked:
    """Something drawn, with the words of the key that drew it."""

    content: Any
    key: UInt32[Array, "words"]


class Recorder:
    """Any game, with latents and worlds that remember the keys that drew them.

    A test can then draw the same again and compare, without knowing how keys are split on the way.
    """

    def __init__(self, game: Environment, wears: bool = False) -> None:
        """`game` does all the rest.

        A world that wears has every leaf changed by every step, and never ends a trial early.
        """
        self.game = game
        self.wears = wears

    def __getattr__(self, name: str) -> Any:
        """Whatever is not marked is the game's."""
        return getattr(self.game, name)

    def sample_latent(self, key: Key, split: Split = "train") -> Marked:
        """The game's, marked."""
        return Marked(content=self.game.sample_latent(key, split), key=key_words(key))

    def lay_world(self, key: Key, latent: Marked) -> Marked:
        """The game's, marked."""
        return Marked(content=self.game.lay_world(key, latent.content), key=key_words(key))

    def step_world(
        self,
        key: Key,
        latent: Marked,
        world: Marked,
        step: Int[Array, ""],
        actions: Int[Array, "agents"],
    ) -> WorldStep:
        """The game's; the mark stays that of the trial's start."""
        played = self.game.step_world(key, latent.content, world.content, step, actions)
        if self.wears:
            worn = jax.tree.map(_worn, played.world)
            played = replace(played, world=worn, is_over=jnp.zeros_like(played.is_over))
        return replace(played, world=Marked(content=played.world, key=world.key))

    def observe(self, world: Marked, clock: Clock) -> Observation:
        """The game's."""
        return self.game.observe(world.content, clock)
