"""The rules that a system prompt states are those that the environment plays by."""

import re

import jax.numpy as jnp
import numpy as np

from llm_eval.prompts.system import game_text, system_prompt
from osj_envs.cleanup import dynamics as cleanup
from osj_envs.cleanup.types import Draws
from osj_envs.grid.codes import Action, Item
from osj_envs.harvest import dynamics as harvest
from osj_envs.harvest.constants import Lost
from tests.llm_eval.games import make
from tests.llm_eval.worlds import scatter


def told(name: str, pattern: str) -> list[float]:
    """The numbers that a system prompt states."""
    found = re.search(pattern, system_prompt(make(name)))
    assert found, pattern
    return [float(number) for number in found.groups()]


def test_apples_grow_at_the_waste_that_is_told_and_not_above() -> None:
    limit, chance = told(
        "cleanup", r"With (\d+) waste cells or fewer.*?grows one with chance ([\d.]+) a step"
    )
    env = make("cleanup")
    config, board = env.game.config, scatter(env, np.random.default_rng(0))
    river = np.flatnonzero(np.array(cleanup.is_river(board.latent.layout)))

    def grown(waste: int, luck: float) -> bool:
        item = np.array(board.latent.layout) * 0 + Item.GROUND
        item.flat[river] = Item.WATER
        item.flat[river[:waste]] = Item.WASTE
        item.flat[np.setdiff1d(np.arange(config.cells), river)[0]] = Item.ORCHARD
        item = jnp.array(item, jnp.uint8)
        words = jnp.full(item.shape, int(luck * 2**32), jnp.uint32)
        zero = jnp.int32(0)
        draws = Draws(cell=words, spawn=1.0, skew=1.0, hue=zero, shade=zero, priority=words[0])
        dirt = cleanup.dirt_fraction(config, item)
        free = jnp.zeros(item.shape, bool)
        after = cleanup.grow_apples(config, board.latent.layout, item, free, dirt, draws)
        return bool((after == Item.RIPE_APPLE).any())

    assert grown(int(limit), 0.0)
    assert not grown(int(limit) + 1, 0.0)
    assert grown(0, chance - 0.001)
    assert not grown(0, chance + 0.001)


def test_waste_appears_once_the_steps_that_are_told_are_taken() -> None:
    start, chance = told("cleanup", r"Once (\d+) steps of a trial are taken, with chance ([\d.]+)")
    env = make("cleanup")
    config, board = env.game.config, scatter(env, np.random.default_rng(0))
    item = jnp.where(cleanup.is_river(board.latent.layout), Item.WATER, Item.GROUND)
    item, free = item.astype(jnp.uint8), jnp.zeros(item.shape, bool)

    def spawned(step: float, luck: float) -> bool:
        draws = Draws(
            cell=jnp.full(item.shape, 7, jnp.uint32),
            spawn=jnp.float32(luck),
            skew=jnp.float32(0),
            hue=jnp.int32(0),
            shade=jnp.int32(0),
            priority=jnp.zeros(env.num_agents, jnp.uint32),
        )
        after, _ = cleanup.spawn_waste(
            config, board.latent, item, item * 0, free, jnp.int32(step), draws
        )
        return bool((after != item).any())

    assert spawned(start, chance - 0.001)
    assert not spawned(start - 1, chance - 0.001)
    assert not spawned(start, chance + 0.001)


def test_the_beam_is_not_ready_and_the_agent_cannot_act_as_long_as_told() -> None:
    (freeze,) = told("harvest", r"cannot act for the next (\d+) steps")
    (cooldown,) = told("harvest", r"not ready for (\d+) steps after you fired")
    env = make("harvest")
    game, board = game_text(env), scatter(env, np.random.default_rng(0))
    board.world = board.world.replace(cooldown=board.world.cooldown * 0)
    zap = np.full(env.num_agents, Action.BEAM)
    zapped = None
    waits, frozen = [], []
    for _ in range(int(freeze) + 2):
        played = board.step(zap)
        board.world = played.world
        if zapped is None:
            zapped = int(np.flatnonzero(played.outcome.zapped)[0])
            zap = np.full(env.num_agents, Action.STAY)
        sight = game.look(board.observation(zapped))
        frozen.append(sight.own.frozen)
        waits.append("not ready" in game.now(sight, env.game.initial_evidence(), ()))
    assert sum(waits) == cooldown
    assert sum(wait > 0 for wait in frozen) == freeze


def test_trees_regrow_by_the_apples_within_the_distance_that_is_told() -> None:
    distance, most = told("harvest", r"hang within (\d+) steps of it .*? up to (\d+)\.")
    env = make("harvest")
    config = env.game.config
    latent = env.problem(1)
    world = env.game.lay_world(jnp.zeros(2, jnp.uint32), latent)
    cells = np.stack(np.divmod(np.array(world.layout.trees), config.width), axis=1).astype(int)
    steps = np.abs(cells[:, None] - cells[None]).sum(-1)
    for tree in range(0, config.trees, 7):
        chances = []
        near = np.flatnonzero((steps[tree] <= distance) & (steps[tree] > 0))
        for hanging in range(min(len(near), int(most) + 2)):
            lost = np.full(config.trees, Lost.EATEN)
            lost[np.flatnonzero(steps[tree] > distance)] = Lost.HANGING
            lost[near[:hanging]] = Lost.HANGING
            trees = world.trees.replace(lost=jnp.array(lost, jnp.uint8))
            all_chances = harvest.regrowth_chance(config, latent.rules, world.replace(trees=trees))
            chances.append(float(all_chances[tree]))
        assert chances[0] == 0
        assert np.all(np.diff(chances[: int(most) + 1]) > 0)
        assert len(set(chances[int(most) :])) <= 1
