"""The configuration group `env`: which environment a program plays, and how it is built."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import osj_envs
from osj_envs.compose import nearest
from osj_envs.trials import MultiTrial


@dataclasses.dataclass
class EnvConfig:
    """Which environment, and how it is built.

    Attributes:
        name: its id in the registry.
        options: of `osj_envs.make`, as evaluation plays it.
        training: options that are different in training (a curriculum).

    Raises:
        ValueError: at construction, for an unknown name.
    """

    name: str
    options: Mapping[str, Any]
    training: Mapping[str, Any]

    def __post_init__(self) -> None:
        if self.name not in osj_envs.list_ids():
            raise ValueError(
                f"env.name is {self.name!r}; {nearest(self.name, osj_envs.list_ids())}"
            )


def env_schemas() -> dict[str, dict[str, Any]]:
    """Every environment's options, all unset: what the files of the group start from."""
    schemas = {}
    for name in osj_envs.list_ids():
        options: dict[str, Any] = dict.fromkeys(option_names(name))
        schemas[f"env/{name}_schema"] = {"name": name, **options, "training": dict(options)}
    return schemas


def option_names(name: str) -> tuple[str, ...]:
    """What may be configured of an environment."""
    return ("num_trials", "trial_length", *type(osj_envs.make(name).game).option_names())


def read_env(node: Mapping[str, Any]) -> EnvConfig:
    """The `env` group as a record; options left unset are the environment's own defaults."""
    options = {key: value for key, value in node.items() if key not in ("name", "training")}
    return EnvConfig(node["name"], _given(options), _given(node.get("training", {})))


def make_env(config: EnvConfig, is_training: bool, **options: Any) -> MultiTrial:
    """Builds the environment; `options` are further ones of `osj_envs.make`."""
    changed = config.training if is_training else {}
    return osj_envs.make(config.name, **{**config.options, **changed, **options})


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}
