import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from osj_envs.cleanup.constants import PAPER, CleanupConfig
from osj_envs.cleanup.rules import (
    NOTHING,
    HiddenTools,
    Rules,
    clears,
    decode,
    encode,
    first_tool_split,
    lightens,
    num_rule_sets,
    pair_index,
    rank,
    recipe_split,
    unrank,
)
from osj_envs.testing.ranks import assert_bijective, assert_bijective_on, stratified_ranks

ALL_RULE_SETS = 57_657_600
SMALL_GAMES = [
    {"base_tools": 1, "hues": 1, "shades": 1},
    {"base_tools": 2, "hues": 1, "shades": 1},
    {"base_tools": 2, "hues": 2, "shades": 1},
    {"base_tools": 2, "hues": 2, "shades": 2},
    {"base_tools": 2, "hues": 2, "shades": 3},
    {"base_tools": 2, "hues": 4, "shades": 1},
    {"base_tools": 3, "hues": 2, "shades": 2},
    {"base_tools": 4, "hues": 1, "shades": 3},
]


def round_trip(ranks):
    rules = jax.vmap(unrank)(ranks)
    counts = jnp.sum(rules.effect[:, :, None] == jnp.arange(8), axis=1)
    is_rule_set = jnp.all(counts == jnp.array([9, 1, 1, 1, 1, 1, 1, 1]), axis=1)
    return jax.vmap(rank)(rules), is_rule_set


def test_the_paper_counts_its_rule_sets():
    assert num_rule_sets() == ALL_RULE_SETS == math.factorial(16) // math.factorial(9)


def test_rank_and_unrank_agree_on_a_stratified_sample():
    assert_bijective_on(stratified_ranks(ALL_RULE_SETS), jax.jit(round_trip))


@pytest.mark.slow
def test_rank_and_unrank_are_bijections_over_all_rule_sets():
    assert_bijective(ALL_RULE_SETS, jax.jit(round_trip))


@pytest.mark.parametrize("game", SMALL_GAMES)
def test_ranks_are_the_lexicographic_order_of_the_recipes(game):
    config = CleanupConfig(**game)
    expected = list(itertools.permutations(range(config.pairs), config.effects))
    assert num_rule_sets(config) == len(expected)
    ranks = jnp.arange(len(expected))
    rules = jax.vmap(lambda number: unrank(number, config))(ranks)
    np.testing.assert_array_equal(jax.vmap(lambda r: decode(r, config))(rules), expected)
    np.testing.assert_array_equal(jax.vmap(lambda r: rank(r, config))(rules), ranks)


def test_ends_of_the_paper_order():
    np.testing.assert_array_equal(unrank(0).effect, [1, 2, 3, 4, 5, 6, 7] + [NOTHING] * 9)
    np.testing.assert_array_equal(
        unrank(ALL_RULE_SETS - 1).effect, [NOTHING] * 9 + [7, 6, 5, 4, 3, 2, 1]
    )


def test_a_rule_set_written_by_hand():
    # Red is cleared by (0, 1), yellow by (3, 3), green (1, 0), cyan (2, 2), purple (0, 0); mid
    # turns light by (3, 0), dark turns mid by (0, 3).
    pairs = [(0, 1), (3, 3), (1, 0), (2, 2), (0, 0), (3, 0), (0, 3)]
    rules = encode(jnp.array([pair_index(*pair) for pair in pairs]))
    assert rules.effect.dtype == jnp.int8
    assert rules.effect[pair_index(0, 1)] == clears(0)
    assert rules.effect[pair_index(0, 0)] == clears(4)
    assert rules.effect[pair_index(3, 0)] == lightens(1)
    assert rules.effect[pair_index(0, 3)] == lightens(2)
    assert rules.effect[pair_index(2, 1)] == NOTHING
    assert np.sum(rules.effect == NOTHING) == 9
    np.testing.assert_array_equal(decode(rules), [1, 15, 4, 10, 0, 12, 3])
    left = [1, 14, 3, 8, 0, 8, 1]  # each pair's place among those left
    digits = zip(left, range(16, 9, -1), strict=True)
    number = 0
    for place, radix in digits:
        number = number * radix + place
    assert rank(rules) == number


def test_effects_have_no_gap():
    effects = [clears(hue) for hue in range(5)] + [lightens(shade) for shade in (1, 2)]
    assert effects == list(range(1, PAPER.effects + 1))


def test_traced_calls_agree_with_concrete_ones():
    assert jax.jit(rank)(unrank(123_456)) == 123_456
    np.testing.assert_array_equal(jax.jit(unrank)(123_456).effect, unrank(123_456).effect)
    assert rank(unrank(np.int64(5))) == 5
    assert rank(unrank(jnp.uint32(5))).dtype == jnp.int32


@pytest.mark.parametrize("number", [-1, ALL_RULE_SETS, 0.5, [1, 2]])
def test_ranks_out_of_range_are_refused(number):
    with pytest.raises(ValueError, match="from 0 to 57,657,599"):
        unrank(number)


@pytest.mark.parametrize(
    "effect",
    [
        [0] * 16,
        [1, 1, 2, 3, 4, 5, 6, 7] + [0] * 8,
        [1, 2, 3, 4, 5, 6, 8] + [0] * 9,
        [1, 2, 3, 4, 5, 6, 7] + [0] * 8,
    ],
)
def test_arrays_that_are_no_rule_set_are_refused(effect):
    with pytest.raises(ValueError, match="each of 1 to 7 occurs once"):
        rank(Rules(effect=jnp.array(effect, jnp.int8)))


def all_worlds(config):
    """Every (rule set, dominant hue), rule sets first."""
    ranks = jnp.repeat(jnp.arange(num_rule_sets(config)), config.hues)
    hues = jnp.tile(jnp.arange(config.hues), num_rule_sets(config))
    return jax.vmap(lambda r, h: HiddenTools(unrank(r, config), h))(ranks, hues)


@pytest.mark.parametrize("game", [SMALL_GAMES[2], SMALL_GAMES[3], SMALL_GAMES[4]])
def test_the_semantic_split_is_exact(game):
    """Over every world and every class that a split may draw: all its worlds, equally often."""
    config = CleanupConfig(**game)
    split = recipe_split(lambda first, second: first == 1, config)
    worlds = all_worlds(config)
    is_held_out = np.asarray(jax.vmap(split.is_held_out)(worlds))
    for wanted in (False, True):
        hits = np.zeros((num_rule_sets(config), config.hues), int)
        for recipe in np.flatnonzero(np.array(split.held_out) == wanted):
            moved = jax.vmap(lambda world, to=recipe: split.move(world, to))(worlds)
            ranks = jax.vmap(lambda rules: rank(rules, config))(moved.rules)
            np.add.at(hits, (np.asarray(ranks), np.asarray(moved.dominant_hue)), 1)
        inside = hits.ravel()[is_held_out == wanted]
        assert inside.min() == inside.max() > 0
        assert not np.any(hits.ravel()[is_held_out != wanted])


def sample_worlds(split, name, count):
    def draw(key):
        rank_key, hue_key, class_key = jax.random.split(key, 3)
        number = jax.random.randint(rank_key, (), 0, num_rule_sets())
        hue = jax.random.randint(hue_key, (), 0, PAPER.hues)
        return split.sample(jax.random.bits(class_key), name, HiddenTools(unrank(number), hue))

    return jax.jit(jax.vmap(draw))(jax.random.split(jax.random.key(0), count))


@pytest.mark.parametrize(("name", "starts"), [("train", (0, 1, 3)), ("held_out", (2,))])
def test_only_held_out_starts_with_the_tool(name, starts):
    split = first_tool_split(2)
    worlds = sample_worlds(split, name, 8000)
    assert np.all(np.asarray(jax.vmap(split.is_held_out)(worlds)) == (name == "held_out"))
    effect, hue = np.asarray(worlds.rules.effect), np.asarray(worlds.dominant_hue)
    recipe = np.argmax(effect == clears(hue)[:, None], axis=1)
    wanted = [pair_index(first, second) for first in starts for second in range(4)]
    counts = np.bincount(recipe, minlength=16)
    assert counts[wanted].sum() == len(recipe)
    assert scipy.stats.chisquare(counts[wanted]).pvalue > 1e-3
    assert scipy.stats.chisquare(np.bincount(hue, minlength=5)).pvalue > 1e-3
    np.testing.assert_array_equal(np.sort(effect, axis=1), [[0] * 9 + list(range(1, 8))] * 8000)


def test_the_semantic_split_leaves_other_recipes_free():
    worlds = sample_worlds(first_tool_split(2), "train", 8000)
    effect, hue = np.asarray(worlds.rules.effect), np.asarray(worlds.dominant_hue)
    other = np.argmax(effect == clears((hue + 1) % 5)[:, None], axis=1)
    starts = np.bincount(other // 4, minlength=4)
    # The dominant hue takes one of the twelve pairs that start with 0, 1 or 3; fifteen are left.
    expected = np.array([4 - 1 / 3, 4 - 1 / 3, 4, 4 - 1 / 3]) / 15 * len(other)
    assert scipy.stats.chisquare(starts, expected).pvalue > 1e-3


def test_a_semantic_split_by_any_predicate():
    split = recipe_split(lambda first, second: first == second)
    assert np.flatnonzero(split.held_out).tolist() == [0, 5, 10, 15]


@pytest.mark.parametrize("tool", [-1, 4, "hammer"])
def test_unknown_tools_are_refused(tool):
    with pytest.raises(ValueError, match="must be 0 to 3"):
        first_tool_split(tool)


@pytest.mark.parametrize("keep", [True, False])
def test_a_semantic_split_needs_two_sides(keep):
    with pytest.raises(ValueError, match="at least one class"):
        recipe_split(lambda first, second: keep)
