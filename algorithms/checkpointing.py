"""Checkpoints of a run: saved while training goes on, and restored on any number of devices.

A checkpoint is a folder named after its update, which holds the items `params`, `training` (all
else that the next update depends on) and `about`. It appears under that name once it is complete.
Arrays are stored flat, by name, so that nothing depends on how a library nests its state.
"""

import contextlib
import dataclasses
import json
import math
import pathlib
from collections.abc import Callable, Iterator
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
from absl import logging
from jax.sharding import Sharding
from orbax.checkpoint import checkpoint_managers

from algorithms.config import CheckpointConfig, TrainConfig
from algorithms.learner import Learner
from algorithms.records import LearnerState
from algorithms.runs import similar_folder
from algorithms.serialisation import from_dict, to_dict
from osj_envs.compose import ConfigError
from osj_envs.types import Key

Which = Literal["latest", "best"]
"""Of the checkpoints of a run."""


KEY = "held_out_return"
"""Of what checkpoints are ranked by."""


@dataclasses.dataclass(frozen=True)
class About:
    """What a checkpoint says of itself.

    Attributes:
        config: of the run.
        update: updates that were done.
        trials: trials that had finished.
        held_out_return: of the evaluation at this update, if there was one.
    """

    config: TrainConfig
    update: int
    trials: int = 0
    held_out_return: float | None = None


class Checkpoints:
    """The checkpoints of one run."""

    def __init__(self, folder: pathlib.Path, config: CheckpointConfig) -> None:
        """Makes the folder if it is not there, and clears away what a killed process left."""
        logging.set_verbosity(logging.ERROR)
        self._manager = ocp.CheckpointManager(
            folder,
            options=ocp.CheckpointManagerOptions(
                preservation_policy=_preservation(config.keep),
                best_fn=_quality,
                cleanup_tmp_directories=True,
            ),
            item_handlers={
                "params": ocp.StandardCheckpointHandler(),
                "training": ocp.StandardCheckpointHandler(),
                "about": ocp.JsonCheckpointHandler(),
            },
        )

    def save(self, state: LearnerState, about: About) -> None:
        """Begins to save; `state` may be consumed as soon as this returns.

        Does nothing where this update is saved already.
        """
        if self.latest() == about.update:
            return
        parts = _parts(state)
        items = {name: ocp.args.StandardSave(named_leaves(part)) for name, part in parts.items()}
        items["about"] = ocp.args.JsonSave(_to_json(about))
        metrics = {KEY: about.held_out_return}
        self._manager.save(about.update, args=ocp.args.Composite(**items), metrics=metrics)

    def latest(self) -> int | None:
        """Update of the newest checkpoint, or None where there is none."""
        latest: int | None = self._manager.latest_step()
        return latest

    def restore(self, learner: Learner) -> tuple[LearnerState, About]:
        """The newest checkpoint, laid out on the learner's devices.

        Raises:
            ConfigError: it was saved by another kind of learner.
        """
        step = self._manager.latest_step()
        parts = _parts(_template(learner))
        for name, part in parts.items():
            _check_fit(named_leaves(part), self._shapes(step, name), f"checkpoint {step}")
        restores = {
            name: ocp.args.StandardRestore(named_leaves(part)) for name, part in parts.items()
        }
        args = ocp.args.Composite(**restores, about=ocp.args.JsonRestore())
        restored = self._manager.restore(step, args=args)
        state: LearnerState = with_leaves(parts["training"], restored["training"])
        params = with_leaves(parts["params"], restored["params"])
        return dataclasses.replace(state, params=params), _from_json(restored["about"])

    def close(self) -> None:
        """Waits until all is saved."""
        self._manager.wait_until_finished()
        self._manager.close()

    def _shapes(self, step: int, item: str) -> dict[str, tuple[int, ...]]:
        stored = self._manager.item_metadata(step)[item]
        return {name: tuple(leaf.shape) for name, leaf in stored.tree.items()}


@contextlib.contextmanager
def open_checkpoints(folder: pathlib.Path, config: CheckpointConfig) -> Iterator[Checkpoints]:
    """The checkpoints of a run; what is being saved at the end is saved."""
    checkpoints = Checkpoints(folder, config)
    try:
        yield checkpoints
    finally:
        checkpoints.close()


def load_about(folder: pathlib.Path) -> About:
    """What the checkpoint in `folder` says of itself."""
    return _from_json(json.loads((folder / "about" / "metadata").read_text()))


def load_params(folder: pathlib.Path, like: Any) -> Any:
    """The parameters of the checkpoint in `folder`, as NumPy arrays.

    Args:
        folder: of the checkpoint.
        like: parameters, or their shapes, of the network that they are for.

    Raises:
        ConfigError: they do not fit that network.
    """
    logging.set_verbosity(logging.ERROR)
    here = jax.sharding.SingleDeviceSharding(jax.local_devices()[0])
    template = named_leaves(jax.tree.map(lambda leaf: _placed(leaf, here), like))
    with ocp.StandardCheckpointer() as checkpointer:
        stored = checkpointer.metadata(folder / "params").item_metadata.tree
        shapes = {name: tuple(leaf.shape) for name, leaf in stored.items()}
        _check_fit(template, shapes, f"the checkpoint in {folder}")
        named = checkpointer.restore(folder / "params", template)
    return with_leaves(like, jax.device_get(named))


def find_checkpoint(path: str, which: Which = "latest") -> pathlib.Path:
    """The folder of a checkpoint.

    Args:
        path: of a checkpoint, or of a run.
        which: of a run's checkpoints; of equally good ones, the newest is the best.

    Raises:
        ConfigError: there is none.
    """
    folder = pathlib.Path(path).expanduser().resolve()
    if (folder / "about" / "metadata").exists():
        return folder
    runs = folder / "checkpoints" if (folder / "checkpoints").is_dir() else folder
    found = sorted((p for p in runs.glob("*") if p.name.isdigit()), key=lambda p: int(p.name))
    if not found:
        raise ConfigError(_nothing_in(folder))
    if which == "latest":
        return found[-1]
    return max(reversed(found), key=lambda p: _quality({KEY: load_about(p).held_out_return}))


def named_leaves(tree: Any) -> dict[str, Any]:
    """Arrays by name: those without elements left out, random keys as their data."""
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {_name(path): _storable(leaf) for path, leaf in leaves if leaf.size}


def with_leaves(template: Any, named: dict[str, Any]) -> Any:
    """Undoes `named_leaves`; `template` has the shapes, dtypes and shardings."""

    def leaf(path: Any, like: Any) -> Any:
        if not like.size:
            return _empty(like)
        if jnp.issubdtype(like.dtype, jax.dtypes.prng_key):
            return _wrap_key(named[_name(path)], getattr(like, "sharding", None))
        return named[_name(path)]

    return jax.tree_util.tree_map_with_path(leaf, template)


def _parts(state: LearnerState) -> dict[str, Any]:
    """What a player needs, and the rest."""
    return {"params": state.params, "training": dataclasses.replace(state, params=None)}


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")


def _storable(leaf: Any) -> Any:
    if not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return leaf
    if isinstance(leaf, jax.Array):
        return jax.random.key_data(leaf)
    return _placed(jax.eval_shape(jax.random.key_data, leaf), leaf.sharding)


def _wrap_key(data: Any, sharding: Sharding | None) -> Key:
    """The random key, laid out as it was made: another spelling of it compiles everything anew."""
    wrap: Callable[[Any], Key] = jax.jit(jax.random.wrap_key_data, out_shardings=sharding)
    return wrap(data)


def _empty(like: Any) -> Any:
    nothing = np.zeros(like.shape, like.dtype)
    if getattr(like, "sharding", None) is None:
        return nothing
    return jax.make_array_from_callback(like.shape, like.sharding, lambda index: nothing[index])


def _template(learner: Learner) -> LearnerState:
    """Shapes, dtypes and shardings of a state."""
    state = jax.eval_shape(learner.init, 0)
    return jax.tree.map(
        lambda sharding, part: jax.tree.map(lambda leaf: _placed(leaf, sharding), part),
        learner.shardings(),
        state,
    )


def _placed(leaf: Any, sharding: Sharding) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)


def _check_fit(template: dict[str, Any], stored: dict[str, tuple[int, ...]], what: str) -> None:
    """Raises ConfigError unless both have the same names and shapes."""
    wanted = {name: tuple(leaf.shape) for name, leaf in template.items()}
    for name in sorted({*wanted, *stored}):
        if wanted.get(name) != stored.get(name):
            raise ConfigError(
                f"{what} does not fit this agent in this environment: {name} is "
                f"{stored.get(name, 'missing')} there and {wanted.get(name, 'missing')} here."
            )


def _preservation(keep: int) -> checkpoint_managers.PreservationPolicy:
    """The newest, and the best."""
    best = checkpoint_managers.BestN(get_metric_fn=_quality, n=1)
    return checkpoint_managers.AnyPreservationPolicy([checkpoint_managers.LatestN(keep), best])


def _quality(metrics: dict[str, float | None]) -> float:
    value = metrics[KEY]
    return -math.inf if value is None else value


def _to_json(about: About) -> dict[str, Any]:
    fields = {field.name: getattr(about, field.name) for field in dataclasses.fields(about)}
    return {**fields, "config": to_dict(about.config)}


def _from_json(data: dict[str, Any]) -> About:
    return About(**{**data, "config": from_dict(data["config"])})


def _nothing_in(folder: pathlib.Path) -> str:
    """One sentence: there is no checkpoint, and what comes nearest."""
    if folder.exists():
        below = sorted(p.parent.parent for p in folder.glob("**/about/metadata"))
        hint = f" The nearest is {below[-1]}." if below else ""
        return f"There is no checkpoint in {folder}.{hint}"
    return f"There is no checkpoint {folder}.{similar_folder(folder)}"
