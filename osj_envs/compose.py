"""From a command line to a configuration, by hydra's groups and overrides.

Hydra composes; it does not run the program, so it neither changes the working directory nor
writes folders of its own.
"""

import contextlib
import difflib
import pathlib
from collections.abc import Mapping, Sequence
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

CONFIG_DIR = pathlib.Path(__file__).resolve().parents[1] / "configs"
"""The groups' folders; it lies beside the packages in a checkout and when installed alike."""


class ConfigError(ValueError):
    """A command line that makes no configuration; the message is one sentence for a person."""


def compose_config(
    name: str, arguments: Sequence[str], schemas: Mapping[str, Any] | None = None
) -> DictConfig:
    """The configuration `configs/<name>.yaml` with the overrides of a command line.

    Args:
        name: of the file, without its ending.
        arguments: overrides that read key=value; leading dashes are dropped, as sweeps add them.
        schemas: dataclasses or mappings that the files' defaults name, as `group/name` or `name`.

    Raises:
        ConfigError: an unknown key or group member, or no override at all.
    """
    for path, node in (schemas or {}).items():
        group, _, schema = path.rpartition("/")
        ConfigStore.instance().store(name=schema, node=node, group=group or None)
    with initialize_config_dir(str(CONFIG_DIR), version_base=None):
        overrides = _parse(arguments)
        groups = [o for o in overrides if _members(o.key_or_group)]
        for override in groups:
            _check_member(override)
        base = _compose(name, [str(o.input_line) for o in groups])
        for override in overrides:
            if override not in groups:
                _check_key(override, base)
        return _compose(name, [str(o.input_line) for o in overrides])


def to_record(node: DictConfig) -> Any:
    """The composed configuration as the record of its schema, which checks its values.

    Raises:
        ConfigError: a value is of another type or out of its range.
    """
    try:
        return OmegaConf.to_object(node)
    except (ValueError, TypeError, OmegaConfBaseException) as error:
        raise ConfigError(str(error).splitlines()[0]) from error


def nearest(value: Any, choices: Sequence[str]) -> str:
    """Half a sentence: the choice that is most like `value`, and all of them."""
    best = difflib.get_close_matches(str(value), choices, n=1, cutoff=0.0)[0]
    return f"did you mean {best!r}? Known: {', '.join(choices)}."


def _parse(arguments: Sequence[str]) -> list[Override]:
    try:
        overrides = OverridesParser.create().parse_overrides([a.lstrip("-") for a in arguments])
    except HydraException as error:
        raise ConfigError(f"{_first_line(error)}; an override reads key=value.") from error
    for override in overrides:
        if override.is_add() or override.is_delete() or override.is_sweep_override():
            raise ConfigError(
                f"{override.input_line!r} adds, deletes or sweeps; only key=value may."
            )
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
    group, member, known = override.key_or_group, override.value(), _members(override.key_or_group)
    if member not in known:
        raise ConfigError(f"Unknown {group}: {member!r}; {nearest(member, known)}")


def _check_key(override: Override, base: DictConfig) -> None:
    key, known = override.key_or_group, _keys(base)
    if key in known:
        return
    group = key.rpartition(".")[0]
    siblings = [name for name in known if name.rpartition(".")[0] == group]
    raise ConfigError(f"Unknown key: {key!r}; {nearest(key, siblings or known)}")


def _keys(node: Any, prefix: str = "") -> list[str]:
    """Every dotted key."""
    if not isinstance(node, DictConfig) or node._is_none():
        return []
    children = [(f"{prefix}{key!s}", node._get_node(key)) for key in node]
    return [key for name, child in children for key in (name, *_keys(child, f"{name}."))]


def _first_line(error: BaseException) -> str:
    """The message, and first the cause's where there is one: hydra hides what was wrong there."""
    messages = [str(each or "").strip() for each in (error.__cause__, error)]
    return "; ".join(text.splitlines()[0].rstrip(".") for text in messages if text)
