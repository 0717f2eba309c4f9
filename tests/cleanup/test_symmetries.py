"""What must not matter: which way is north, who sits where, what surrounds the map."""

import functools

import jax
import numpy as np
import pytest

from osj_envs.cleanup import dynamics
from osj_envs.cleanup.constants import CleanupConfig, Terrain
from osj_envs.cleanup.observation import observe
from osj_envs.grid.codes import Action
from osj_envs.grid.view import Window
from osj_envs.testing import latents as scatters
from osj_envs.testing.turning import (
    check_reseated,
    check_same_bits,
    leaves_map,
    quarter_turn,
    random_cases,
    reseat,
    ring,
    turn_actions,
    turn_agents,
)
from osj_envs.types import Clock

SIZES = {
    "hues": 2, "shades": 2, "base_tools": 2, "river_cells": 13, "initial_clean_cells": 6,
    "stream_cells": 1, "orchard_cells": 11, "stations": 4, "spawn_cells": 3,
    "waste_spawn": 0.8, "waste_spawn_start": 0, "apple_growth": 0.4, "dirt_threshold": 0.9,
}  # fmt: skip
CONFIG = CleanupConfig(height=5, width=9, **SIZES)
LYING = CleanupConfig(height=9, width=5, **SIZES)
AGENTS, WORLDS, WINDOW = 7, 200, Window(ahead=4, behind=2, side=1)
BAND = 3


@functools.partial(jax.jit, static_argnames="config")
def step_and_look(config, latents, worlds, actions, draws):
    def one(latent, world, action, draw):
        played = dynamics.step_world(config, latent, world, np.int32(3), action, draw)
        clock = Clock(trial=np.int32(1), step=np.int32(4))
        return played, observe(config, WINDOW, played.world, clock)

    return jax.vmap(one)(latents, worlds, actions, draws)


@functools.cache
def cases():
    """Random worlds of all kinds, their actions and their draws, batch axis first."""
    return random_cases(dynamics, scatters, CONFIG, WORLDS, AGENTS, 11)


@functools.cache
def played():
    return jax.device_get(step_and_look(CONFIG, *cases()))


def turn_world(world):
    return world.replace(
        item=quarter_turn(world.item),
        colour=quarter_turn(world.colour),
        agents=turn_agents(world.agents, world.item.shape[1]),
    )


def test_turning_the_world_turns_all_that_happens_and_changes_no_view():
    latents, worlds, actions, draws = cases()
    after, seen = played()
    assert after.reward.sum() > 0
    assert after.events["cleared"].sum() > 0
    turned_latents = latents.replace(layout=quarter_turn(latents.layout))
    turned_draws = draws.replace(cell=quarter_turn(draws.cell))
    found, found_seen = step_and_look(
        LYING, turned_latents, turn_world(worlds), turn_actions(actions), turned_draws
    )
    expected = after.replace(world=turn_world(after.world))
    check_same_bits(expected, found)
    np.testing.assert_array_equal(seen.view, found_seen.view)


def reseat_world(world, seats):
    agents, window, last = reseat((world.agents, world.window, world.last_tool), seats)
    return world.replace(agents=agents, window=window, last_tool=last)


@pytest.mark.parametrize("seats", [np.roll(np.arange(7), 2), np.array([4, 0, 6, 2, 1, 5, 3])])
def test_reseating_the_agents_reseats_all_that_they_get(seats):
    latents, worlds, actions, draws = cases()
    after, seen = played()
    found, found_seen = jax.device_get(
        step_and_look(
            CONFIG,
            latents,
            reseat_world(worlds, seats),
            actions[:, seats],
            draws.replace(priority=draws.priority[:, seats]),
        )
    )
    expected = after.replace(
        world=reseat_world(after.world, seats),
        reward=reseat(after.reward, seats),
        outcome=reseat(after.outcome, seats),
        events=reseat(after.events, seats),
    )
    check_same_bits(expected, found)
    check_reseated(seen, found_seen, seats)


def test_a_band_of_ground_around_the_map_changes_nothing_within_it():
    """No beam, growth or waste wraps or clamps; agents that would walk off the map stay within."""
    latents, worlds, actions, draws = cases()
    after, _ = played()
    wide = CleanupConfig(height=5 + 2 * BAND, width=9 + 2 * BAND, **SIZES)
    outside = leaves_map(actions, worlds.agents, CONFIG.height, CONFIG.width)
    kept = np.where(outside, Action.STAY, actions).astype(np.int32)
    moved = worlds.agents.replace(position=worlds.agents.position + BAND)
    ground = int(Terrain.GROUND)
    found, _ = step_and_look(
        wide,
        latents.replace(layout=ring(latents.layout, BAND, ground)),
        worlds.replace(
            item=ring(worlds.item, BAND, 1), colour=ring(worlds.colour, BAND), agents=moved
        ),
        kept,
        draws.replace(cell=ring(draws.cell, BAND)),
    )
    inner = (slice(None), slice(BAND, -BAND), slice(BAND, -BAND))
    np.testing.assert_array_equal(np.asarray(found.world.item)[inner], after.world.item)
    np.testing.assert_array_equal(np.asarray(found.world.colour)[inner], after.world.colour)
    np.testing.assert_array_equal(found.world.agents.position - BAND, after.world.agents.position)
    np.testing.assert_array_equal(found.reward, after.reward)
    np.testing.assert_array_equal(found.outcome.blocked, after.outcome.blocked & ~outside)
    np.testing.assert_array_equal(found.outcome.hit_effect, after.outcome.hit_effect)
    for name in ("cleared", "lightened", "apples"):
        np.testing.assert_array_equal(found.events[name], after.events[name])
