"""From a command line to the configuration of a training run."""

from collections.abc import Sequence

from omegaconf import DictConfig

from algorithms.config import TrainConfig
from osj_envs.compose import compose_config, to_record
from osj_envs.env_config import env_schemas


def load_train_config(arguments: Sequence[str]) -> TrainConfig:
    """The training run that a command line asks for.

    Raises:
        ConfigError: an unknown key, group member or choice, or a value out of its range.
    """
    config: TrainConfig = to_record(compose_train(arguments))
    return config


def compose_train(arguments: Sequence[str]) -> DictConfig:
    """`configs/config.yaml` with the overrides of a command line, values not yet checked."""
    return compose_config("config", arguments, {"train_schema": TrainConfig, **env_schemas()})
