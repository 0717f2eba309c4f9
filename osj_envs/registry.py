"""Environment ids, and how to build one by its id."""

import difflib
import importlib
import inspect
from typing import Any

from osj_envs.trials import MultiTrial

_ENTRY_POINTS = {
    "cleanup": "osj_envs.cleanup.env:Cleanup",
    "harvest": "osj_envs.harvest.env:Harvest",
}

_PROTOCOL_OPTIONS = tuple(inspect.signature(MultiTrial.__init__).parameters)[2:]


def list_ids() -> tuple[str, ...]:
    """The ids that `make` knows."""
    return tuple(_ENTRY_POINTS)


def make(name: str, **options: Any) -> MultiTrial:
    """Builds the environment called `name`.

    Args:
        name: one of `list_ids()`.
        **options: `num_trials`, `trial_length`, `auto_reset` and `split` of the multi-trial
            protocol; every other option goes to the environment (its docstring lists them).

    Raises:
        ValueError: an unknown name, or an option's value is not allowed.
        TypeError: an unknown option.
    """
    if name not in _ENTRY_POINTS:
        raise ValueError(_unknown("environment", name, list_ids()))
    module, attribute = _ENTRY_POINTS[name].split(":")
    build = getattr(importlib.import_module(module), attribute)
    known = (*_PROTOCOL_OPTIONS, *build.option_names())
    for option in options:
        if option not in known:
            raise TypeError(_unknown(f"option of {name!r}", option, known))
    protocol = {key: options.pop(key) for key in _PROTOCOL_OPTIONS if key in options}
    return MultiTrial(build(**options), **protocol)


def _unknown(kind: str, name: str, known: tuple[str, ...]) -> str:
    nearest = difflib.get_close_matches(str(name), known, n=1, cutoff=0.0)
    return f"Unknown {kind}: {name!r}; did you mean {nearest[0]!r}? Known: {', '.join(known)}."
