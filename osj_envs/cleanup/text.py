"""OpenCleanup as text for a person, hidden rules included; no player is ever shown it."""

from collections.abc import Iterator

import numpy as np

from osj_envs.cleanup.constants import CleanupConfig, Terrain
from osj_envs.cleanup.names import (
    HUES,
    SHADES,
    clearing_name,
    lightening_name,
    pair_name,
    waste_mark,
    waste_name,
)
from osj_envs.cleanup.rules import NOTHING
from osj_envs.cleanup.types import EMPTY_SLOT, Latent, Rules, World
from osj_envs.grid.codes import Item
from osj_envs.grid.text import Label, arrows_legend, describe_place, draw_cells, places
from osj_envs.types import Clock

STREAM = Label("=", "stream")
"""Water that never gets dirty."""

PLAIN = {
    Item.GROUND: Label(".", "ground"),
    Item.SPAWN: Label("@", "spawn"),
    Item.ORCHARD: Label("*", "orchard"),
    Item.RIPE_APPLE: Label("o", "apple"),
    Item.WATER: Label("~", "clean river"),
}
"""What lies on a cell, but for waste, stations and the stream; marks as in drawn layouts."""


def describe_world(config: CleanupConfig, latent: Latent, world: World, clock: Clock) -> str:
    """A trial in progress: the river's state, the rules, board, legend, and a line for each agent.

    Args:
        config: the game.
        latent: the episode's hidden rules and layout; no batch axis, nor in what follows.
        world: the world.
        clock: trial and step, both told as they are, from 0.

    Returns:
        Lines of ASCII text, without a newline at the end.
    """
    blocks = (
        _header(config, latent, world, clock),
        "\n".join(_recipes(config, latent.rules)),
        draw_board(latent, world),
        _legend(config),
        "\n".join(_agents(config, latent, world)),
    )
    return "\n\n".join(blocks)


def draw_board(latent: Latent, world: World) -> str:
    """The board with its rows and columns numbered; an agent hides what it stands on."""
    marks = [[label.mark for label in row] for row in _labels(latent, world)]
    return draw_cells(marks, world.agents)


def cell_label(item: int, colour: int, terrain: int) -> Label:
    """The label of an `Item` code, 1 + hue of waste, and the layout's `Terrain` code.

    Raises:
        ValueError: if the game has no such item.
    """
    if item == Item.WATER and terrain == Terrain.STREAM:
        return STREAM
    if item in PLAIN:
        return PLAIN[Item(item)]
    if item >= Item.STATION:
        return _station(item - Item.STATION)
    if item >= Item.WASTE and colour > 0:
        hue, shade = colour - 1, item - Item.WASTE
        return Label(waste_mark(hue, shade), f"{waste_name(hue, shade)} waste")
    raise ValueError(f"item {item} with colour {colour} does not exist in OpenCleanup.")


def effect_name(config: CleanupConfig, effect: int) -> str:
    """What a tool does, by its effect code."""
    if effect == NOTHING:
        return "does nothing"
    if effect <= config.hues:
        return clearing_name(effect - 1)
    return lightening_name(effect - config.hues)


def _header(config: CleanupConfig, latent: Latent, world: World, clock: Clock) -> str:
    item = np.asarray(world.item)
    waste = int(((item >= Item.WASTE) & (item < Item.STATION)).sum())
    return (
        f"OpenCleanup, trial {int(clock.trial)}, step {int(clock.step)}\n"
        f"dirt {waste / config.water_cells:.3f} ({waste} of {config.water_cells} water cells); "
        f"apples grow below {config.dirt_threshold:.3f}\n"
        f"apples {int((item == Item.RIPE_APPLE).sum())} of {config.orchard_cells}\n"
        f"dominant hue {HUES[int(latent.dominant_hue)]}"
    )


def _recipes(config: CleanupConfig, rules: Rules) -> Iterator[str]:
    """A line for each working tool, in the order of the effects."""
    effects = np.asarray(rules.effect).tolist()
    yield "recipes (any other pair does nothing)"
    for effect in range(NOTHING + 1, config.effects + 1):
        pair = divmod(effects.index(effect), config.base_tools)
        yield f"  {pair_name(*pair)}: {effect_name(config, effect)}"


def _legend(config: CleanupConfig) -> str:
    labels = (*PLAIN.values(), STREAM)
    marks = ", ".join(f"{label.mark} {label.name}" for label in labels)
    station = _station(0)
    shades = " ".join(waste_mark(0, shade) for shade in range(config.shades))
    names = ", ".join(SHADES[: config.shades])
    hues = ", ".join(f"{name[0]} {name}" for name in HUES[: config.hues])
    return (
        f"legend: {marks}\n"
        f"  {station.mark} {station.name}\n"
        f"  {shades} waste: {names} {HUES[0]}; hues {hues}\n"
        f"  {arrows_legend()}"
    )


def _agents(config: CleanupConfig, latent: Latent, world: World) -> Iterator[str]:
    """A line for each agent: where it stands, on what, where it faces, and what it holds."""
    labels = _labels(latent, world)
    windows = np.asarray(world.window).tolist()
    for seat, place in enumerate(places(world.agents)):
        standing = describe_place(seat, place, labels[place.row][place.col])
        yield f"{standing}, {_hand(config, latent.rules, *windows[seat])}"


def _hand(config: CleanupConfig, rules: Rules, older: int, newer: int) -> str:
    if newer == EMPTY_SLOT:
        return "hand empty"
    if older == EMPTY_SLOT:
        return f"hand {newer}, no tool yet"
    effect = int(np.asarray(rules.effect)[older * config.base_tools + newer])
    return f"hand {pair_name(older, newer)}, {effect_name(config, effect)}"


def _labels(latent: Latent, world: World) -> list[list[Label]]:
    """What lies on each cell, also under agents."""
    codes = np.stack([np.asarray(x) for x in (world.item, world.colour, latent.layout)], axis=-1)
    return [[cell_label(*code) for code in row] for row in codes.tolist()]


def _station(tool: int) -> Label:
    return Label(f"T{tool}", f"station of base tool {tool}")
