"""OpenCleanup against its slow reference: whole worlds, step by step, in very different sizes.

Every leaf of the world, the rewards, the outcomes and the events are compared, and so are the
views; a census makes sure that the rollouts hold every situation that matters.
"""

import functools
from collections import Counter

import numpy as np
import pytest

from osj_envs.cleanup import dynamics
from osj_envs.cleanup.constants import CleanupConfig
from osj_envs.cleanup.observation import observe
from osj_envs.cleanup.types import NO_COLOUR
from osj_envs.grid.codes import Action
from osj_envs.grid.view import Window
from osj_envs.testing import against_slow, latents
from osj_envs.testing.against_slow import Case, Physics, at, check_views, edge_shots, unlike
from osj_envs.testing.slow_cleanup import SlowCleanup, write_world
from osj_envs.testing.slow_records import read_draws
from osj_envs.testing.trees import differing_leaves

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

PHYSICS = Physics(dynamics.sample_draws, dynamics.step_world, observe, latents)


@functools.cache
def play(name):
    return against_slow.play(PHYSICS, CASES[name], seed=len(name))


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
    return different + unlike(expected), told


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
    yield from edge_shots(case, world.agents, [action == Action.BEAM for action in actions])


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
    for index, latent in enumerate(rollouts.latents):
        slow = SlowCleanup(case.config, latent)
        for step in range(index, case.steps, 5):
            world = slow.read_world(at(rollouts.played.world, index, step))
            found = at(rollouts.observations.view, index, step)
            check_views(case, world.agents, slow.board(world), found)
