"""Every probability of OpenHarvest, at sizes where a wrong rate fails for sure."""

import functools
import itertools

import jax
import numpy as np
import pytest

import osj_envs
from osj_envs.grid.codes import Action
from osj_envs.harvest import dynamics
from osj_envs.harvest.constants import PAPER, HarvestConfig, Lost
from osj_envs.harvest.layouts import load_pool
from osj_envs.testing.chance import (
    check_fair_contest,
    check_rate,
    check_starts,
    check_uniform,
)
from osj_envs.testing.drawn_orchard import draw_orchard
from osj_envs.testing.orchards import random_latent
from osj_envs.testing.slow_harvest import SlowHarvest
from osj_envs.testing.slow_orchard import read_world

WORLDS = 6_000
STAGE_STEPS, DELAYS = range(15, 21), range(2, 6)
BASE, SPEED = (0.0, 0.001, 0.005, 0.025), (2.0, 1.0, 0.5)
"""The rates of the game, written out once more."""


@functools.partial(jax.jit, static_argnames="config")
def step_many(config, latent, world, actions, keys):
    """Steps of one world that differ in their draws alone."""

    def one(key):
        draws = dynamics.sample_draws(config, actions.shape[0], key)
        after = dynamics.step_world(config, latent, world, actions, draws).world
        return after.trees, after.agents

    return jax.vmap(one)(keys)


@functools.partial(jax.jit, static_argnames=("config", "num_agents"))
def lay_many(config, num_agents, latent, keys):
    return jax.vmap(lambda key: dynamics.lay_world(config, num_agents, key, latent))(keys)


def keys(seed, count=WORLDS):
    return jax.random.split(jax.random.key(seed), count)


def play_many(drawn, *actions, seed=0, count=WORLDS):
    """Trees and agents after the same actions with other draws, batch first."""
    acted = np.array(actions, np.int32)
    batch = step_many(drawn.config, drawn.latent, drawn.world, acted, keys(seed, count))
    return jax.device_get(batch)


def check_stage_steps(steps):
    """All of 15 to 20 equally often, and nothing else."""
    counts = np.bincount(steps, minlength=21)
    assert counts.sum() == counts[15:21].sum()
    check_uniform(counts[15:21])


# Regrowth of what was eaten.

ORCHARD = """
.  .  x  .  .  .  .  .  .  .  y  .  .  .  .  .  .  .  y  .  .  .  .  .  .  .  x  .  .  .
.  y  z  x  .  .  .  .  .  x  z  y  .  .  .  .  .  x  y  z  .  .  .  .  .  z  a  y  .  .
z  x  y  z  x  .  .  .  y  z  a  x  z  .  .  .  z  b  a  x  y  .  .  .  x  a  c  b  z  .
.  y  z  x  .  .  .  .  .  x  y  z  .  .  .  .  .  y  z  x  .  .  .  .  .  z  c  x  .  .
.  .  y  .  .  .  .  .  .  .  x  .  .  .  .  .  .  .  x  .  .  .  .  .  .  .  y  .  .  .
@^ @  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .
"""
SPEEDS = ((0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0))
GROUPS = list(itertools.product(range(4), SPEED))


@functools.cache
def regrown():
    """Of each eaten cell: how it was lost and what hung near, and its trees after many steps."""
    drawn = draw_orchard(ORCHARD, colours=(0, 1, 2, 3), speed=SPEEDS)
    slow = SlowHarvest(drawn.config, drawn.latent)
    world = read_world(slow.orchard, drawn.world)
    trees, _ = play_many(drawn, Action.STAY, count=80_000)
    cells = [cell for cell in slow.orchard.trees if cell in world.eaten]
    groups = [
        (
            min(slow.near(world, cell), 3),
            SPEED[SPEEDS[slow.orchard.colour[cell]][world.eaten[cell]]],
        )
        for cell in cells
    ]
    places = [slow.orchard.trees.index(cell) for cell in cells]
    return groups, places, trees


@pytest.mark.parametrize(("near", "speed"), GROUPS)
def test_what_was_eaten_regrows_at_the_rate_of_what_hangs_near_and_its_speed(near, speed):
    groups, places, trees = regrown()
    mine = [place for group, place in zip(groups, places, strict=True) if group == (near, speed)]
    assert mine, "the drawing has no such cell"
    came = trees.lost[:, mine] == Lost.HANGING
    rate = BASE[near] * speed
    assert near == 0 or came.size * rate > 100, "so that half or twice the rate fails"
    check_rate(int(came.sum()), came.size, rate)
    for tree in range(len(mine)):
        check_rate(int(came[:, tree].sum()), len(came), rate)
    assert (trees.age[:, mine][came] == 0).all()


@pytest.mark.parametrize("near", [1, 2, 3])
def test_the_stage_steps_of_what_regrew_by_chance_are_uniform_whatever_the_chance(near):
    """One random word decides both, and only small words make an apple grow."""
    groups, places, trees = regrown()
    mine = [place for group, place in zip(groups, places, strict=True) if group[0] == near]
    came = trees.lost[:, mine] == Lost.HANGING
    check_stage_steps(trees.stage_steps[:, mine][came])


def test_the_smallest_chance_leaves_stage_steps_uniform_too():
    """Rates that the defaults do not have, so that only the smallest words count."""
    drawn = draw_orchard(ORCHARD, regrowth=(2.0**-12,) * 4, speeds=(1.0, 1.0, 1.0))
    trees, _ = play_many(drawn, Action.STAY, count=80_000)
    came = (trees.lost == Lost.HANGING) & (drawn.world.trees.lost != Lost.HANGING)
    bare = int((drawn.world.trees.lost != Lost.HANGING).sum())
    check_rate(int(came.sum()), 80_000 * bare, 2.0**-12)
    check_stage_steps(trees.stage_steps[came])


def test_cells_regrow_independently_of_one_another():
    groups, places, trees = regrown()
    mine = [place for group, place in zip(groups, places, strict=True) if group == (3, 2.0)]
    came = trees.lost[:, mine] == Lost.HANGING
    pairs = list(itertools.combinations(range(len(mine)), 2))
    both = sum(int((came[:, one] & came[:, other]).sum()) for one, other in pairs)
    check_rate(both, len(pairs) * len(came), (BASE[3] * 2.0) ** 2)


# Rotting.

FULL = """
.  .  a  .  .
.  a  a  a  .
a  a  a  a  a
.  a  a  a  .
.  .  a  .  .
@^ .  .  .  .
"""


@functools.partial(jax.jit, static_argnames="config")
def watch_rot(config, latent, world, keys):
    """For each world and tree, the step after rotting at which it came back, and its new steps."""

    def one(key):
        def step(world, key):
            draws = dynamics.sample_draws(config, 1, key)
            stay = np.full(1, Action.STAY, np.int32)
            after = dynamics.step_world(config, latent, world, stay, draws).world
            return after, (after.trees.lost, after.trees.stage_steps)

        return jax.lax.scan(step, world, jax.random.split(key, 8))[1]

    return jax.vmap(one)(keys)


@functools.cache
def rot():
    """Steps from rotting to coming back, and the steps of what came; for each world and tree."""
    drawn = draw_orchard(FULL)
    drawn.world.trees.age[:] = 44
    watched = watch_rot(drawn.config, drawn.latent, drawn.world, keys(1, 3000))
    lost, steps = jax.device_get(watched)
    assert (lost[:, 0] == Lost.ROTTED).all()
    assert (lost[:, -1] == Lost.HANGING).all()
    delay = (lost == Lost.HANGING).argmax(axis=1)
    return delay, steps[:, -1]


def test_what_rotted_comes_back_after_two_to_five_steps_uniformly():
    delay, _ = rot()
    counts = np.bincount(delay.reshape(-1), minlength=9)
    assert counts.sum() == counts[2:6].sum()
    check_uniform(counts[2:6])
    for tree in range(delay.shape[1]):
        check_uniform(np.bincount(delay[:, tree], minlength=6)[2:6])


def test_delays_of_two_trees_are_independent():
    delay, _ = rot()
    pairs = 4 * (delay[:, 1:] - 2) + delay[:, :-1] - 2
    # The same draws make up several pairs, so that one of each world is counted.
    check_uniform(np.bincount(pairs[:, 5], minlength=16))


def test_the_stage_steps_of_what_rotted_are_uniform_whatever_the_delay():
    delay, steps = rot()
    check_stage_steps(steps.reshape(-1))
    check_uniform(np.bincount((6 * (delay - 2) + steps - 15).reshape(-1), minlength=24))


# A trial's start.


@functools.cache
def starts(agents=5):
    latent = random_latent(PAPER, np.random.default_rng(3))
    return latent, jax.device_get(lay_many(PAPER, agents, latent, keys(2)))


def test_the_first_apples_draw_their_own_stage_steps_uniformly():
    _, world = starts()
    steps = world.trees.stage_steps
    check_stage_steps(steps.reshape(-1))
    for tree in range(PAPER.trees):
        check_stage_steps(steps[:, tree])
    for one, other in ((0, 1), (12, 13), (62, 63)):
        pairs = 6 * (steps[:, one].astype(int) - 15) + steps[:, other] - 15
        check_uniform(np.bincount(pairs, minlength=36))


def test_a_trial_starts_with_an_unripe_apple_on_every_tree_and_nobody_waits():
    latent, world = starts()
    assert (world.trees.lost == Lost.HANGING).all()
    assert (world.trees.age == 0).all()
    assert (world.frozen == 0).all()
    assert (world.cooldown == 0).all()
    assert (world.tree_colour == latent.patch_colour[list(PAPER.patch_of_tree)]).all()


SMALL = HarvestConfig(height=5, width=5, diamonds=0, quarters=1, spawn_cells=4)


@pytest.mark.parametrize(("config", "agents"), [(PAPER, 5), (PAPER, 1), (SMALL, 7)])
def test_agents_start_on_the_spawn_cells_and_then_on_open_ground(config, agents):
    latent = random_latent(config, np.random.default_rng(4))
    world = lay_many(config, agents, latent, keys(3))
    spawn, tree = np.zeros((2, config.cells), bool)
    spawn[latent.layout.spawns], tree[latent.layout.trees] = True, True
    size = config.height, config.width
    check_starts(world.agents, spawn.reshape(size), ~(spawn | tree).reshape(size))


# Zaps, and contests.

ENOUGH = """
x  x  x  .  .v @  @  @v @  @  @
x  x  .  .  .^ .  .  .  .  .  .
x  .  .  .  .  .  .  .  .  .  .
"""
"""One is hit; there are so many spawn cells that one is always free."""
SCARCE = ENOUGH.replace("@  @  @\n", "@  @  .\n")


def zapped(drawing, hit, seed):
    """Cells and headings of those hit after the last agent of the drawing fired, batch first."""
    drawn = draw_orchard(drawing)
    before = drawn.world.agents.position
    stays = [Action.STAY] * (drawn.num_agents - 1)
    _, agents = play_many(drawn, *stays, Action.BEAM, seed=seed)
    moved = (agents.position != before).any(axis=-1)
    assert moved[:, hit].all()
    assert not np.delete(moved, hit, axis=1).any()
    return agents.position[:, hit] @ [drawn.config.width, 1], agents.heading[:, hit]


@pytest.mark.parametrize("drawing", [ENOUGH, SCARCE], ids=["enough", "scarce"])
def test_one_hit_goes_to_each_free_spawn_cell_equally_often_and_faces_any_way(drawing):
    cells, heading = zapped(drawing, [0], seed=4)
    free = [5, 6, 8, 9, 10] if drawing is ENOUGH else [5, 6, 8, 9]
    assert set(np.unique(cells)) == set(free)
    joint = 4 * np.searchsorted(free, cells[:, 0]) + heading[:, 0]
    check_uniform(np.bincount(joint, minlength=4 * len(free)))


@pytest.mark.parametrize("drawing", [ENOUGH, SCARCE], ids=["enough", "scarce"])
def test_two_hit_go_to_each_pair_of_free_spawn_cells_equally_often(drawing):
    cells, heading = zapped(drawing.replace(".  .v", ".v .v"), [0, 1], seed=5)
    free = [5, 6, 8, 9, 10] if drawing is ENOUGH else [5, 6, 8, 9]
    pairs = list(itertools.permutations(free, 2))
    counts = [int((cells == pair).all(axis=1).sum()) for pair in pairs]
    assert sum(counts) == WORLDS
    check_uniform(np.array(counts))
    check_uniform(np.bincount(4 * heading[:, 0] + heading[:, 1], minlength=16))


def test_the_last_free_spawn_cell_goes_to_each_of_those_hit_equally_often():
    drawing = """
    x  x  x  .v .v .  @  @v .
    x  x  .  .  .^ .  .  .  .
    x  .  .  .  .  .  .  .  .
    """
    cells, _ = zapped(drawing, [0, 1], seed=6)
    check_fair_contest(cells == 6, contenders=2)
    ground = np.setdiff1d(np.arange(27), [0, 1, 2, 3, 4, 6, 7, 9, 10, 13, 18])
    counts = np.bincount(cells[cells != 6], minlength=27)
    assert counts.sum() == counts[ground].sum()
    check_uniform(counts[ground])


@pytest.mark.parametrize("contenders", [2, 3, 4])
def test_a_contested_cell_goes_to_each_contender_equally_often(contenders):
    drawn = draw_orchard(
        """
        .  .v .  .  x  x  x
        .> .  .< .  x  x  .
        .  .^ .  .  x  @  @
        """
    )
    approach = [Action.SOUTH, Action.EAST, Action.WEST, Action.NORTH]
    stays = [Action.STAY] * (4 - contenders)
    _, agents = play_many(drawn, *approach[:contenders], *stays, seed=7)
    check_fair_contest((agents.position == (1, 1)).all(axis=-1), contenders)


# What is drawn once an episode.


@functools.cache
def latents(split):
    env = osj_envs.make("harvest")
    sample = jax.jit(jax.vmap(lambda key: env.sample_latent(key, split)))
    return jax.device_get(sample(keys(8, 30_000)))


@pytest.mark.parametrize("split", ["train", "held_out"])
def test_patch_colours_are_uniform_and_drawn_with_replacement(split):
    latent = latents(split)
    colour = latent.patch_colour.astype(int)
    for patch in range(PAPER.patches):
        check_uniform(np.bincount(colour[:, patch], minlength=5))
    for one, other in itertools.combinations(range(PAPER.patches), 2):
        check_uniform(np.bincount(5 * colour[:, one] + colour[:, other], minlength=25))


@pytest.mark.parametrize("split", ["train", "held_out"])
def test_every_pay_and_speed_order_is_equally_likely_for_each_colour(split):
    latent = latents(split)
    pay, speed = (
        2 * table[..., 0].astype(int) + (table[..., 1] > table[..., 2])
        for table in (latent.rules.pay, latent.rules.speed)
    )
    for colour in range(PAPER.colours):
        check_uniform(np.bincount(6 * pay[:, colour] + speed[:, colour], minlength=36))
        check_uniform(np.bincount(6 * pay[:, colour] + pay[:, colour - 1], minlength=36))
        check_uniform(np.bincount(6 * speed[:, colour] + speed[:, colour - 1], minlength=36))
        # A pay says nothing about the colour that a patch has.
        joint = 6 * latent.patch_colour[:, 0].astype(int) + pay[:, colour]
        check_uniform(np.bincount(joint, minlength=30))


@pytest.mark.parametrize("split", ["train", "held_out"])
def test_every_layout_of_a_split_is_equally_likely(split):
    pool, drawn = load_pool(PAPER, split), latents(split).layout
    index = {layout: number for number, layout in enumerate(_as_bytes(pool))}
    assert len(index) == len(pool.trees)
    counts = np.bincount([index[layout] for layout in _as_bytes(drawn)], minlength=len(index))
    assert counts.min() > 0, "every one is drawn"
    check_uniform(counts)


def _as_bytes(layouts):
    rows = np.concatenate([np.asarray(layouts.trees), np.asarray(layouts.spawns)], axis=1)
    return [row.tobytes() for row in rows]
