"""The one interface of every player: learned, scripted, language model or human."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from flax import struct
from jaxtyping import Array, Bool, Float, Int

from osj_envs.types import Key, Latent, Observation, State

NO_ACTION = -1
"""`SeatView.last_action` before an episode's first action."""


@struct.dataclass
class SeatView:
    """All that a player is given at a step; made from its own observations, never from the state.

    Attributes:
        observation: this seat's observation (no agent axis).
        evidence: this seat's own record of the episode so far.
        legal_actions: which actions may be chosen.
        last_action: the seat's previous action in this episode, or `NO_ACTION`.
        last_reward: the reward it brought, 0 before the first.
        trial: index of the trial.
        is_first_of_trial: nothing has been done in this trial yet.
        is_first_of_episode: nothing has been done in this episode yet.
    """

    observation: Observation
    evidence: Any
    legal_actions: Bool[Array, "actions"]
    last_action: Int[Array, ""]
    last_reward: Float[Array, ""]
    trial: Int[Array, ""]
    is_first_of_trial: Bool[Array, ""]
    is_first_of_episode: Bool[Array, ""]


@struct.dataclass
class InsideView(SeatView):
    """A seat's view with all that is hidden beside it: for privileged players alone (bounds).

    Attributes:
        state: of the whole game, latent included.
        seat: this player's own.
    """

    state: State
    seat: Int[Array, ""]


@struct.dataclass
class Decision:
    """A player's answer: the action, int32."""

    action: Int[Array, ""]


@runtime_checkable
class Policy(Protocol):
    """A player: a pair of pure functions over an own carry, reset once an episode.

    A traceable policy can be jitted and vmapped, and its carry is a pytree of arrays.
    """

    @property
    def is_traceable(self) -> bool:
        """Whether the policy can be jitted and vmapped."""

    def initial_carry(self, key: Key) -> Any:
        """The carry at an episode's start."""

    def act(self, carry: Any, view: SeatView, key: Key) -> tuple[Any, Decision]:
        """The next carry and the decision."""


@runtime_checkable
class Privileged(Protocol):
    """A policy that is told the hidden rules (an upper bound, never a fair player)."""

    def told(self, carry: Any, latent: Latent) -> Any:
        """The carry at an episode's start, with what the player makes of the latent."""


@runtime_checkable
class SeesState(Protocol):
    """A policy whose `act` is given an `InsideView` (a bound, never a fair player)."""

    sees_state: bool


@runtime_checkable
class HostPolicy(Protocol):
    """A player that answers outside of a compiled program: a language model or a human.

    All that it is given is its own, in NumPy; its carry can be written as JSON. `is_traceable` is
    false. Its methods raise whatever keeps it from answering.
    """

    @property
    def is_traceable(self) -> bool:
        """False."""

    def initial_carry(self, key: Key) -> Any:
        """The carry at an episode's start."""

    async def act(self, carry: Any, view: SeatView, key: Key) -> tuple[Any, Decision]:
        """The next carry and the decision."""

    def see(self, carry: Any, outcome: Any) -> Any:
        """The carry, told what came of its own action."""

    async def end_trial(self, carry: Any, trial: int, evidence: Any) -> Any:
        """The carry for the next trial, given the number of the one that ended, from 0."""


Roster = Sequence[Policy]
"""The player of each seat, by seat."""
