"""From a command line to a configuration, by hydra's groups and overrides.

Hydra composes; it does not run the program, so it neither changes the working directory nor
writes folders of its own.
"""

import contextlib
import pathlib
from collections.abc import Sequence
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

import osj_envs
from algorithms.config import TrainConfig, nearest, option_names

CONFIG_DIR = pathlib.Path(__file__).resolve().parents[1] / "configs"


class ConfigError(ValueError):
    """A command line that makes no configuration; the message is one sentence for a person."""


def load_train_config(arguments: Sequence[str]) -> TrainConfig:
    """The training run that a command line asks for.

    Raises:
        ConfigError: an unknown key, group member or choice, or a value out of its range.
    """
    node = compose_config("config", arguments)
    return to_record(node, TrainConfig)


def compose_config(name: str, arguments: Sequence[str]) -> DictConfig:
    """The configuration `configs/<name>.yaml` with the overrides of a command line."""
    register_schemas()
    with initialize_config_dir(str(CONFIG_DIR), version_base=None):
        overrides = _parse(arguments)
        groups = [o for o in overrides if _members(o.key_or_group)]
        for override in groups:
            _check_member(override)
        base = _compose(name, [o.input_line for o in groups])
        for override in overrides:
            if override not in groups:
                _check_key(override, base)
        return _compose(name, [o.input_line for o in overrides])


def to_record(node: DictConfig, record: type[Any]) -> Any:
    """The composed configuration as a `record`, which checks its values."""
    try:
        return OmegaConf.to_object(node)
    except (ValueError, TypeError, OmegaConfBaseException) as error:
        raise ConfigError(str(error).splitlines()[0]) from error


def register_schemas() -> None:
    """Tells hydra the types of the groups, and every environment's options."""
    store = ConfigStore.instance()
    store.store(name="train_schema", node=TrainConfig)
    for env in osj_envs.list_ids():
        options: dict[str, Any] = dict.fromkeys(option_names(env))
        node = {"name": env, **options, "training": dict(options)}
        store.store(group="env", name=f"{env}_schema", node=node)


def _parse(arguments: Sequence[str]) -> list[Override]:
    try:
        overrides = OverridesParser.create().parse_overrides([a.lstrip("-") for a in arguments])
    except HydraException as error:
        wrong = _first_line(error)
        raise ConfigError(f"{wrong}; an override reads key=value (agent.memory=gru).") from error
    for override in overrides:
        if override.is_add() or override.is_delete() or override.is_sweep_override():
            raise ConfigError(f"{override.input_line!r} adds, deletes or sweeps; only key=value may.")
    return overrides


def _compose(name: str, overrides: list[str]) -> DictConfig:
    try:
        return compose(name, overrides=overrides)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(_first_line(error)) from error


def _members(group: str) -> list[str]:
    """The files of a configuration group, or nothing where it is none."""
    loader = GlobalHydra.instance().config_loader()
    with contextlib.suppress(HydraException):
        found = loader.get_group_options(group, ObjectType.CONFIG)
        return [member for member in found if not member.endswith("_schema")]
    return []


def _check_member(override: Override) -> None:
    members = _members(override.key_or_group)
    if override.value() not in members:
        raise ConfigError(
            f"Unknown {override.key_or_group}: {override.value()!r}; "
            f"{nearest(override.value(), tuple(members))}"
        )


def _check_key(override: Override, base: DictConfig) -> None:
    key, known = override.key_or_group, _keys(base)
    if key in known:
        return
    group = key.rpartition(".")[0]
    siblings = [name for name in known if name.rpartition(".")[0] == group]
    raise ConfigError(f"Unknown key: {key!r}; {nearest(key, tuple(siblings or known))}")


def _keys(node: Any, prefix: str = "") -> list[str]:
    """Every dotted key."""
    if not isinstance(node, DictConfig) or node._is_none():
        return []
    children = [(f"{prefix}{key}", node._get_node(key)) for key in node]
    return [key for name, child in children for key in (name, *_keys(child, f"{name}."))]


def _first_line(error: BaseException) -> str:
    """The message, and first the cause's where there is one: hydra hides what was wrong there."""
    lines = [str(e).strip().splitlines()[0] for e in (error.__cause__, error) if str(e or "")]
    return "; ".join(line.rstrip(".") for line in lines)
