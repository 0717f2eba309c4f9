import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from osj_envs import splits
from osj_envs.splits import (
    SPLITS,
    SemanticSplit,
    check_split,
    is_held_out,
    nth_rank,
    problem_key,
    sample_rank,
    split_size,
)

CLEANUP_RANKS = 57_657_600
HARVEST_RANKS = 60_466_176
SMALL_SPACES = (1, 4, 12, 24, 72, 504, 3360, 6**6)
THREEFRY = jax.random.key(0, impl="threefry2x32")
HALVES = ("train", "held_out")
BIG_SPACES = (CLEANUP_RANKS, HARVEST_RANKS)


def members(split, space):
    return np.asarray(nth_rank(np.arange(split_size(split, space)), split, space))


@pytest.mark.parametrize("space", SMALL_SPACES)
def test_splits_are_disjoint_and_exhaustive(space):
    ranks = np.concatenate([members("train", space), members("held_out", space)])
    np.testing.assert_array_equal(np.sort(ranks), np.arange(space))


@pytest.mark.parametrize("space", SMALL_SPACES)
def test_membership_agrees_with_the_listing(space):
    assert not np.any(is_held_out(members("train", space), space))
    assert np.all(is_held_out(members("held_out", space), space))


@pytest.mark.parametrize(
    ("space", "train"), [(1, 0), (4, 3), (24, 19), (CLEANUP_RANKS, 46_126_080), (504, 403)]
)
def test_training_has_four_fifths_rounded_down(space, train):
    assert split_size("train", space) == train
    assert split_size("held_out", space) == space - train
    assert split_size("all", space) == space


@pytest.mark.slow
@pytest.mark.parametrize("space", BIG_SPACES)
def test_the_whole_space_is_cut_exactly(space):
    listed = np.zeros(space, bool)
    listing = jax.jit(nth_rank, static_argnums=(1, 2))
    membership = jax.jit(is_held_out, static_argnums=1)
    for split in HALVES:
        for start in range(0, split_size(split, space), 2**20):
            end = min(start + 2**20, split_size(split, space))
            ranks = np.asarray(listing(jnp.arange(start, end), split, space))
            assert np.all(membership(ranks, space) == (split == "held_out"))
            listed[ranks] = True
    assert listed.all()


@pytest.mark.parametrize("split", SPLITS)
def test_sampling_is_uniform_over_the_split(split):
    space = 504
    keys = jax.random.split(jax.random.key(7), 40 * space)
    ranks = np.asarray(jax.vmap(lambda key: sample_rank(jax.random.bits(key), split, space))(keys))
    counts = np.bincount(ranks, minlength=space)
    inside = members(split, space)
    assert counts[inside].sum() == len(ranks)
    assert scipy.stats.chisquare(counts[inside]).pvalue > 1e-3


@pytest.mark.parametrize("space", BIG_SPACES)
@pytest.mark.parametrize("split", SPLITS)
def test_sampling_reaches_all_of_a_big_space(split, space):
    keys = jax.random.split(jax.random.key(8), 40_000)
    ranks = np.asarray(
        jax.jit(jax.vmap(lambda key: sample_rank(jax.random.bits(key), split, space)))(keys)
    )
    share = {"train": 0.0, "held_out": 1.0, "all": pytest.approx(0.2, abs=0.01)}[split]
    assert np.mean(is_held_out(ranks, space)) == share
    # A space far larger than the sample: hardly a repeat, and no part of it is left out.
    assert len(np.unique(ranks)) > 39_800
    counts = np.histogram(ranks, bins=64, range=(0, space))[0]
    assert scipy.stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("space", BIG_SPACES)
def test_the_cut_follows_no_digit_of_the_rank(space):
    ranks = np.random.default_rng(0).integers(0, space, 200_000).astype(np.int32)
    held_out = np.asarray(is_held_out(ranks, space))
    for low, base in [(1, 16), (1, 10), (16, 15), (1000, 13), (space // 16, 16)]:
        digit = ranks // low % base
        table = np.histogram2d(digit, held_out, bins=(base, 2))[0]
        assert scipy.stats.chi2_contingency(table).pvalue > 1e-4


@pytest.mark.parametrize("space", BIG_SPACES)
def test_neighbouring_ranks_are_cut_independently(space):
    held_out = np.asarray(is_held_out(np.arange(1_000_000), space)).astype(float)
    for lag in (1, 2, 3, 7, 100, 7488, 7700, 7776, 7777):
        assert abs(np.corrcoef(held_out[:-lag], held_out[lag:])[0, 1]) < 5e-3


@pytest.mark.parametrize(
    ("space", "split", "ranks"),
    [
        (CLEANUP_RANKS, "train", [6174173, 20450586, 12338908, 50108690]),
        (CLEANUP_RANKS, "held_out", [11841172, 14432805, 38416391, 23539673]),
        (HARVEST_RANKS, "train", [56929746, 54454398, 59157842, 32548921]),
        (HARVEST_RANKS, "held_out", [29896196, 41615430, 4491496, 27475722]),
    ],
)
def test_the_cut_never_moves(space, split, ranks):
    assert nth_rank(np.array([0, 1, 2, 1_000_000]), split, space).tolist() == ranks


def test_traced_and_concrete_calls_agree():
    index = jnp.arange(300)
    for split in SPLITS:
        jitted = jax.jit(lambda i, split=split: nth_rank(i, split, CLEANUP_RANKS))(index)
        mapped = jax.vmap(lambda i, split=split: nth_rank(i, split, CLEANUP_RANKS))(index)
        single = [nth_rank(i, split, CLEANUP_RANKS) for i in range(5)]
        np.testing.assert_array_equal(jitted, mapped)
        np.testing.assert_array_equal(jitted[:5], single)


@pytest.mark.parametrize("name", ["heldout", "Train", "test", ""])
def test_unknown_split_names_the_nearest(name):
    with pytest.raises(ValueError, match="train, held_out, all") as error:
        check_split(name)
    if name == "heldout":
        assert "'held_out'" in str(error.value)


@pytest.mark.parametrize("rank", [-1, 24, 1.5, [0, 24]])
def test_ranks_out_of_range_are_refused(rank):
    with pytest.raises(ValueError, match="from 0 to 23"):
        is_held_out(rank, 24)


def test_indices_are_checked_against_their_own_split():
    with pytest.raises(ValueError, match="from 0 to 4"):
        nth_rank(5, "held_out", 24)


@pytest.mark.parametrize("space", [7, 22, 1009, 2 * 1009])
def test_spaces_that_cannot_be_mixed_are_refused(space):
    with pytest.raises(ValueError, match="product"):
        is_held_out(0, space)


@pytest.mark.parametrize("space", [0, -4, 2**31])
def test_spaces_beyond_an_int32_are_refused(space):
    with pytest.raises(ValueError, match=r"1 to 2\*\*31 - 1"):
        splits._factors(space)


def test_an_empty_split_is_refused():
    with pytest.raises(ValueError, match="is empty"):
        sample_rank(jnp.uint32(0), "train", 1)


@pytest.mark.parametrize(
    ("seed", "words"),
    [
        (0, (447443526, 1400355374)),
        (906, (99285925, 1598958672)),
        (2**32 - 1, (1819058474, 3285519521)),
    ],
)
def test_problem_seeds_never_move(seed, words):
    assert tuple(jax.random.key_data(problem_key(seed)).tolist()) == words


def test_problem_seeds_may_be_traced():
    seeds = jnp.arange(900, 910)
    traced = jax.random.key_data(jax.jit(jax.vmap(problem_key))(seeds))
    concrete = [jax.random.key_data(problem_key(int(seed))) for seed in seeds]
    numpy = [jax.random.key_data(problem_key(np.int64(seed))) for seed in seeds]
    np.testing.assert_array_equal(traced, concrete)
    np.testing.assert_array_equal(traced, numpy)
    assert len(np.unique(traced, axis=0)) == len(seeds)


def test_problem_seeds_ignore_the_default_generator():
    expected = jax.random.key_data(problem_key(906))
    with jax.default_prng_impl("rbg"):
        assert jax.random.key_impl(problem_key(906)) == jax.random.key_impl(THREEFRY)
        np.testing.assert_array_equal(jax.random.key_data(problem_key(906)), expected)


@pytest.mark.parametrize("seed", [-1, 2**32, 0.5])
def test_bad_problem_seeds_are_refused(seed):
    with pytest.raises(ValueError, match="problem seed"):
        problem_key(seed)


def digit_split(held_out):
    """Worlds are 0 .. 29; a world's class is its last digit in base five."""
    return SemanticSplit(
        classify=lambda world: world % 5,
        move=lambda world, target: world - world % 5 + target,
        held_out=held_out,
    )


def test_semantic_split_samples_exactly_its_classes():
    split = digit_split((True, False, False, True, False))
    keys = jax.random.split(jax.random.key(3), 30_000)

    def draw(key, name):
        world_key, class_key = jax.random.split(key)
        return split.sample(
            jax.random.bits(class_key), name, jax.random.randint(world_key, (), 0, 30)
        )

    for name, wanted in [("train", (1, 2, 4)), ("held_out", (0, 3)), ("all", range(5))]:
        worlds = np.asarray(jax.vmap(lambda key, name=name: draw(key, name))(keys))
        held_out = np.asarray(jax.vmap(split.is_held_out)(worlds))
        np.testing.assert_array_equal(held_out, np.isin(worlds % 5, (0, 3)))
        inside = [world for world in range(30) if world % 5 in wanted]
        counts = np.bincount(worlds, minlength=30)
        assert counts[inside].sum() == len(worlds)
        assert scipy.stats.chisquare(counts[inside]).pvalue > 1e-3


@pytest.mark.parametrize("held_out", [(True, True), (False, False), ()])
def test_semantic_split_leaves_something_to_both(held_out):
    with pytest.raises(ValueError, match="at least one class"):
        digit_split(held_out)


def test_semantic_split_checks_the_name():
    with pytest.raises(ValueError, match="nearest of these is 'train'"):
        digit_split((True, False)).sample(jnp.uint32(0), "trian", jnp.int32(0))
