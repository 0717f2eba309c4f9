"""Golden rollouts: short games, hashed, so that a change of physics is always a decision.

A record says what was played and a fingerprint of everything that came of it. Whoever changes the
physics on purpose raises the environment's version and writes the records anew.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, UInt8

import osj_envs
from osj_envs.grid.codes import Action, Heading, Item, Plane
from osj_envs.testing.latents import random_actions
from osj_envs.testing.trees import fingerprint
from osj_envs.trials import MultiTrial
from osj_envs.types import Key, Observation

PROBLEMS = 8


class Case(NamedTuple):
    """A game to be played with random actions from a fixed seed."""

    name: str
    options: dict[str, Any]
    copies: int
    steps: int
    seed: int


CASES = {
    "cleanup": Case("cleanup", {"num_trials": 2, "trial_length": 61}, 2, 130, 1),
    "cleanup_small": Case(
        "cleanup",
        {
            "num_agents": 4,
            "num_trials": 2,
            "trial_length": 53,
            "hues": 1,
            "shades": 2,
            "base_tools": 2,
            "initial_waste": (0.0, 0.6),
            "waste_skew": 0.5,
            "waste_spawn_start": 3,
            "stations": 12,
            "dirt_threshold": 0.7,
            "split": "held_out",
        },
        24,
        130,
        10,
    ),
    "harvest": Case("harvest", {"num_trials": 2, "trial_length": 61}, 2, 130, 5),
    "harvest_small": Case(
        "harvest",
        {
            "num_agents": 4,
            "num_trials": 2,
            "trial_length": 53,
            "colours": 3,
            "height": 13,
            "width": 14,
            "diamonds": 2,
            "quarters": 1,
            "spawn_cells": 6,
            "stage_steps": (3, 5),
            "rot_delay": (1, 4),
            "regrowth": (0.0, 0.1, 0.2, 0.3),
            "freeze_steps": 5,
            "cooldown_steps": 1,
            "split": "held_out",
        },
        24,
        130,
        7,
    ),
}
"""The games, by the name of their record."""


def record(case: Case) -> dict[str, Any]:
    """Plays a game and says what came of it, as something JSON can hold."""
    env = osj_envs.make(case.name, **case.options)
    rolled = jax.device_get(_roll(env, case))
    told = ("observation", "state", "reward", "done", "info")
    sums = {name: float(count.sum()) for name, count in rolled[-1].events.items()}
    problems = jax.jit(jax.vmap(env.problem))(jnp.arange(PROBLEMS))
    return {
        "version": env.game.version,
        "game": case._asdict(),
        "sums": {"reward": float(rolled[2].sum()), **sums},
        "fingerprints": {
            **{name: fingerprint(leaf) for name, leaf in zip(told, rolled, strict=True)},
            "problems": fingerprint(problems),
        },
    }


def _roll(env: MultiTrial, case: Case) -> Any:
    """All that each step of each copy returns, copies first, then time."""
    shape = (case.copies, case.steps, env.num_agents)
    actions = random_actions(shape, np.random.default_rng(case.seed))

    @jax.jit
    @jax.vmap
    def roll(key: Key, actions: Any) -> Any:
        first_key, step_key = jax.random.split(key)

        def step(carry: Any, inputs: Any) -> Any:
            told = env.step(inputs[0], carry[1], busy_actions(env, carry[0], inputs[1]))
            return told[:2], told

        keys = jax.random.split(step_key, case.steps)
        return jax.lax.scan(step, env.reset(first_key), (keys, actions))[1]

    return roll(jax.random.split(jax.random.key(case.seed), case.copies), actions)


def busy_actions(
    env: MultiTrial, observation: Observation, actions: Int[Array, "agents"]
) -> Int[Array, "agents"]:
    """Random actions, but a try at whatever lies ahead: waste, a tool, an apple, another agent.

    Else a short game of chance would hardly ever show what it is about.
    """
    row, column = env.game.window.ahead, env.game.window.side  # type: ignore[attr-defined]
    here, ahead = observation.view[:, row, column], observation.view[:, row - 1, column]
    busy = _TRIES[env.name](observation, here, ahead, actions)
    return jnp.where(actions <= Action.EAST, busy, actions)


def _clean(
    observation: Observation,
    here: UInt8[Array, "agents planes"],
    ahead: UInt8[Array, "agents planes"],
    actions: Int[Array, "agents"],
) -> Int[Array, "agents"]:
    """Picks tools up, and fires at waste."""
    del observation
    item = ahead[:, Plane.ITEM]
    fires = (item >= Item.WASTE) & (item < Item.STATION)
    busy = jnp.where(fires, jnp.int32(Action.BEAM), actions)
    return jnp.where(here[:, Plane.ITEM] >= Item.STATION, jnp.int32(Action.PICK_UP), busy)


def _harvest(
    observation: Observation,
    here: UInt8[Array, "agents planes"],
    ahead: UInt8[Array, "agents planes"],
    actions: Int[Array, "agents"],
) -> Int[Array, "agents"]:
    """Walks onto the apple ahead, and zaps whoever stands there."""
    del here
    item = ahead[:, Plane.ITEM]
    apple = (item >= Item.APPLE) & (item <= Item.OVERRIPE_APPLE)
    facing = observation.own[:, : len(Heading)].argmax(axis=-1)
    forward = jnp.array([Action.NORTH, Action.EAST, Action.SOUTH, Action.WEST])[facing]
    busy = jnp.where(apple, forward, actions)
    return jnp.where(ahead[:, Plane.AGENT] > 0, jnp.int32(Action.BEAM), busy)


_TRIES = {"cleanup": _clean, "harvest": _harvest}
