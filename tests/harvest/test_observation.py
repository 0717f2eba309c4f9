"""Observations of OpenHarvest: what they tell, and what they must not tell."""

import dataclasses
import functools
import itertools
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import osj_envs
from osj_envs.grid.codes import Action, Item, Plane
from osj_envs.grid.view import Window
from osj_envs.harvest import dynamics
from osj_envs.harvest.constants import STAGES, HarvestConfig, Lost
from osj_envs.harvest.env import Harvest
from osj_envs.harvest.observation import (
    Own,
    board,
    decode_own,
    encode_own,
    observe,
)
from osj_envs.testing.noticing import copies, move_and_turn, who_notices, who_sees, who_should
from osj_envs.testing.orchards import random_latent, random_world
from osj_envs.testing.slow_grid import cells_of
from osj_envs.testing.trees import differing_leaves
from osj_envs.types import Clock

CONFIG = HarvestConfig(
    colours=3, height=11, width=13, diamonds=2, quarters=1, spawn_cells=7, stage_steps=(3, 7)
)
AGENTS, WINDOW = 5, Window(ahead=4, behind=1, side=2)
CLOCK = Clock(trial=jnp.int32(1), step=jnp.int32(37))


@jax.jit
def look(worlds, clock=CLOCK):
    """Observations of a batch of worlds."""
    return jax.vmap(lambda world: observe(CONFIG, WINDOW, world, clock))(worlds)


def noticed(worlds):
    """For each world but the first, which agents get another observation than in the first."""
    return who_notices(look, worlds)


@functools.cache
def a_case():
    rng = np.random.default_rng(8)
    latent = random_latent(CONFIG, rng)
    return latent, random_world(CONFIG, latent, AGENTS, rng)


def cell_of(number):
    return divmod(int(number), CONFIG.width)


def who_sees_trees(world):
    """For each tree, which agents have it in their windows."""
    return np.array([who_sees(WINDOW, world.agents, cell_of(n)) for n in world.layout.trees])


def set_apple(trees, index, tree, stage, steps=5, age=None):
    """Hangs an apple of a stage on a tree of one world of a batch."""
    trees.lost[index, tree], trees.stage_steps[index, tree] = Lost.HANGING, steps
    trees.age[index, tree] = stage * steps if age is None else age


# What shows: in the windows it is in, and in no other.


@pytest.mark.parametrize(("old", "new"), list(itertools.permutations([0, 1, 2, "bare"], 2)))
def test_a_trees_state_is_noticed_by_those_who_see_it_and_by_nobody_else(old, new):
    _, world = a_case()
    worlds = copies(world, 1 + CONFIG.trees)
    for tree in range(CONFIG.trees):
        for index in range(1 + CONFIG.trees):
            state = new if index == tree + 1 else old
            if state == "bare":
                worlds.trees.lost[index, tree] = Lost.EATEN
            else:
                set_apple(worlds.trees, index, tree, state)
    notices = noticed(worlds)
    np.testing.assert_array_equal(notices, who_sees_trees(world))
    assert 0 < notices.sum() < notices.size


@pytest.mark.parametrize("hangs", [True, False])
def test_a_trees_colour_is_noticed_by_those_who_see_it_whether_an_apple_hangs_or_not(hangs):
    _, world = a_case()
    worlds = copies(world, 1 + CONFIG.trees)
    worlds.trees.lost[:] = Lost.HANGING if hangs else Lost.ROTTED
    for tree in range(CONFIG.trees):
        worlds.tree_colour[tree + 1, tree] = (world.tree_colour[tree] + 1) % CONFIG.colours
    np.testing.assert_array_equal(noticed(worlds), who_sees_trees(world))


@pytest.mark.parametrize("kind", ["trees", "spawns"])
def test_where_trees_and_spawn_cells_are_is_noticed_by_those_who_see_them(kind):
    _, world = a_case()
    used = {*world.layout.trees.tolist(), *world.layout.spawns.tolist()}
    free = [n for n in range(CONFIG.cells) if n not in used]
    worlds = copies(world, 1 + len(free))
    for index, number in enumerate(free, start=1):
        getattr(worlds.layout, kind)[index, 0] = number
    old = cell_of(getattr(world.layout, kind)[0])
    expected = [
        np.array(who_sees(WINDOW, world.agents, cell_of(n))) | who_sees(WINDOW, world.agents, old)
        for n in free
    ]
    np.testing.assert_array_equal(noticed(worlds), expected)


def test_where_others_are_and_face_is_noticed_by_those_who_see_them_and_by_nobody_else():
    _, world = a_case()
    taken = world.agents.position.tolist()
    free = [cell for cell in cells_of(CONFIG.height, CONFIG.width) if list(cell) not in taken]
    worlds = copies(world, 1 + AGENTS * (len(free) + 3))
    changes = move_and_turn(worlds, free)
    expected = who_should(WINDOW, world.agents, changes)
    np.testing.assert_array_equal(noticed(worlds), expected)


@pytest.mark.parametrize("wait", ["frozen", "cooldown"])
def test_a_wait_is_noticed_by_the_one_who_waits_alone(wait):
    _, world = a_case()
    most = getattr(CONFIG, {"frozen": "freeze_steps", "cooldown": "cooldown_steps"}[wait])
    worlds = copies(world, 1 + AGENTS * most)
    getattr(worlds, wait)[:] = 0
    for agent, steps in itertools.product(range(AGENTS), range(1, most + 1)):
        getattr(worlds, wait)[agent * most + steps, agent] = steps
    notices = noticed(worlds).reshape(AGENTS, most, AGENTS)
    np.testing.assert_array_equal(notices, np.eye(AGENTS, dtype=bool)[:, None].repeat(most, 1))


def test_the_clock_is_noticed_by_all():
    _, world = a_case()
    worlds = copies(world, 1)
    base = look(worlds)
    for clock in (Clock(jnp.int32(1), jnp.int32(38)), Clock(jnp.int32(2), jnp.int32(37))):
        seen = look(worlds, clock)
        assert (seen.own != base.own).any(axis=-1).all()
        np.testing.assert_array_equal(seen.view, base.view)


# What is hidden.


@pytest.mark.parametrize("stage", range(STAGES))
def test_an_apples_age_within_its_stage_and_its_steps_are_noticed_by_nobody(stage):
    _, world = a_case()
    ages = [
        (steps, age) for steps in range(3, 8) for age in range(stage * steps, (stage + 1) * steps)
    ]
    worlds = copies(world, len(ages))
    for index, (steps, age) in enumerate(ages):
        set_apple(worlds.trees, index, slice(None), stage, steps, age)
    assert not noticed(worlds).any()
    if stage < STAGES - 1:
        worlds.trees.age[-1] += 1
        assert noticed(worlds)[-1].any(), "the next stage shows"


def test_how_a_cell_lost_its_apple_and_when_it_comes_back_is_noticed_by_nobody():
    _, world = a_case()
    bare = [Lost.EATEN, Lost.EATEN + 1, Lost.EATEN + 2, Lost.ROTTED]
    kinds = list(itertools.product(bare, range(6)))
    worlds = copies(world, len(kinds))
    for index, (lost, delay) in enumerate(kinds):
        worlds.trees.lost[index], worlds.trees.delay[index] = lost, delay
        # Whatever an apple that is gone has left behind.
        worlds.trees.age[index], worlds.trees.stage_steps[index] = 7 * index, index
    assert not noticed(worlds).any()


def test_a_hanging_apples_delay_is_noticed_by_nobody():
    _, world = a_case()
    worlds = copies(world, 6)
    worlds.trees.lost[:] = Lost.HANGING
    worlds.trees.delay[:] = np.arange(6)[:, None]
    assert not noticed(worlds).any()


def test_hidden_rules_change_no_observation_of_a_whole_step():
    """Where nobody eats and nothing is bare, episodes that differ in their rules look alike."""
    env = osj_envs.make("harvest", num_agents=3, trial_length=7, num_trials=2)
    _, state = jax.jit(env.reset)(jax.random.key(0))
    latent, step = state.latent, jax.jit(env.step)

    def told(shift, action):
        turned = jax.tree.map(lambda t: np.roll(np.asarray(t), shift, axis=1), latent.rules)
        changed = replace(state, latent=replace(latent, rules=turned))
        observation, _, reward, _, info = step(jax.random.key(1), changed, np.full(3, action))
        return observation, info.final_observation, reward, info.outcome

    for action in range(env.num_actions):
        assert not any(differing_leaves(told(0, action), told(n, action)) for n in (1, 2))


@functools.cache
def a_meal():
    """A world in which the first agent stands on an apple and the others on ground, all full."""
    latent, world = a_case()
    used = {*latent.layout.trees.tolist(), *latent.layout.spawns.tolist()}
    ground = [n for n in range(CONFIG.cells) if n not in used][: AGENTS - 1]
    cells = np.array([latent.layout.trees[0], *ground], np.int32)
    position = np.stack(np.divmod(cells, CONFIG.width), axis=-1).astype(np.int32)
    ready = replace(
        world,
        agents=world.agents.replace(position=position),
        frozen=np.zeros_like(world.frozen),
    )
    worlds = copies(ready, 1)
    set_apple(worlds.trees, 0, slice(None), stage=1)
    return latent, jax.tree.map(lambda leaf: leaf[0], worlds)


@jax.jit
@jax.vmap
def eat_by(rules):
    """What is told of a step in which the first agent eats, under these rules."""
    latent, world = a_meal()
    draws = dynamics.sample_draws(CONFIG, AGENTS, jax.random.key(3))
    stay = jnp.full(AGENTS, Action.STAY)
    played = dynamics.step_world(CONFIG, latent.replace(rules=rules), world, stay, draws)
    seen = observe(CONFIG, WINDOW, played.world, CLOCK)
    told = (played.outcome.eaten_colour, played.outcome.eaten_stage, played.outcome.blocked)
    return seen, told, played.reward


def with_orders(name):
    """The case's rules with every order of one of its tables, the same for all colours."""
    latent, _ = a_case()
    orders = np.array(list(itertools.permutations(range(STAGES))), np.int8)
    rules = copies(latent.rules, len(orders))
    return rules.replace(**{name: orders[:, None].repeat(CONFIG.colours, 1)})


@pytest.mark.parametrize("name", ["pay", "speed"])
def test_a_meal_shows_what_it_pays_to_the_eater_and_nothing_else_of_the_rules(name):
    seen, told, reward = jax.device_get(eat_by(with_orders(name)))
    for leaf in jax.tree.leaves((seen, told)):
        np.testing.assert_array_equal(leaf, leaf[:1].repeat(6, 0))
    assert (told[1][:, 0] == 1).all(), "it ate"
    assert not reward[:, 1:].any()
    pays = np.array(CONFIG.pays)[with_orders("pay").pay[:, 0, 1]]
    if name == "pay":
        np.testing.assert_array_equal(reward[:, 0], pays)
    else:
        assert (reward[:, 0] == reward[0, 0]).all()


# How it is coded.


def test_the_board_has_a_code_for_every_cell():
    _, world = a_case()
    item, colour = (np.asarray(plane) for plane in board(CONFIG, world))
    expected = np.full(CONFIG.cells, Item.GROUND)
    expected[world.layout.spawns] = Item.SPAWN
    ages = np.minimum(world.trees.age // np.maximum(world.trees.stage_steps, 1), 2)
    hangs = world.trees.lost == Lost.HANGING
    expected[world.layout.trees] = np.where(hangs, Item.APPLE + ages, Item.EMPTY_TREE)
    np.testing.assert_array_equal(item.reshape(-1), expected)
    colours = np.zeros(CONFIG.cells)
    colours[world.layout.trees] = 1 + world.tree_colour
    np.testing.assert_array_equal(colour.reshape(-1), colours)


def test_what_an_agent_knows_of_itself_is_encoded_without_loss():
    rng = np.random.default_rng(0)
    count = 20_000
    own = Own(
        heading=rng.integers(0, 4, count).astype(np.int32),
        position=rng.integers(0, 100, (count, 2)).astype(np.int32),
        step=np.arange(count, dtype=np.int32),
        trial=rng.integers(0, 1000, count).astype(np.int32),
        frozen=rng.integers(0, 1000, count).astype(np.int32),
        cooldown=rng.integers(0, 1000, count).astype(np.int32),
    )
    decoded = jax.jit(decode_own)(jax.jit(encode_own)(own))
    assert not differing_leaves(own, jax.device_get(decoded))


def test_the_numbers_that_an_agent_knows_of_itself():
    _, world = a_case()
    world = world.replace(frozen=np.arange(5, dtype=np.int32), cooldown=world.frozen)
    own = np.asarray(look(copies(world, 1)).own)[0]
    for agent in range(AGENTS):
        heading, row_column = np.eye(4)[world.agents.heading[agent]], world.agents.position[agent]
        waits = [world.frozen[agent] / 10, world.cooldown[agent] / 10]
        expected = np.concatenate([heading, row_column / 10, [37 / 100, 1 / 5], waits])
        np.testing.assert_allclose(own[agent], expected, rtol=1e-6)


def test_an_observation_has_the_shape_and_range_that_is_promised():
    _, world = a_case()
    seen = jax.device_get(look(copies(world, 1)))
    game = Harvest(num_agents=AGENTS, window=WINDOW, **dataclasses.asdict(CONFIG))
    view, own = game.view_spec, game.own_spec
    assert seen.view.shape == (1, AGENTS, WINDOW.rows, WINDOW.cols, len(Plane))
    assert (seen.view.shape[2:], seen.view.dtype) == (view.shape, view.dtype)
    assert (seen.own.shape[2:], seen.own.dtype) == (own.shape, own.dtype)
    assert (seen.view <= np.array(view.high)).all()
    assert (seen.own >= 0).all()
