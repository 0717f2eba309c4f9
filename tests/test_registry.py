"""`make`: names, options and what each option does."""

import functools

import jax
import numpy as np
import pytest

import osj_envs
from osj_envs.cleanup.env import Cleanup
from osj_envs.grid.view import Window
from osj_envs.harvest.env import Harvest
from osj_envs.registry import make
from osj_envs.testing.fakes import CountingGame
from osj_envs.testing.latents import random_actions
from osj_envs.testing.trees import fingerprint
from osj_envs.trials import MultiTrial


def test_every_registered_environment_can_be_made():
    assert "cleanup" in osj_envs.list_ids()
    for name in osj_envs.list_ids():
        env = osj_envs.make(name)
        assert env.name == name
        assert env.game.version >= 1
        assert (env.num_agents, env.num_trials, env.trial_length) == (5, 5, 400)
        assert env.auto_reset


@pytest.mark.parametrize(("typo", "nearest"), [("clean_up", "cleanup"), ("Cleanup", "cleanup")])
def test_an_unknown_name_is_refused_with_the_nearest_one(typo, nearest):
    with pytest.raises(ValueError, match=f"{typo}.*did you mean '{nearest}'"):
        make(typo)


@pytest.mark.parametrize(
    ("typo", "nearest"),
    [
        ("num_agent", "num_agents"),
        ("trial_len", "trial_length"),
        ("numtrials", "num_trials"),
        ("inital_waste", "initial_waste"),
        ("autoreset", "auto_reset"),
        ("splits", "split"),
        ("game", None),
        ("self", None),
        ("config", None),
    ],
)
def test_an_unknown_option_is_refused_with_the_nearest_one(typo, nearest):
    with pytest.raises(TypeError, match=f"{typo}.*did you mean '{nearest or ''}"):
        make("cleanup", **{typo: 3})


GAMES = {"cleanup": Cleanup, "harvest": Harvest}
STEPS = {"cleanup": 6, "harvest": 150}
# Busy games, in which a few steps show a lot.
BASES = {
    "cleanup": {
        "num_agents": 3, "waste_spawn": 1.0, "waste_spawn_start": 2, "initial_waste": 0.3,
        "apple_growth": 0.4, "waste_skew": 0.6,
    },
    "harvest": {"num_agents": 30, "stage_steps": (2, 3), "regrowth": (0.3, 0.3, 0.3, 0.3)},
}  # fmt: skip
# For each option another value than its base or the default has.
CHANGES = {
    "cleanup": {
        "num_agents": 4,
        "window": Window(ahead=3, behind=1, side=1),
        "semantic": 2,
        "hues": 4,
        "shades": 2,
        "base_tools": 3,
        "height": 13,
        "width": 17,
        "river_cells": 31,
        "initial_clean_cells": 5,
        "stream_cells": 4,
        "orchard_cells": 47,
        "stations": 7,
        "spawn_cells": 6,
        "waste_skew": 0.1,
        "waste_spawn": 0.0,
        "waste_spawn_start": 5,
        "apple_growth": 0.1,
        "dirt_threshold": 0.9,
        "initial_waste": (0.5, 0.9),
    },
    "harvest": {
        "num_agents": 29,
        "window": Window(ahead=3, behind=1, side=1),
        "semantic": 2,
        "colours": 4,
        "height": 17,
        "width": 23,
        "diamonds": 3,
        "quarters": 1,
        "spawn_cells": 19,
        "pays": (1.0, 0.5, 0.125),
        "speeds": (2.0, 1.0, 0.25),
        "regrowth": (0.3, 0.3, 0.3, 0.2),
        "stage_steps": (2, 4),
        "rot_delay": (2, 6),
        "freeze_steps": 11,
        "cooldown_steps": 3,
    },
}


@functools.cache
def told(name, **options):
    """All that a few steps of a game tell, as fingerprints."""
    game = GAMES[name](**(BASES[name] | options))
    latent_key, world_key = jax.random.split(jax.random.key(0))
    latents = jax.vmap(game.sample_latent)(jax.random.split(latent_key, 8))
    latent = jax.tree.map(lambda leaf: leaf[0], latents)
    world = game.lay_world(world_key, latent)
    actions = random_actions((STEPS[name], game.num_agents), np.random.default_rng(0))
    step, rewards = jax.jit(game.step_world), []
    for number, action in enumerate(actions):
        played = step(jax.random.key(number), latent, world, np.int32(number), action)
        world = played.world
        rewards.append(played.reward)
    specs = game.view_spec, game.own_spec
    return [*map(fingerprint, (latents, world, played.outcome, rewards)), str(specs)]


def test_every_option_of_every_environment_is_tried_here():
    assert GAMES.keys() == CHANGES.keys() == set(osj_envs.list_ids())
    for name, game in GAMES.items():
        assert CHANGES[name].keys() == set(game.option_names())


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [(name, option, value) for name in CHANGES for option, value in CHANGES[name].items()],
)
def test_every_option_changes_something(name, option, value):
    assert told(name, **{option: value}) != told(name)


def test_the_protocols_options_change_something():
    def steps_told(**options):
        env = MultiTrial(CountingGame(num_agents=2), **({"trial_length": 3} | options))
        _, state = env.reset(jax.random.key(0))
        step, ends = jax.jit(env.step), []
        for number in range(16):
            _, state, _, done, info = step(jax.random.key(number), state, np.zeros(2, np.int32))
            ends.append((bool(info.trial_done), bool(done), int(state.latent.length) > 0))
        return ends

    base = steps_told()
    for change in ({"num_trials": 3}, {"trial_length": 4}, {"auto_reset": False}):
        assert steps_told(**change) != base, change
    assert steps_told(split="held_out") != base


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_agents": 0}, "num_agents.* is 0; .* 1 to 99"),
        ({"num_agents": 100}, "num_agents.*100.* 1 to 99"),
        ({"num_agents": 2.0}, "num_agents.*2.0.*whole number"),
        ({"num_agents": "5"}, "num_agents.*'5'"),
        ({"num_agents": True}, "num_agents.*True"),
        ({"num_agents": 256, "height": 40, "width": 40}, "num_agents.*256.* 1 to 255"),
        ({"window": 11}, "window is 11"),
        ({"semantic": 4}, "4.* 0 to 3"),
        ({"initial_waste": "all"}, "initial_waste is 'all'"),
        ({"waste_skew": "high"}, "waste_skew is 'high'"),
        ({"dirt_threshold": None}, "dirt_threshold is None"),
    ],
)
def test_bad_values_are_refused_in_one_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        make("cleanup", **options)


@pytest.mark.parametrize("field", ["ahead", "behind", "side"])
@pytest.mark.parametrize("value", [-1, 2.5, "9", None])
def test_a_window_that_is_no_window_is_refused(field, value):
    with pytest.raises(ValueError, match=f"window.{field} is {value!r}"):
        Window(**{field: value})
