import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from osj_envs.harvest.constants import PAPER, HarvestConfig
from osj_envs.harvest.rules import (
    best_stage,
    best_stage_split,
    decode,
    encode,
    new_stage_split,
    num_rule_sets,
    rank,
    unrank,
)
from osj_envs.harvest.types import Rules
from osj_envs.splits import is_held_out, nth_rank, sample_rank, split_size
from osj_envs.testing.ranks import assert_bijective, assert_bijective_on, stratified_ranks

ALL_RULE_SETS = 60_466_176
ORDERS = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
ONE, TWO, THREE = (HarvestConfig(colours=colours) for colours in (1, 2, 3))


def round_trip(ranks):
    rules = jax.vmap(unrank)(ranks)
    orders = jnp.concatenate([rules.pay, rules.speed], axis=1)
    is_rule_set = jnp.all(jnp.sort(orders, axis=2) == jnp.arange(3), axis=(1, 2))
    return jax.vmap(rank)(rules), is_rule_set


def all_rules(config):
    return jax.vmap(lambda number: unrank(number, config))(jnp.arange(num_rule_sets(config)))


def test_the_paper_counts_its_rule_sets():
    assert num_rule_sets() == ALL_RULE_SETS == math.factorial(3) ** 10


def test_rank_and_unrank_agree_on_a_stratified_sample():
    assert_bijective_on(stratified_ranks(ALL_RULE_SETS), jax.jit(round_trip))


@pytest.mark.slow
def test_rank_and_unrank_are_bijections_over_all_rule_sets():
    assert_bijective(ALL_RULE_SETS, jax.jit(round_trip))


@pytest.mark.parametrize("config", [ONE, TWO, THREE], ids=["1", "2", "3"])
def test_ranks_are_the_lexicographic_order_of_pays_then_speeds(config):
    colours = config.colours
    expected = np.array(list(itertools.product(ORDERS, repeat=2 * colours)))
    assert num_rule_sets(config) == len(expected) == 36**colours
    rules = all_rules(config)
    assert rules.pay.dtype == rules.speed.dtype == jnp.int8
    np.testing.assert_array_equal(rules.pay, expected[:, :colours])
    np.testing.assert_array_equal(rules.speed, expected[:, colours:])
    ranks = jax.vmap(lambda each: rank(each, config))(rules)
    np.testing.assert_array_equal(ranks, np.arange(len(expected)))


def test_ends_of_the_paper_order():
    for number, order in [(0, [0, 1, 2]), (ALL_RULE_SETS - 1, [2, 1, 0])]:
        rules = unrank(number)
        np.testing.assert_array_equal(rules.pay, [order] * 5)
        np.testing.assert_array_equal(rules.speed, [order] * 5)


def test_a_rule_set_written_by_hand():
    pay = [[1, 0, 2], [2, 1, 0], [0, 1, 2], [1, 2, 0], [0, 2, 1]]
    speed = [[0, 1, 2], [2, 0, 1], [2, 0, 1], [1, 0, 2], [2, 1, 0]]
    rules = Rules(pay=jnp.array(pay, jnp.int8), speed=jnp.array(speed, jnp.int8))
    digits = [[2, 5, 0, 3, 1], [0, 4, 4, 2, 5]]
    np.testing.assert_array_equal(decode(rules), digits)
    again = encode(jnp.array(digits))
    np.testing.assert_array_equal(again.pay, pay)
    np.testing.assert_array_equal(again.speed, speed)
    assert rank(rules) == int("2503104425", base=6)
    # Place 0 is the most: a whole point.
    np.testing.assert_array_equal(best_stage(rules), [1, 2, 0, 2, 0])


def test_the_best_stage_follows_the_pays():
    rules = unrank(0, ONE)
    assert best_stage(rules, ONE).tolist() == [0]
    assert best_stage(rules, HarvestConfig(colours=1, pays=(0.25, 1.0, 0.5))).tolist() == [1]
    assert best_stage(rules, HarvestConfig(colours=1, pays=(0.25, 0.5, 0.5))).tolist() == [1]


def test_traced_calls_agree_with_concrete_ones():
    assert jax.jit(rank)(unrank(123_456)) == 123_456
    np.testing.assert_array_equal(jax.jit(unrank)(123_456).pay, unrank(123_456).pay)
    np.testing.assert_array_equal(jax.jit(unrank)(123_456).speed, unrank(123_456).speed)
    assert rank(unrank(np.int64(5))) == 5
    assert rank(unrank(jnp.uint32(5))).dtype == jnp.int32


@pytest.mark.parametrize("number", [-1, ALL_RULE_SETS, 0.5, [1, 2]])
def test_ranks_out_of_range_are_refused(number):
    with pytest.raises(ValueError, match="from 0 to 60,466,175"):
        unrank(number)


@pytest.mark.parametrize("name", ["pay", "speed"])
@pytest.mark.parametrize("orders", [[[0, 1, 1]] * 5, [[1, 2, 3]] * 5, [[0, 1, 2]] * 4, [0, 1, 2]])
def test_arrays_that_are_no_rule_set_are_refused(name, orders):
    rules = unrank(0).replace(**{name: jnp.array(orders, jnp.int8)})
    with pytest.raises(ValueError, match=rf"rules.{name} .* 5 rows"):
        rank(rules)


@pytest.mark.parametrize("colours", [1, 2, 3, 4])
def test_splits_of_smaller_games_are_disjoint_and_exhaustive(colours):
    space = num_rule_sets(HarvestConfig(colours=colours))
    halves = [
        np.asarray(nth_rank(np.arange(split_size(split, space)), split, space))
        for split in ("train", "held_out")
    ]
    np.testing.assert_array_equal(np.sort(np.concatenate(halves)), np.arange(space))
    assert len(halves[0]) == space * 4 // 5


@pytest.mark.parametrize("split", ["train", "held_out", "all"])
def test_every_order_is_equally_likely_in_a_split(split):
    keys = jax.random.split(jax.random.key(4), 20_000)
    ranks = jax.jit(jax.vmap(lambda key: sample_rank(jax.random.bits(key), split, ALL_RULE_SETS)))(
        keys
    )
    share = {"train": 0.0, "held_out": 1.0, "all": pytest.approx(0.2, abs=0.015)}[split]
    assert np.mean(is_held_out(ranks, ALL_RULE_SETS)) == share
    orders = np.asarray(jax.vmap(decode)(jax.vmap(unrank)(ranks))).reshape(-1, 10)
    for one in range(10):
        counts = np.bincount(orders[:, one], minlength=6)
        assert scipy.stats.chisquare(counts).pvalue > 1e-4
    for one, other in itertools.combinations(range(10), 2):
        pairs = np.bincount(orders[:, one] * 6 + orders[:, other], minlength=36)
        assert scipy.stats.chisquare(pairs).pvalue > 1e-5


@pytest.mark.parametrize("config", [ONE, TWO, HarvestConfig(colours=2, pays=(0.0, 2.0, 1.0))])
def test_the_semantic_split_is_exact(config):
    """Over all rules and every class that a split may draw: all its rules, equally often."""
    split = best_stage_split(lambda best: best[0] == 1 or best[-1] == 2, config)
    rules = all_rules(config)
    is_in_held_out = np.asarray(jax.vmap(split.is_held_out)(rules))
    best = np.asarray(jax.vmap(lambda each: best_stage(each, config))(rules))
    np.testing.assert_array_equal(is_in_held_out, (best[:, 0] == 1) | (best[:, -1] == 2))
    for wanted in (False, True):
        hits = np.zeros(num_rule_sets(config), int)
        for stages in np.flatnonzero(np.array(split.held_out) == wanted):
            moved = jax.vmap(lambda each, to=stages: split.move(each, to))(rules)
            np.testing.assert_array_equal(moved.speed, rules.speed)
            np.add.at(hits, np.asarray(jax.vmap(lambda each: rank(each, config))(moved)), 1)
        inside = hits[is_in_held_out == wanted]
        assert inside.min() == inside.max() > 0
        assert not np.any(hits[is_in_held_out != wanted])


def sample_rules(split, name, count):
    def draw(key):
        rank_key, class_key = jax.random.split(key)
        number = jax.random.randint(rank_key, (), 0, ALL_RULE_SETS)
        return split.sample(jax.random.bits(class_key), name, unrank(number))

    return jax.jit(jax.vmap(draw))(jax.random.split(jax.random.key(0), count))


@pytest.mark.parametrize("stage", [0, 1, 2])
@pytest.mark.parametrize("name", ["train", "held_out"])
def test_only_held_out_pays_most_at_the_stage(stage, name):
    split = new_stage_split(stage)
    rules = sample_rules(split, name, 8000)
    best = np.argmax(np.asarray(rules.pay) == 0, axis=2)
    np.testing.assert_array_equal((best == stage).any(axis=1), name == "held_out")
    assert np.all(np.asarray(jax.vmap(split.is_held_out)(rules)) == (name == "held_out"))
    classes = np.bincount(best @ 3 ** np.arange(5), minlength=243)
    there = [best for best in np.ndindex(*[3] * 5) if (stage in best) == (name == "held_out")]
    assert len(there) == (211 if name == "held_out" else 32)
    assert scipy.stats.chisquare(classes[np.array(there) @ 3 ** np.arange(5)]).pvalue > 1e-4


def test_the_semantic_split_leaves_the_rest_free():
    rules = sample_rules(new_stage_split(2), "train", 8000)
    pay, speed = np.asarray(rules.pay), np.asarray(rules.speed)
    np.testing.assert_array_equal(np.sort(pay, axis=2), np.tile([0, 1, 2], (8000, 5, 1)))
    for colour in range(5):
        orders = np.bincount(speed[:, colour] @ [9, 3, 1], minlength=27)
        assert scipy.stats.chisquare(orders[orders > 0]).pvalue > 1e-4
        assert np.sum(orders > 0) == 6
        second = np.bincount(np.argmax(pay[:, colour] == 1, axis=1), minlength=3)
        # The best stage is 0 or 1, and the second best is one of the two others.
        assert scipy.stats.chisquare(second, [2000, 2000, 4000]).pvalue > 1e-4


@pytest.mark.parametrize("stage", [-1, 3, "ripe", True])
def test_unknown_stages_are_refused(stage):
    with pytest.raises(ValueError, match="from 0 to 2"):
        new_stage_split(stage)


@pytest.mark.parametrize("keep", [True, False])
def test_a_semantic_split_needs_two_sides(keep):
    with pytest.raises(ValueError, match="at least one class"):
        best_stage_split(lambda best: keep, PAPER)
