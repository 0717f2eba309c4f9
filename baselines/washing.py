"""How a player of OpenCleanup goes about the river: which tool next, and where to fire it.

Pure functions of what a player takes the board and the tools to be, whether it has seen them or is
told them. Source: our choice throughout.
"""

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Float32, Int, Int32, UInt8, UInt32

from baselines import bitboards
from baselines.paths import steps_away
from baselines.reductions import over_board
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
    return over_board(jnp.sum, effect == kinds[:, None, None], dtype=jnp.int32)


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
        stands: the cells to stand on, all equally good.
        heading: where to face, for one who stands on one of them.
    """

    is_any: Bool[Array, ""]
    stands: Bool[Array, "height width"]
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
    """The stands from which a shot does most for the steps that it takes to get there.

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
    shades = (Item.WASTE + jnp.arange(config.shades, dtype=jnp.uint8))[:, None, None]
    gain = _gain(bitboards.pack(is_target & (item == shades)), works > 0, item.shape[1])
    away = steps_away(position, item.shape)
    turns = 2 - jnp.abs(2 - (jnp.arange(len(Heading)) - heading) % len(Heading))
    rate = gain.astype(jnp.float32) / (1 + away + turns[:, None, None])
    rate = jnp.where(free | (away == 0), rate, 0.0)
    by_stand = rate.max(axis=0)
    return Aim(
        is_any=over_board(jnp.any, is_target),
        stands=by_stand == over_board(jnp.max, by_stand),
        heading=jnp.argmax(rate[:, position[0], position[1]]).astype(jnp.int32),
    )


def _of_hand(
    config: CleanupConfig, tools: Tools, window: Int[Array, "2"]
) -> tuple[UInt32[Array, ""], UInt32[Array, ""]]:
    """The effects that the tool in hand has, and that it may have, as bits at their codes."""
    is_hand = (jnp.arange(config.pairs) == hand(config, window))[:, None]
    bits = jnp.uint32(1) << jnp.arange(1, 1 + config.effects, dtype=jnp.uint32)

    def as_bits(known: Bool[Array, "pairs effects"]) -> UInt32[Array, ""]:
        return jnp.where((known & is_hand).any(axis=0), bits, jnp.uint32(0)).sum(dtype=jnp.uint32)

    return as_bits(tools.works), as_bits(tools.may_work)


def _gain(
    targets: UInt32[Array, "shades height"], counts_cells: Bool[Array, ""], width: int
) -> UInt32[Array, "headings height width"]:
    """What a shot from each cell would hit: the number of cells, or else of shades."""
    hits = [[_beyond(targets, *cell, way) for cell in BEAM_CELLS] for way in range(len(Heading))]
    hit = jnp.stack([jnp.stack(cells) for cells in hits])  # headings, beam, shades, height
    by_cell = jax.lax.reduce(hit, jnp.uint32(0), jax.lax.bitwise_or, (2,))
    by_shade = jax.lax.reduce(hit, jnp.uint32(0), jax.lax.bitwise_or, (1,))
    by_shade = jnp.pad(by_shade, ((0, 0), (0, len(BEAM_CELLS) - by_shade.shape[1]), (0, 0)))
    return bitboards.count_four(jnp.where(counts_cells, by_cell, by_shade), width)


def _beyond(
    rows: UInt32[Array, "shades height"], ahead: int, right: int, heading: int
) -> UInt32[Array, "shades height"]:
    """At each cell what lies so far ahead and to the right of it."""
    (down, across), (side_down, side_across) = _WAYS[heading], _WAYS[(heading + 1) % len(Heading)]
    return bitboards.move(
        rows, -(ahead * down + right * side_down), -(ahead * across + right * side_across)
    )


_WAYS = ((-1, 0), (0, 1), (1, 0), (0, -1))
"""One cell ahead, by heading."""
