"""What the pools of layouts of every grid world have in common."""

import subprocess
import sys

import numpy as np
import pytest

import osj_envs.cleanup.generate_layouts as cleanup
import osj_envs.harvest.generate_layouts as harvest
from osj_envs.grid.pools import POOL_SIZES, cut, distinct, read, with_all

GENERATORS = pytest.mark.parametrize("generator", [cleanup, harvest], ids=["cleanup", "harvest"])


def run_script(generator, *options):
    command = [sys.executable, "-m", generator.__name__, *options]
    subprocess.run(command, check=True, capture_output=True)


@GENERATORS
def test_no_shipped_layout_occurs_twice(generator):
    pool = with_all(read(generator.POOL_FILE))["all"]
    assert len(pool) == 1280
    assert len(np.unique(pool.reshape(len(pool), -1), axis=0)) == 1280


@GENERATORS
@pytest.mark.parametrize("index", [0, 1, 511, 1023, 1024, 1279])
def test_single_layouts_come_out_again(generator, index):
    pool = with_all(read(generator.POOL_FILE))["all"]
    np.testing.assert_array_equal(generator.generate(generator.POOL_SEED, index), pool[index])


@GENERATORS
def test_seed_and_index_both_matter(generator):
    first = generator.generate(1, 0)
    assert not np.array_equal(first, generator.generate(2, 0))
    assert not np.array_equal(first, generator.generate(1, 1))


@GENERATORS
@pytest.mark.slow
def test_the_script_writes_the_shipped_layouts(generator, tmp_path):
    out = tmp_path / "layouts.npz"
    run_script(generator, "--out", str(out))
    with np.load(out) as new, np.load(generator.POOL_FILE) as shipped:
        assert sorted(new) == sorted(shipped) == ["held_out", "train"]
        for split in shipped:
            np.testing.assert_array_equal(new[split], shipped[split])


@GENERATORS
def test_the_script_takes_sizes_and_a_seed(generator, tmp_path):
    out = tmp_path / "few.npz"
    sizes = ("--train", "3", "--held-out", "2")
    run_script(generator, "--seed", "5", *sizes, "--out", str(out))
    expected = generator.generate_pools({"train": 3, "held_out": 2}, seed=5)
    assert len(expected["train"]) == 3
    new = read(out)
    assert sorted(new) == sorted(expected) == sorted(POOL_SIZES)
    for split in expected:
        np.testing.assert_array_equal(new[split], expected[split])


def test_repeats_are_left_out():
    layouts = distinct(lambda index: np.array([index // 3], np.uint8), "1 x 1")
    assert [int(next(layouts)[0]) for _ in range(4)] == [0, 1, 2, 3]


def test_a_generator_that_only_repeats_is_stopped():
    layouts = distinct(lambda index: np.array([index % 2], np.uint8), "1 x 1")
    with pytest.raises(ValueError, match="only 2 layouts of 1 x 1 were found"):
        list(layouts)


def test_the_first_split_takes_the_first_layouts():
    layouts = distinct(lambda index: np.array([index], np.uint8), "1 x 1")
    pools = with_all(cut({"train": 3, "held_out": 2}, layouts))
    assert {split: pool.ravel().tolist() for split, pool in pools.items()} == {
        "train": [0, 1, 2],
        "held_out": [3, 4],
        "all": [0, 1, 2, 3, 4],
    }
    assert not any(pool.flags.writeable for pool in pools.values())
