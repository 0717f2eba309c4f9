"""Observations of OpenCleanup: what they tell, and what they must not tell."""

import functools
import itertools
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import osj_envs
from osj_envs.cleanup import dynamics
from osj_envs.cleanup.constants import CleanupConfig
from osj_envs.cleanup.observation import Own, decode_own, encode_own, observe
from osj_envs.grid.codes import Heading, Item, Plane
from osj_envs.grid.view import Window
from osj_envs.testing.latents import random_latent, random_world
from osj_envs.testing.noticing import copies, move_and_turn, who_notices, who_sees, who_should
from osj_envs.testing.slow_grid import cells_of
from osj_envs.testing.trees import differing_leaves
from osj_envs.types import Clock

CONFIG = CleanupConfig(
    height=11, width=13, river_cells=23, initial_clean_cells=7, stream_cells=3,
    orchard_cells=29, stations=8, spawn_cells=5,
)  # fmt: skip
AGENTS, WINDOW = 5, Window(ahead=4, behind=1, side=2)
CLOCK = Clock(trial=jnp.int32(1), step=jnp.int32(37))


@functools.partial(jax.jit, static_argnames=("config", "window"))
def look(config, window, worlds, clock):
    """Observations of a batch of worlds."""
    return jax.vmap(lambda world: observe(config, window, world, clock))(worlds)


@functools.cache
def a_case():
    rng = np.random.default_rng(8)
    latent = random_latent(CONFIG, rng)
    return latent, random_world(CONFIG, latent, AGENTS, rng)


def noticed(worlds):
    """For each world but the first, which agents get another observation than in the first."""
    return who_notices(lambda batch: look(CONFIG, WINDOW, batch, CLOCK), worlds)


@pytest.mark.parametrize("board", ["item", "colour"])
def test_each_cell_is_noticed_by_those_who_see_it_and_by_nobody_else(board):
    _, world = a_case()
    cells = list(cells_of(CONFIG.height, CONFIG.width))
    worlds = copies(world, 1 + len(cells))
    for index, cell in enumerate(cells):
        getattr(worlds, board)[index + 1][cell] += 1
    notices = noticed(worlds)
    expected = [who_sees(WINDOW, world.agents, cell) for cell in cells]
    np.testing.assert_array_equal(notices, expected)
    assert 0 < notices.sum() < notices.size


def test_where_others_are_and_face_is_noticed_by_those_who_see_them_and_by_nobody_else():
    _, world = a_case()
    free = [
        cell
        for cell in cells_of(CONFIG.height, CONFIG.width)
        if list(cell) not in world.agents.position.tolist()
    ]
    worlds = copies(world, 1 + AGENTS * (len(free) + 3))
    changes = move_and_turn(worlds, free)
    expected = who_should(WINDOW, world.agents, changes)
    np.testing.assert_array_equal(noticed(worlds), expected)


def test_a_hand_is_noticed_by_its_owner_alone():
    _, world = a_case()
    worlds = copies(world, 1 + 2 * AGENTS)
    worlds.window[0] = 0
    worlds.window[:] = worlds.window[0]
    for agent, slot in itertools.product(range(AGENTS), range(2)):
        worlds.window[1 + 2 * agent + slot, agent, slot] = 3
    notices = noticed(worlds).reshape(AGENTS, 2, AGENTS)
    np.testing.assert_array_equal(notices, np.eye(AGENTS, dtype=bool)[:, None].repeat(2, 1))


def test_the_record_of_working_tools_is_noticed_by_nobody():
    _, world = a_case()
    worlds = copies(world, CONFIG.pairs + 1)
    worlds.last_tool[:] = np.arange(-1, CONFIG.pairs)[:, None]
    assert not noticed(worlds).any()


def test_the_clock_is_noticed_by_all():
    _, world = a_case()
    worlds = copies(world, 1)
    base = look(CONFIG, WINDOW, worlds, CLOCK)
    for clock in (Clock(jnp.int32(1), jnp.int32(38)), Clock(jnp.int32(2), jnp.int32(37))):
        seen = look(CONFIG, WINDOW, worlds, clock)
        assert (seen.own != base.own).any(axis=-1).all()
        np.testing.assert_array_equal(seen.view, base.view)


def test_hidden_rules_and_hue_change_no_observation_of_a_whole_step():
    """Where nobody's tool works, two worlds that differ in their rules alone look alike."""
    env = osj_envs.make("cleanup", num_agents=3, trial_length=7, num_trials=2)
    _, state = jax.jit(env.reset)(jax.random.key(0))
    latent = state.latent
    step = jax.jit(env.step)

    def told(shift, action):
        rules = replace(latent.rules, effect=np.roll(np.asarray(latent.rules.effect), shift))
        hidden = replace(latent, rules=rules, dominant_hue=np.int32(shift))
        changed = replace(state, latent=hidden)
        observation, _, reward, _, info = step(jax.random.key(1), changed, np.full(3, action))
        return observation, info.final_observation, reward, info.outcome

    for action in range(env.num_actions):
        assert not any(differing_leaves(told(0, action), told(n, action)) for n in range(1, 5))


def test_neither_a_tools_effect_nor_being_a_recipe_shows_before_a_shot():
    latent, world = a_case()
    world = world.replace(window=np.array([[0, 1], [1, 0], [2, 2], [3, 1], [-1, 2]], np.int32))

    @jax.jit
    @jax.vmap
    def play(effect):
        draws = dynamics.sample_draws(CONFIG, AGENTS, jax.random.key(3))
        rules = latent.rules.replace(effect=effect)
        actions = jnp.array([4, 5, 8, 0, 2])
        hidden = latent.replace(rules=rules)
        played = dynamics.step_world(CONFIG, hidden, world, jnp.int32(0), actions, draws)
        return observe(CONFIG, WINDOW, played.world, CLOCK), played.outcome, played.reward

    effects = np.stack([np.roll(latent.rules.effect, n) for n in range(CONFIG.pairs)])
    for leaf in jax.tree.leaves(play(effects)):
        np.testing.assert_array_equal(leaf, np.asarray(leaf[:1]).repeat(CONFIG.pairs, 0))


def test_a_tool_that_works_shows_in_the_outcome():
    """The check above can fail: a shot tells the rules apart."""
    latent, world = a_case()
    world = world.replace(window=np.full((AGENTS, 2), 1, np.int32))
    waste = dynamics.is_waste(world.item)
    world = world.replace(item=np.where(waste, Item.WASTE, world.item).astype(np.uint8))
    row, column = np.argwhere(waste & (np.indices(waste.shape)[0] > 0))[0]
    position = world.agents.position.copy()
    position[0] = (row - 1, column)
    agents = world.agents.replace(position=position, heading=np.full(AGENTS, Heading.SOUTH))
    world = world.replace(agents=agents)
    told = set()
    for effect in range(6):
        rules = latent.rules.replace(effect=np.full(CONFIG.pairs, effect, np.int8))
        draws = dynamics.sample_draws(CONFIG, AGENTS, jax.random.key(3))
        played = jax.jit(dynamics.step_world, static_argnums=0)(
            CONFIG, latent.replace(rules=rules), world, 0, np.full(AGENTS, 6), draws
        )
        told.add(int(played.outcome.hit_effect[0, 0]))
    assert told == {0, 2}


@pytest.mark.parametrize("base_tools", [1, 4])
def test_what_an_agent_knows_of_itself_is_encoded_without_loss(base_tools):
    config = CleanupConfig(base_tools=base_tools, hues=1, shades=1)
    rng = np.random.default_rng(0)
    count = 20_000
    own = Own(
        heading=rng.integers(0, 4, count).astype(np.int32),
        position=rng.integers(0, 100, (count, 2)).astype(np.int32),
        step=np.arange(count, dtype=np.int32),
        trial=rng.integers(0, 1000, count).astype(np.int32),
        window=rng.integers(-1, base_tools, (count, 2)).astype(np.int32),
    )
    encoded = jax.jit(lambda x: encode_own(config, x))(own)
    decoded = jax.jit(lambda x: decode_own(config, x))(encoded)
    jax.tree.map(np.testing.assert_array_equal, own, decoded)


def test_the_numbers_that_an_agent_knows_of_itself():
    _, world = a_case()
    own = np.asarray(look(CONFIG, WINDOW, copies(world, 1), CLOCK).own)[0]
    for agent in range(AGENTS):
        heading, row_column = np.eye(4)[world.agents.heading[agent]], world.agents.position[agent]
        slots = [np.eye(5)[1 + tool] for tool in world.window[agent]]
        expected = np.concatenate([heading, row_column / 10, [37 / 100, 1 / 5], *slots])
        np.testing.assert_allclose(own[agent], expected, rtol=1e-6)


def test_the_last_axis_of_a_view_is_its_planes():
    _, world = a_case()
    view = look(CONFIG, WINDOW, copies(world, 1), CLOCK).view
    assert view.shape == (1, AGENTS, WINDOW.rows, WINDOW.cols, len(Plane))
    assert view.dtype == np.uint8
