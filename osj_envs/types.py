"""What every environment speaks: keys, observations, and the records of a step."""

from typing import Any, Literal

from flax import struct
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, UInt8, UInt32

Key = PRNGKeyArray | UInt32[Array, "2"]
"""A JAX random key, typed (`jax.random.key`) or raw (`jax.random.PRNGKey`)."""

Split = Literal["train", "held_out", "all"]
"""Which part of the rule sets and layouts a latent is drawn from; "all" is both together."""

Latent = Any
"""A pytree: everything drawn once an episode and hidden from the agents."""

World = Any
"""A pytree: everything of a trial that changes from step to step."""

Evidence = Any
"""A pytree: one agent's record of what its own experience has established."""


@struct.dataclass
class Observation:
    """What the agents see; the agent axis comes first, and is absent in a single seat's view.

    Attributes:
        view: codes of the egocentric window, one plane for each kind of code.
        own: what an agent knows of itself (see the environment's `own_layout`).
    """

    view: UInt8[Array, "*agents rows cols planes"]
    own: Float[Array, "*agents features"]


@struct.dataclass
class Clock:
    """Where an episode stands.

    Attributes:
        trial: index of the trial, from 0.
        step: steps already taken in this trial, from 0.
    """

    trial: Int[Array, ""]
    step: Int[Array, ""]


@struct.dataclass
class WorldStep:
    """One step of a world, before any trial boundary is looked at.

    Attributes:
        world: the world after the step.
        reward: individual rewards, float32.
        outcome: what each agent is told of its own action (agent axis first); has its `reward`.
        events: counts for the metrics by name, float32 with the agent axis first; never seen by a
            policy.
        is_over: nothing that pays can happen in this trial any more.
    """

    world: World
    reward: Float[Array, "agents"]
    outcome: Any
    events: dict[str, Float[Array, "agents"]]
    is_over: Bool[Array, ""]


@struct.dataclass
class State:
    """An episode in progress.

    Attributes:
        latent: fixed for the whole episode, never seen by a policy.
        world: laid anew from the latent at every trial's start.
        clock: trial and step.
        done: the episode has ended and is not reset (only with `auto_reset=False`).
    """

    latent: Latent
    world: World
    clock: Clock
    done: Bool[Array, ""]


@struct.dataclass
class Info:
    """What a step tells besides observation, reward and `done`; fields also by `info["name"]`.

    Attributes:
        trial: the trial that the step belongs to.
        step: the step's index within that trial.
        trial_done: the step was its trial's last.
        final_observation: the observation after the step and before any reset; the returned
            observation is another one exactly where a new trial or episode was begun.
        outcome: what each agent is told of its own action.
        events: counts for the metrics by name.
    """

    trial: Int[Array, ""]
    step: Int[Array, ""]
    trial_done: Bool[Array, ""]
    final_observation: Observation
    outcome: Any
    events: dict[str, Float[Array, "agents"]]

    def __getitem__(self, name: str) -> Any:
        """The field called `name`."""
        return getattr(self, name)
