"""Two agents in the smallest room: every placement, heading and joint action."""

import copy
import functools
import itertools

import jax
import numpy as np

from osj_envs.grid.codes import Action, Heading
from osj_envs.grid.movement import Agents
from osj_envs.harvest import dynamics
from osj_envs.testing.drawn_orchard import draw_orchard
from osj_envs.testing.slow_harvest import SlowHarvest
from osj_envs.testing.slow_orchard import SlowAgent, read_draws, read_world

ROOM = """
a b x @
c r . .
z . . @
"""
"""Something regrows, something rots, and something is on its way."""

CELLS = list(itertools.product(range(3), range(4)))
PLACES = list(itertools.permutations(CELLS, 2))
HEADINGS = list(itertools.product(Heading, repeat=2))
ACTIONS = list(itertools.product(range(8), repeat=2))


def room():
    """The room, drawn without agents; its over-ripe apple rots in the next step."""
    drawn = draw_orchard(ROOM, delay=1, regrowth=(0.0, 0.2, 0.2, 0.5))
    drawn.world.trees.age[drawn.tree(1, 0)] = 44
    return drawn


@functools.partial(jax.jit, static_argnames="config")
def play_all(config, latent, world, places, headings, actions, keys):
    """Every case at once: placements, headings, joint actions."""

    def one(place, key, heading, action):
        draws = dynamics.sample_draws(config, 2, key)
        still = np.zeros(2, np.int32)
        agents = Agents(position=place, heading=heading)
        start = world.replace(agents=agents, frozen=still, cooldown=still)
        return dynamics.step_world(config, latent, start, action, draws)

    by_action = jax.vmap(one, (None, None, None, 0))
    by_heading = jax.vmap(by_action, (None, None, 0, None))
    return jax.vmap(by_heading, (0, 0, None, None))(places, keys, headings, actions)


@functools.cache
def played():
    drawn = room()
    keys = jax.random.split(jax.random.key(0), len(PLACES))
    cases = [np.array(each, np.int32) for each in (PLACES, HEADINGS, ACTIONS)]
    batch = play_all(drawn.config, drawn.latent, drawn.world, *cases, keys)
    draws = jax.vmap(lambda key: dynamics.sample_draws(drawn.config, 2, key))(keys)
    return drawn, jax.device_get(batch), jax.device_get(draws)


def slow_case(slow, empty, chance, case):
    """What the slow rules make of one case: agents, trees and what they were told."""
    places, headings, actions = case
    world = copy.deepcopy(empty)
    world.agents = [SlowAgent(*each) for each in zip(places, headings, strict=True)]
    told = slow.step(world, actions, chance)
    agents = [(*a.cell, a.heading, a.frozen, a.cooldown) for a in world.agents]
    return (
        agents,
        _hanging(slow, world),
        list(zip(told.reward, told.blocked, told.zapped, strict=True)),
    )


def _hanging(slow, world):
    return [cell in world.apples for cell in slow.orchard.trees]


def test_every_case_is_as_by_the_slow_rules():
    drawn, after, draws = played()
    slow = SlowHarvest(drawn.config, drawn.latent)
    empty = read_world(slow.orchard, drawn.world)
    agents, trees, told = [], [], []
    for index, places in enumerate(PLACES):
        chance = read_draws(slow.orchard, jax.tree.map(lambda leaf, i=index: leaf[i], draws))
        for case in itertools.product([places], HEADINGS, ACTIONS):
            for each, found in zip(
                (agents, trees, told), slow_case(slow, empty, chance, case), strict=True
            ):
                each.append(found)
    moved, world = after.world.agents, after.world
    found = [*np.moveaxis(moved.position, -1, 0), moved.heading, world.frozen, world.cooldown]
    shape = (len(PLACES), len(HEADINGS), len(ACTIONS))
    np.testing.assert_array_equal(np.stack(found, axis=-1), np.reshape(agents, (*shape, 2, 5)))
    np.testing.assert_array_equal(dynamics.hangs(world.trees), np.reshape(trees, (*shape, 6)))
    outcome = np.stack([after.reward, after.outcome.blocked, after.outcome.zapped], axis=-1)
    np.testing.assert_allclose(outcome, np.reshape(told, (*shape, 2, 3)))


def test_nobody_shares_a_cell_leaps_or_walks_through_another():
    _, after, _ = played()
    start = np.array(PLACES)[:, None, None]
    position, zapped = after.world.agents.position, after.outcome.zapped
    assert (position[..., 0, :] != position[..., 1, :]).any(axis=-1).all()
    steps = np.abs(position - start).sum(axis=-1)
    assert (steps[~zapped] <= 1).all()
    swapped = (position == start[..., ::-1, :]).all(axis=(-1, -2))
    assert not (swapped & ~zapped.any(axis=-1)).any()
    assert steps.max() > 1, "those zapped go farther"


def test_only_a_beam_zaps_and_only_eating_pays():
    _, after, _ = played()
    fires = np.array(ACTIONS) == Action.BEAM
    assert not (after.outcome.zapped & ~fires[..., ::-1]).any(), "by the other alone"
    assert after.outcome.zapped.any()
    assert ((after.reward > 0) == (after.events["apples"] > 0)).all()
