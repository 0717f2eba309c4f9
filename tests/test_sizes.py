"""A game in which no two sizes are equal, played by one, two and as many as it has room for."""

import functools

import jax
import numpy as np
import pytest

import osj_envs
from osj_envs.testing.latents import random_latent
from osj_envs.testing.sizes import MOST_AGENTS, NUM_ENVS, SIZES

STEPS = 20


def make(num_agents):
    return osj_envs.make("cleanup", num_agents=num_agents, auto_reset=False, **SIZES)


def axes(num_agents):
    """Every size that an axis of a batch can have."""
    env = make(num_agents)
    config, window = env.game.config, env.game.window
    features = env.game.own_spec.shape[0]
    tools = config.pairs, config.effects, env.num_actions
    return [config.height, config.width, window.rows, window.cols, NUM_ENVS, *tools, features]


@pytest.mark.parametrize("num_agents", [1, 2, 3, MOST_AGENTS])
def test_no_two_sizes_are_equal(num_agents):
    sizes = [num_agents, SIZES["trial_length"], *axes(num_agents)]
    assert len(set(sizes)) == len(sizes), sizes


def test_there_is_no_room_for_one_more():
    with pytest.raises(ValueError, match=f"{MOST_AGENTS + 1}.* 1 to {MOST_AGENTS}"):
        make(MOST_AGENTS + 1)


@pytest.mark.parametrize("num_agents", [1, MOST_AGENTS])
def test_every_leaf_has_the_axes_that_it_should(num_agents):
    env = make(num_agents)
    game, rng = env.game, np.random.default_rng(0)
    latents = [random_latent(game.config, rng) for _ in range(NUM_ENVS)]
    latent = jax.tree.map(lambda *leaves: np.stack(leaves), *latents)

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
    assert info.outcome.hit_colour.shape == (*batch, num_agents, 4)
    assert done.shape == info.trial.shape == info.step.shape == batch
    assert state.world.item.shape == (NUM_ENVS, 5, 8)
    assert state.world.window.shape == (NUM_ENVS, num_agents, 2)
    assert all(count.shape == (*batch, num_agents) for count in info.events.values())
    cells = state.world.agents.position @ (8, 1)
    assert all(len(set(row)) == num_agents for row in cells.tolist())
