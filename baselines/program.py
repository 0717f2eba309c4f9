"""What the programs share: help, and wrong arguments told in one line."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf

from baselines import registry
from osj_envs.compose import ConfigError, to_record


def run_program(
    arguments: Sequence[str] | None,
    about: str | None,
    compose: Callable[[Sequence[str]], DictConfig],
    run: Callable[[Any], Any],
) -> int:
    """Runs a program and returns its exit status.

    Args:
        arguments: of the command line, by default the one that started the process.
        about: what `--help` says before all keys and all policies.
        compose: makes a configuration of arguments.
        run: does the work; called with the configuration as a record.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        if {"-h", "--help"} & set(arguments):
            print(about, OmegaConf.to_yaml(compose([])), registry.listing(), sep="\n")
            return 0
        run(to_record(compose(arguments)))
    except (ConfigError, ValueError, TypeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0
