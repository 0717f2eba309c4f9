"""OpenCleanup's hidden tool rules: which ordered pair of base tools does what.

A rule set gives each of the `effects` working effects its own ordered pair, drawn without
replacement; the other pairs do nothing (the paper's hidden tool system: P(16, 7) = 57,657,600
rule sets). `rank` and `unrank` number them without a gap.
"""

import math
from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Int32

from osj_envs.cleanup.constants import PAPER, CleanupConfig
from osj_envs.cleanup.types import HiddenTools, Rules
from osj_envs.splits import SemanticSplit, check_rank

NOTHING = 0
"""The effect of a tool that does nothing."""

IntLike: TypeAlias = int | np.integer | Int[Array, ""]


def clears(hue: IntLike) -> IntLike:
    """The effect that turns light waste of `hue` to water."""
    return 1 + hue


def lightens(shade: IntLike, config: CleanupConfig = PAPER) -> IntLike:
    """The effect that turns waste of `shade` (1 up to `shades - 1`), of any hue, one lighter."""
    return config.hues + shade


def pair_index(first: IntLike, second: IntLike, config: CleanupConfig = PAPER) -> IntLike:
    """The place in `Rules.effect` of the tool made of base tool `first`, then `second`."""
    return first * config.base_tools + second


def encode(recipes: Int[Array, "effects"], config: CleanupConfig = PAPER) -> Rules:
    """The rules in which the pair `recipes[k]` has effect `k + 1`; the pairs must differ."""
    is_recipe = jnp.arange(config.pairs) == jnp.asarray(recipes)[:, None]
    effect = jnp.arange(1, config.effects + 1)[:, None] * is_recipe
    return Rules(effect=jnp.sum(effect, axis=0).astype(jnp.int8))


def decode(rules: Rules, config: CleanupConfig = PAPER) -> Int32[Array, "effects"]:
    """The pair of each effect: entry `k` is the one whose effect is `k + 1`. Undoes `encode`."""
    is_recipe = rules.effect == jnp.arange(1, config.effects + 1)[:, None]
    return jnp.argmax(is_recipe, axis=1).astype(jnp.int32)


def num_rule_sets(config: CleanupConfig = PAPER) -> int:
    """How many rule sets there are: P(pairs, effects)."""
    return math.perm(config.pairs, config.effects)


def rank(rules: Rules, config: CleanupConfig = PAPER) -> Int32[Array, ""]:
    """The number of a rule set, from 0 to `num_rule_sets(config) - 1`. Undoes `unrank`.

    The number's digits, first effect first, are each pair's place among the pairs that the
    effects before it have left (a Lehmer code).

    Raises:
        ValueError: if `rules` is concrete and no rule set of `config`.
    """
    _check_rules(rules, config)
    recipes = decode(rules, config)
    is_earlier = np.tri(config.effects, k=-1, dtype=bool)
    taken = jnp.sum((recipes < recipes[:, None]) & is_earlier, axis=1)
    return jnp.sum((recipes - taken) * _place_values(config)).astype(jnp.int32)


def unrank(rank: IntLike, config: CleanupConfig = PAPER) -> Rules:
    """The rule set with a given number. Undoes `rank`.

    Raises:
        ValueError: if `rank` is concrete and out of range.
    """
    check_rank(rank, num_rule_sets(config))
    left = config.pairs - np.arange(config.effects, dtype=np.int32)
    digits = jnp.asarray(rank, jnp.int32) // _place_values(config) % left
    recipes = digits
    for effect in reversed(range(config.effects - 1)):
        is_later = np.arange(config.effects) > effect
        recipes = recipes + (is_later & (recipes >= digits[effect]))
    return encode(recipes, config)


def recipe_split(
    is_held_out: Callable[[int, int], bool], config: CleanupConfig = PAPER
) -> SemanticSplit[HiddenTools]:
    """The semantic split by the recipe that clears the dominant hue.

    Args:
        is_held_out: whether a recipe (first base tool, second base tool) belongs to held-out.
        config: the game.

    Returns:
        A split in which training never sees the dominant hue cleared by such a recipe, and
        held-out always does; each half is uniform over all its (rules, dominant hue). The pairs
        of a uniform rule set are exchangeable, so it moves between recipes by swapping two.

    Raises:
        ValueError: if no recipe, or every recipe, is held out.
    """

    def classify(tools: HiddenTools) -> Int32[Array, ""]:
        return jnp.argmax(tools.rules.effect == clears(tools.dominant_hue)).astype(jnp.int32)

    def move(tools: HiddenTools, recipe: Int32[Array, ""]) -> HiddenTools:
        effect, old = tools.rules.effect, classify(tools)
        swapped = effect.at[old].set(effect[recipe]).at[recipe].set(effect[old])
        return HiddenTools(rules=Rules(effect=swapped), dominant_hue=tools.dominant_hue)

    tools = range(config.base_tools)
    held_out = tuple(bool(is_held_out(first, second)) for first in tools for second in tools)
    return SemanticSplit(classify=classify, move=move, held_out=held_out)


def first_tool_split(tool: int, config: CleanupConfig = PAPER) -> SemanticSplit[HiddenTools]:
    """The semantic split in which only held-out has dominant recipes that start with `tool`.

    Raises:
        ValueError: if there is no such base tool.
    """
    if tool not in range(config.base_tools):
        raise ValueError(
            f"base tool {tool!r} does not exist; it must be 0 to {config.base_tools - 1}."
        )
    return recipe_split(lambda first, second: first == tool, config)


def _place_values(config: CleanupConfig) -> Int32[np.ndarray, "effects"]:
    places = range(1, config.effects + 1)
    values = [math.perm(config.pairs - place, config.effects - place) for place in places]
    return np.array(values, np.int32)


def _check_rules(rules: Rules, config: CleanupConfig) -> None:
    if isinstance(rules.effect, jax.core.Tracer):
        return
    effect = np.asarray(rules.effect)
    working = np.sort(effect[effect != NOTHING])
    if effect.shape != (config.pairs,) or working.tolist() != list(range(1, config.effects + 1)):
        raise ValueError(
            f"rules.effect is {effect.tolist()}; it must hold {config.pairs} entries, in which "
            f"each of 1 to {config.effects} occurs once and the rest are {NOTHING}."
        )
