"""Fair players of OpenHarvest: they see what a seat is shown, and remember it.

Each walks to the nearest apple, in sight or remembered, of those that it means to eat, around the
other agents in sight and around every apple that it means to leave. With nothing to eat it looks
at trees that it has not seen for a while, and at what it has never seen. Source: `greedy` and
`patient` after the published yardsticks (facts only); restraint and exploring are our choice.
"""

from collections.abc import Callable
from typing import ClassVar, TypeAlias, cast

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jaxtyping import Array, Bool, Float, Int, Int32, UInt8

from baselines import memory as memories
from baselines.memory import Memory
from baselines.paths import towards
from osj_envs.checks import check_share
from osj_envs.grid.codes import Item
from osj_envs.grid.view import Window
from osj_envs.harvest.constants import NEIGHBOUR_DISTANCE, STAGES, HarvestConfig, Stage
from osj_envs.harvest.env import Harvest
from osj_envs.harvest.evidence import UNKNOWN, Evidence
from osj_envs.harvest.observation import Own, decode_own
from osj_envs.random_words import key_words
from osj_envs.seats import Decision, SeatView
from osj_envs.trials import MultiTrial
from osj_envs.types import Key

MOST_KEPT = 3
"""Hanging neighbours that full restraint leaves: more do not make a cell regrow faster."""

STALE_STEPS = 15
"""Steps after which a tree is worth another look: about a stage of its apple."""

Menu: TypeAlias = Callable[
    [HarvestConfig, Evidence, Bool[Array, ""]], Bool[Array, "colours stages"]
]
"""Of which colour and at which stage apples are eaten, from the own record, and whether the player
is restrained at all."""


@struct.dataclass
class Carry:
    """What a forager keeps for an episode.

    Attributes:
        memory: its picture of the board.
        keep: apples that must still hang, by what it has seen, within reach of a cell that it
            empties.
    """

    memory: Memory
    keep: Int32[Array, ""]


@struct.dataclass
class Forager:
    """Eats the nearest apple on its menu whose loss would starve no cell; fair, traceable.

    Attributes:
        config: of the game.
        window: how far it sees.
        menu: which colours and stages it eats.
        restraint: from 0, which leaves no apple for its neighbours' sake, to 1, which keeps
            `MOST_KEPT` of them. In between it keeps `restraint * MOST_KEPT`, rounded up or down
            by chance at an episode's start.
    """

    config: HarvestConfig = struct.field(pytree_node=False)
    window: Window = struct.field(pytree_node=False)
    menu: Menu = struct.field(pytree_node=False)
    restraint: Float[Array, ""] | float = 0.0
    is_traceable: ClassVar[bool] = True

    def initial_carry(self, key: Key) -> Carry:
        """Nothing seen yet; how many neighbours it keeps."""
        keep = jnp.floor(MOST_KEPT * self.restraint + jax.random.uniform(key))
        shape = (self.config.height, self.config.width)
        return Carry(memory=memories.initial(shape), keep=keep.astype(jnp.int32))

    def act(self, carry: Carry, view: SeatView, key: Key) -> tuple[Carry, Decision]:
        """A step towards what it means to eat, else a look around, else a stay."""
        own = decode_own(view.observation.own)
        memory = memories.update(
            carry.memory,
            self.window,
            view.observation.view,
            own.heading,
            own.position,
            own.step,
            view.is_first_of_trial,
            with_new_apples,
        )
        menu = self.menu(self.config, view.evidence, carry.keep > 0)
        wanted = is_on_menu(menu, memory) & ~would_starve(memory.item, carry.keep)
        free = (wanted | ~is_apple(memory.item)) & ~memory.others
        luck = key_words(key)[-1]
        route = towards(own.position, wanted & free, free, luck)
        look = look_around(self.window, memory, own, free, luck)
        action = jnp.where(route.is_reachable, route.action, look)
        return Carry(memory=memory, keep=carry.keep), Decision(action=action)


def make_greedy(env: MultiTrial) -> Forager:
    """Eats the nearest apple of all."""
    return _make(env, any_stage, 0.0)


def make_patient(env: MultiTrial) -> Forager:
    """Eats the nearest apple that is ripe or over-ripe."""
    return _make(env, ripe_or_later, 0.0)


def make_forager(env: MultiTrial, restraint: float = 1.0) -> Forager:
    """Greedy at a restraint of 0; the more restrained, the more neighbours it keeps hanging.

    Raises:
        ValueError: restraint is not from 0 to 1.
    """
    check_share("restraint", restraint)
    return _make(env, best_known, restraint)


def any_stage(
    config: HarvestConfig, evidence: Evidence, is_restrained: Bool[Array, ""]
) -> Bool[Array, "colours stages"]:
    """Everything."""
    del evidence, is_restrained
    return jnp.ones((config.colours, STAGES), bool)


def ripe_or_later(
    config: HarvestConfig, evidence: Evidence, is_restrained: Bool[Array, ""]
) -> Bool[Array, "colours stages"]:
    """All but the unripe."""
    return any_stage(config, evidence, is_restrained).at[:, Stage.UNRIPE].set(False)


def best_known(
    config: HarvestConfig, evidence: Evidence, is_restrained: Bool[Array, ""]
) -> Bool[Array, "colours stages"]:
    """The stage of each colour that pays most, and over-ripe: an apple that would only rot.

    Where it does not know yet which stage that is, it tries those of which it knows nothing.
    Everything, if it has no restraint.
    """
    most = 1 + int(np.argmax(config.pays))
    pays_most = evidence.pay == most
    is_known = pays_most.any(axis=-1, keepdims=True)
    worth = pays_most | (~is_known & (evidence.pay == UNKNOWN))
    return worth.at[:, Stage.OVERRIPE].set(True) | ~is_restrained


def with_new_apples(
    item: UInt8[Array, "height width"], colour: UInt8[Array, "height width"]
) -> tuple[UInt8[Array, "height width"], UInt8[Array, "height width"]]:
    """The board as a trial starts: an unripe apple on every tree."""
    return jnp.where(is_tree(item), jnp.uint8(Item.APPLE), item), colour


def is_apple(item: UInt8[Array, "*shape"]) -> Bool[Array, "*shape"]:
    """Where an apple hangs."""
    return (item >= Item.APPLE) & (item < Item.APPLE + STAGES)


def is_tree(item: UInt8[Array, "*shape"]) -> Bool[Array, "*shape"]:
    """Where a tree stands."""
    return is_apple(item) | (item == Item.EMPTY_TREE)


def is_on_menu(menu: Bool[Array, "colours stages"], memory: Memory) -> Bool[Array, "height width"]:
    """The apples of a colour and stage on the menu."""
    apple = is_apple(memory.item)
    kind = (memory.colour.astype(jnp.int32) - 1) * STAGES + memory.item - Item.APPLE
    kind = jnp.where(apple, kind, 0)
    return apple & menu.reshape(-1).at[kind].get(mode="promise_in_bounds")


def would_starve(
    item: UInt8[Array, "height width"], keep: Int[Array, ""]
) -> Bool[Array, "height width"]:
    """Cells around which, as far as is known, fewer than `keep` apples hang."""
    return around(is_apple(item)) < keep


def around(mask: Bool[Array, "height width"]) -> UInt8[Array, "height width"]:
    """How many of the cells within reach of each cell are set, itself not counted."""
    height, width = mask.shape
    reach = NEIGHBOUR_DISTANCE
    padded = jnp.pad(mask.astype(jnp.uint8), reach)
    return sum(
        (
            padded[reach + down : reach + down + height, reach + right : reach + right + width]
            for down in range(-reach, reach + 1)
            for right in range(-reach, reach + 1)
            if 0 < abs(down) + abs(right) <= reach
        ),
        start=jnp.zeros(mask.shape, jnp.uint8),
    )


def look_around(
    window: Window, memory: Memory, own: Own, free: Bool[Array, "height width"], luck: Array
) -> Int32[Array, ""]:
    """A turn, or a step, towards what is worth a look; else a stay."""
    is_stale = is_tree(memory.item) & (memories.age(memory, own.step) >= STALE_STEPS)
    wanted = is_stale | (memory.item == memories.UNSEEN)
    glance = memories.glance(window, wanted, own.heading, own.position)
    walk = towards(own.position, wanted & free, free, luck)
    return jnp.where(glance.shows > 0, glance.action, walk.action)


def _make(env: MultiTrial, menu: Menu, restraint: float) -> Forager:
    game = cast(Harvest, env.game)
    return Forager(game.config, game.window, menu, restraint)
