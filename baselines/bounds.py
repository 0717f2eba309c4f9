"""Privileged players of OpenHarvest, as bounds: they read the whole map and the hidden rules.

Each walks to the nearest apple of those that it means to eat, around the other agents and around
every apple that it means to leave, and stays where there is none that it can reach. Source: the
published yardsticks (facts only); how stewards give way to each other is our choice.
"""

import dataclasses
from collections.abc import Callable
from typing import ClassVar, TypeAlias, cast

import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Int

from baselines.paths import towards
from osj_envs.checks import check_whole
from osj_envs.grid.codes import Action
from osj_envs.grid.movement import covers, flat
from osj_envs.harvest.constants import STAGES, HarvestConfig, Lost, Stage
from osj_envs.harvest.dynamics import hangs, stage
from osj_envs.harvest.env import Harvest
from osj_envs.harvest.types import Rules, Trees, World
from osj_envs.seats import Decision, InsideView
from osj_envs.trials import MultiTrial
from osj_envs.types import Key

Menu: TypeAlias = Callable[[HarvestConfig, Rules], Bool[Array, "colours stages"]]
"""Of which colour and at which stage apples are eaten, from the hidden rules."""

KEEP = 3
"""Hanging neighbours that a steward leaves by default: more do not make a cell regrow faster."""


@struct.dataclass
class FullMap:
    """Eats the nearest apple on its menu; privileged, traceable, carries nothing.

    Of two that could eat at once, the one in the later seat leaves the neighbours of what the
    other may eat, so that both emptied cells keep what they should.

    Attributes:
        config: of the game.
        menu: which colours and stages it eats.
        keep: apples that must still hang within reach of the cell that it empties.
    """

    config: HarvestConfig = struct.field(pytree_node=False)
    menu: Menu = struct.field(pytree_node=False)
    keep: int = struct.field(pytree_node=False, default=0)
    is_traceable: ClassVar[bool] = True
    sees_state: ClassVar[bool] = True

    def initial_carry(self, key: Key) -> tuple[()]:
        """Nothing."""
        del key
        return ()

    def act(self, carry: tuple[()], view: InsideView, key: Key) -> tuple[tuple[()], Decision]:
        """A step towards the nearest apple that it means to eat, or a stay."""
        del key
        config, world = self.config, view.state.world
        trees = foresee(config, world)
        wanted = self._wanted(view.state.latent.rules, world, trees)
        others = jnp.arange(world.agents.heading.shape[0]) != view.seat
        taken = covers(flat(world.agents.position, config.width), config.height, config.width)
        taken = (taken & others[:, None, None]).any(axis=0)
        if self.keep:
            wanted = wanted & ~self._reserved(world, wanted, view.seat)
        place = tree_of_cell(config, world)
        goals = _on_map(place, wanted) & ~taken
        free = ~_on_map(place, hangs(trees) & ~wanted) & ~taken
        route = towards(world.agents.position[view.seat], goals, free)
        return carry, Decision(action=jnp.where(route.is_reachable, route.action, Action.STAY))

    def _wanted(self, rules: Rules, world: World, trees: Trees) -> Bool[Array, "trees"]:
        """The apples on the menu whose cell would keep enough around it."""
        on_menu = self.menu(self.config, rules)[world.tree_colour, stage(trees)]
        kept = _neighbours(self.config, hangs(trees))
        return hangs(trees) & on_menu & (kept >= self.keep)

    def _reserved(
        self, world: World, wanted: Bool[Array, "trees"], seat: Int[Array, ""]
    ) -> Bool[Array, "trees"]:
        """Neighbours of the apples that an agent in an earlier seat may eat in this step."""
        earlier = jnp.arange(world.agents.heading.shape[0]) < seat
        theirs = (_beside(self.config, world) & earlier).any(axis=1) & wanted
        return _neighbours(self.config, theirs) > 0


def make_full_greedy(env: MultiTrial) -> FullMap:
    """Eats the nearest apple of all."""
    return FullMap(_config(env), any_stage)


def make_full_patient(env: MultiTrial) -> FullMap:
    """Eats the nearest apple that is ripe or over-ripe."""
    return FullMap(_config(env), ripe_or_later)


def make_steward(env: MultiTrial, keep: int = KEEP) -> FullMap:
    """Eats at the stage that pays best, or over-ripe, where `keep` neighbours stay hanging."""
    check_whole("keep", keep, 0)
    return FullMap(_config(env), best_paying, keep)


def make_fast_steward(env: MultiTrial, keep: int = KEEP) -> FullMap:
    """Eats at the stage that regrows fastest, or over-ripe, likewise."""
    check_whole("keep", keep, 0)
    return FullMap(_config(env), fastest, keep)


def any_stage(config: HarvestConfig, rules: Rules) -> Bool[Array, "colours stages"]:
    """Everything."""
    del config
    return jnp.ones(rules.pay.shape, bool)


def ripe_or_later(config: HarvestConfig, rules: Rules) -> Bool[Array, "colours stages"]:
    """All but the unripe."""
    return any_stage(config, rules).at[:, Stage.UNRIPE].set(False)


def best_paying(config: HarvestConfig, rules: Rules) -> Bool[Array, "colours stages"]:
    """The stage that pays most, and over-ripe: an apple that would only rot."""
    return _greatest(jnp.array(config.pays)[rules.pay])


def fastest(config: HarvestConfig, rules: Rules) -> Bool[Array, "colours stages"]:
    """The stage after which the cell regrows fastest, and over-ripe."""
    return _greatest(jnp.array(config.speeds)[rules.speed])


def foresee(config: HarvestConfig, world: World) -> Trees:
    """The trees as agents will find them when they move, all that is left to chance aside.

    Apples are a step older, those at their end have rotted, and those due on a rotted cell hang.
    """
    trees = world.trees
    stands = covers(flat(world.agents.position, config.width), config.height, config.width)
    free = ~stands.any(axis=0).reshape(-1)[world.layout.trees]
    rots = hangs(trees) & (trees.age + 1 >= STAGES * trees.stage_steps)
    comes = (trees.lost == Lost.ROTTED) & (trees.delay <= 1) & free
    lost = jnp.where(rots, Lost.ROTTED, jnp.where(comes, Lost.HANGING, trees.lost))
    age = jnp.where(comes, jnp.uint8(0), trees.age + jnp.uint8(1))
    return dataclasses.replace(trees, lost=lost.astype(jnp.uint8), age=age)


def tree_of_cell(config: HarvestConfig, world: World) -> Int[Array, "height width"]:
    """The tree on each cell, or the number of trees where there is none."""
    place = jnp.full(config.cells, config.trees, jnp.int32)
    place = place.at[world.layout.trees].set(jnp.arange(config.trees), unique_indices=True)
    return place.reshape(config.height, config.width)


def _config(env: MultiTrial) -> HarvestConfig:
    return cast(Harvest, env.game).config


def _greatest(worth: Array) -> Bool[Array, "colours stages"]:
    greatest = worth == worth.max(axis=-1, keepdims=True)
    return greatest.at[:, Stage.OVERRIPE].set(True)


def _on_map(
    place: Int[Array, "height width"], mask: Bool[Array, "trees"]
) -> Bool[Array, "height width"]:
    return jnp.append(mask, False).at[place].get(mode="promise_in_bounds")


def _neighbours(config: HarvestConfig, mask: Bool[Array, "trees"]) -> Array:
    """How many of the trees in `mask` stand within reach of each tree."""
    return jnp.asarray(config.neighbours, jnp.float32) @ mask.astype(jnp.float32)


def _beside(config: HarvestConfig, world: World) -> Bool[Array, "trees agents"]:
    """Which agents stand one move from each tree."""
    cells = world.layout.trees.astype(jnp.int32)
    tree = jnp.stack([cells // config.width, cells % config.width], axis=-1)
    return jnp.abs(tree[:, None] - world.agents.position).sum(axis=-1) == 1
