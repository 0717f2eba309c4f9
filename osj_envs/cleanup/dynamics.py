"""The physics of OpenCleanup, phase by phase, in the order in which a step runs.

Source: paper, section 3.2, for the game; the authors' public implementation for the rates and
the order (facts only); splitting the credit for a cell is our choice.
"""

import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Float, Int, UInt8, UInt32

from osj_envs.cleanup.constants import CleanupConfig, Terrain
from osj_envs.cleanup.rules import NOTHING
from osj_envs.cleanup.types import (
    EMPTY_SLOT,
    NO_COLOUR,
    Draws,
    Latent,
    Outcome,
    Rules,
    ShotEffect,
    World,
)
from osj_envs.grid.beam import OFF_MAP, beam_cells
from osj_envs.grid.codes import Action, Item
from osj_envs.grid.movement import Agents, covers, flat, move, occupied, place_agents
from osj_envs.random_words import below, draw_words, unit
from osj_envs.types import Key, WorldStep


@struct.dataclass
class Shots:
    """What the beams of a step hit and did.

    Attributes:
        cell: flat cell numbers, `OFF_MAP` where there is none or nobody fired.
        colour: colour code of the waste hit, or `NO_COLOUR`.
        works: the tool in hand works on that waste.
        lightens: as `works`, for a tool that lightens rather than clears.
    """

    cell: Int[Array, "agents beam"]
    colour: Int[Array, "agents beam"]
    works: Bool[Array, "agents beam"]
    lightens: Bool[Array, "agents beam"]


def sample_draws(config: CleanupConfig, num_agents: int, key: Key) -> Draws:
    """All chance of one step."""
    cell, priority, spawn, skew, hue, shade = draw_words(
        key, (config.height, config.width), (num_agents,), (), (), (), ()
    )
    return Draws(
        cell=cell,
        spawn=unit(spawn),
        skew=unit(skew),
        hue=below(hue, config.hues),
        shade=below(shade, config.shades),
        priority=priority,
    )


def step_world(
    config: CleanupConfig,
    latent: Latent,
    world: World,
    step: Int[Array, ""],
    actions: Int[Array, "agents"],
    draws: Draws,
) -> WorldStep:
    """One step: apples grow and waste spawns, then agents move, eat, pick up and fire."""
    taken = occupied(world.agents, config.height, config.width)
    dirt = dirt_fraction(config, world.item)
    item = grow_apples(config, latent.layout, world.item, taken, dirt, draws)
    item, colour = spawn_waste(config, latent, item, world.colour, taken, step, draws)
    agents, blocked = move(world.agents, actions, draws.priority, config.height, config.width)
    item, eaten = eat(item, agents, config.width)
    window, picked_up = pick_up(item, agents, world.window, actions, config.width)
    shots = aim(config, latent.rules, item, colour, agents, window, actions)
    item, colour = wash(item, colour, shots)
    tools = track_tools(config, latent.rules, world, window)
    return WorldStep(
        world=World(item=item, colour=colour, agents=agents, window=window, last_tool=tools.last),
        reward=eaten,
        outcome=Outcome(
            reward=eaten, blocked=blocked, hit_colour=shots.colour, hit_effect=shot_effects(shots)
        ),
        events=_events(eaten, picked_up, actions, shots, tools),
        is_over=jnp.bool_(False),
    )


def is_waste(item: UInt8[Array, "*shape"]) -> Bool[Array, "*shape"]:
    """Cells that hold waste of any shade."""
    return (item >= Item.WASTE) & (item < Item.STATION)


def is_river(layout: UInt8[Array, "*shape"]) -> Bool[Array, "*shape"]:
    """Cells that can get dirty: the river without the stream."""
    return (layout == Terrain.RIVER_WASTE) | (layout == Terrain.RIVER_CLEAN)


def dirt_fraction(config: CleanupConfig, item: UInt8[Array, "height width"]) -> Float[Array, ""]:
    """Waste cells over all water cells, river and stream."""
    return is_waste(item).sum() / jnp.float32(config.water_cells)


def grow_apples(
    config: CleanupConfig,
    layout: UInt8[Array, "height width"],
    item: UInt8[Array, "height width"],
    taken: Bool[Array, "height width"],
    dirt: Float[Array, ""],
    draws: Draws,
) -> UInt8[Array, "height width"]:
    """Every empty, unoccupied orchard cell grows an apple, the likelier the cleaner the river."""
    cleanness = jnp.clip((config.dirt_threshold - dirt) / config.dirt_threshold, 0.0, 1.0)
    chance = config.apple_growth * cleanness
    grows = (item == Item.ORCHARD) & ~taken & (unit(draws.cell) < chance)
    return jnp.where(grows, jnp.uint8(Item.RIPE_APPLE), item)


def spawn_waste(
    config: CleanupConfig,
    latent: Latent,
    item: UInt8[Array, "height width"],
    colour: UInt8[Array, "height width"],
    taken: Bool[Array, "height width"],
    step: Int[Array, ""],
    draws: Draws,
) -> tuple[UInt8[Array, "height width"], UInt8[Array, "height width"]]:
    """One clean river cell, uniform over the clean ones, turns to waste unless someone is on it."""
    clean = is_river(latent.layout) & (item == Item.WATER)
    luck = jnp.where(clean, draws.cell, 0)
    happens = (step >= config.waste_spawn_start) & (draws.spawn < config.waste_spawn)
    here = happens & clean & (luck == luck.max()) & ~taken
    hue = jnp.where(draws.skew < config.waste_skew, latent.dominant_hue, draws.hue)
    item = jnp.where(here, (Item.WASTE + draws.shade).astype(jnp.uint8), item)
    return item, jnp.where(here, (1 + hue).astype(jnp.uint8), colour)


def eat(
    item: UInt8[Array, "height width"], agents: Agents, width: int
) -> tuple[UInt8[Array, "height width"], Float[Array, "agents"]]:
    """Whoever stands on an apple eats it, for a reward of 1."""
    height = item.shape[0]
    here = covers(flat(agents.position, width), height, width)
    apple = item == Item.RIPE_APPLE
    eaten = (here & apple).any(axis=(1, 2)).astype(jnp.float32)
    return jnp.where(here.any(axis=0) & apple, jnp.uint8(Item.ORCHARD), item), eaten


def pick_up(
    item: UInt8[Array, "height width"],
    agents: Agents,
    window: Int[Array, "agents 2"],
    actions: Int[Array, "agents"],
    width: int,
) -> tuple[Int[Array, "agents 2"], Bool[Array, "agents"]]:
    """On a station, action `PICK_UP` pushes its base tool into the two-slot window."""
    tool = _at(item, flat(agents.position, width)).astype(jnp.int32) - Item.STATION
    picks = (actions == Action.PICK_UP) & (tool >= 0)
    pushed = jnp.stack([window[:, 1], tool], axis=-1)
    return jnp.where(picks[:, None], pushed, window), picks


def tool_effect(
    config: CleanupConfig, rules: Rules, window: Int[Array, "agents 2"]
) -> Int[Array, "agents"]:
    """The effect code of the tool in each hand, `NOTHING` without two pick-ups."""
    pair = hand(config, window)
    return jnp.where(pair >= 0, _at(rules.effect, jnp.maximum(pair, 0)), NOTHING).astype(jnp.int32)


def hand(config: CleanupConfig, window: Int[Array, "*agents 2"]) -> Int[Array, "*agents"]:
    """The ordered pair in hand as one number, or -1 without two pick-ups."""
    first, second = window[..., 0], window[..., 1]
    return jnp.where(first != EMPTY_SLOT, first * config.base_tools + second, -1)


def aim(
    config: CleanupConfig,
    rules: Rules,
    item: UInt8[Array, "height width"],
    colour: UInt8[Array, "height width"],
    agents: Agents,
    window: Int[Array, "agents 2"],
    actions: Int[Array, "agents"],
) -> Shots:
    """All beams of a step resolve against the same board."""
    fires = (actions == Action.BEAM)[:, None]
    cell = jnp.where(fires, beam_cells(agents, config.height, config.width), OFF_MAP)
    target = jnp.maximum(cell, 0)
    shade = _at(item, target).astype(jnp.int32) - Item.WASTE
    hue = _at(colour, target).astype(jnp.int32) - 1
    hits = (cell != OFF_MAP) & (hue >= 0)
    effect = tool_effect(config, rules, window)[:, None]
    clears = hits & (effect == 1 + hue) & (shade == 0)
    lightens = hits & (shade > 0) & (effect == config.hues + shade)
    return Shots(
        cell=cell,
        colour=jnp.where(hits, hue * config.shades + shade, NO_COLOUR),
        works=clears | lightens,
        lightens=lightens,
    )


def wash(
    item: UInt8[Array, "height width"], colour: UInt8[Array, "height width"], shots: Shots
) -> tuple[UInt8[Array, "height width"], UInt8[Array, "height width"]]:
    """A cell that a tool works on gets one shade lighter or clear, however many beams hit it."""
    height, width = item.shape
    cell = jnp.where(shots.works, shots.cell, height * width)
    worked = jnp.zeros(height * width, bool).at[cell].set(True, mode="drop").reshape(height, width)
    is_light = item == Item.WASTE
    lighter = jnp.where(is_light, jnp.uint8(Item.WATER), item - jnp.uint8(1))
    return jnp.where(worked, lighter, item), jnp.where(worked & is_light, jnp.uint8(0), colour)


def shot_effects(shots: Shots) -> Int[Array, "agents beam"]:
    """What each agent is told of each cell that its shot hit."""
    effect = jnp.where(shots.lightens, ShotEffect.LIGHTENED, ShotEffect.CLEARED)
    return jnp.where(shots.works, effect, ShotEffect.NOTHING).astype(jnp.int32)


def credit(shots: Shots) -> Float[Array, "agents beam"]:
    """Each worked cell counts 1, split equally among the agents whose beam worked on it."""
    cell = jnp.where(shots.works, shots.cell, OFF_MAP)
    sharers = (cell[:, :, None, None] == cell[None, None]).sum(axis=(2, 3))
    return shots.works / jnp.maximum(sharers, 1).astype(jnp.float32)


@struct.dataclass
class Tools:
    """What the pick-ups of a step did to the working tools, for the metrics.

    Attributes:
        last: the working pair each agent held last in this trial, or -1.
        made: a pick-up put a working pair in hand that was not there before.
        remade: it is the same pair that the agent had held last and lost.
    """

    last: Int[Array, "agents"]
    made: Bool[Array, "agents"]
    remade: Bool[Array, "agents"]


def track_tools(
    config: CleanupConfig, rules: Rules, before: World, window: Int[Array, "agents 2"]
) -> Tools:
    """Follows who makes which working tool."""
    pair = hand(config, window)
    works = tool_effect(config, rules, window) != NOTHING
    made = works & (pair != hand(config, before.window))
    return Tools(
        last=jnp.where(works, pair, before.last_tool),
        made=made,
        remade=made & (pair == before.last_tool),
    )


def _events(
    eaten: Float[Array, "agents"],
    picked_up: Bool[Array, "agents"],
    actions: Int[Array, "agents"],
    shots: Shots,
    tools: Tools,
) -> dict[str, Float[Array, "agents"]]:
    """Counts for the metrics; `cleared` and `lightened` are in cells."""
    share = credit(shots)
    counts = {
        "apples": eaten,
        "cleared": (share * ~shots.lightens).sum(axis=1),
        "lightened": (share * shots.lightens).sum(axis=1),
        "picked_up": picked_up,
        "fired": actions == Action.BEAM,
        "tool_made": tools.made,
        "tool_remade": tools.remade,
    }
    return {name: count.astype(jnp.float32) for name, count in counts.items()}


def _at(board: Array, cell: Int[Array, "*shape"]) -> Array:
    """The board's values at flat cell numbers, which must be on the map."""
    return board.reshape(-1).at[cell].get(mode="promise_in_bounds")


def lay_world(config: CleanupConfig, num_agents: int, key: Key, latent: Latent) -> World:
    """A trial's start: the layout's river dirty, hands empty, agents on spawn cells."""
    board, seats = latent.layout.shape, (num_agents,)
    share, choice, skew, hue, shade, luck, order, turns = draw_words(
        key, (), board, board, board, board, board, seats, seats
    )
    waste = _initial_waste(config, latent.layout, share, choice)
    drawn_hue = jnp.where(
        unit(skew) < config.waste_skew, latent.dominant_hue, below(hue, config.hues)
    )
    soiled = Item.WASTE + below(shade, config.shades)
    item = jnp.where(waste, soiled, bare_items(config, latent.layout))
    spawn, ground = latent.layout == Terrain.SPAWN, latent.layout == Terrain.GROUND
    return World(
        item=item.astype(jnp.uint8),
        colour=jnp.where(waste, 1 + drawn_hue, 0).astype(jnp.uint8),
        agents=place_agents(spawn, ground, luck, order, turns),
        window=jnp.full((num_agents, 2), EMPTY_SLOT, jnp.int32),
        last_tool=jnp.full((num_agents,), -1, jnp.int32),
    )


def _initial_waste(
    config: CleanupConfig,
    layout: UInt8[Array, "height width"],
    share: UInt32[Array, ""],
    choice: UInt32[Array, "height width"],
) -> Bool[Array, "height width"]:
    """A trial's share of the cells that the layout marks as waste, which ones by chance."""
    low, high = config.initial_waste_range
    candidate = layout == Terrain.RIVER_WASTE
    if low == 1.0:  # all of them, without the sort that would find which
        return candidate
    cells = (low + (high - low) * unit(share)) * config.initial_waste_cells
    count = jnp.round(cells).astype(jnp.int32)
    luck = jnp.where(candidate, choice | 1, 0).reshape(-1)
    most_first = jnp.argsort(luck, descending=True)
    rank = jnp.zeros_like(most_first).at[most_first].set(jnp.arange(config.cells))
    return candidate & (rank.reshape(layout.shape) < count)


def bare_items(
    config: CleanupConfig, layout: UInt8[Array, "height width"]
) -> Int[Array, "height width"]:
    """`Item` codes of a map with a clean river and no apples."""
    chain = layout.astype(jnp.int32) - Terrain.STATION
    water = is_river(layout) | (layout == Terrain.STREAM)
    item = jnp.select(
        [layout == Terrain.SPAWN, layout == Terrain.ORCHARD, water],
        [Item.SPAWN, Item.ORCHARD, Item.WATER],
        Item.GROUND,
    )
    return jnp.where(chain >= 0, Item.STATION + chain % config.base_tools, item)
