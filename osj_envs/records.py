"""What is kept of an episode, whoever played it: the figures are made from this."""

import dataclasses
import pathlib
from typing import Any

import numpy as np
from flax import struct
from jaxtyping import Array, Float32, Int32, UInt32


@struct.dataclass
class EpisodeRecord:
    """What is kept of an episode; players in the order of the roster, wherever they sat.

    Events that never happened count 0; `Tally` says more on each.

    Attributes:
        returns: individual returns.
        events: each event's counts by name.
        early_events: the same for the first `tally.EARLY_STEPS` steps of a trial.
        effort: steps on the way to each event, by name.
        first_step: first step of a trial, from 0, at which anyone had the event, or `tally.NEVER`.
        last_step: the last one likewise.
        steps: steps that each trial took.
        trial_length: the most that one may take; one that took fewer was over early.
        knowledge: what each player's evidence had established as a trial ended, by name.
        seat: the seat of each player.
        problem_seed: which problem it was; None where it was none with a seed.
    """

    returns: Float32[Array, "*problems trials players"]
    events: dict[str, Float32[Array, "*problems trials players"]]
    early_events: dict[str, Float32[Array, "*problems trials players"]]
    effort: dict[str, Float32[Array, "*problems trials players"]]
    first_step: dict[str, Int32[Array, "*problems trials"]]
    last_step: dict[str, Int32[Array, "*problems trials"]]
    steps: Int32[Array, "*problems trials"]
    trial_length: Int32[Array, "*problems"]
    knowledge: dict[str, Float32[Array, "*problems trials players"]]
    seat: Int32[Array, "*problems players"]
    problem_seed: UInt32[Array, "*problems"] | None = None


BY_NAME = ("events", "early_events", "effort", "first_step", "last_step", "knowledge")
"""The fields that are dictionaries of arrays."""


def save(path: pathlib.Path, record: EpisodeRecord) -> None:
    """Writes NumPy records to an .npz file, which is there as a whole or not at all."""
    fields = {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
    arrays = {name: fields.pop(name) for name in tuple(fields) if name not in BY_NAME}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    for group, named in fields.items():
        arrays |= {f"{group}/{name}": array for name, array in named.items()}
    draft = path.with_name(f".{path.name}.draft")
    with draft.open("wb") as file:
        np.savez_compressed(file, **arrays)
    draft.replace(path)


def load(path: pathlib.Path) -> EpisodeRecord:
    """Undoes `save`."""
    values: dict[str, Any] = {name: {} for name in BY_NAME}
    with np.load(path, allow_pickle=False) as arrays:
        for key in arrays.files:
            group, _, name = key.partition("/")
            target, place = (values[group], name) if name else (values, key)
            target[place] = arrays[key]
    return EpisodeRecord(**values)
