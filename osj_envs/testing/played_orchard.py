"""A step of an orchard drawn by hand, with given luck, and the drawing that it should leave."""

import dataclasses
import functools
from typing import Any

import jax
import numpy as np

from osj_envs.harvest import dynamics
from osj_envs.harvest.constants import HarvestConfig, Lost
from osj_envs.harvest.types import Draws, Latent, World
from osj_envs.testing.drawn_orchard import DrawnOrchard
from osj_envs.types import Key, WorldStep

NEVER, ALWAYS = np.uint32(2**32 - 1), np.uint32(0)
"""Words by which no tree regrows by chance, and by which all do that can."""


@functools.partial(jax.jit, static_argnames=("config", "num_agents"))
def _sample_draws(config: HarvestConfig, num_agents: int, key: Key) -> Draws:
    return dynamics.sample_draws(config, num_agents, key)


@functools.partial(jax.jit, static_argnames="config")
def _step_world(
    config: HarvestConfig, latent: Latent, world: World, actions: Any, draws: Draws
) -> WorldStep:
    return dynamics.step_world(config, latent, world, actions, draws)


def quiet(drawn: DrawnOrchard, seed: int = 0, word: np.uint32 = NEVER) -> Draws:
    """Draws by which nothing regrows by chance."""
    draws = _sample_draws(drawn.config, drawn.num_agents, jax.random.key(seed))
    return draws.replace(tree=np.full(drawn.config.trees, word))


def lucky(drawn: DrawnOrchard, seed: int = 0) -> Draws:
    """Draws by which everything regrows that has any chance."""
    return quiet(drawn, seed, ALWAYS)


def play(drawn: DrawnOrchard, *actions: int, draws: Draws | None = None) -> Any:
    """The step after all agents act."""
    draws = quiet(drawn) if draws is None else draws
    acted = np.array(actions, np.int32)
    return jax.device_get(_step_world(drawn.config, drawn.latent, drawn.world, acted, draws))


def after(drawn: DrawnOrchard, played: WorldStep) -> DrawnOrchard:
    """The orchard as a step has left it."""
    return dataclasses.replace(drawn, world=played.world)


def with_trees(drawn: DrawnOrchard, **fields: Any) -> DrawnOrchard:
    """The same with some of the trees' numbers, given for all trees or one by one."""
    trees = drawn.world.trees
    values: dict[str, Any] = {
        n: np.broadcast_to(v, trees.age.shape).astype(np.uint8) for n, v in fields.items()
    }
    world = dataclasses.replace(drawn.world, trees=dataclasses.replace(trees, **values))
    return dataclasses.replace(drawn, world=world)


def look(played: WorldStep, drawn: DrawnOrchard) -> str:
    """The board in the tokens of a drawing, row by row, without agents."""
    config, trees = drawn.config, played.world.trees
    board = np.full(config.cells, ".")
    board[drawn.latent.layout.spawns] = "@"
    stage = np.asarray(dynamics.stage(trees))
    marks = [
        "abc"[s] if lost == Lost.HANGING else ".xyzr"[lost]
        for lost, s in zip(trees.lost, stage, strict=True)
    ]
    board[drawn.latent.layout.trees] = marks
    rows = board.reshape(config.height, config.width)
    return "\n".join(" ".join(row) for row in rows)


def expect(played: WorldStep, drawn: DrawnOrchard, drawing: str) -> None:
    """The board is as drawn, and so are the agents."""
    rows = [line.split() for line in drawing.strip().splitlines()]
    assert look(played, drawn) == "\n".join(" ".join(token[0] for token in row) for row in rows)
    marked = [
        ([r, c], "^>v<".index(token[-1]))
        for r, row in enumerate(rows)
        for c, token in enumerate(row)
        if token[-1] in "^>v<"
    ]
    agents = played.world.agents
    found = sorted(zip(agents.position.tolist(), agents.heading.tolist(), strict=True))
    assert found == marked
