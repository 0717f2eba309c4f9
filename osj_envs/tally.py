"""Counts what happens in an episode while it is played, so that no step need be kept."""

import dataclasses

import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Float32, Int, Int32

EARLY_STEPS = 50
"""`Tally.early` counts the steps of a trial before this one (paper, table 3)."""

NEVER = -1
"""`Tally.first_step` and `last_step` of what has not happened."""


@struct.dataclass
class Tally:
    """Sums of an episode so far, by trial.

    Attributes:
        names: of the events, in the order of the events axis.
        returns: individual rewards.
        count: each event's counts.
        early: each event's counts in the first `EARLY_STEPS` steps.
        effort: steps on the way to each event: where a player has an event, those since its last
            one of any kind or the trial's start, this step included.
        first_step: first step at which any player had the event, or `NEVER`.
        last_step: the last one likewise.
        steps: steps played.
        underway: steps since each player's last event in the trial in progress.
    """

    names: tuple[str, ...] = struct.field(pytree_node=False)
    returns: Float32[Array, "trials players"]
    count: Float32[Array, "trials events players"]
    early: Float32[Array, "trials events players"]
    effort: Float32[Array, "trials events players"]
    first_step: Int32[Array, "trials events"]
    last_step: Int32[Array, "trials events"]
    steps: Int32[Array, "trials"]
    underway: Float32[Array, "players"]


@struct.dataclass
class StepCounts:
    """What one step brings to the tally.

    Attributes:
        trial: the trial that it belongs to.
        step: its index within the trial.
        is_counted: false for steps after the episode's end.
        trial_done: it is the trial's last.
        reward: by player.
        events: counts by player.
    """

    trial: Int[Array, ""]
    step: Int[Array, ""]
    is_counted: Bool[Array, ""]
    trial_done: Bool[Array, ""]
    reward: Float32[Array, "players"]
    events: dict[str, Float32[Array, "players"]]


def empty(names: tuple[str, ...], trials: int, players: int) -> Tally:
    """Nothing has happened yet."""
    sums = jnp.zeros((trials, len(names), players), jnp.float32)
    never = jnp.full((trials, len(names)), NEVER, jnp.int32)
    return Tally(
        names=names,
        returns=jnp.zeros((trials, players), jnp.float32),
        count=sums,
        early=sums,
        effort=sums,
        first_step=never,
        last_step=never,
        steps=jnp.zeros(trials, jnp.int32),
        underway=jnp.zeros(players, jnp.float32),
    )


def add(tally: Tally, now: StepCounts) -> Tally:
    """The tally with one more step."""
    here = current_trial(tally.steps.shape[0], now)
    row = here[:, None, None].astype(jnp.float32)
    events = jnp.stack([now.events[name] for name in tally.names])
    happens = events > 0
    underway = tally.underway + 1
    occurs = here[:, None] & happens.any(axis=1)
    restarts = happens.any(axis=0) | now.trial_done
    return dataclasses.replace(
        tally,
        returns=tally.returns + row[:, 0] * now.reward,
        count=tally.count + row * events,
        early=tally.early + row * (now.step < EARLY_STEPS) * events,
        effort=tally.effort + row * happens * underway,
        first_step=jnp.where(occurs & (tally.first_step == NEVER), now.step, tally.first_step),
        last_step=jnp.where(occurs, now.step, tally.last_step),
        steps=tally.steps + here,
        underway=jnp.where(restarts, 0.0, underway),
    )


def current_trial(trials: int, now: StepCounts) -> Bool[Array, "trials"]:
    """Which trial the step counts in; none after the episode's end."""
    return (jnp.arange(trials) == now.trial) & now.is_counted
