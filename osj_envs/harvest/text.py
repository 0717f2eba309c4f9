"""OpenHarvest as text for a person, hidden rules included; no player is ever shown it."""

from collections.abc import Iterator

import numpy as np

from osj_envs.grid.codes import Item
from osj_envs.grid.text import (
    Label,
    arrows_legend,
    describe_place,
    draw_cells,
    number_cells,
    places,
)
from osj_envs.harvest.constants import STAGES, HarvestConfig, Lost
from osj_envs.harvest.dynamics import regrowth_chance, stage
from osj_envs.harvest.names import (
    COLOURS,
    apple_mark,
    apple_name,
    bare_mark,
    bare_name,
    loss_name,
)
from osj_envs.harvest.names import STAGES as STAGE_NAMES
from osj_envs.harvest.observation import board
from osj_envs.harvest.types import Latent, Rules, Trees, World
from osj_envs.types import Clock

PLAIN = {Item.GROUND: Label(".", "ground"), Item.SPAWN: Label("@", "spawn")}
"""What lies on a cell without a tree."""

TIMERS = "steps until an apple turns or rots, and until a rotted one is back"
"""The heading of the timers."""

NO_TIMER = "-"
"""The mark of a tree whose next change is a matter of chance."""


def describe_world(config: HarvestConfig, latent: Latent, world: World, clock: Clock) -> str:
    """A trial in progress: counts, the rules, board, legend, timers, bare trees and agents.

    Args:
        config: the game.
        latent: the episode's hidden rules and layout; no batch axis, nor in what follows.
        world: the world.
        clock: trial and step, both told as they are, from 0.

    Returns:
        Lines of ASCII text, without a newline at the end.
    """
    blocks = (
        _header(world, clock),
        "\n".join(_rules(config, latent.rules)),
        draw_board(config, world),
        _legend(config),
        f"{TIMERS}\n{draw_timers(config, world)}",
        "\n".join(_bare_trees(config, latent.rules, world)),
        "\n".join(_agents(config, world)),
    )
    return "\n\n".join(filter(None, blocks))


def draw_board(config: HarvestConfig, world: World) -> str:
    """The board with its rows and columns numbered; an agent hides what it stands on."""
    marks = [[label.mark for label in row] for row in _labels(config, world)]
    return draw_cells(marks, world.agents)


def draw_timers(config: HarvestConfig, world: World) -> str:
    """The steps until each tree's next change, where that is settled."""
    marks = np.full(config.cells, PLAIN[Item.GROUND].mark, object)
    marks[np.asarray(world.layout.trees)] = [
        NO_TIMER if steps is None else str(steps) for steps in _timers(world.trees)
    ]
    return number_cells(marks.reshape(config.height, config.width).tolist())


def cell_label(item: int, colour: int) -> Label:
    """The label of an `Item` code and 1 + colour of a tree.

    Raises:
        ValueError: if the game has no such item.
    """
    if item in PLAIN:
        return PLAIN[Item(item)]
    if item == Item.EMPTY_TREE and colour > 0:
        return Label(bare_mark(colour - 1), bare_name(colour - 1))
    if Item.APPLE <= item < Item.APPLE + STAGES and colour > 0:
        of = colour - 1, item - Item.APPLE
        return Label(apple_mark(*of), apple_name(*of))
    raise ValueError(f"item {item} with colour {colour} does not exist in OpenHarvest.")


def _header(world: World, clock: Clock) -> str:
    lost = np.asarray(world.trees.lost)
    ripeness = np.asarray(stage(world.trees))[lost == Lost.HANGING]
    counts = [f"{(ripeness == code).sum()} {name}" for code, name in enumerate(STAGE_NAMES)]
    rotted = int((lost == Lost.ROTTED).sum())
    return (
        f"OpenHarvest, trial {int(clock.trial)}, step {int(clock.step)}\n"
        f"apples {len(ripeness)} of {len(lost)}: {', '.join(counts)}\n"
        f"bare trees {len(lost) - len(ripeness)}: {rotted} rotted, "
        f"{len(lost) - len(ripeness) - rotted} eaten"
    )


def _rules(config: HarvestConfig, rules: Rules) -> Iterator[str]:
    """A line for each colour: pay and speed of regrowth, by the stage at which it is eaten."""
    pay, speed = np.asarray(config.pays)[rules.pay], np.asarray(config.speeds)[rules.speed]
    yield "pay, and speed of regrowth, of an apple by the stage at which it is eaten"
    for colour in range(config.colours):
        numbers = [
            f"{name} {pay[colour, code]:g} x{speed[colour, code]:g}"
            for code, name in enumerate(STAGE_NAMES)
        ]
        yield f"  {COLOURS[colour]}: {', '.join(numbers)}"


def _legend(config: HarvestConfig) -> str:
    plain = ", ".join(f"{label.mark} {label.name}" for label in PLAIN.values())
    apples = " ".join(apple_mark(0, code) for code in range(STAGES))
    colours = ", ".join(f"{name[0]} {name}" for name in COLOURS[: config.colours])
    return (
        f"legend: {plain}\n"
        f"  {apples} apple: {', '.join(STAGE_NAMES)} {COLOURS[0]}; {bare_mark(0)} {bare_name(0)}\n"
        f"  colours {colours}\n"
        f"  {arrows_legend()}"
    )


def _timers(trees: Trees) -> list[int | None]:
    """Steps until each tree's next change; None where that is a matter of chance."""
    turns = (np.asarray(stage(trees), int) + 1) * np.asarray(trees.stage_steps) - trees.age
    known = {Lost.HANGING: turns, Lost.ROTTED: np.asarray(trees.delay)}
    lost = np.asarray(trees.lost).tolist()
    return [int(known[Lost(how)][tree]) if how in known else None for tree, how in enumerate(lost)]


def _bare_trees(config: HarvestConfig, rules: Rules, world: World) -> Iterator[str]:
    """A line for each tree without an apple: where, how it lost it, and what may bring it back."""
    colours, timers = np.asarray(world.tree_colour).tolist(), _timers(world.trees)
    hanging = (np.asarray(world.trees.lost) == Lost.HANGING).astype(int)
    near = config.neighbours @ hanging
    chance = np.asarray(regrowth_chance(config, rules, world))
    if not hanging.all():
        yield "bare trees"
    for tree, lost in enumerate(np.asarray(world.trees.lost).tolist()):
        if lost != Lost.HANGING:
            row, col = divmod(int(world.layout.trees[tree]), config.width)
            returns = (
                f"back in {_steps(timers[tree])}"
                if lost == Lost.ROTTED
                else f"{near[tree]} apples near, back with chance {chance[tree]:g} a step"
            )
            yield (
                f"  row {row}, column {col}: {COLOURS[colours[tree]]}, {loss_name(lost)}, {returns}"
            )


def _agents(config: HarvestConfig, world: World) -> Iterator[str]:
    """A line for each agent: where it stands, on what, where it faces, and what it waits for."""
    labels = _labels(config, world)
    frozen, cooldown = np.asarray(world.frozen).tolist(), np.asarray(world.cooldown).tolist()
    for seat, place in enumerate(places(world.agents)):
        standing = describe_place(seat, place, labels[place.row][place.col])
        yield f"{standing}, {_waits(frozen[seat], cooldown[seat])}"


def _waits(frozen: int, cooldown: int) -> str:
    beam = f"cannot zap for {_steps(cooldown)}" if cooldown else "can zap"
    return f"frozen for {_steps(frozen)}, {beam}" if frozen else beam


def _steps(count: int | None) -> str:
    return f"{count} step" if count == 1 else f"{count} steps"


def _labels(config: HarvestConfig, world: World) -> list[list[Label]]:
    """What lies on each cell, also under agents."""
    codes = np.stack([np.asarray(plane) for plane in board(config, world)], axis=-1)
    return [[cell_label(*code) for code in row] for row in codes.tolist()]
