"""Every probability of OpenCleanup, at sizes where a wrong rate fails for sure."""

import functools

import jax
import numpy as np
import pytest

from osj_envs.cleanup import dynamics
from osj_envs.cleanup.constants import PAPER, CleanupConfig, Terrain
from osj_envs.cleanup.types import EMPTY_SLOT
from osj_envs.grid.codes import Action, Item
from osj_envs.testing.chance import (
    check_fair_contest,
    check_rate,
    check_shares,
    check_starts,
    check_uniform,
)
from osj_envs.testing.drawn import draw_world
from osj_envs.testing.latents import make_latent, random_layout
from osj_envs.testing.slow_cleanup import RIVER, SlowCleanup, write_world
from osj_envs.testing.slow_records import SlowAgent, SlowWorld

WORLDS = 6_000


@functools.partial(jax.jit, static_argnames="config")
def step_many(config, latent, world, step, actions, keys):
    """Steps of one world that differ in their draws alone."""

    def one(key):
        draws = dynamics.sample_draws(config, actions.shape[0], key)
        played = dynamics.step_world(config, latent, world, step, actions, draws)
        return played.world.item, played.world.colour, played.reward

    return jax.vmap(one)(keys)


@functools.partial(jax.jit, static_argnames=("config", "num_agents"))
def lay_many(config, num_agents, latent, keys):
    return jax.vmap(lambda key: dynamics.lay_world(config, num_agents, key, latent))(keys)


def keys(seed, count=WORLDS):
    return jax.random.split(jax.random.key(seed), count)


def a_latent(config, dominant_hue=0):
    layout = random_layout(config, np.random.default_rng(5))
    return make_latent(np.zeros(config.pairs), layout, dominant_hue)


def a_world(config, latent, waste, agents):
    """The first `waste` river cells are dirty; no apples; agents on the cells given."""
    slow = SlowCleanup(config, latent)
    dirty = slow.cells(*RIVER)[:waste]
    facing_north = [SlowAgent(cell, 0, []) for cell in agents]
    return write_world(slow, SlowWorld(dict.fromkeys(dirty, (1, 2)), set(), facing_north))


def stay_many(config, latent, waste, step, count=WORLDS, on=None):
    """The boards after a step in which five agents stay, on ground unless said."""
    slow = SlowCleanup(config, latent)
    agents = (on or slow.cells(Terrain.GROUND))[:5]
    stays = np.full(len(agents), Action.STAY, np.int32)
    world = a_world(config, latent, waste, agents)
    boards = step_many(config, latent, world, np.int32(step), stays, keys(waste + step, count))
    return [np.asarray(board) for board in boards]


@pytest.mark.parametrize("waste", [0, 5, 10, 14])
def test_apples_grow_the_faster_the_cleaner_the_river(waste):
    latent = a_latent(PAPER)
    item, _, _ = stay_many(PAPER, latent, waste, step=0)
    orchard = np.asarray(latent.layout) == Terrain.ORCHARD
    grown = item[:, orchard] == Item.RIPE_APPLE
    check_rate(int(grown.sum()), grown.size, 0.05 * (0.4 - waste / 37) / 0.4)
    if waste == 0:
        check_uniform(grown.sum(axis=0))
        pairs = (grown[:, 1:] & grown[:, :-1]).sum()
        check_rate(int(pairs), grown[:, 1:].size, 0.05**2)


@pytest.mark.parametrize("waste", [15, 16, 26, 32])
def test_no_apple_grows_over_a_dirty_river(waste):
    item, _, _ = stay_many(PAPER, a_latent(PAPER), waste, step=0)
    assert not (item == Item.RIPE_APPLE).any()


@pytest.mark.parametrize(("step", "rate"), [(0, 0.0), (50, 0.0), (51, 0.1), (399, 0.1)])
def test_waste_spawns_from_step_51_on_once_in_ten_steps(step, rate):
    latent = a_latent(PAPER)
    item, _, _ = stay_many(PAPER, latent, waste=20, step=step)
    waste = dynamics.is_waste(item).sum(axis=(1, 2))
    assert set(np.unique(waste)) <= {20, 21}, "at most one cell a step"
    check_rate(int((waste == 21).sum()), WORLDS, rate)


@pytest.mark.parametrize("waste", [18, 31])
def test_each_clean_river_cell_is_as_likely_to_turn_to_waste(waste):
    latent = a_latent(PAPER)
    item, _, _ = stay_many(PAPER, latent, waste, step=60)
    turned = dynamics.is_waste(item).sum(axis=0)
    clean = SlowCleanup(PAPER, latent).cells(*RIVER)[waste:]
    counts = np.array([turned[cell] for cell in clean])
    check_rate(int(counts.sum()), WORLDS, 0.1)
    check_uniform(counts)


def test_no_waste_spawns_where_an_agent_stands_and_none_elsewhere_instead():
    latent = a_latent(PAPER)
    clean = SlowCleanup(PAPER, latent).cells(*RIVER)[24:]
    item, _, _ = stay_many(PAPER, latent, waste=24, step=60, on=clean)
    turned = dynamics.is_waste(item).sum(axis=0)
    assert sum(turned[cell] for cell in clean[:5]) == 0
    check_rate(int(sum(turned[cell] for cell in clean)), WORLDS, 0.1 * 3 / 8)


SMALL = {"height": 5, "width": 7, "river_cells": 11, "initial_clean_cells": 4}
SMALL |= {"stream_cells": 0, "orchard_cells": 3, "stations": 6, "spawn_cells": 5}
HUE = 3


def colour_shares(skew):
    """The shares of the 15 colour codes, hue by hue, light first."""
    hues = np.full(5, (1.0 - skew) / 5) + skew * (np.arange(5) == HUE)
    return np.repeat(hues / 3, 3)


def check_colours(item, colour, skew):
    waste = dynamics.is_waste(item)
    code = (colour[waste].astype(int) - 1) * 3 + item[waste] - Item.WASTE
    counts, shares = np.bincount(code, minlength=15), colour_shares(skew)
    assert counts[shares == 0].sum() == 0
    check_shares(counts[shares > 0], shares[shares > 0])


@pytest.mark.parametrize("skew", [0.0, 0.4, 1.0])
def test_colours_of_waste_that_spawns(skew):
    config = CleanupConfig(waste_skew=skew, waste_spawn=1.0, **SMALL)
    item, colour, _ = stay_many(config, a_latent(config, HUE), waste=0, step=51)
    assert dynamics.is_waste(item).sum() == WORLDS
    check_colours(item, colour, skew)


@pytest.mark.parametrize("skew", [0.0, 0.4, 1.0])
def test_colours_of_waste_at_a_trials_start(skew):
    config = CleanupConfig(waste_skew=skew, **SMALL)
    world = lay_many(config, 1, a_latent(config, HUE), keys(1, 3000))
    check_colours(np.asarray(world.item), np.asarray(world.colour), skew)


def test_the_skew_is_one_and_shades_are_uniform_by_default():
    world = lay_many(PAPER, 5, a_latent(PAPER, HUE), keys(2, 1000))
    check_colours(np.asarray(world.item), np.asarray(world.colour), 1.0)


def test_a_trial_starts_with_the_layouts_waste_no_apples_and_empty_hands():
    latent = a_latent(PAPER)
    world = lay_many(PAPER, 5, latent, keys(3, 100))
    river = (np.asarray(latent.layout) == Terrain.RIVER_WASTE)[None]
    np.testing.assert_array_equal(dynamics.is_waste(np.asarray(world.item)), river.repeat(100, 0))
    assert not (np.asarray(world.item) == Item.RIPE_APPLE).any()
    assert (np.asarray(world.window) == EMPTY_SLOT).all()
    assert (np.asarray(world.last_tool) == -1).all()


def waste_counts(initial_waste, seed=4):
    config = CleanupConfig(initial_waste=initial_waste, **(SMALL | {"initial_clean_cells": 1}))
    latent = a_latent(config)
    item = np.asarray(lay_many(config, 1, latent, keys(seed)).item)
    marked = np.asarray(latent.layout) == Terrain.RIVER_WASTE
    assert not dynamics.is_waste(item)[:, ~marked].any()
    return dynamics.is_waste(item)[:, marked]


@pytest.mark.parametrize(("share", "cells"), [(0.0, 0), (0.3, 3), (1.0, 10)])
def test_initial_waste_as_a_number_is_the_share_of_the_layouts_waste_cells(share, cells):
    waste = waste_counts(share)
    assert (waste.sum(axis=1) == cells).all()
    if 0 < cells < 10:
        check_uniform(waste.sum(axis=0))


def test_initial_waste_as_a_range_is_drawn_anew_each_trial_uniformly():
    counts = np.bincount(waste_counts((0.15, 0.65)).sum(axis=1), minlength=11)
    assert counts[[0, 1, 7, 8, 9, 10]].sum() == 0
    check_uniform(counts[2:7])


@pytest.mark.parametrize("agents", [1, 8])
def test_agents_start_on_the_spawn_cells_and_then_on_open_ground(agents):
    config = CleanupConfig(**SMALL)
    latent = a_latent(config)
    world = lay_many(config, agents, latent, keys(6))
    spawn, ground = (np.asarray(latent.layout) == kind for kind in (Terrain.SPAWN, Terrain.GROUND))
    assert spawn.sum() == 5
    check_starts(world.agents, spawn, ground)


@pytest.mark.parametrize("contenders", [2, 3, 4])
def test_a_contested_cell_goes_to_each_contender_equally_often(contenders):
    drawn = draw_world(
        """
        .  .v .  .  .
        .> o  .< .  .
        .  .^ .  .  .
        """,
        apple_growth=0.0,
    )
    approach = [Action.SOUTH, Action.EAST, Action.WEST, Action.NORTH]
    actions = np.array([*approach[:contenders], *[Action.STAY] * (4 - contenders)], np.int32)
    world = drawn.world
    rewards = step_many(drawn.config, drawn.latent, world, np.int32(0), actions, keys(7))[2]
    check_fair_contest(np.asarray(rewards) == 1.0, contenders)
