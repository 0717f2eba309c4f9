"""Saves or loads checkpoints; a program, because a process has one number of devices for good.

python -m tests.algorithms.save_and_load save|load|go_on|save_for_ever FOLDER
"""

import dataclasses
import pathlib
import sys
from typing import Any

import jax
import numpy as np

from algorithms.checkpointing import About, named_leaves, open_checkpoints
from algorithms.config import CheckpointConfig
from algorithms.learner import Learner
from algorithms.records import LearnerState
from osj_envs.devices import prepare_backend
from tests.algorithms.tiny import make_tiny_learner


def save(folder: pathlib.Path) -> None:
    """A checkpoint, and beside it the arrays that should be in it."""
    learner, config = make_tiny_learner()
    state = learner.init(5)
    moments = jax.tree.map(lambda leaf: leaf + 3, state.opt_state)
    state = dataclasses.replace(state, opt_state=moments)
    write_arrays(folder / f"saved_by_{learner.mesh.size}.npz", state)
    with open_checkpoints(folder / "checkpoints", CheckpointConfig()) as checkpoints:
        checkpoints.save(state, About(config, update=1, trials=23, held_out_return=0.5))


def load(folder: pathlib.Path) -> tuple[Learner, LearnerState]:
    """Writes the arrays that were loaded."""
    learner, _ = make_tiny_learner()
    with open_checkpoints(folder / "checkpoints", CheckpointConfig()) as checkpoints:
        state, about = checkpoints.restore(learner)
    assert (about.update, about.trials, about.held_out_return) == (1, 23, 0.5)
    for leaf in jax.tree.leaves(state.actors):
        assert len(leaf.sharding.device_set) == learner.mesh.size == jax.device_count()
    write_arrays(folder / f"loaded_by_{learner.mesh.size}.npz", state)
    return learner, state


def go_on(folder: pathlib.Path) -> None:
    """As `load`, and two updates from there, which must compile once."""
    learner, state = load(folder)
    update = learner.jit_update()
    state, _ = jax.block_until_ready(update(state))
    state, _ = jax.block_until_ready(update(state))
    assert update._cache_size() == 1, "a restored state is laid out in another way"


def save_for_ever(folder: pathlib.Path) -> None:
    """Checkpoints in quick succession, all parameters equal to the update's number."""
    learner, config = make_tiny_learner()
    state = learner.init(5)
    with open_checkpoints(folder / "checkpoints", CheckpointConfig(keep=2)) as checkpoints:
        for update in range(1, 10**6):
            params = jax.tree.map(lambda leaf, u=update: leaf * 0 + u, state.params)
            state = dataclasses.replace(state, params=params)
            checkpoints.save(state, About(config, update, held_out_return=-float(update)))


def write_arrays(path: pathlib.Path, state: Any) -> None:
    named = jax.device_get(named_leaves(state))
    np.savez(path, **named)


if __name__ == "__main__":
    prepare_backend()
    actions = {each.__name__: each for each in (save, load, go_on, save_for_ever)}
    actions[sys.argv[1]](pathlib.Path(sys.argv[2]))
