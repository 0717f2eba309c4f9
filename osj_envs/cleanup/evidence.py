"""What an agent's own shots have established about the tools, kept for a whole episode.

Every function is for one agent; callers vmap over agents. Source: paper, section 4 (the record
that its players are given); the layout of the numbers is our choice.
"""

import enum

import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Float32, Int, Int8, Int32, UInt8, UInt16

from osj_envs.cleanup.constants import CleanupConfig
from osj_envs.cleanup.dynamics import hand, is_waste
from osj_envs.cleanup.observation import decode_own
from osj_envs.cleanup.types import Outcome
from osj_envs.grid.codes import Action, Item, Plane
from osj_envs.types import Observation


class Known(enum.IntEnum):
    """What is established of a tool on a colour of waste."""

    NEVER_TRIED = 0
    NO_EFFECT = 1
    LIGHTENED = 2
    CLEARED = 3


PAINTED_CODES = 1 + len(Known)
"""Codes of `paint`: 0 where there is no waste, else 1 + `Known`."""


@struct.dataclass
class Evidence:
    """One agent's record; a tool is an ordered pair of base tools, first * base_tools + second.

    Attributes:
        effect: `Known` of each tool on each colour (hue * shades + shade).
        count: how many waste cells of the colour the agent has shot with the tool; stays at the
            greatest uint16 once there.
    """

    effect: UInt8[Array, "pairs colours"]
    count: UInt16[Array, "pairs colours"]


def initial(config: CleanupConfig) -> Evidence:
    """Nothing tried yet."""
    shape = (config.pairs, config.colours)
    return Evidence(effect=jnp.zeros(shape, jnp.uint8), count=jnp.zeros(shape, jnp.uint16))


def update(
    config: CleanupConfig,
    evidence: Evidence,
    observation: Observation,
    action: Int[Array, ""],
    next_observation: Observation,
    outcome: Outcome,
) -> Evidence:
    """The record with what this step's own shot did to each waste cell that it hit.

    A shot without two pick-ups in hand establishes nothing.
    """
    del next_observation  # the outcome says it all
    hit = outcome.hit_colour == jnp.arange(config.colours)[:, None]
    shown = jnp.where(hit, Known.NO_EFFECT + outcome.hit_effect, Known.NEVER_TRIED).max(axis=1)
    used = (jnp.arange(config.pairs) == _hand(config, observation)) & (action == Action.BEAM)
    cells = jnp.where(used[:, None], hit.sum(axis=1), 0).astype(jnp.uint16)
    room = jnp.iinfo(jnp.uint16).max - evidence.count
    return Evidence(
        effect=jnp.where(cells > 0, shown.astype(jnp.uint8), evidence.effect),
        count=evidence.count + jnp.minimum(cells, room),
    )


def features(
    config: CleanupConfig, evidence: Evidence, observation: Observation
) -> Float32[Array, "features"]:
    """The record as numbers for a policy; in the paper's game 112 + 28 + 15 = 155.

    Each is 1 where it is established that a tool works, -1 that it does not, 0 if never tried.

    1. pairs x effects: each tool on the waste that each effect is for: the light waste of each
       hue, then each other shade, whatever the hue, as the rules that everybody knows have it;
    2. base_tools x effects: the same for the tool that picking up each base tool next would make;
    3. colours: the tool in hand on each colour, from shots at that very colour alone.
    """
    verdicts = by_effect(config, evidence)
    newest = decode_own(config, observation.own).window[1]
    by_last_two = verdicts.reshape(config.base_tools, config.base_tools, config.effects)
    is_newest = jnp.arange(config.base_tools) == newest
    upcoming = jnp.where(is_newest[:, None, None], by_last_two, 0).sum(axis=0)
    in_hand = _verdict(_of_hand(config, evidence, observation))
    parts = (verdicts, upcoming, in_hand)
    return jnp.concatenate([part.reshape(-1).astype(jnp.float32) for part in parts])


def paint(
    config: CleanupConfig, evidence: Evidence, observation: Observation
) -> UInt8[Array, "rows cols"]:
    """For each waste cell in view, 1 + what the tool in hand is known to do to it; else 0."""
    item, hue = observation.view[..., Plane.ITEM], observation.view[..., Plane.COLOUR]
    waste = is_waste(item)
    shade, hue = item.astype(jnp.int32) - Item.WASTE, hue.astype(jnp.int32) - 1
    colour = jnp.where(waste, hue * config.shades + shade, 0)
    known = _of_hand(config, evidence, observation)[colour]
    return jnp.where(waste, known + jnp.uint8(1), jnp.uint8(0))


def recipes_known(config: CleanupConfig, evidence: Evidence) -> Int32[Array, ""]:
    """How many of the effects (hues + shades - 1) the agent has seen some tool have."""
    return (by_effect(config, evidence) > 0).any(axis=0).sum(dtype=jnp.int32)


def by_effect(config: CleanupConfig, evidence: Evidence) -> Int8[Array, "pairs effects"]:
    """Each tool for each effect: 1 for works, -1 for does not, 0 for never tried.

    Effects in the order of `rules`: the light waste of each hue, then each other shade, whatever
    the hue.
    """
    verdict = _verdict(evidence.effect).reshape(config.pairs, config.hues, config.shades)
    darker = jnp.sign(verdict[:, :, 1:].sum(axis=1, dtype=jnp.int8))
    return jnp.concatenate([verdict[:, :, 0], darker], axis=1)


def _hand(config: CleanupConfig, observation: Observation) -> Int32[Array, ""]:
    """The tool in hand; -1 without two pick-ups."""
    return hand(config, decode_own(config, observation.own).window)


def _of_hand(
    config: CleanupConfig, evidence: Evidence, observation: Observation
) -> UInt8[Array, "colours"]:
    """`Known` of the tool in hand on each colour."""
    pair = _hand(config, observation)
    known = evidence.effect.at[jnp.maximum(pair, 0)].get(mode="promise_in_bounds")
    return jnp.where(pair >= 0, known, jnp.uint8(Known.NEVER_TRIED))


def _verdict(effect: UInt8[Array, "*shape"]) -> Int8[Array, "*shape"]:
    """`Known` as 1 for works, -1 for does not, 0 for never tried."""
    tried = effect != Known.NEVER_TRIED
    return tried.astype(jnp.int8) - 2 * (effect == Known.NO_EFFECT)
