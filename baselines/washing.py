"""How a player of OpenCleanup goes about the river: which tool next, and where to fire it.

Pure functions of what a player takes the board and the tools to be, whether it has seen them or is
told them. Source: our choice throughout.
"""

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Float32, Int, Int32, UInt8, UInt32

from osj_envs.cleanup.constants import CleanupConfig
from osj_envs.cleanup.dynamics import hand
from osj_envs.cleanup.evidence import Evidence, by_effect
from osj_envs.cleanup.rules import clears, lightens
from osj_envs.cleanup.types import Rules
from osj_envs.grid.beam import BEAM_CELLS
from osj_envs.grid.codes import Heading, Item

TRIP = 6.0
"""Steps to the river with a new tool, about; what a tool's pick-ups cost comes on top."""


@struct.dataclass
class Tools:
    """What a player knows of the tools; effects without `NOTHING`, in the order of `rules`.

    Attributes:
        works: the tool has the effect.
        may_work: it is not known whether it has.
    """

    works: Bool[Array, "pairs effects"]
    may_work: Bool[Array, "pairs effects"]


def tools_from_evidence(config: CleanupConfig, evidence: Evidence) -> Tools:
    """What a record has established, given that a tool has one effect and an effect one tool."""
    verdict = by_effect(config, evidence)
    works = verdict > 0
    is_settled = works.any(axis=0) | works.any(axis=1, keepdims=True)
    return Tools(works=works, may_work=(verdict == 0) & ~is_settled)


def tools_from_rules(config: CleanupConfig, rules: Rules) -> Tools:
    """All there is to know."""
    works = rules.effect[:, None] == 1 + jnp.arange(config.effects)
    return Tools(works=works, may_work=jnp.zeros_like(works))


def needed_effect(
    config: CleanupConfig,
    item: UInt8[Array, "height width"],
    colour: UInt8[Array, "height width"],
) -> UInt8[Array, "height width"]:
    """The effect that each cell's waste needs next, as coded in `rules`; 0 where there is none."""
    shade = item.astype(jnp.int32) - Item.WASTE
    is_waste = (shade >= 0) & (shade < config.shades)
    effect = jnp.where(shade == 0, clears(colour.astype(jnp.int32) - 1), lightens(shade, config))
    return jnp.where(is_waste, effect, 0).astype(jnp.uint8)


def count_needed(
    config: CleanupConfig, effect: UInt8[Array, "height width"]
) -> Int32[Array, "effects"]:
    """How many cells need each effect."""
    kinds = jnp.arange(1, 1 + config.effects, dtype=jnp.uint8)
    return (effect == kinds[:, None, None]).sum(axis=(1, 2), dtype=jnp.int32)


def value_tools(
    tools: Tools, needed: Int32[Array, "effects"], curiosity: Float32[Array, ""] | float
) -> Float32[Array, "pairs"]:
    """What each tool is worth, in cells: those that it works on, and the chance to find out.

    Args:
        tools: what is known of them.
        needed: cells that need each effect.
        curiosity: the worth of finding the tool for an effect that some cell needs.
    """
    sure = tools.works @ needed.astype(jnp.float32)
    candidates = jnp.maximum(tools.may_work.sum(axis=0), 1)
    return sure + curiosity * (tools.may_work @ ((needed > 0) / candidates))


def next_pick(
    config: CleanupConfig,
    value: Float32[Array, "pairs"],
    window: Int[Array, "2"],
    walk: Int32[Array, "base_tools"],
) -> Int32[Array, ""]:
    """The base tool to pick up next, on the way to the tool that is worth most for its steps.

    The newest pick-up counts as the first of the next pair, so that pairs are chained.

    Args:
        config: the game.
        value: of each tool.
        window: the last two pick-ups.
        walk: steps to each base tool's nearest station.
    """
    first, second = jnp.divmod(jnp.arange(config.pairs), config.base_tools)
    around = jnp.abs(first - second)
    between = 2 * jnp.minimum(around, config.base_tools - around)  # neighbours lie 2 apart
    is_chained = first == window[1]
    steps = jnp.where(is_chained, 1 + walk[second], 2 + walk[first] + between)
    best = jnp.argmax(value / (steps + TRIP))
    return jnp.where(is_chained[best], second[best], first[best]).astype(jnp.int32)


@struct.dataclass
class Aim:
    """Where to fire the tool in hand.

    Attributes:
        is_any: there is something to fire at.
        position: row and column to stand on.
        heading: where to face.
    """

    is_any: Bool[Array, ""]
    position: Int32[Array, "2"]
    heading: Int32[Array, ""]


def aim(
    config: CleanupConfig,
    tools: Tools,
    window: Int[Array, "2"],
    item: UInt8[Array, "height width"],
    effect: UInt8[Array, "height width"],
    free: Bool[Array, "height width"],
    position: Int[Array, "2"],
    heading: Int[Array, ""],
) -> Aim:
    """The stand from which a shot does most for the steps that it takes to get there.

    A tool that is known to work counts the cells that it works on; one that may work counts the
    shades that it is tried on.

    Args:
        config: the game.
        tools: what is known of them.
        window: the last two pick-ups.
        item: what lies on each cell.
        effect: what each cell needs (`needed_effect`).
        free: cells to stand on; the own one does not matter.
        position: own row and column.
        heading: own heading.
    """
    works, may_work = _of_hand(config, tools, window)
    is_target = ((works | may_work) >> effect.astype(jnp.uint32)) & 1 == 1
    shade = (item - jnp.uint8(Item.WASTE)).astype(jnp.uint16)
    digit = jnp.where(is_target, jnp.uint16(1) << (_DIGIT * shade), jnp.uint16(0))
    hits = _hits(digit)
    by_shade = [(hits >> (_DIGIT * shade)) & (2**_DIGIT - 1) for shade in range(config.shades)]
    cells = sum(by_shade)
    shades = sum((count > 0).astype(jnp.uint16) for count in by_shade)
    gain = jnp.where(works > 0, cells, shades).astype(jnp.float32)
    away = jnp.abs(jnp.stack(jnp.indices(item.shape), axis=-1) - position).sum(axis=-1)
    turns = 2 - jnp.abs(2 - (jnp.arange(len(Heading)) - heading) % len(Heading))
    rate = gain / (1 + away + turns[:, None, None])
    rate = jnp.where(free | (away == 0), rate, 0.0).reshape(-1)
    best = jnp.argmax(rate)
    side, cell = jnp.divmod(best, item.size)
    return Aim(
        is_any=is_target.any(),
        position=jnp.stack(jnp.divmod(cell, item.shape[1])).astype(jnp.int32),
        heading=side.astype(jnp.int32),
    )


_DIGIT = 3
"""Bits in which up to four cells of a beam are counted."""


def _of_hand(
    config: CleanupConfig, tools: Tools, window: Int[Array, "2"]
) -> tuple[UInt32[Array, ""], UInt32[Array, ""]]:
    """The effects that the tool in hand has, and that it may have, as bits at their codes."""
    is_hand = (jnp.arange(config.pairs) == hand(config, window))[:, None]
    bits = jnp.uint32(1) << jnp.arange(1, 1 + config.effects, dtype=jnp.uint32)

    def as_bits(known: Bool[Array, "pairs effects"]) -> UInt32[Array, ""]:
        return jnp.where((known & is_hand).any(axis=0), bits, jnp.uint32(0)).sum(dtype=jnp.uint32)

    return as_bits(tools.works), as_bits(tools.may_work)


def _hits(amount: Array) -> Array:
    """The sum over the cells that a shot from each cell would hit, headings first."""
    reach = max(abs(step) for cell in BEAM_CELLS for step in cell)
    height, width = amount.shape
    padded = jnp.pad(amount, reach)

    def at(row: int, col: int) -> Array:
        return jax.lax.slice(
            padded, (reach + row, reach + col), (reach + row + height, reach + col + width)
        )

    sums = []
    for way in _WAYS:
        (down, right), (side_down, side_right) = way
        cells = [(a * down + s * side_down, a * right + s * side_right) for a, s in BEAM_CELLS]
        sums.append(sum(at(*cell) for cell in cells))
    return jnp.stack(sums)


_WAYS = (((-1, 0), (0, 1)), ((0, 1), (1, 0)), ((1, 0), (0, -1)), ((0, -1), (-1, 0)))
"""One cell ahead, and one to the right, by heading."""
