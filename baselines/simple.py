"""The two players that know nothing and want nothing, for every game."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from flax import struct

from osj_envs.grid.codes import Action
from osj_envs.seats import Decision, SeatView
from osj_envs.trials import MultiTrial
from osj_envs.types import Key


@struct.dataclass
class Random:
    """Draws uniformly from the legal actions at every step; fair, traceable, carries nothing."""

    is_traceable: ClassVar[bool] = True

    def initial_carry(self, key: Key) -> tuple[()]:
        """Nothing."""
        del key
        return ()

    def act(self, carry: tuple[()], view: SeatView, key: Key) -> tuple[tuple[()], Decision]:
        """One of the legal actions, each equally likely."""
        legal = view.legal_actions
        nth = jax.random.randint(key, (), 0, legal.sum())
        action = (jnp.cumsum(legal) <= nth).sum(dtype=jnp.int32)
        return carry, Decision(action=action)


@struct.dataclass
class Stay:
    """Takes one action for ever; fair, traceable, carries nothing.

    Attributes:
        action: the game's action that does nothing.
    """

    action: int = struct.field(pytree_node=False)
    is_traceable: ClassVar[bool] = True

    def initial_carry(self, key: Key) -> tuple[()]:
        """Nothing."""
        del key
        return ()

    def act(self, carry: tuple[()], view: SeatView, key: Key) -> tuple[tuple[()], Decision]:
        """Its action."""
        del view, key
        return carry, Decision(action=jnp.int32(self.action))


def make_random(env: MultiTrial) -> Random:
    """For any environment."""
    del env
    return Random()


def make_stay(env: MultiTrial) -> Stay:
    """For a grid world."""
    del env
    return Stay(action=Action.STAY)
