"""Draws the pictures of the documents: `python docs/pictures.py`, into docs/images/."""

import dataclasses
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from PIL import Image

import osj_envs
from osj_envs.cleanup.env import Cleanup
from osj_envs.cleanup.legend import legend as cleanup_legend
from osj_envs.cleanup.render import render_world
from osj_envs.cleanup.types import World
from osj_envs.grid.beam import beam_cells
from osj_envs.grid.codes import Heading, Item
from osj_envs.grid.movement import covers
from osj_envs.harvest.legend import legend as harvest_legend
from osj_envs.trials import MultiTrial
from osj_envs.types import State

IMAGES = pathlib.Path(__file__).parent / "images"
PROBLEM = 4


def wander(env: MultiTrial, actions: list[int], steps: int) -> State:
    """A state in the midst of a trial, after random play of these actions."""
    _, state = env.reset(jax.random.key(PROBLEM), env.problem(PROBLEM))
    step = jax.jit(env.step)
    for key in jax.random.split(jax.random.key(1), steps):
        chosen = jax.random.choice(key, jnp.array(actions), (env.num_agents,))
        _, state, *_ = step(key, state, chosen)
    return state


def facing_waste(game: Cleanup, world: World) -> tuple[World, np.ndarray]:
    """The world with agents turned to hit waste where they can, and their shots at it."""
    item = np.asarray(world.item)
    waste = (item >= Item.WASTE) & (item < Item.STATION)
    turned = [np.full(len(world.window), heading, np.int32) for heading in Heading]
    hit = np.stack([beams(game, turn(world, headings)) & waste for headings in turned])
    best = hit.sum(axis=(2, 3)).argmax(axis=0)
    reaches = hit.any(axis=(0, 2, 3))
    world = turn(world, np.where(reaches, best, np.asarray(world.agents.heading)))
    return world, beams(game, world) & reaches[:, None, None]


def turn(world: World, headings: np.ndarray) -> World:
    """The world with the agents facing elsewhere."""
    agents = dataclasses.replace(world.agents, heading=headings)
    return dataclasses.replace(world, agents=agents)


def beams(game: Cleanup, world: World) -> np.ndarray:
    """The cells that each agent's beam would hit, (agents, height, width)."""
    size = game.config.height, game.config.width
    return np.asarray(covers(beam_cells(world.agents, *size), *size).any(axis=1))


def draw_cleanup() -> np.ndarray:
    """OpenCleanup on a partly clean river, in the midst of a trial."""
    env = osj_envs.make("cleanup", initial_waste=0.35, waste_skew=0.4)
    assert isinstance(env.game, Cleanup)
    state = wander(env, actions=[0, 1, 2, 3, 4, 5, 8], steps=160)
    world, shots = facing_waste(env.game, jax.device_get(state.world))
    return render_world(world, 48, shots)


def draw_harvest() -> np.ndarray:
    """OpenHarvest in the midst of a trial; one of the agents has been zapped."""
    env = osj_envs.make("harvest")
    return env.render(wander(env, actions=[0, 1, 1, 2, 3, 4, 5, 6], steps=108), 48)


def main() -> None:
    """Writes every picture."""
    IMAGES.mkdir(exist_ok=True)
    pictures = {
        "cleanup": draw_cleanup(),
        "cleanup-legend": cleanup_legend(),
        "harvest": draw_harvest(),
        "harvest-legend": harvest_legend(),
    }
    for name, picture in pictures.items():
        Image.fromarray(picture).save(IMAGES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
