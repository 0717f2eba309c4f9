"""OpenHarvest as an `Environment`: a thin adapter around its rules, layouts and dynamics."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt8

from osj_envs.checks import check_whole
from osj_envs.env import Environment
from osj_envs.grid.codes import Action, Item
from osj_envs.grid.view import MAX_AGENTS, Window, check_window, view_spec
from osj_envs.harvest import dynamics, layouts
from osj_envs.harvest import evidence as records
from osj_envs.harvest import observation as views
from osj_envs.harvest.constants import STAGES, HarvestConfig
from osj_envs.harvest.render import render_world
from osj_envs.harvest.rules import new_stage_split, num_rule_sets, unrank
from osj_envs.harvest.text import describe_world
from osj_envs.harvest.types import Latent, Outcome, Rules, World
from osj_envs.random_words import below, draw_words
from osj_envs.specs import BoxSpec
from osj_envs.splits import SemanticSplit, check_split, sample_rank
from osj_envs.types import Clock, Key, Observation, Split, WorldStep


class Harvest(Environment):
    """Apples regrow only while others hang near, and what and when it pays to eat is unknown.

    Observation: `view` uint8 (N, 11, 11, 4), the planes of `grid.codes.Plane`; `own` float32
    (N, F), laid out by `observation.encode_own`. Action: 0 .. 7, see `grid.codes.Action`; any
    other number is a stay. Reward: what the apple that an agent eats pays, 1, 0.5 or 0.25 by its
    colour and stage. End: a trial ends early once no apple can come any more. Latent: pay and
    speed of regrowth by colour and stage, the layout and the patches' colours. Source: paper,
    section 3.2.
    """

    name = "harvest"
    version = 3
    num_actions = Action.PICK_UP
    painted_codes = records.PAINTED_CODES

    def __init__(
        self,
        num_agents: int = 5,
        window: Window | None = None,
        semantic: int | SemanticSplit[Rules] | None = None,
        **config: Any,
    ) -> None:
        """Builds the game.

        Args:
            num_agents: seats, 1 up to half of the cells without a tree, so that there is always
                room for those zapped.
            window: how far an agent sees; 9 ahead, 1 behind and 5 to each side by default.
            semantic: cuts train from held-out by what the rules mean: a stage at which a colour
                pays most only in held-out, or any `rules.best_stage_split`. By default the rule
                sets are cut pseudo-randomly. Layouts are disjoint either way.
            **config: fields of `HarvestConfig`.

        Raises:
            ValueError: an option's value is not allowed.
        """
        self.config = HarvestConfig(**config)
        self.num_agents = _check_agents(num_agents, self.config)
        self.window = check_window(window)
        if isinstance(semantic, int):
            semantic = new_stage_split(semantic, self.config)
        self.semantic = semantic

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """The constructor's options."""
        fields = tuple(field.name for field in dataclasses.fields(HarvestConfig))
        return ("num_agents", "window", "semantic", *fields)

    def sample_latent(self, key: Key, split: Split = "train") -> Latent:
        """Draws the rules, the layout and the patches' colours, uniformly over the split."""
        rank, kind, place, colour = draw_words(key, (), (), (), (self.config.patches,))
        rank_split = "all" if self.semantic else check_split(split)
        rules = unrank(sample_rank(rank, rank_split, num_rule_sets(self.config)), self.config)
        if self.semantic:
            rules = self.semantic.sample(kind, split, rules)
        pool = layouts.load_pool(self.config, split)
        number = below(place, pool.trees.shape[0])
        return Latent(
            rules=rules,
            layout=jax.tree.map(lambda leaf: jnp.asarray(leaf)[number], pool),
            patch_colour=below(colour, self.config.colours).astype(jnp.int8),
        )

    def lay_world(self, key: Key, latent: Latent) -> World:
        """A trial's start: a new, unripe apple on every tree, agents on spawn cells."""
        return dynamics.lay_world(self.config, self.num_agents, key, latent)

    def step_world(
        self,
        key: Key,
        latent: Latent,
        world: World,
        step: Int[Array, ""],
        actions: Int[Array, "agents"],
    ) -> WorldStep:
        """Apples age, rot and regrow, then movement, eating and zapping."""
        del step  # all of the game's times are counted in the world
        draws = dynamics.sample_draws(self.config, self.num_agents, key)
        return dynamics.step_world(self.config, latent, world, actions, draws)

    def observe(self, world: World, clock: Clock) -> Observation:
        """Every agent's window, and what it knows of itself."""
        return views.observe(self.config, self.window, world, clock)

    def initial_evidence(self) -> records.Evidence:
        """Nothing eaten yet."""
        return records.initial(self.config)

    def update_evidence(
        self,
        evidence: records.Evidence,
        observation: Observation,
        action: Int[Array, ""],
        next_observation: Observation,
        outcome: Outcome,
    ) -> records.Evidence:
        """The record with what this step showed."""
        return records.update(
            self.config, self.window, evidence, observation, action, next_observation, outcome
        )

    def evidence_features(
        self, evidence: records.Evidence, observation: Observation
    ) -> Float[Array, "features"]:
        """The record as numbers."""
        return records.features(self.config, evidence, observation)

    def paint_evidence(
        self, evidence: records.Evidence, observation: Observation
    ) -> UInt8[Array, "rows cols"]:
        """What each apple in view is known to pay."""
        return records.paint(self.config, evidence, observation)

    def knowledge(self, evidence: records.Evidence, latent: Latent) -> dict[str, Float[Array, ""]]:
        """The share of this map's colours and stages whose pay the record has established."""
        known = records.payoffs_known(self.config, evidence)
        colours = jnp.arange(self.config.colours)
        there = (colours[:, None] == latent.patch_colour).any(axis=1)
        share = (known & there[:, None]).sum() / (STAGES * there.sum())
        return {"payoffs_known": share.astype(jnp.float32)}

    def reveal(self, latent: Latent) -> Float[Array, "features"]:
        """Pay and speed of each colour and stage, one-hot."""
        rules = jnp.stack([latent.rules.pay, latent.rules.speed])
        return jax.nn.one_hot(rules, STAGES).reshape(-1)

    @property
    def view_spec(self) -> BoxSpec:
        """Shape and code ranges of one agent's view."""
        return view_spec(self.window, Item.EMPTY_TREE, self.config.colours, self.num_agents)

    @property
    def own_spec(self) -> BoxSpec:
        """Shape and range of what one agent knows of itself."""
        return views.own_spec()

    def describe(self, latent: Latent, world: World, clock: Clock) -> str:
        """The board as text for a person, hidden rules included."""
        return describe_world(self.config, latent, world, clock)

    def render(self, world: World, cell_pixels: int) -> UInt8[np.ndarray, "height width 3"]:
        """The board as an RGB picture."""
        return render_world(self.config, world, cell_pixels)


def _check_agents(num_agents: int, config: HarvestConfig) -> int:
    most = (config.cells - config.trees) // 2
    check_whole("num_agents on this map", num_agents, 1, min(most, MAX_AGENTS))
    return num_agents
