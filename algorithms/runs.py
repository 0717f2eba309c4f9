"""Run folders: each training run has one, made once, written by one process at a time."""

import contextlib
import dataclasses
import difflib
import fcntl
import importlib.metadata
import json
import os
import pathlib
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils
from omegaconf import OmegaConf

import osj_envs
from algorithms.compose import load_train_config
from algorithms.config import TrainConfig
from algorithms.serialisation import flatten, from_dict, plain, to_dict
from osj_envs.compose import ConfigError

MAY_CHANGE = ("scale.agent_steps", "logging.", "checkpoint.", "evaluation.", "distributed")
"""What may be different when a run is resumed: keys, and groups that end with a dot."""

_ROOT = pathlib.Path(__file__).resolve().parents[1]


@dataclasses.dataclass(frozen=True)
class RunFolder:
    """What a run leaves on disk.

    Attributes:
        path: of the folder, absolute.
    """

    path: pathlib.Path

    @property
    def config_file(self) -> pathlib.Path:
        """The resolved configuration."""
        return self.path / "config.yaml"

    @property
    def about_file(self) -> pathlib.Path:
        """Command line, versions, and the id of the wandb run."""
        return self.path / "run.json"

    @property
    def metrics_file(self) -> pathlib.Path:
        """The training figures, one JSON object a line."""
        return self.path / "metrics.jsonl"

    @property
    def times_file(self) -> pathlib.Path:
        """What took how long: apart from the figures, which a repeated run gets again."""
        return self.path / "times.jsonl"

    @property
    def checkpoints(self) -> pathlib.Path:
        """Holds one folder for each checkpoint."""
        return self.path / "checkpoints"

    @property
    def evaluation(self) -> pathlib.Path:
        """Table, figure and numbers of the evaluation after training."""
        return self.path / "evaluation"

    def about(self) -> dict[str, Any]:
        """The content of `about_file`."""
        about: dict[str, Any] = json.loads(self.about_file.read_text())
        return about

    def config(self) -> TrainConfig:
        """The run's own configuration."""
        return from_dict(plain(OmegaConf.load(self.config_file)))


@dataclasses.dataclass(frozen=True)
class Job:
    """A run to be done.

    Attributes:
        config: resolved.
        folder: where it is written.
        is_resumed: the folder was there before.
    """

    config: TrainConfig
    folder: RunFolder
    is_resumed: bool


@contextlib.contextmanager
def shared_job(config: TrainConfig, arguments: Sequence[str]) -> Iterator[Job]:
    """`prepare` on the first of the processes that share a run, and its job on all; locked.

    Raises:
        ConfigError: as `prepare`, or another run of the program is writing the folder.
    """
    if jax.process_index() == 0:
        job = prepare(config, arguments)
        with locked(job.folder):
            write_config(job.folder, job.config)
            _broadcast(str(job.folder.path))
            yield job
    else:
        folder = RunFolder(pathlib.Path(_broadcast("")))
        yield Job(folder.config(), folder, is_resumed=True)


def prepare(config: TrainConfig, arguments: Sequence[str]) -> Job:
    """A new folder, or the one to be resumed.

    Args:
        config: what the command line alone asks for.
        arguments: the command line.

    Raises:
        ConfigError: no run in the folder that `resume` names, or an argument contradicts the run.
    """
    folder = open_run(config.resume) if config.resume else find_restarted(config)
    if folder is None:
        return Job(config, create(config, arguments), is_resumed=False)
    return Job(resumed_config(folder, arguments), folder, is_resumed=True)


def create(config: TrainConfig, arguments: Sequence[str]) -> RunFolder:
    """A new folder, whatever else is started in the same second."""
    parent = pathlib.Path(config.logging.directory).resolve()
    folder = RunFolder(new_folder(parent, config.env.name))
    about = {
        "command": [sys.executable, *sys.argv],
        "arguments": list(arguments),
        "versions": versions(),
        "wandb_id": os.environ.get("WANDB_RUN_ID", folder.path.name),
    }
    write_config(folder, config)
    _write(folder.about_file, json.dumps(about, indent=2) + "\n")
    return folder


def write_config(folder: RunFolder, config: TrainConfig) -> None:
    """Writes the resolved configuration down."""
    _write(folder.config_file, OmegaConf.to_yaml(OmegaConf.create(to_dict(config))))


def new_folder(parent: pathlib.Path, name: str) -> pathlib.Path:
    """Makes a folder that did not exist: `<name>-<time>-<something unique>`."""
    parent.mkdir(parents=True, exist_ok=True)
    while True:
        path = parent / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        with contextlib.suppress(FileExistsError):
            path.mkdir()
            return path


def open_run(path: str) -> RunFolder:
    """The run in a folder.

    Raises:
        ConfigError: there is none, or it was stopped before it was written down.
    """
    folder = RunFolder(pathlib.Path(path).expanduser().resolve())
    if not folder.path.is_dir():
        raise ConfigError(f"There is no run folder {path}.{similar_folder(folder.path)}")
    if not folder.about_file.exists() or not folder.config_file.exists():
        raise ConfigError(f"{path} holds no run: it has no {folder.about_file.name}.")
    return folder


def find_restarted(config: TrainConfig) -> RunFolder | None:
    """The run that is started again under its wandb id, as sweeps do; None for a new one."""
    wandb_id = os.environ.get("WANDB_RUN_ID")
    otherwise = "allow" if os.environ.get("WANDB_SWEEP_ID") else "never"
    if not wandb_id or (os.environ.get("WANDB_RESUME") or otherwise) == "never":
        return None
    parent = pathlib.Path(config.logging.directory).resolve()
    folders = [RunFolder(file.parent) for file in sorted(parent.glob("*/run.json"))]
    return next((f for f in folders if f.about().get("wandb_id") == wandb_id), None)


def resumed_config(folder: RunFolder, arguments: Sequence[str]) -> TrainConfig:
    """The run's own configuration, with what may be changed as the arguments have it.

    Raises:
        ConfigError: an argument contradicts the run.
    """
    own = dict(flatten(to_dict(folder.config())))
    asked = dict(flatten(to_dict(_with_own_arguments(folder, arguments))))
    base = dict(flatten(to_dict(_with_own_arguments(folder, []))))
    named = {_key(argument) for argument in arguments}
    differs = [key for key in {**own, **asked} if asked.get(key) != own.get(key)]
    changed = {k: asked.get(k) for k in differs if k in named or asked.get(k) != base.get(k)}
    for key, value in changed.items():
        if not key.startswith(MAY_CHANGE):
            raise ConfigError(
                f"{key}={value} contradicts the run in {folder.path}, which has "
                f"{key}={own.get(key)}; a resumed run keeps its configuration."
            )
    _check_length(own, changed)
    data = OmegaConf.create(to_dict(folder.config()))
    for key, value in changed.items():
        OmegaConf.update(data, key, value)
    return from_dict(plain(data))


def similar_folder(path: pathlib.Path) -> str:
    """For the end of a message on a path that does not exist: the folder that is most like it."""
    parent = next(p for p in path.parents if p.exists())
    beside = [p.name for p in parent.iterdir() if p.is_dir()]
    missing = path.relative_to(parent).parts[0]
    found = difflib.get_close_matches(missing, beside, n=1, cutoff=0.0)
    return f" Did you mean {parent / found[0]}?" if found else ""


@contextlib.contextmanager
def locked(folder: RunFolder) -> Iterator[None]:
    """Keeps other processes from writing the run; a killed process holds no lock.

    Raises:
        ConfigError: another process writes it.
    """
    with (folder.path / "lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ConfigError(f"Another process is writing the run in {folder.path}.") from error
        yield


def versions() -> dict[str, str | None]:
    """Of what a result depends on; the commit ends with + where files differ from it."""
    return {
        "python": sys.version.split()[0],
        "osj": osj_envs.__version__,
        **{name: importlib.metadata.version(name) for name in ("jaxlib", "flax", "optax")},
        "jax": jax.__version__,
        "commit": _commit(),
    }


def _with_own_arguments(folder: RunFolder, arguments: Sequence[str]) -> TrainConfig:
    """What the run's own command line asks for, with further arguments after it."""
    later = {_key(argument) for argument in arguments}
    replaced = tuple(key for key in MAY_CHANGE if key.rstrip(".") in later)
    own = [
        argument
        for argument in folder.about()["arguments"]
        if _key(argument) not in later and not _key(argument).startswith(replaced)
    ]
    without = [argument for argument in arguments if _key(argument) != "resume"]
    config = load_train_config([*own, *without])
    return dataclasses.replace(config, resume=None)


def _key(argument: str) -> str:
    return argument.lstrip("-").partition("=")[0]


def _check_length(own: dict[str, Any], changed: dict[str, Any]) -> None:
    key = "scale.agent_steps"
    if key not in changed:
        return
    if changed[key] < own[key]:
        raise ConfigError(f"{key}={changed[key]} is less than the {own[key]} of the run.")
    if own["agent.ppo.anneal"]:
        raise ConfigError(
            f"{key} of this run is fixed: with agent.ppo.anneal its learning rates depend on it."
        )


def _broadcast(text: str) -> str:
    """The first process's text."""
    if jax.process_count() == 1:
        return text
    padded = np.zeros(4096, np.uint8)
    padded[: len(text.encode())] = np.frombuffer(text.encode(), np.uint8)
    return bytes(multihost_utils.broadcast_one_to_all(padded)).rstrip(b"\0").decode()


def _commit() -> str | None:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(_ROOT), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        if pathlib.Path(git("rev-parse", "--show-toplevel")).resolve() == _ROOT:
            changed = git("status", "--porcelain", "--untracked-files=no")
            return git("rev-parse", "HEAD") + "+" * bool(changed)
    return None


def _write(path: pathlib.Path, text: str) -> None:
    """Replaces the file as a whole, or not at all."""
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(text)
    draft.replace(path)
