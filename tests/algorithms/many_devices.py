"""A few updates on however many devices there are; writes parameters and metrics to a file.

Started as a program by the tests, because a process has one number of devices for good.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from tests.algorithms import probes
from tests.algorithms.training import make_probe_learner

UPDATES = 3
MEMORIES = ("gru", "none")


def figures(memory: str) -> dict[str, np.ndarray]:
    """Everything to compare after a few updates, by name; raises where an update recompiles."""
    learner = make_probe_learner(
        probes.HiddenArm(2, 5), 3, 7, num_envs=16, chunk_length=11, memory=memory
    )
    update, state = learner.compile_update(), learner.init(0)
    found = {}
    for number in range(UPDATES):
        (state, metrics), compiled = count_compilations(functools.partial(update, state))
        if bool(compiled) != (number == 0):
            raise AssertionError(f"{memory}: update {number} compiled {compiled} programs")
        found |= {f"{memory}/{number}/{name}": value for name, value in metrics.items()}
    leaves = jax.tree_util.tree_leaves_with_path(state.params)
    found |= {f"{memory}{jax.tree_util.keystr(path)}": leaf for path, leaf in leaves}
    return {name: np.asarray(value) for name, value in found.items()}


def count_compilations(function: Callable[[], Any]) -> tuple[Any, int]:
    """What the function returns, and how many programs were compiled for it."""
    compiled = []

    def listen(event: str, duration: float, **details: Any) -> None:
        compiled.extend([duration] * event.endswith("backend_compile_duration"))

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        return function(), len(compiled)
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)


if __name__ == "__main__":
    results = {"devices": np.asarray(len(jax.devices()))}
    for kind in MEMORIES:
        results |= figures(kind)
    np.savez(sys.argv[1], **results)
