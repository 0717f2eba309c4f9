"""OpenHarvest's hidden rules: what each colour pays, and how fast it regrows, by stage.

For each colour the order of its pays over the three stages and the order of its speeds are drawn
independently (paper: (3!)^10 = 60,466,176 rule sets of five colours). `rank` and `unrank` number
them without a gap.
"""

import itertools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Int32

from osj_envs.checks import check_whole
from osj_envs.harvest.constants import PAPER, STAGES, HarvestConfig
from osj_envs.harvest.types import Rules
from osj_envs.splits import IntLike, SemanticSplit, check_rank

ORDERS = tuple(itertools.permutations(range(STAGES)))
"""The orders in which three values may fall on the stages, lexicographically."""


def encode(orders: Int[Array, "2 colours"]) -> Rules:
    """The rules in which colour `c` has pay order `orders[0, c]` and speed order `orders[1, c]`.

    An order is a place in `ORDERS`.
    """
    pay, speed = jnp.asarray(ORDERS, jnp.int8)[jnp.asarray(orders)]
    return Rules(pay=pay, speed=speed)


def decode(rules: Rules) -> Int32[Array, "2 colours"]:
    """The pay order and the speed order of each colour. Undoes `encode`."""
    places = jnp.stack([rules.pay, rules.speed])
    is_order = jnp.all(places[:, :, None] == jnp.asarray(ORDERS, jnp.int8), axis=-1)
    return jnp.argmax(is_order, axis=-1).astype(jnp.int32)


def num_rule_sets(config: HarvestConfig = PAPER) -> int:
    """How many rule sets there are: 36 to the power of the colours."""
    return len(ORDERS) ** (2 * config.colours)


def rank(rules: Rules, config: HarvestConfig = PAPER) -> Int32[Array, ""]:
    """The number of a rule set, from 0 to `num_rule_sets(config) - 1`. Undoes `unrank`.

    The number's digits in base six are the colours' pay orders, then their speed orders.

    Raises:
        ValueError: if `rules` is concrete and no rule set of `config`.
    """
    _check_rules(rules, config)
    return jnp.sum(decode(rules).reshape(-1) * _place_values(config)).astype(jnp.int32)


def unrank(rank: IntLike, config: HarvestConfig = PAPER) -> Rules:
    """The rule set with a given number. Undoes `rank`.

    Raises:
        ValueError: if `rank` is concrete and out of range.
    """
    check_rank(rank, num_rule_sets(config))
    digits = jnp.asarray(rank, jnp.int32) // _place_values(config) % len(ORDERS)
    return encode(digits.reshape(2, config.colours))


def best_stage(rules: Rules, config: HarvestConfig = PAPER) -> Int32[Array, "colours"]:
    """The stage at which each colour pays most; among equal pays, the first of `config.pays`."""
    return jnp.argmax(rules.pay == int(np.argmax(config.pays)), axis=-1).astype(jnp.int32)


def best_stage_split(
    is_held_out: Callable[[tuple[int, ...]], bool], config: HarvestConfig = PAPER
) -> SemanticSplit[Rules]:
    """The semantic split by the stages at which the colours pay most.

    Args:
        is_held_out: whether rules whose best stages are these, one for each colour, belong to
            held-out.
        config: the game.

    Returns:
        A split whose halves are uniform over all their rules. The stages of a uniform rule set
        are exchangeable, so a colour's best one moves by swapping the pays of two.

    Raises:
        ValueError: if no rules, or all rules, are held out.
    """
    weights = STAGES ** np.arange(config.colours - 1, -1, -1)
    colours = np.arange(config.colours)

    def classify(rules: Rules) -> Int32[Array, ""]:
        return jnp.sum(best_stage(rules, config) * weights).astype(jnp.int32)

    def move(rules: Rules, stages: Int32[Array, ""]) -> Rules:
        old, new = best_stage(rules, config), stages // weights % STAGES
        best, other = rules.pay[colours, old], rules.pay[colours, new]
        pay = rules.pay.at[colours, old].set(other).at[colours, new].set(best)
        return Rules(pay=pay, speed=rules.speed)

    stages = itertools.product(range(STAGES), repeat=config.colours)
    held_out = tuple(bool(is_held_out(best)) for best in stages)
    return SemanticSplit(classify=classify, move=move, held_out=held_out)


def new_stage_split(stage: int, config: HarvestConfig = PAPER) -> SemanticSplit[Rules]:
    """The semantic split in which only held-out has colours that pay most at `stage`.

    In training no colour does; in held-out at least one does. Training keeps (2/3)^colours of the
    rule sets: 7,962,624 of five colours.

    Raises:
        ValueError: if there is no such stage.
    """
    check_whole("the semantic split's stage", stage, 0, STAGES - 1)
    return best_stage_split(lambda best: stage in best, config)


def _place_values(config: HarvestConfig) -> Int32[np.ndarray, "orders"]:
    return len(ORDERS) ** np.arange(2 * config.colours - 1, -1, -1, dtype=np.int32)


def _check_rules(rules: Rules, config: HarvestConfig) -> None:
    for name in ("pay", "speed"):
        places = getattr(rules, name)
        if isinstance(places, jax.core.Tracer):
            continue
        orders = np.asarray(places)
        wanted = np.tile(np.arange(STAGES), (config.colours, 1))
        if orders.shape != wanted.shape or np.any(np.sort(orders, axis=1) != wanted):
            raise ValueError(
                f"rules.{name} is {orders.tolist()}; it must hold {config.colours} rows, each of "
                f"which is an order of 0 to {STAGES - 1}."
            )
