"""A training run's configuration as plain data, and back."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from omegaconf import Container, DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from algorithms.config import TrainConfig
from osj_envs.compose import ConfigError, to_record


def to_dict(config: TrainConfig) -> dict[str, Any]:
    """Nested dictionaries, lists and plain values, laid out as on the command line."""
    data = dataclasses.asdict(config)
    env = data["env"]
    return {**data, "env": {"name": env["name"], **env["options"], "training": env["training"]}}


def from_dict(data: Mapping[str, Any]) -> TrainConfig:
    """Undoes `to_dict`; what it lacks has its default.

    Raises:
        ConfigError: a key that there is no more, or a value that is not allowed.
    """
    try:
        node = OmegaConf.merge(OmegaConf.structured(TrainConfig), dict(data))
    except OmegaConfBaseException as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"The stored configuration does not fit: {reason}.") from error
    assert isinstance(node, DictConfig)
    config: TrainConfig = to_record(node)
    return config


def plain(node: Container) -> dict[str, Any]:
    """A mapping of omegaconf as dictionaries and lists."""
    data = OmegaConf.to_container(node)
    assert isinstance(data, dict)
    return {str(key): value for key, value in data.items()}


def flatten(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys and their values; an empty dictionary has none."""
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
