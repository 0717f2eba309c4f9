"""The small worlds of the examples in the system prompts, seen as a seat sees its own."""

from typing import TypeAlias

import jax.numpy as jnp
import numpy as np

from llm_eval.prompts import fill
from llm_eval.views.base import GameText
from llm_eval.views.cleanup import CleanupText
from llm_eval.views.harvest import HarvestText
from llm_eval.views.sight import Cell
from osj_envs.cleanup import evidence as cleanup_evidence
from osj_envs.cleanup import observation as cleanup_views
from osj_envs.cleanup.types import EMPTY_SLOT
from osj_envs.grid.codes import Heading, Item
from osj_envs.grid.movement import Agents
from osj_envs.grid.view import egocentric_views
from osj_envs.harvest import evidence as harvest_evidence
from osj_envs.harvest import observation as harvest_views
from osj_envs.types import Evidence, Observation

Codes: TypeAlias = tuple[int, int]
"""Item, and 1 + colour."""

MIDDLE = jnp.array([1, 1], jnp.int32)
"""Where the agent stands in each example."""

AT_NORTH = (0, 1)
"""The cell that it faces."""


def examples(game: GameText) -> str:
    """Two worlds, and a valid reply in each."""
    first, second = (_shown(game, *world) for world in example_worlds(game))
    return fill(f"{game.name}_examples", first=first, second=second)


def example_worlds(game: GameText) -> list[tuple[Observation, Evidence]]:
    """What the agent sees, and its record, in both examples."""
    if isinstance(game, CleanupText):
        return _cleanup_worlds(game)
    assert isinstance(game, HarvestText)
    return _harvest_worlds(game)


def _shown(game: GameText, observation: Observation, evidence: Evidence) -> str:
    sight = game.look(observation)
    return "\n".join([game.now(sight, evidence, game.trees(sight)), *game.actions(sight, evidence)])


def _cleanup_worlds(game: CleanupText) -> list[tuple[Observation, Evidence]]:
    station: Codes = (Item.STATION, 0)
    waste: dict[Cell, Codes] = {AT_NORTH: (Item.WASTE, 1)}
    evidence = cleanup_evidence.initial(game.config)
    newest = min(1, game.config.base_tools - 1)
    worlds = [({**waste, (1, 1): station}, (EMPTY_SLOT, EMPTY_SLOT))]
    worlds.append(({**waste, (2, 1): station}, (0, newest)))
    return [(_cleanup_view(game, items, window), evidence) for items, window in worlds]


def _cleanup_view(
    game: CleanupText, items: dict[Cell, Codes], window: tuple[int, int]
) -> Observation:
    own = cleanup_views.Own(
        heading=jnp.int32(Heading.NORTH),
        position=MIDDLE,
        step=jnp.int32(0),
        trial=jnp.int32(0),
        window=jnp.array(window, jnp.int32),
    )
    return Observation(view=_view(game, items), own=cleanup_views.encode_own(game.config, own))


def _harvest_worlds(game: HarvestText) -> list[tuple[Observation, Evidence]]:
    own = harvest_views.Own(
        heading=jnp.int32(Heading.NORTH),
        position=MIDDLE,
        step=jnp.int32(0),
        trial=jnp.int32(0),
        frozen=jnp.int32(0),
        cooldown=jnp.int32(0),
    )
    encoded, evidence = harvest_views.encode_own(own), harvest_evidence.initial(game.config)
    items = (Item.APPLE, Item.EMPTY_TREE)
    views = [_view(game, {AT_NORTH: (item, 1)}) for item in items]
    return [(Observation(view=view, own=encoded), evidence) for view in views]


def _view(game: CleanupText | HarvestText, items: dict[Cell, Codes]) -> jnp.ndarray:
    """A map of nothing but ground and these."""
    shape = game.config.height, game.config.width
    item, colour = np.full(shape, Item.GROUND, np.uint8), np.zeros(shape, np.uint8)
    for cell, codes in items.items():
        item[cell], colour[cell] = codes
    agents = Agents(position=MIDDLE[None], heading=jnp.array([Heading.NORTH], jnp.int32))
    return egocentric_views(game.window, jnp.array(item), jnp.array(colour), agents)[0]
