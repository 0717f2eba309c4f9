"""What players of OpenHarvest do: on one board, and in a trial watched step by step."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Int

import osj_envs
from osj_envs.grid.codes import Action
from osj_envs.harvest.constants import HarvestConfig
from osj_envs.harvest.types import Latent, Outcome, World
from osj_envs.seats import NO_ACTION, InsideView, SeesState
from osj_envs.trials import MultiTrial
from osj_envs.types import Clock, Evidence, Key, State

FORK = """
x x x . . . . .
x {near} .< . . . . .
{far} . . . . . . .
. . . . . . . @
"""
"""A board on which an agent has an apple `near` to its west, and one `far`, beyond a corner."""

FORK_MOVES = (
    ("a", "b", "greedy", Action.WEST),
    ("a", "b", "patient", Action.SOUTH),
    ("a", "c", "patient", Action.SOUTH),
    ("b", "a", "patient", Action.WEST),
    ("c", "a", "patient", Action.WEST),
)
"""Stages near and far (a to c), the player, and its move: around what it means to leave."""

TWO_IN_LINE = """
x x a .< .< . . .
x x . .  .  . . .
x . . .  .  . . .
. . . .  .  . . @
"""
"""Two agents, one behind the other, to the east of an apple."""


@struct.dataclass
class Watched:
    """A step of a trial, or many of them: steps first.

    Attributes:
        before: the world as the agents chose.
        action: what each did.
        after: the world then.
        outcome: what each was told.
    """

    before: World
    action: Int[Array, "*steps agents"]
    after: World
    outcome: Outcome


@functools.cache
def env_of(config: HarvestConfig, num_agents: int) -> MultiTrial:
    """The game of a configuration; the same object at every call."""
    return osj_envs.make("harvest", num_agents=num_agents, **vars(config))


def seat_views(
    env: MultiTrial, latent: Latent, world: World, step: Int[Array, ""], evidence: Evidence
) -> InsideView:
    """What each seat is given in a first trial, of a game whose players forget their actions."""
    count = env.num_agents
    clock = Clock(trial=jnp.int32(0), step=jnp.asarray(step, jnp.int32))
    state = State(latent=latent, world=world, clock=clock, done=jnp.bool_(False))
    first = jnp.broadcast_to(clock.step == 0, (count,))
    return InsideView(
        observation=env.game.observe(world, clock),
        evidence=evidence,
        legal_actions=jnp.ones((count, env.num_actions), bool),
        last_action=jnp.full(count, NO_ACTION, jnp.int32),
        last_reward=jnp.zeros(count),
        trial=jnp.zeros(count, jnp.int32),
        is_first_of_trial=first,
        is_first_of_episode=first,
        state=_for_all(state, count),
        seat=jnp.arange(count, dtype=jnp.int32),
    )


@functools.partial(jax.jit, static_argnums=0)
def decide(
    env: MultiTrial,
    policy: Any,
    latent: Latent,
    world: World,
    key: Key,
    evidence: Evidence | None = None,
) -> Int[Array, "agents"]:
    """The first action of each seat of a trial that starts with this world.

    `evidence` is every seat's; nothing is known by default.
    """
    count = env.num_agents
    known = env.game.initial_evidence() if evidence is None else evidence
    views = seat_views(env, latent, world, jnp.int32(0), _for_all(known, count))
    keys = jax.random.split(key, count)
    _, decision = jax.vmap(policy.act)(jax.vmap(policy.initial_carry)(keys), views, keys)
    return decision.action


@functools.partial(jax.jit, static_argnums=(0, 4))
def watch(env: MultiTrial, policy: Any, key: Key, latent: Latent, steps: int) -> Watched:
    """A trial in which every seat plays the same policy.

    It goes on where nothing can come any more. Players that see all are shown an empty record.
    """
    lay_key, carry_key, play_key = jax.random.split(key, 3)
    count = env.num_agents

    def step(running: Any, index: Int[Array, ""]) -> tuple[Any, Watched]:
        world, carries, evidence = running
        act_key, step_key = jax.random.split(jax.random.fold_in(play_key, index))
        views = seat_views(env, latent, world, index, evidence)
        carries, decision = jax.vmap(policy.act)(carries, views, jax.random.split(act_key, count))
        played = env.game.step_world(step_key, latent, world, index, decision.action)
        if not isinstance(policy, SeesState):
            seen = env.game.observe(played.world, Clock(trial=jnp.int32(0), step=index + 1))
            evidence = jax.vmap(env.game.update_evidence)(
                evidence, views.observation, decision.action, seen, played.outcome
            )
        watched = Watched(world, decision.action, played.world, played.outcome)
        return (played.world, carries, evidence), watched

    world = env.game.lay_world(lay_key, latent)
    carries = jax.vmap(policy.initial_carry)(jax.random.split(carry_key, count))
    start = (world, carries, _for_all(env.game.initial_evidence(), count))
    return jax.lax.scan(step, start, jnp.arange(steps))[1]


def _for_all(tree: Any, count: int) -> Any:
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (count, *jnp.shape(leaf))), tree)
