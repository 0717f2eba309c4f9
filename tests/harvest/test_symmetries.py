"""What must not matter: which way is north, who sits where, what surrounds the map, which colour.

Chance is given, and turned or reseated with the world, so that all is compared bit by bit.
"""

import dataclasses
import functools

import jax
import numpy as np
import pytest

from osj_envs.grid.codes import Action, Plane
from osj_envs.grid.view import Window
from osj_envs.harvest import dynamics
from osj_envs.harvest.constants import HarvestConfig
from osj_envs.harvest.observation import observe
from osj_envs.testing import orchards
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

HEIGHT, WIDTH, BAND = 6, 11, 3
SIZES = {
    "colours": 3, "diamonds": 1, "quarters": 1, "spawn_cells": 4, "stage_steps": (2, 5),
    "regrowth": (0.0, 0.2, 0.3, 0.45), "freeze_steps": 3,
}  # fmt: skip
CONFIG = HarvestConfig(height=HEIGHT, width=WIDTH, **SIZES)
LYING = HarvestConfig(height=WIDTH, width=HEIGHT, **SIZES)
WIDE = HarvestConfig(height=HEIGHT + 2 * BAND, width=WIDTH + 2 * BAND, **SIZES)
AGENTS, WORLDS, WINDOW = 7, 200, Window(ahead=4, behind=2, side=1)


@functools.partial(jax.jit, static_argnames="config")
def step_and_look(config, latents, worlds, actions, draws):
    def one(latent, world, action, draw):
        played = dynamics.step_world(config, latent, world, action, draw)
        clock = Clock(trial=np.int32(1), step=np.int32(4))
        return played, observe(config, WINDOW, played.world, clock)

    return jax.vmap(one)(latents, worlds, actions, draws)


@functools.cache
def cases():
    """Random worlds of all kinds, their actions and their draws, batch axis first."""
    return random_cases(dynamics, orchards, CONFIG, WORLDS, AGENTS, 12)


@functools.cache
def played():
    after, seen = jax.device_get(step_and_look(CONFIG, *cases()))
    counts = {name: count.sum() for name, count in after.events.items()}
    assert min(counts.values()) > 0, f"something never happens: {counts}"
    return after, seen


def move_cells(layout, place):
    """The layout with each cell where `place` puts it, given rows and columns."""

    def moved(cells):
        return place(*np.divmod(cells.astype(int), WIDTH)).astype(np.uint16)

    return dataclasses.replace(layout, trees=moved(layout.trees), spawns=moved(layout.spawns))


def spread_luck(refuge, move):
    """The luck of refuges where that of the map's cells is moved, as boards are."""
    spawns = CONFIG.spawn_cells
    boards = move(refuge[:, spawns:].reshape(-1, HEIGHT, WIDTH))
    return np.concatenate([refuge[:, :spawns], boards.reshape(len(boards), -1)], axis=1)


def turn_layout(layout):
    return move_cells(layout, lambda row, column: column * HEIGHT + HEIGHT - 1 - row)


def turn_world(world):
    agents, layout = turn_agents(world.agents, HEIGHT), turn_layout(world.layout)
    return dataclasses.replace(world, layout=layout, agents=agents)


def test_turning_the_world_turns_all_that_happens_and_changes_no_view():
    latents, worlds, actions, draws = cases()
    after, seen = played()
    turned_latents = latents.replace(layout=turn_layout(latents.layout))
    # Where one zapped faces is a draw of its own, which turns with the world.
    turned_draws = draws.replace(
        refuge=spread_luck(draws.refuge, quarter_turn), heading=(draws.heading + 1) % 4
    )
    found, found_seen = step_and_look(
        LYING, turned_latents, turn_world(worlds), turn_actions(actions), turned_draws
    )
    check_same_bits(after.replace(world=turn_world(after.world)), found)
    np.testing.assert_array_equal(seen.view, found_seen.view)


def reseat_world(world, seats):
    agents, frozen, cooldown = reseat((world.agents, world.frozen, world.cooldown), seats)
    return world.replace(agents=agents, frozen=frozen, cooldown=cooldown)


@pytest.mark.parametrize("seats", [np.roll(np.arange(7), 2), np.array([4, 0, 6, 2, 1, 5, 3])])
def test_reseating_the_agents_reseats_all_that_they_get(seats):
    latents, worlds, actions, draws = cases()
    after, seen = played()
    priority, heading = reseat((draws.priority, draws.heading), seats)
    found, found_seen = jax.device_get(
        step_and_look(
            CONFIG,
            latents,
            reseat_world(worlds, seats),
            actions[:, seats],
            draws.replace(priority=priority, heading=heading),
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
    """No beam or view wraps or clamps; agents that would walk off the map stay within."""
    latents, worlds, actions, draws = cases()
    after, _ = played()

    def widen(layout):
        return move_cells(layout, lambda row, column: (row + BAND) * WIDE.width + column + BAND)

    def shift(world):
        agents = world.agents.replace(position=world.agents.position + BAND)
        return world.replace(layout=widen(world.layout), agents=agents)

    # The band's cells come last of all to which a zap may send.
    luck = spread_luck(draws.refuge, lambda boards: ring(boards, BAND))
    outside = leaves_map(actions, worlds.agents, HEIGHT, WIDTH)
    kept = np.where(outside, Action.STAY, actions).astype(np.int32)
    found, _ = step_and_look(
        WIDE,
        latents.replace(layout=widen(latents.layout)),
        shift(worlds),
        kept,
        draws.replace(refuge=luck),
    )
    assert (after.outcome.blocked & outside).any()
    outcome = after.outcome.replace(blocked=after.outcome.blocked & ~outside)
    check_same_bits(after.replace(world=shift(after.world), outcome=outcome), found)


def test_renaming_the_colours_renames_them_and_changes_nothing_else():
    latents, worlds, actions, draws = cases()
    after, seen = played()
    names = np.array([2, 0, 1], np.int8)

    def renamed_world(world):
        return world.replace(tree_colour=names[world.tree_colour])

    def renamed_rules(table):
        other = np.empty_like(table)
        other[:, names] = table
        return other

    renamed = latents.replace(
        rules=jax.tree.map(renamed_rules, latents.rules),
        patch_colour=names[latents.patch_colour],
    )
    found, found_seen = step_and_look(CONFIG, renamed, renamed_world(worlds), actions, draws)
    ate = after.outcome.eaten_colour
    told = np.where(ate < 0, ate, names[ate]).astype(ate.dtype)
    expected = after.replace(
        world=renamed_world(after.world), outcome=after.outcome.replace(eaten_colour=told)
    )
    check_same_bits(expected, found)
    view = seen.view.copy()
    view[..., Plane.COLOUR] = np.array([0, *(names + 1)])[view[..., Plane.COLOUR]]
    np.testing.assert_array_equal(view, found_seen.view)
