"""OpenCleanup as an `Environment`: a thin adapter around its rules, layouts and dynamics."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt8

from osj_envs.checks import check_whole
from osj_envs.cleanup import dynamics, layouts
from osj_envs.cleanup import evidence as records
from osj_envs.cleanup import observation as views
from osj_envs.cleanup.constants import CleanupConfig
from osj_envs.cleanup.render import render_world
from osj_envs.cleanup.rules import first_tool_split, num_rule_sets, unrank
from osj_envs.cleanup.text import describe_world
from osj_envs.cleanup.types import HiddenTools, Latent, Outcome, World
from osj_envs.env import Environment
from osj_envs.grid.codes import Action, Item
from osj_envs.grid.view import MAX_AGENTS, Window, check_window, view_spec
from osj_envs.random_words import below, draw_words
from osj_envs.specs import BoxSpec
from osj_envs.splits import SemanticSplit, check_split, sample_rank
from osj_envs.types import Clock, Key, Observation, Split, WorldStep


class Cleanup(Environment):
    """Apples grow only while a shared river is clean, and cleaning takes tools of unknown recipe.

    Observation: `view` uint8 (N, 11, 11, 4), the planes of `grid.codes.Plane`; `own` float32
    (N, F), laid out by `observation.encode_own`. Action: 0 .. 8, see `grid.codes.Action`; any
    other number is a stay. Reward: 1 to the agent that eats an apple. End: a trial lasts its full
    length. Latent: the tool rules, the layout and the dominant hue. Source: paper, section 3.2.
    """

    name = "cleanup"
    version = 3
    num_actions = len(Action)
    painted_codes = records.PAINTED_CODES

    def __init__(
        self,
        num_agents: int = 5,
        window: Window | None = None,
        semantic: int | SemanticSplit[HiddenTools] | None = None,
        **config: Any,
    ) -> None:
        """Builds the game.

        Args:
            num_agents: seats, 1 up to the number of spawn and ground cells.
            window: how far an agent sees; 9 ahead, 1 behind and 5 to each side by default.
            semantic: cuts train from held-out by what the rules mean: a base tool with which the
                dominant hue's recipe starts only in held-out, or any `rules.recipe_split`. By
                default the rule sets are cut pseudo-randomly. Layouts are disjoint either way.
            **config: fields of `CleanupConfig`.

        Raises:
            ValueError: an option's value is not allowed.
        """
        self.config = CleanupConfig(**config)
        self.num_agents = _check_agents(num_agents, self.config)
        self.window = check_window(window)
        if isinstance(semantic, int):
            semantic = first_tool_split(semantic, self.config)
        self.semantic = semantic

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """The constructor's options."""
        fields = tuple(field.name for field in dataclasses.fields(CleanupConfig))
        return ("num_agents", "window", "semantic", *fields)

    def sample_latent(self, key: Key, split: Split = "train") -> Latent:
        """Draws the rules, the layout and the dominant hue, uniformly over the split."""
        rank, hue, kind, place = draw_words(key, (), (), (), ())
        rank_split = "all" if self.semantic else check_split(split)
        tools = HiddenTools(
            rules=unrank(sample_rank(rank, rank_split, num_rule_sets(self.config)), self.config),
            dominant_hue=below(hue, self.config.hues),
        )
        if self.semantic:
            tools = self.semantic.sample(kind, split, tools)
        pool = jnp.asarray(layouts.load_pool(self.config, split))
        layout = pool[below(place, pool.shape[0])]
        return Latent(rules=tools.rules, layout=layout, dominant_hue=tools.dominant_hue)

    def lay_world(self, key: Key, latent: Latent) -> World:
        """A trial's start: the layout's river dirty, hands empty, agents on spawn cells."""
        return dynamics.lay_world(self.config, self.num_agents, key, latent)

    def step_world(
        self,
        key: Key,
        latent: Latent,
        world: World,
        step: Int[Array, ""],
        actions: Int[Array, "agents"],
    ) -> WorldStep:
        """Growth and spawning, then movement, eating, picking up and firing."""
        draws = dynamics.sample_draws(self.config, self.num_agents, key)
        return dynamics.step_world(self.config, latent, world, step, actions, draws)

    def observe(self, world: World, clock: Clock) -> Observation:
        """Every agent's window, and what it knows of itself."""
        return views.observe(self.config, self.window, world, clock)

    def initial_evidence(self) -> records.Evidence:
        """Nothing tried yet."""
        return records.initial(self.config)

    def update_evidence(
        self,
        evidence: records.Evidence,
        observation: Observation,
        action: Int[Array, ""],
        next_observation: Observation,
        outcome: Outcome,
    ) -> records.Evidence:
        """The record with what this step's own shot showed."""
        return records.update(self.config, evidence, observation, action, next_observation, outcome)

    def evidence_features(
        self, evidence: records.Evidence, observation: Observation
    ) -> Float[Array, "features"]:
        """The record as numbers, and what it says of the hand in use."""
        return records.features(self.config, evidence, observation)

    def paint_evidence(
        self, evidence: records.Evidence, observation: Observation
    ) -> UInt8[Array, "rows cols"]:
        """What the hand in use is known to do to each waste cell in view."""
        return records.paint(self.config, evidence, observation)

    def knowledge(self, evidence: records.Evidence, latent: Latent) -> dict[str, Float[Array, ""]]:
        """How many of the recipes the record has established."""
        del latent  # every rule set has as many
        known = records.recipes_known(self.config, evidence)
        return {"recipes_known": known.astype(jnp.float32)}

    def reveal(self, latent: Latent) -> Float[Array, "features"]:
        """Each pair's effect and the dominant hue, one-hot."""
        effect = jax.nn.one_hot(latent.rules.effect, self.config.effects + 1).reshape(-1)
        return jnp.concatenate([effect, jax.nn.one_hot(latent.dominant_hue, self.config.hues)])

    @property
    def view_spec(self) -> BoxSpec:
        """Shape and code ranges of one agent's view."""
        return view_spec(
            self.window,
            Item.STATION + self.config.base_tools - 1,
            self.config.hues,
            self.num_agents,
        )

    @property
    def own_spec(self) -> BoxSpec:
        """Shape and range of what one agent knows of itself."""
        return views.own_spec(self.config)

    def describe(self, latent: Latent, world: World, clock: Clock) -> str:
        """The board as text for a person, hidden rules included."""
        return describe_world(self.config, latent, world, clock)

    def render(self, world: World, cell_pixels: int) -> UInt8[np.ndarray, "height width 3"]:
        """The board as an RGB picture."""
        return render_world(world, cell_pixels)


def _check_agents(num_agents: int, config: CleanupConfig) -> int:
    blocked = config.water_cells + config.orchard_cells + config.stations
    most = config.cells - blocked
    check_whole("num_agents on this map", num_agents, 1, min(most, MAX_AGENTS))
    return num_agents
