"""Players of OpenCleanup: the fair harvester and cleaner, and the privileged oracle.

They are one policy with other parameters. Source: our choice.
"""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Float32, Int, Int32, UInt8

from baselines import memory as memories
from baselines import washing
from baselines.bitboards import check_width
from baselines.memory import Memory, glance
from baselines.paths import steps_away, towards
from baselines.reductions import over_board
from baselines.washing import Aim, Tools
from osj_envs.checks import check_share
from osj_envs.cleanup.constants import CleanupConfig
from osj_envs.cleanup.dynamics import is_waste
from osj_envs.cleanup.observation import Own, decode_own
from osj_envs.grid.codes import Action, Item
from osj_envs.grid.view import Window
from osj_envs.random_words import key_words
from osj_envs.seats import Decision, SeatView
from osj_envs.trials import MultiTrial
from osj_envs.types import Key


@struct.dataclass
class Board:
    """What a player takes the board to be.

    Attributes:
        item: `Item` codes, `UNSEEN` where it does not know.
        colour: 1 + hue where there is waste.
        age: steps since it saw each cell; more than the trial is old where it has not.
        others: cells on which other agents stand.
    """

    item: UInt8[Array, "height width"]
    colour: UInt8[Array, "height width"]
    age: Int32[Array, "height width"]
    others: Bool[Array, "height width"]


@struct.dataclass
class Character:
    """What tells one player from another; drawn once an episode.

    Attributes:
        taste: for each tool, 0 to 1: of equally good ones it makes the more tasty.
        phase: 0 to 1: where in the round of its duties it starts.
        patience: 0 to 1: how much more dirt than the least patient it lets lie.
    """

    taste: Float32[Array, "pairs"]
    phase: Float32[Array, ""]
    patience: Float32[Array, ""]


@struct.dataclass
class Carry:
    """What a player carries.

    Attributes:
        memory: of the board.
        character: its own.
        is_washing: it is about the river, until that is clean.
    """

    memory: Memory
    character: Character
    is_washing: Bool[Array, ""]


@struct.dataclass
class Habits:
    """Parameters of a player.

    Attributes:
        contribution: share of the time, 0 to 1, in which it sees to the river if that is dirty.
        duty_steps: length of a round of duty and leisure.
        least_dirt: waste cells, by its own estimate, from which on the least patient one washes.
        most_dirt: likewise, the most patient one.
        clean_enough: waste cells, by its own estimate, down to which it washes.
        curiosity: what finding a recipe is worth, in waste cells.
        fancy: how far its taste counts: a tool that it likes best is worth more by this share.
        look_again: steps after which it wants another look at an orchard or river cell.
    """

    contribution: float | Float32[Array, ""] = 1.0
    duty_steps: float | Float32[Array, ""] = 50.0
    least_dirt: float | Float32[Array, ""] = 4.0
    most_dirt: float | Float32[Array, ""] = 12.0
    clean_enough: float | Float32[Array, ""] = 3.5
    curiosity: float | Float32[Array, ""] = 20.0
    fancy: float | Float32[Array, ""] = 1.0
    look_again: int | Int32[Array, ""] = 8


@struct.dataclass
class Player:
    """Washes the river for its share of the time, and eats; fair and traceable.

    While it washes it makes the tool that does most for its steps, by its own evidence, and tries
    those that may do something; it uses a tool until nothing is left for it.

    Attributes:
        config: the game.
        view_window: how far it sees.
        habits: its parameters.
    """

    config: CleanupConfig = struct.field(pytree_node=False)
    view_window: Window = struct.field(pytree_node=False)
    habits: Habits
    is_traceable: ClassVar[bool] = True

    def initial_carry(self, key: Key) -> Carry:
        """Nothing seen; a character drawn at random."""
        shape = (self.config.height, self.config.width)
        return Carry(memories.initial(shape), draw_character(self.config, key), jnp.bool_(False))

    def act(self, carry: Carry, view: SeatView, key: Key) -> tuple[Carry, Decision]:
        """One action, from its own memory and evidence."""
        own = decode_own(self.config, view.observation.own)
        memory = memories.update(
            carry.memory,
            self.view_window,
            view.observation.view,
            own.heading,
            own.position,
            own.step,
            view.is_first_of_trial,
            renew,
        )
        board = Board(memory.item, memory.colour, memories.age(memory, own.step), memory.others)
        tools = washing.tools_from_evidence(self.config, view.evidence)
        is_washing = wants_to_wash(
            self.config, self.habits, carry.character, board, own, carry.is_washing
        )
        action = choose(self, carry.character, board, tools, own, is_washing, key)
        return Carry(memory, carry.character, is_washing), Decision(action=action)


def draw_character(config: CleanupConfig, key: Key) -> Character:
    """Uniformly at random."""
    numbers = jax.random.uniform(key, (config.pairs + 2,))
    return Character(taste=numbers[2:], phase=numbers[0], patience=numbers[1])


def renew(
    item: UInt8[Array, "height width"], colour: UInt8[Array, "height width"]
) -> tuple[UInt8[Array, "height width"], UInt8[Array, "height width"]]:
    """As a trial starts: where water and orchard are stays, what lies there does not."""
    item = jnp.where(is_waste(item), jnp.uint8(Item.WATER), item)
    item = jnp.where(item == Item.RIPE_APPLE, jnp.uint8(Item.ORCHARD), item)
    return item, jnp.zeros_like(colour)


def wants_to_wash(
    config: CleanupConfig,
    habits: Habits,
    character: Character,
    board: Board,
    own: Own,
    was_washing: Bool[Array, ""],
) -> Bool[Array, ""]:
    """Whether it is on duty, and the river dirtier than it likes or not yet clean enough."""
    place = (own.step / habits.duty_steps + character.phase + _TRIAL_SHIFT * own.trial) % 1.0
    lets_lie = habits.least_dirt + character.patience * (habits.most_dirt - habits.least_dirt)
    limit = jnp.where(was_washing, habits.clean_enough, lets_lie)
    return (place < habits.contribution) & (estimate_dirt(config, board, own.step) > limit)


_TRIAL_SHIFT = 0.618
"""Share of a round of duties by which each trial starts later (the golden ratio: never twice)."""


def estimate_dirt(config: CleanupConfig, board: Board, step: Int[Array, ""]) -> Float32[Array, ""]:
    """Waste cells: those known, and the chance of one on every water cell not in view."""
    at_start = sum(config.initial_waste_range) / 2 * config.initial_waste_cells / config.water_cells
    spawned = board.age * (config.waste_spawn / config.river_cells)
    chance = jnp.where(board.age > step, at_start, jnp.minimum(spawned, 1.0))
    chance = jnp.where(board.item == Item.WATER, chance, 0.0)
    return jnp.where(is_waste(board.item), 1.0, chance).sum()


def choose(
    player: Player,
    character: Character,
    board: Board,
    tools: Tools,
    own: Own,
    is_washing: Bool[Array, ""],
    key: Key,
) -> Int32[Array, ""]:
    """The action: towards a shot, a pick-up, an apple or a look around."""
    config, habits = player.config, player.habits
    free = ~board.others
    effect = washing.needed_effect(config, board.item, board.colour)
    value = washing.value_tools(tools, washing.count_needed(config, effect), habits.curiosity)
    aim = washing.aim(
        config, tools, own.window, board.item, effect, free, own.position, own.heading
    )
    walk = steps_to_stations(config, board, own.position)
    pick = washing.next_pick(config, value * (1 + habits.fancy * character.taste), own.window, walk)
    station = (board.item == Item.STATION + pick) & free
    apple = (board.item == Item.RIPE_APPLE) & free

    fires = is_washing & aim.is_any
    picks = is_washing & ~aim.is_any & (value.max() > 0) & over_board(jnp.any, station)
    eats = ~is_washing & over_board(jnp.any, apple)
    looks = ~(fires | picks | eats)
    looked_for = wanted_sights(habits, board, is_washing)
    sight = glance(player.view_window, looked_for, own.heading, own.position)

    goals = jnp.where(picks, station, jnp.where(eats, apple, looked_for))
    goals = jnp.where(fires, aim.stands, goals)
    route = towards(own.position, goals, free, key_words(key)[-1])
    action = jnp.where(looks & (sight.shows > 0), sight.action, route.action)
    is_there = route.distance == 0
    action = jnp.where(picks & is_there, Action.PICK_UP, action)
    return jnp.where(fires & is_there, shoot(aim, own.heading), action).astype(jnp.int32)


def wanted_sights(
    habits: Habits, board: Board, is_washing: Bool[Array, ""]
) -> Bool[Array, "height width"]:
    """Cells to look at for want of anything better: unknown ones, and those not seen lately."""
    kind = jnp.where(is_washing, Item.WATER, Item.ORCHARD)
    is_old = board.age >= habits.look_again
    return (board.item == memories.UNSEEN) | ((board.item == kind) & is_old)


def shoot(aim: Aim, heading: Int[Array, ""]) -> Int32[Array, ""]:
    """At the stand: the beam, or the turn towards where it has to go."""
    turn = jnp.where((aim.heading - heading) % 4 == 1, Action.TURN_RIGHT, Action.TURN_LEFT)
    return jnp.where(aim.heading == heading, Action.BEAM, turn).astype(jnp.int32)


def steps_to_stations(
    config: CleanupConfig, board: Board, position: Int[Array, "2"]
) -> Int32[Array, "base_tools"]:
    """To the nearest free station of each base tool, as if nothing were in the way."""
    away = steps_away(position, board.item.shape)
    stations = Item.STATION + jnp.arange(config.base_tools, dtype=jnp.uint8)
    here = (board.item == stations[:, None, None]) & ~board.others
    return over_board(jnp.min, jnp.where(here, away, sum(board.item.shape)))


def make_harvester(env: MultiTrial) -> Player:
    """Eats and never cleans."""
    return make_player(env, Habits(contribution=0.0))


def make_cleaner(env: MultiTrial, contribution: float = 1.0) -> Player:
    """Sees to the river whenever it is dirty, or in a share of the time.

    Raises:
        ValueError: contribution is not from 0 to 1.
    """
    check_share("contribution", contribution)
    return make_player(env, Habits(contribution=contribution))


def make_player(env: MultiTrial, habits: Habits) -> Player:
    """A player with these habits, for OpenCleanup.

    Raises:
        ValueError: the map is too wide to find a way on.
    """
    game: Any = env.game
    check_width(game.config.width)
    return Player(config=game.config, view_window=game.window, habits=habits)
