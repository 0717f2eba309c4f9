"""Checkpoints hold all of a state, survive being killed, and fit any number of devices."""

import dataclasses
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.checkpointing import (
    About,
    find_checkpoint,
    load_about,
    load_params,
    named_leaves,
    open_checkpoints,
    with_leaves,
)
from algorithms.config import CheckpointConfig
from algorithms.learner import Learner
from algorithms.records import LearnerState
from osj_envs.compose import ConfigError
from tests.algorithms.tiny import ROOT, make_tiny_config, make_tiny_learner


@pytest.fixture(scope="module")
def learner() -> Learner:
    return make_tiny_learner(memory="gru+evidence")[0]


@pytest.fixture(scope="module")
def state(learner: Learner) -> LearnerState:
    return learner.init(5)


def numbered(state: LearnerState, number: int) -> LearnerState:
    """A state that differs from those of other numbers, everywhere in the parameters."""
    params = jax.tree.map(lambda leaf: leaf * 0 + number, state.params)
    return dataclasses.replace(state, params=params)


def about(update: int, held_out_return: float | None = None) -> About:
    return About(make_tiny_config(seed=9), update, trials=17, held_out_return=held_out_return)


def steps_in(folder: pathlib.Path) -> list[int]:
    return sorted(int(path.name) for path in folder.iterdir() if path.name.isdigit())


def assert_equal(one: LearnerState, other: LearnerState) -> None:
    assert jax.tree.structure(one) == jax.tree.structure(other)
    first, second = named_leaves(one), named_leaves(other)
    for name, leaf in first.items():
        np.testing.assert_array_equal(leaf, second[name], err_msg=name)
        assert leaf.dtype == second[name].dtype


def test_what_is_restored_is_what_was_saved(learner, state, tmp_path):
    with open_checkpoints(tmp_path, CheckpointConfig()) as checkpoints:
        checkpoints.save(numbered(state, 3), about(3, 0.25))
    with open_checkpoints(tmp_path, CheckpointConfig()) as checkpoints:
        restored, said = checkpoints.restore(learner)
    assert_equal(restored, numbered(state, 3))
    assert said == about(3, 0.25)
    assert jnp.issubdtype(restored.key.dtype, jax.dtypes.prng_key)


def test_a_state_may_be_consumed_while_it_is_being_saved(learner, state, tmp_path):
    with open_checkpoints(tmp_path, CheckpointConfig()) as checkpoints:
        for number in (1, 2):
            consumed = numbered(state, number)
            checkpoints.save(consumed, about(number))
            overwrite = jax.jit(lambda tree: jax.tree.map(jnp.negative, tree), donate_argnums=0)
            jax.block_until_ready(overwrite(consumed.params))
    with open_checkpoints(tmp_path, CheckpointConfig()) as checkpoints:
        assert_equal(checkpoints.restore(learner)[0], numbered(state, 2))


def test_the_newest_and_the_best_are_kept(state, tmp_path):
    returns = [0.1, 0.9, None, 0.3, None, 0.2]
    with open_checkpoints(tmp_path, CheckpointConfig(keep=2)) as checkpoints:
        for update, held_out_return in enumerate(returns, start=1):
            checkpoints.save(state, about(update, held_out_return))
    assert steps_in(tmp_path) == [2, 5, 6]
    assert find_checkpoint(str(tmp_path)).name == "6"
    assert find_checkpoint(str(tmp_path), "best").name == "2"
    assert find_checkpoint(str(tmp_path / "5")) == tmp_path / "5"


def test_of_equally_good_checkpoints_the_newest_is_the_best(state, tmp_path):
    with open_checkpoints(tmp_path, CheckpointConfig(keep=2)) as checkpoints:
        for update, held_out_return in enumerate([0.0, 0.0, 0.0, None, None], start=1):
            checkpoints.save(state, about(update, held_out_return))
    assert steps_in(tmp_path) == [3, 4, 5]
    assert find_checkpoint(str(tmp_path), "best").name == "3"


def test_an_update_is_saved_once(state, tmp_path):
    with open_checkpoints(tmp_path, CheckpointConfig()) as checkpoints:
        checkpoints.save(numbered(state, 1), about(4, 0.5))
        checkpoints.save(numbered(state, 2), about(4))
    assert load_about(tmp_path / "4").held_out_return == 0.5


def test_parameters_load_by_themselves(state, tmp_path):
    with open_checkpoints(tmp_path, CheckpointConfig()) as checkpoints:
        checkpoints.save(numbered(state, 6), about(6))
    loaded = load_params(tmp_path / "6", state.params)
    assert all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(loaded))
    assert all((leaf == 6).all() for leaf in jax.tree.leaves(loaded))


def test_another_network_is_refused(state, tmp_path):
    with open_checkpoints(tmp_path, CheckpointConfig()) as checkpoints:
        checkpoints.save(state, about(1))
    smaller = make_tiny_learner(memory="gru+evidence", view_size=7)[0]
    misfit = pytest.raises(
        ConfigError, match=r"GRU_0\.input\.kernel is \(89, 18\) there and \(85, 18\) here"
    )
    with open_checkpoints(tmp_path, CheckpointConfig()) as checkpoints, misfit:
        checkpoints.restore(smaller)
    without_record = jax.eval_shape(make_tiny_learner(memory="gru")[0].init, 0)
    with pytest.raises(ConfigError, match=r"\(89, 18\) there and \(25, 18\) here"):
        load_params(tmp_path / "1", without_record.params)


def test_a_missing_checkpoint_names_the_nearest(state, tmp_path):
    with open_checkpoints(tmp_path / "run" / "checkpoints", CheckpointConfig()) as checkpoints:
        checkpoints.save(state, about(12))
    with pytest.raises(ConfigError, match=r"Did you mean .*/run/checkpoints/12\?"):
        find_checkpoint(str(tmp_path / "run" / "checkpoints" / "13"))
    with pytest.raises(ConfigError, match=r"Did you mean .*/run\?"):
        find_checkpoint(str(tmp_path / "rum"))
    with pytest.raises(ConfigError, match=r"The nearest is .*/run/checkpoints/12"):
        find_checkpoint(str(tmp_path))


def test_what_a_killed_save_leaves_is_no_checkpoint(learner, state, tmp_path):
    with open_checkpoints(tmp_path, CheckpointConfig()) as checkpoints:
        checkpoints.save(numbered(state, 3), about(3))
    begun = tmp_path / "4.orbax-checkpoint-tmp"
    (begun / "params").mkdir(parents=True)
    assert find_checkpoint(str(tmp_path)).name == "3"
    with open_checkpoints(tmp_path, CheckpointConfig()) as checkpoints:
        assert_equal(checkpoints.restore(learner)[0], numbered(state, 3))
        checkpoints.save(numbered(state, 4), about(4))
    assert steps_in(tmp_path) == [3, 4]
    assert not begun.exists()


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in (1, 2, 3))])
def test_killed_at_any_time_the_newest_checkpoint_is_whole(learner, tmp_path, seed):
    process = start("save_for_ever", tmp_path)
    try:
        folder = tmp_path / "checkpoints"
        wait_for(lambda: folder.exists() and len(steps_in(folder)) >= 2, process)
        time.sleep(random.Random(seed).uniform(0.0, 0.5))
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    newest = find_checkpoint(str(tmp_path))
    like = jax.eval_shape(make_tiny_learner()[0].init, 0).params
    said = load_about(newest)
    assert str(said.update) == newest.name
    for leaf in jax.tree.leaves(load_params(newest, like)):
        assert (leaf == said.update).all()


@pytest.mark.parametrize(
    ("saving", "loading"), [(8, 1), pytest.param(1, 8, marks=pytest.mark.slow)]
)
def test_a_checkpoint_fits_another_number_of_devices(tmp_path, saving, loading):
    for action, devices in (("save", saving), ("load" if loading == 1 else "go_on", loading)):
        process = start(action, tmp_path, devices)
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    saved = np.load(tmp_path / f"saved_by_{saving}.npz")
    loaded = np.load(tmp_path / f"loaded_by_{loading}.npz")
    assert set(saved) == set(loaded)
    for name in saved:
        np.testing.assert_array_equal(saved[name], loaded[name], err_msg=name)


def test_leaves_by_name_keep_what_has_no_elements():
    tree = {"a": jnp.zeros((2, 0)), "b": [jnp.arange(3), None], "key": jax.random.key(1)}
    named = named_leaves(tree)
    assert set(named) == {"b.0", "key"}
    again = with_leaves(tree, named)
    assert again["a"].shape == (2, 0)
    assert again["b"][1] is None
    assert (jax.random.key_data(again["key"]) == jax.random.key_data(tree["key"])).all()


def test_what_a_checkpoint_says_of_itself_is_plain_json(state, tmp_path):
    with open_checkpoints(tmp_path, CheckpointConfig()) as checkpoints:
        checkpoints.save(state, about(1))
    content = json.loads((tmp_path / "1" / "about" / "metadata").read_text())
    assert content["config"]["seed"] == 9
    assert content["held_out_return"] is None


def start(action: str, folder: pathlib.Path, devices: int = 2) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.algorithms.save_and_load", action, str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "JAX_NUM_CPU_DEVICES": str(devices)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(condition, process: "subprocess.Popen[str]", seconds: float = 300.0) -> None:
    """Waits until the condition holds while the process runs."""
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
