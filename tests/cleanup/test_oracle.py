"""OpenCleanup against its slow reference: whole worlds, step by step, in very different sizes.

Every leaf of the world, the rewards, the outcomes and the events are compared, and so are the
views; a census makes sure that the rollouts hold every situation that matters.
"""

import functools
from collections import Counter
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from osj_envs.cleanup import dynamics
from osj_envs.cleanup.constants import CleanupConfig
from osj_envs.cleanup.observation import observe
from osj_envs.cleanup.types import NO_COLOUR
from osj_envs.grid.codes import Action
from osj_envs.grid.view import Window
from osj_envs.testing import slow_grid
from osj_envs.testing.latents import random_actions, random_latent, random_world
from osj_envs.testing.slow_cleanup import SlowCleanup, write_world
from osj_envs.testing.slow_records import read_draws
from osj_envs.testing.trees import differing_leaves
from osj_envs.types import Clock


class Case(NamedTuple):
    """A game, how many play it, and how far they see."""

    config: CleanupConfig
    agents: int
    window: Window
    worlds: int = 31
    steps: int = 17


PAPER = Case(CleanupConfig(waste_spawn=0.5, waste_spawn_start=7), 5, Window(), 29, 19)
# No two sizes are equal.
PRIMES = Case(
    CleanupConfig(
        hues=4, shades=2, base_tools=3, height=7, width=11, river_cells=19,
        initial_clean_cells=8, stream_cells=1, orchard_cells=17, stations=23, spawn_cells=6,
        waste_skew=0.5, waste_spawn=0.7, waste_spawn_start=5, apple_growth=0.3,
        dirt_threshold=0.9,
    ),
    3,
    Window(ahead=9, behind=3, side=2),
)  # fmt: skip
CORRIDOR = Case(
    CleanupConfig(
        hues=1, shades=3, base_tools=2, height=1, width=17, river_cells=6,
        initial_clean_cells=2, stream_cells=0, orchard_cells=4, stations=5, spawn_cells=2,
        waste_spawn=0.9, waste_spawn_start=0, apple_growth=0.5, dirt_threshold=1.0,
    ),
    2,
    Window(ahead=4, behind=0, side=1),
)  # fmt: skip
CROWD = Case(
    CleanupConfig(
        hues=2, shades=2, base_tools=2, height=4, width=6, river_cells=8,
        initial_clean_cells=1, stream_cells=1, orchard_cells=6, stations=7, spawn_cells=2,
        waste_skew=0.2, waste_spawn=0.8, waste_spawn_start=5, apple_growth=0.4,
        dirt_threshold=0.8,
    ),
    16,
    Window(ahead=3, behind=1, side=2),
    23,
)  # fmt: skip
ALONE = Case(
    CleanupConfig(
        hues=1, shades=1, base_tools=1, height=5, width=2, river_cells=3,
        initial_clean_cells=1, stream_cells=0, orchard_cells=2, stations=2, spawn_cells=1,
        waste_spawn=0.6, waste_spawn_start=1, apple_growth=0.5, dirt_threshold=1.0,
    ),
    1,
    Window(ahead=2, behind=1, side=3),
)  # fmt: skip
CASES = {"paper": PAPER, "primes": PRIMES, "corridor": CORRIDOR, "crowd": CROWD, "alone": ALONE}


class Played(NamedTuple):
    """A batch of rollouts: the draws and what came of them, batch axis first, then time."""

    latents: list
    starts: list
    actions: np.ndarray
    draws: dynamics.Draws
    played: dynamics.WorldStep
    observations: object


@functools.partial(jax.jit, static_argnames=("case",))
def roll(case, latent, world, actions, key):
    """One world played with known draws; keeps everything."""

    def one(carry, inputs):
        world, step = carry
        action, step_key = inputs
        draws = dynamics.sample_draws(case.config, case.agents, step_key)
        played = dynamics.step_world(case.config, latent, world, step, action, draws)
        seen = observe(case.config, case.window, played.world, Clock(jnp.int32(2), step))
        return (played.world, step + 1), (draws, played, seen)

    keys = jax.random.split(key, case.steps)
    return jax.lax.scan(one, (world, jnp.int32(0)), (actions, keys))[1]


def stack(trees):
    return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)


@functools.cache
def play(name):
    case = CASES[name]
    rng = np.random.default_rng(len(name))
    latents = [random_latent(case.config, rng) for _ in range(case.worlds)]
    starts = [random_world(case.config, latent, case.agents, rng) for latent in latents]
    actions = random_actions((case.worlds, case.steps, case.agents), rng)
    keys = jax.random.split(jax.random.key(len(name)), case.worlds)
    batch = jax.vmap(functools.partial(roll, case))(stack(latents), stack(starts), actions, keys)
    return Played(latents, starts, actions, *jax.device_get(batch))


def at(tree, *index):
    return jax.tree.map(lambda leaf: leaf[index], tree)


def compare_step(slow, world, step, actions, draws, played):
    """Plays the slow step and returns what differs, and what it did."""
    told = slow.step(world, step, actions, read_draws(draws))
    different = differing_leaves(write_world(slow, world), played.world)
    outcome = played.outcome
    expected = {
        "reward": (told.reward, played.reward),
        "outcome.reward": (told.reward, outcome.reward),
        "outcome.blocked": (told.blocked, outcome.blocked),
        "outcome.hits": (told.hits, np.stack([outcome.hit_colour, outcome.hit_effect], axis=-1)),
        **{f"events {name}": (told.events[name], played.events[name]) for name in told.events},
    }
    assert told.events.keys() == played.events.keys()
    different += [
        name
        for name, (right, found) in expected.items()
        if not np.allclose(np.asarray(right, np.float32), found, rtol=0, atol=1e-6)
    ]
    return different, told


@pytest.mark.parametrize("name", CASES)
def test_every_step_is_as_by_the_slow_rules(name):
    case, rollouts = CASES[name], play(name)
    census = Counter()
    for index, latent in enumerate(rollouts.latents):
        slow = SlowCleanup(case.config, latent)
        world = slow.read_world(rollouts.starts[index])
        for step in range(case.steps):
            before = len(world.waste), len(world.apples)
            actions = [int(action) for action in rollouts.actions[index, step]]
            draws, played = at(rollouts.draws, index, step), at(rollouts.played, index, step)
            different, told = compare_step(slow, world, step, actions, draws, played)
            assert not different, f"world {index}, step {step}: {different}"
            slow.read_world(played.world)
            census.update(situations(case, told, actions, world, before))
    assert not (missing := WANTED[name] - census.keys()), f"never happened: {missing}"


def situations(case, told, actions, world, before):
    """Names of what happened in a step."""
    effects = [effect for shot in told.hits for colour, effect in shot if colour != NO_COLOUR]
    cleared, lightened = sum(told.events["cleared"]), sum(told.events["lightened"])
    yield from {("no effect", "lightened", "cleared")[effect] for effect in effects}
    yield from ["shared credit"] * any(c % 1 for c in told.events["cleared"])
    yield from ["shared lightening"] * any(c % 1 for c in told.events["lightened"])
    yield from ["eaten"] * any(told.reward)
    yield from ["blocked"] * any(told.blocked)
    yield from ["waste spawned"] * (len(world.waste) + cleared > before[0])
    yield from ["apple grown"] * (len(world.apples) + sum(told.reward) > before[1])
    yield from ["made"] * any(told.events["tool_made"])
    yield from ["picked up"] * any(told.events["picked_up"])
    yield from ["several cells at once"] * (cleared + lightened > 1)
    for agent, action in zip(world.agents, actions, strict=True):
        size = case.config.height, case.config.width
        if action == Action.BEAM and None in slow_grid.beam(agent.cell, agent.heading, *size):
            yield f"fired over the edge facing {agent.heading}"


EVERYWHERE = {"eaten", "blocked", "waste spawned", "apple grown", "picked up", "cleared"}
EVERYWHERE |= {f"fired over the edge facing {heading}" for heading in range(4)}
SHADES = {"lightened", "no effect", "several cells at once", "made"}
WANTED = {
    "paper": EVERYWHERE | SHADES,
    "primes": EVERYWHERE | SHADES,
    "corridor": EVERYWHERE | {"lightened", "no effect", "made"},
    "crowd": EVERYWHERE | SHADES | {"shared credit", "shared lightening"},
    "alone": EVERYWHERE | {"made"},
}


@pytest.mark.parametrize("name", CASES)
def test_every_view_is_as_by_the_slow_rules(name):
    case, rollouts = CASES[name], play(name)
    window = case.window
    for index, latent in enumerate(rollouts.latents):
        slow = SlowCleanup(case.config, latent)
        for step in range(index, case.steps, 5):
            world = slow.read_world(at(rollouts.played.world, index, step))
            agents = [(agent.cell, agent.heading) for agent in world.agents]
            board, found = slow.board(world), at(rollouts.observations.view, index, step)
            for viewer in range(case.agents):
                reach = window.ahead, window.behind, window.side
                expected = slow_grid.view(viewer, agents, board, *reach)
                np.testing.assert_array_equal(found[viewer], expected)
