"""One-hot views, for networks that want channels rather than codes.

They are up to a dozen times larger than the codes, and writing them costs more than the physics:
embedding the codes is the faster way.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt8

from osj_envs.specs import BoxSpec
from osj_envs.trials import MultiTrial
from osj_envs.types import Info, Key, Latent, Observation, State


def one_hot_view(
    view: UInt8[Array, "*agents rows cols planes"], spec: BoxSpec
) -> UInt8[Array, "*agents rows cols channels"]:
    """Each plane's code as a block of 0/1 channels, one for each code up to the plane's highest."""
    blocks = [
        jax.nn.one_hot(view[..., plane], codes, dtype=jnp.uint8)
        for plane, codes in enumerate(_codes(spec))
    ]
    return jnp.concatenate(blocks, axis=-1)


class OneHotView:
    """An environment whose views are one-hot; everything else is the wrapped environment's."""

    def __init__(self, env: MultiTrial) -> None:
        self.env = env

    @property
    def view_spec(self) -> BoxSpec:
        """Shape and range of one agent's view."""
        spec = self.env.game.view_spec
        shape = (*spec.shape[:-1], sum(_codes(spec)))
        return BoxSpec(shape=shape, dtype=np.dtype(np.uint8), low=0, high=1)

    def reset(self, key: Key, latent: Latent | None = None) -> tuple[Observation, State]:
        """As `MultiTrial.reset`."""
        observation, state = self.env.reset(key, latent)
        return self._one_hot(observation), state

    def step(
        self, key: Key, state: State, actions: Int[Array, "agents"]
    ) -> tuple[Observation, State, Float[Array, "agents"], Bool[Array, ""], Info]:
        """As `MultiTrial.step`; the final observation is one-hot too."""
        observation, state, reward, done, info = self.env.step(key, state, actions)
        final = self._one_hot(info.final_observation)
        info = dataclasses.replace(info, final_observation=final)
        return self._one_hot(observation), state, reward, done, info

    def __getattr__(self, name: str) -> Any:
        """Whatever the wrapper does not change."""
        return getattr(self.env, name)

    def _one_hot(self, observation: Observation) -> Observation:
        view = one_hot_view(observation.view, self.env.game.view_spec)
        return dataclasses.replace(observation, view=view)


def _codes(spec: BoxSpec) -> list[int]:
    """How many codes each plane has."""
    return [int(high) + 1 for high in np.broadcast_to(spec.high, spec.shape[-1:])]
