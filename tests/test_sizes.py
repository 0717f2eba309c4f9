"""Games in which no two sizes are equal, played by one, two and as many as they have room for."""

import functools

import jax
import numpy as np
import pytest

import osj_envs
from osj_envs.testing import latents, orchards
from osj_envs.testing.sizes import (
    MOST_AGENTS,
    MOST_IN_ORCHARD,
    NUM_ENVS,
    ORCHARD_SIZES,
    SIZES,
)

STEPS = 20
OPTIONS = {"cleanup": SIZES, "harvest": ORCHARD_SIZES}
MOST = {"cleanup": MOST_AGENTS, "harvest": MOST_IN_ORCHARD}
SAMPLERS = {"cleanup": latents.random_latent, "harvest": orchards.random_latent}


def make(name, num_agents):
    return osj_envs.make(name, num_agents=num_agents, auto_reset=False, **OPTIONS[name])


def axes(name, num_agents):
    """Every size that an axis of a batch can have."""
    env = make(name, num_agents)
    config, window = env.game.config, env.game.window
    kinds = {
        "cleanup": ("pairs", "effects"),
        "harvest": ("trees", "patches", "colours", "spawn_cells"),
    }
    own = [getattr(config, kind) for kind in kinds[name]]
    features = env.game.own_spec.shape[0]
    sizes = [config.height, config.width, window.rows, window.cols, NUM_ENVS, features]
    return [*sizes, *own, env.num_actions, OPTIONS[name]["trial_length"]]


@pytest.mark.parametrize("name", OPTIONS)
def test_no_two_sizes_are_equal(name):
    for num_agents in (1, 2, 3, MOST[name]):
        sizes = [num_agents, *axes(name, num_agents)]
        assert len(set(sizes)) == len(sizes), sizes


@pytest.mark.parametrize("name", OPTIONS)
def test_there_is_no_room_for_one_more(name):
    most = MOST[name]
    with pytest.raises(ValueError, match=f"{most + 1}.* 1 to {most}"):
        make(name, most + 1)


def test_every_game_is_played_here():
    assert OPTIONS.keys() == set(osj_envs.list_ids())


def check_cleanup(world, outcome, num_agents):
    assert outcome.hit_colour.shape == (NUM_ENVS, STEPS, num_agents, 4)
    assert world.item.shape == (NUM_ENVS, 5, 8)
    assert world.window.shape == (NUM_ENVS, num_agents, 2)


def check_harvest(world, outcome, num_agents):
    for told in (outcome.eaten_colour, outcome.eaten_stage, outcome.zapped):
        assert told.shape == (NUM_ENVS, STEPS, num_agents)
    assert all(leaf.shape == (NUM_ENVS, 36) for leaf in jax.tree.leaves(world.trees))
    assert world.tree_colour.shape == world.layout.trees.shape == (NUM_ENVS, 36)
    assert world.layout.spawns.shape == (NUM_ENVS, 15)
    assert world.frozen.shape == world.cooldown.shape == (NUM_ENVS, num_agents)


CASES = [(name, count) for name in OPTIONS for count in (1, MOST[name])]


@pytest.mark.parametrize(("name", "num_agents"), CASES)
def test_every_leaf_has_the_axes_that_it_should(name, num_agents):
    env = make(name, num_agents)
    game, rng = env.game, np.random.default_rng(0)
    drawn = [SAMPLERS[name](game.config, rng) for _ in range(NUM_ENVS)]
    latent = jax.tree.map(lambda *leaves: np.stack(leaves), *drawn)

    @jax.jit
    @functools.partial(jax.vmap, in_axes=(0, 0))
    def play(key, latent):
        def step(state, key):
            actions = jax.random.randint(key, (num_agents,), 0, env.num_actions)
            observation, state, reward, done, info = env.step(key, state, actions)
            return state, (observation, reward, done, info)

        return jax.lax.scan(step, env.reset(key, latent)[1], jax.random.split(key, STEPS))

    keys = jax.random.split(jax.random.key(0), NUM_ENVS)
    state, (observation, reward, done, info) = jax.device_get(play(keys, latent))
    batch = (NUM_ENVS, STEPS)
    for seen in (observation, info.final_observation):
        assert seen.view.shape == (*batch, num_agents, *game.view_spec.shape)
        assert seen.own.shape == (*batch, num_agents, *game.own_spec.shape)
        assert game.view_spec.contains(seen.view)
        assert game.own_spec.contains(seen.own)
    assert reward.shape == info.outcome.blocked.shape == (*batch, num_agents)
    assert done.shape == info.trial.shape == info.step.shape == batch
    assert all(count.shape == (*batch, num_agents) for count in info.events.values())
    of_game = {"cleanup": check_cleanup, "harvest": check_harvest}
    of_game[name](state.world, info.outcome, num_agents)
    cells = state.world.agents.position @ (game.config.width, 1)
    assert all(len(set(row)) == num_agents for row in cells.tolist())
