"""The privileged player of OpenCleanup: it knows the recipes and the dirt, and divides the work.

A bound, never a fair player. Source: our choice.
"""

from typing import ClassVar

import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Float32, Int

from baselines import washing
from baselines.cleanup import Board, Character, Habits, Player, choose, draw_character, make_player
from baselines.washing import Tools
from osj_envs.cleanup.constants import CleanupConfig
from osj_envs.cleanup.observation import decode_own
from osj_envs.cleanup.types import World
from osj_envs.grid.movement import flat, occupied
from osj_envs.seats import Decision, InsideView
from osj_envs.trials import MultiTrial
from osj_envs.types import Key


@struct.dataclass
class Carry:
    """What an oracle carries.

    Attributes:
        character: its own.
        is_washing: it is about the river.
    """

    character: Character
    is_washing: Bool[Array, ""]


@struct.dataclass
class Oracle:
    """Each seat sees to one shade of waste, and keeps the tool for it; else it eats.

    Where there are fewer seats than shades, every seat sees to all of them.

    Attributes:
        player: what it is like otherwise.
        seats: how many there are.
        first_alarm: cells that need its tool, from which on the first seat for a shade washes.
        next_alarm: how many more it takes for each further seat.
    """

    player: Player
    seats: int = struct.field(pytree_node=False)
    first_alarm: float | Float32[Array, ""] = 1.0
    next_alarm: float | Float32[Array, ""] = 6.0
    is_traceable: ClassVar[bool] = True
    sees_state: ClassVar[bool] = True

    def initial_carry(self, key: Key) -> Carry:
        """A character drawn at random."""
        return Carry(draw_character(self.player.config, key), jnp.bool_(False))

    def act(self, carry: Carry, view: InsideView, key: Key) -> tuple[Carry, Decision]:
        """One action, from the state itself."""
        config = self.player.config
        own = decode_own(config, view.observation.own)
        world, latent = view.state.world, view.state.latent
        board = true_board(config, world, view.seat)
        tools = washing.tools_from_rules(config, latent.rules)
        mine = effects_of_seat(config, self.seats, view.seat)
        tools = Tools(works=tools.works & mine, may_work=tools.may_work)
        effect = washing.needed_effect(config, board.item, board.colour)
        cells = jnp.where(mine, washing.count_needed(config, effect), 0).sum()
        alarm = self.first_alarm + self.next_alarm * (view.seat // config.shades)
        is_washing = cells >= jnp.where(carry.is_washing & ~view.is_first_of_trial, 1, alarm)
        action = choose(self.player, carry.character, board, tools, own, is_washing, key)
        return Carry(carry.character, is_washing), Decision(action=action)


def true_board(config: CleanupConfig, world: World, seat: Int[Array, ""]) -> Board:
    """The board as it is, as that seat's player takes it."""
    shape = (config.height, config.width)
    cells = jnp.arange(config.cells).reshape(shape)
    is_own = cells == flat(world.agents.position[seat], config.width)
    others = occupied(world.agents, *shape) & ~is_own
    return Board(world.item, world.colour, jnp.zeros(shape, jnp.int32), others)


def effects_of_seat(
    config: CleanupConfig, seats: int, seat: Int[Array, ""]
) -> Bool[Array, "effects"]:
    """Those that it sees to: of every shade in turn, light first."""
    effects = jnp.arange(config.effects)
    shade = jnp.where(effects < config.hues, 0, effects - config.hues + 1)
    return (shade == seat % config.shades) | (seats < config.shades)


def make_oracle(env: MultiTrial) -> Oracle:
    """For OpenCleanup."""
    return Oracle(player=make_player(env, Habits()), seats=env.num_agents)
