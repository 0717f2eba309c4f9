"""The physics of OpenHarvest, phase by phase, in the order in which a step runs.

Source: paper, section 3.2, for the game; the authors' public implementation for the rates, the
times and the order (facts only). That an agent sent to a spawn cell faces any way, as at a
trial's start, and that it goes to open ground where no spawn cell is free, is our choice.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Float, Int, UInt8, UInt16, UInt32

from osj_envs.grid.beam import OFF_MAP, beam_cells
from osj_envs.grid.codes import Action, Heading
from osj_envs.grid.movement import Agents, covers, flat, move, place_agents
from osj_envs.harvest.constants import STAGES, HarvestConfig, Lost, Stage
from osj_envs.harvest.types import (
    NOTHING_EATEN,
    Draws,
    Latent,
    Layout,
    Outcome,
    Rules,
    Trees,
    World,
)
from osj_envs.random_words import below, draw_words, unit
from osj_envs.types import Key, WorldStep


@struct.dataclass
class Meals:
    """What the agents ate in a step.

    Attributes:
        colour: of each agent's apple, or `NOTHING_EATEN`.
        stage: of it, likewise.
        pay: what it paid, 0 for nothing.
    """

    colour: Int[Array, "agents"]
    stage: Int[Array, "agents"]
    pay: Float[Array, "agents"]


@struct.dataclass
class Zaps:
    """What the beams of a step did.

    Attributes:
        fired: whose beam fired.
        hits: agents that each beam hit.
        hit: who was hit.
    """

    fired: Bool[Array, "agents"]
    hits: Int[Array, "agents"]
    hit: Bool[Array, "agents"]


def sample_draws(config: HarvestConfig, num_agents: int, key: Key) -> Draws:
    """All chance of one step."""
    refuges = num_refuges(config, num_agents)
    tree, priority, turn, refuge = draw_words(
        key, (config.trees,), (num_agents,), (num_agents,), (refuges,)
    )
    return Draws(tree=tree, priority=priority, heading=below(turn, len(Heading)), refuge=refuge)


def step_world(
    config: HarvestConfig,
    latent: Latent,
    world: World,
    actions: Int[Array, "agents"],
    draws: Draws,
) -> WorldStep:
    """One step: apples age, rot and regrow, then agents move, eat and zap; those hit respawn."""
    aged = ripen(config, world.trees, draws)
    grown = regrow(config, latent.rules, world, aged, draws)
    chosen = jnp.where(world.frozen > 0, Action.STAY, actions)
    agents, blocked = move(world.agents, chosen, draws.priority, config.height, config.width)
    trees, meals = eat(config, latent.rules, world, grown, agents)
    zaps = zap(config, agents, chosen, world.cooldown)
    agents = respawn(config, world.layout, agents, zaps.hit, draws)
    after = World(
        trees=trees,
        layout=world.layout,
        tree_colour=world.tree_colour,
        agents=agents,
        frozen=wait(world.frozen, zaps.hit, config.freeze_steps),
        cooldown=wait(world.cooldown, zaps.fired, config.cooldown_steps),
    )
    return WorldStep(
        world=after,
        reward=meals.pay,
        outcome=Outcome(
            reward=meals.pay,
            blocked=blocked,
            eaten_colour=meals.colour,
            eaten_stage=meals.stage,
            zapped=zaps.hit,
        ),
        events=_events(config, latent.rules, world.trees, aged, grown, meals, zaps),
        is_over=is_dead(config, trees),
    )


def hangs(trees: Trees) -> Bool[Array, "trees"]:
    """Where an apple hangs."""
    return trees.lost == Lost.HANGING


def stage(trees: Trees) -> UInt8[Array, "trees"]:
    """How ripe each apple is; meaningless where none hangs."""
    older = trees.age >= trees.stage_steps
    return older.astype(jnp.uint8) + (trees.age >= 2 * trees.stage_steps)


def ripen(config: HarvestConfig, trees: Trees, draws: Draws) -> Trees:
    """Every apple is a step older, and rots at the end of its last stage."""
    hanging = hangs(trees)
    age = trees.age + hanging.astype(jnp.uint8)
    rots = hanging & (age >= STAGES * trees.stage_steps)
    return replace(
        trees,
        lost=jnp.where(rots, jnp.uint8(Lost.ROTTED), trees.lost),
        age=age,
        delay=jnp.where(rots, _whole(config.rot_delay, draws.tree), trees.delay),
    )


def regrow(config: HarvestConfig, rules: Rules, before: World, trees: Trees, draws: Draws) -> Trees:
    """Bare cells of the board as the step begins get a new, unripe apple, unless someone is there.

    One that was eaten does by chance, the likelier the more apples hang near; one that rotted
    does when its delay is over.
    """
    lost = before.trees.lost
    delay = jnp.where(lost == Lost.ROTTED, jnp.maximum(before.trees.delay, 1) - 1, trees.delay)
    was_eaten = (lost >= Lost.EATEN) & (lost < Lost.ROTTED)
    by_chance = was_eaten & (unit(draws.tree) < regrowth_chance(config, rules, before))
    by_itself = (lost == Lost.ROTTED) & (delay == 0)
    here = flat(before.agents.position, config.width)
    grows = (by_chance | by_itself) & ~_stood_on(before.layout.trees, here).any(axis=0)
    return Trees(
        lost=jnp.where(grows, jnp.uint8(Lost.HANGING), trees.lost),
        age=jnp.where(grows, jnp.uint8(0), trees.age),
        stage_steps=jnp.where(grows, _whole(config.stage_steps, draws.tree), trees.stage_steps),
        delay=delay,
    )


def regrowth_chance(config: HarvestConfig, rules: Rules, world: World) -> Float[Array, "trees"]:
    """The chance that a cell regrows in a step; meaningless for one that was not eaten."""
    hanging = hangs(world.trees).astype(jnp.float32)
    near = jnp.asarray(config.neighbours, jnp.float32) @ hanging
    base = jnp.asarray(config.regrowth, jnp.float32)[jnp.minimum(near, 3).astype(jnp.int32)]
    eaten_at = jnp.clip(world.trees.lost.astype(jnp.int32) - Lost.EATEN, 0, STAGES - 1)
    speed = _rule(rules.speed, config.speeds, world.tree_colour.astype(jnp.int32), eaten_at)
    return base * speed


def eat(
    config: HarvestConfig, rules: Rules, before: World, trees: Trees, agents: Agents
) -> tuple[Trees, Meals]:
    """Whoever stands on an apple eats it, and is paid by its colour and stage."""
    hanging = hangs(trees)
    meal = _stood_on(before.layout.trees, flat(agents.position, config.width)) & hanging
    eats, ripeness = meal.any(axis=1), stage(trees)
    colour = (meal * before.tree_colour).sum(axis=1, dtype=jnp.int32)
    eaten_stage = (meal * ripeness).sum(axis=1, dtype=jnp.int32)
    pay = _rule(rules.pay, config.pays, colour, eaten_stage)
    lost = jnp.where(meal.any(axis=0), jnp.uint8(Lost.EATEN) + ripeness, trees.lost)
    return replace(trees, lost=lost), Meals(
        colour=jnp.where(eats, colour, NOTHING_EATEN),
        stage=jnp.where(eats, eaten_stage, NOTHING_EATEN),
        pay=jnp.where(eats, pay, 0.0),
    )


def zap(
    config: HarvestConfig,
    agents: Agents,
    actions: Int[Array, "agents"],
    cooldown: Int[Array, "agents"],
) -> Zaps:
    """All beams of a step resolve against the same board; one that still cools down is a stay."""
    fired = (actions == Action.BEAM) & (cooldown == 0)
    beam = jnp.where(fired[:, None], beam_cells(agents, config.height, config.width), OFF_MAP)
    here = flat(agents.position, config.width)
    hits = (beam[:, :, None] == here).any(axis=1)
    return Zaps(fired=fired, hits=hits.sum(axis=1), hit=hits.any(axis=0))


def respawn(
    config: HarvestConfig,
    layout: Layout,
    agents: Agents,
    hit: Bool[Array, "agents"],
    draws: Draws,
) -> Agents:
    """Those hit go to different cells on which nobody stands, uniformly, and face any way."""
    cell, score = _refuges(config, layout, agents, draws)
    turn = _turns(hit, draws.priority)

    def send(number: Int[Array, ""], carry: tuple[Array, Array]) -> tuple[Array, Array]:
        goes, (score, refuge) = hit & (turn == number), carry
        best = score.argmax()
        return score.at[best].set(0), jnp.where(goes, cell[best], refuge)

    stays = flat(agents.position, config.width)
    _, refuge = jax.lax.fori_loop(0, hit.sum(), send, (score, stays))
    return Agents(
        position=jnp.stack([refuge // config.width, refuge % config.width], axis=-1),
        heading=jnp.where(hit, draws.heading, agents.heading),
    )


def _turns(hit: Bool[Array, "agents"], priority: UInt32[Array, "agents"]) -> Int[Array, "agents"]:
    """When each of those hit is sent, the greatest priority first."""
    index = jnp.arange(hit.shape[0])
    greater = priority > priority[:, None]
    same = (priority == priority[:, None]) & (index < index[:, None])
    return (hit & (greater | same)).sum(axis=1)


def num_refuges(config: HarvestConfig, num_agents: int) -> int:
    """Cells to which a zap may send: the spawn cells, then all, where they may not be enough."""
    enough = 2 * num_agents <= config.spawn_cells
    return config.spawn_cells + (0 if enough else config.cells)


def _refuges(
    config: HarvestConfig, layout: Layout, agents: Agents, draws: Draws
) -> tuple[Int[Array, "refuges"], UInt32[Array, "refuges"]]:
    """The cells to which a zap may send, and how they are preferred."""
    cell = layout.spawns.astype(jnp.int32)
    tier = jnp.full(cell.shape, 2, jnp.uint32)
    if draws.refuge.shape[0] > config.spawn_cells:
        everywhere = jnp.arange(config.cells)
        cell = jnp.concatenate([cell, everywhere])
        tier = jnp.concatenate([tier, _open_ground(config, layout).astype(jnp.uint32)])
    taken = (cell == flat(agents.position, config.width)[:, None]).any(axis=0)
    return cell, jnp.where(taken, 0, (tier << 30) | (draws.refuge >> 2))


def wait(
    steps: Int[Array, "agents"], begins: Bool[Array, "agents"], length: int
) -> Int[Array, "agents"]:
    """Steps left of a wait after this one, of `length` from the next step on where it begins."""
    return jnp.where(begins, length, jnp.maximum(steps - 1, 0))


def is_dead(config: HarvestConfig, trees: Trees) -> Bool[Array, ""]:
    """No apple hangs, no rotted cell still counts down, and nothing grows by itself."""
    if config.regrowth[0] > 0:
        return jnp.bool_(False)
    return ((trees.lost != Lost.HANGING) & (trees.lost != Lost.ROTTED)).all()


def _rule(
    place: Int[Array, "colours stages"],
    values: tuple[float, ...],
    colour: Int[Array, "*shape"],
    eaten_at: Int[Array, "*shape"],
) -> Float[Array, "*shape"]:
    """What a rule says of each colour and stage."""
    table = jnp.asarray(values, jnp.float32)[place.astype(jnp.int32)].reshape(-1)
    return table.at[colour * STAGES + eaten_at].get(mode="promise_in_bounds")


def _whole(bounds: tuple[int, int], word: UInt32[Array, "*shape"]) -> UInt8[Array, "*shape"]:
    """A whole number between bounds, uniform given a random word."""
    low, high = bounds
    return (low + below(word, high - low + 1)).astype(jnp.uint8)


def _stood_on(
    trees: UInt16[Array, "trees"], cell: Int[Array, "agents"]
) -> Bool[Array, "agents trees"]:
    """Which agent stands on which tree."""
    return trees.astype(jnp.int32) == cell[:, None]


def _open_ground(config: HarvestConfig, layout: Layout) -> Bool[Array, "cells"]:
    """Cells with neither a tree nor a spawn."""
    used = jnp.concatenate([layout.trees, layout.spawns])
    return jnp.ones(config.cells, bool).at[used].set(False)


def _events(
    config: HarvestConfig,
    rules: Rules,
    before: Trees,
    aged: Trees,
    grown: Trees,
    meals: Meals,
    zaps: Zaps,
) -> dict[str, Float[Array, "agents"]]:
    """Counts for the metrics.

    `apples`: eaten; `ate_unripe`, `ate_ripe`, `ate_overripe`: those by stage; `ate_best` at the
    stage that pays most for the colour, `ate_early` before it; `zaps`: beams fired; `zap_hits`:
    agents that they hit; `zapped`: times hit; `rotted` and `regrown`: apples of the whole orchard,
    in equal shares for all agents.
    """
    eats = meals.stage != NOTHING_EATEN
    pays = jnp.asarray(config.pays, jnp.float32)[rules.pay.astype(jnp.int32)]
    best = pays.argmax(axis=1)[jnp.maximum(meals.colour, 0)]
    pays_most = meals.pay == max(config.pays)
    share = jnp.ones(eats.shape) / eats.shape[0]
    counts = {
        "apples": eats,
        "ate_unripe": meals.stage == Stage.UNRIPE,
        "ate_ripe": meals.stage == Stage.RIPE,
        "ate_overripe": meals.stage == Stage.OVERRIPE,
        "ate_best": eats & pays_most,
        "ate_early": eats & ~pays_most & (meals.stage < best),
        "zaps": zaps.fired,
        "zap_hits": zaps.hits,
        "zapped": zaps.hit,
        "rotted": share * (hangs(before) & ~hangs(aged)).sum(),
        "regrown": share * (~hangs(aged) & hangs(grown)).sum(),
    }
    return {name: count.astype(jnp.float32) for name, count in counts.items()}


def lay_world(config: HarvestConfig, num_agents: int, key: Key, latent: Latent) -> World:
    """A trial's start: a new, unripe apple on every tree, agents on spawn cells."""
    board, seats = (config.height, config.width), (num_agents,)
    ripening, luck, order, turns = draw_words(key, (config.trees,), board, seats, seats)
    layout = latent.layout
    spawn = covers(layout.spawns.astype(jnp.int32), config.height, config.width).any(axis=0)
    ground = _open_ground(config, layout).reshape(board)
    nothing = jnp.zeros(config.trees, jnp.uint8)
    colour = latent.patch_colour[jnp.asarray(config.patch_of_tree)]
    return World(
        trees=Trees(
            lost=nothing,
            age=nothing,
            stage_steps=_whole(config.stage_steps, ripening),
            delay=nothing,
        ),
        layout=layout,
        tree_colour=colour,
        agents=place_agents(spawn, ground, luck, order, turns),
        frozen=jnp.zeros(num_agents, jnp.int32),
        cooldown=jnp.zeros(num_agents, jnp.int32),
    )
