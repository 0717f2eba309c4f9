"""Playing a chunk of steps: the policy in its environments, what it remembers, what is counted."""

import dataclasses
from typing import Any

import distrax
import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Float, Int

from algorithms.config import RewardConfig
from algorithms.records import Actors, AgentInput, Boundaries, Memory, Tally, Transition
from algorithms.rewards import transform
from algorithms.rl2 import Agent
from osj_envs.trials import MultiTrial
from osj_envs.types import Clock, Info, Key, Observation


@dataclasses.dataclass(frozen=True)
class Player:
    """What plays, without its parameters: one agent in every seat of an environment.

    Attributes:
        env: the environment.
        agent: shared by all seats.
        reward: how individual rewards become those that are learned from.
    """

    env: MultiTrial
    agent: Agent
    reward: RewardConfig


@struct.dataclass
class TrialSums:
    """Sums over finished trials, each trial counted by its mean over agents.

    Attributes:
        trials: how many finished, by trial index.
        returns: their individual, undiscounted returns, by trial index.
        events: their counts by name, over all trial indices.
    """

    trials: Float[Array, "*time trials"]
    returns: Float[Array, "*time trials"]
    events: dict[str, Float[Array, "*time"]]


def env_keys(key: Key, first_env: Int[Array, ""] | int, num_envs: int) -> Key:
    """A key for each environment, by its global index and so alike on any number of devices."""
    return jax.vmap(jax.random.fold_in, (None, 0))(key, first_env + jnp.arange(num_envs))


def begin(player: Player, keys: Key, phase: Int[Array, "envs"]) -> Actors:
    """Fresh episodes, whose clocks stand at `phase` steps (0 for the true beginning)."""

    def one(key: Key, phase: Int[Array, ""]) -> Actors:
        observation, state = player.env.reset(key)
        trial, step = jnp.divmod(phase, player.env.trial_length)
        state = dataclasses.replace(state, clock=Clock(trial=trial, step=step))
        observation = player.env.game.observe(state.world, state.clock)
        return Actors(
            env_state=state,
            observation=observation,
            memory=_repeat(player.agent.initial_memory(), player.env.num_agents),
            smoothed_reward=jnp.zeros((player.env.num_agents,)),
            tally=_empty_tally(player.env, is_whole=step == 0),
        )

    return jax.vmap(one)(keys, phase)


def play_chunk(
    player: Player, params: Any, actors: Actors, keys: Key, length: int
) -> tuple[Actors, Transition, TrialSums]:
    """Plays `length` steps; `keys` holds one for each environment.

    Returns:
        Where the environments and agents now stand, the steps (time, envs x agents), and the
        sums over the trials that finished.
    """

    def step(actors: Actors, time: Int[Array, ""]) -> tuple[Actors, tuple[Transition, TrialSums]]:
        now = jax.vmap(jax.random.fold_in, (0, None))(keys, time)
        action_keys, step_keys = jax.vmap(lambda key: tuple(jax.random.split(key)))(now)
        return play_step(player, params, actors, action_keys, step_keys)

    actors, (steps, sums) = jax.lax.scan(step, actors, jnp.arange(length))
    steps = merge_axes(steps, 1)
    return actors, steps, jax.tree.map(lambda leaf: leaf.sum(0), sums)


def play_step(
    player: Player, params: Any, actors: Actors, action_keys: Key, step_keys: Key
) -> tuple[Actors, tuple[Transition, TrialSums]]:
    """One step of every environment, with a key for each to sample by and one to step by."""
    inputs = seat_inputs(player, actors.memory, actors.observation, actors.env_state)
    hidden, logits, value = _answer(player, params, actors.memory.hidden, inputs)
    policy = distrax.Categorical(logits=logits)
    action = jax.vmap(_sample)(action_keys, logits)
    observation, state, reward, done, info = jax.vmap(player.env.step)(
        step_keys, actors.env_state, action
    )
    memory = _remember(player, actors, hidden, action, reward, info)
    learned = jax.vmap(transform, (None, 0, 0))(player.reward, actors.smoothed_reward, reward)
    tally = _count(actors.tally, reward, info)
    transition = Transition(
        inputs=inputs,
        action=action,
        log_prob=policy.log_prob(action),
        value=value,
        reward=learned[1],
        boundaries=_boundaries(player, params, actors, memory, info, done),
        event=_event(player, info, reward),
    )
    actors = Actors(
        env_state=state,
        observation=observation,
        memory=_cross_boundaries(player, memory, info.trial_done, done),
        smoothed_reward=jnp.where(done[:, None], 0.0, learned[0]),
        tally=_restart(tally, info.trial_done),
    )
    return actors, (transition, _finished(player.env, tally, info))


def seat_inputs(
    player: Player, memory: Memory, observation: Observation, env_state: Any
) -> AgentInput:
    """The network's inputs (envs, agents)."""
    agent = player.agent

    def one_env(memory: Memory, observation: Observation, state: Any) -> AgentInput:
        rules = agent.hidden_rules(state.latent)
        views = jax.vmap(agent.view, (0, 0, None))(memory, observation, state.clock.trial)
        return jax.vmap(agent.inputs, (0, None))(views, rules)

    return jax.vmap(one_env)(memory, observation, env_state)


def values(player: Player, params: Any, actors: Actors) -> Float[Array, "actors"]:
    """Of what the agents see now."""
    inputs = seat_inputs(player, actors.memory, actors.observation, actors.env_state)
    return merge_axes(_answer(player, params, actors.memory.hidden, inputs)[2], 0)


def merge_axes(tree: Any, first: int) -> Any:
    """Every leaf with its axes `first` and `first` + 1 (environments, agents) as one (actors)."""

    def merge(leaf: Array) -> Array:
        envs, agents = leaf.shape[first : first + 2]
        return leaf.reshape(*leaf.shape[:first], envs * agents, *leaf.shape[first + 2 :])

    return jax.tree.map(merge, tree)


def _answer(
    player: Player, params: Any, hidden: Float[Array, "envs agents hidden"], inputs: AgentInput
) -> tuple[Array, Array, Array]:
    """The next recurrent states, logits and values, each (envs, agents, ...)."""
    envs, agents = inputs.last_action.shape
    hidden, output = player.agent.act(params, *merge_axes((hidden, inputs), 0))
    answer = (hidden, output.logits, output.value)
    return jax.tree.map(lambda leaf: leaf.reshape(envs, agents, *leaf.shape[1:]), answer)


def _sample(key: Key, logits: Float[Array, "agents actions"]) -> Int[Array, "agents"]:
    """Each agent draws by a key of its own, as it does in a seat."""
    return jax.vmap(jax.random.categorical)(jax.random.split(key, logits.shape[0]), logits)


def _remember(
    player: Player, actors: Actors, hidden: Array, action: Array, reward: Array, info: Info
) -> Memory:
    remember = jax.vmap(jax.vmap(player.agent.remember))
    return remember(
        actors.memory,
        hidden,
        actors.observation,
        action,
        reward,
        info.final_observation,
        info.outcome,
    )


def _cross_boundaries(
    player: Player, memory: Memory, trial_done: Bool[Array, "envs"], done: Bool[Array, "envs"]
) -> Memory:
    cross = jax.vmap(jax.vmap(player.agent.cross_boundary, (0, None, None)))
    return cross(memory, trial_done, done)


def _boundaries(
    player: Player, params: Any, before: Actors, memory: Memory, info: Info, done: Array
) -> Boundaries:
    """What ended with the step, the agents' memories not yet wiped."""
    ppo = player.agent.config.ppo
    stops = done if ppo.crosses_trials else info.trial_done
    by_clock = stops & (info.step + 1 >= player.env.trial_length)
    time_limit = by_clock & ppo.bootstraps_time_limit
    shape = memory.last_action.shape
    final_value = jnp.zeros(shape)
    if ppo.bootstraps_time_limit:
        final = dataclasses.replace(before, memory=memory, observation=info.final_observation)
        final_value = jax.lax.cond(
            time_limit.any(),
            lambda: values(player, params, final).reshape(shape),
            lambda: final_value,
        )
    flags = {"trial_end": info.trial_done, "episode_end": done, "time_limit": time_limit}
    by_agent = {name: jnp.broadcast_to(flag[:, None], shape) for name, flag in flags.items()}
    return Boundaries(**by_agent, final_value=final_value)


def _event(player: Player, info: Info, reward: Float[Array, "envs agents"]) -> Array:
    """Whether what the agents learn to predict came about."""
    if not player.agent.config.event_loss:
        return jnp.zeros_like(reward)
    counts = [info.events[name] for name in player.agent.config.events]
    return (jnp.stack(counts) > 0).any(axis=0).astype(jnp.float32)


def event_names(env: MultiTrial) -> tuple[str, ...]:
    """What the environment counts for the metrics."""
    actions = jnp.zeros((env.num_agents,), jnp.int32)
    key = jax.random.key(0)
    info = jax.eval_shape(lambda a, b: env.step(a, env.reset(b)[1], actions)[4], key, key)
    return tuple(info.events)


def _empty_tally(env: MultiTrial, is_whole: Bool[Array, ""]) -> Tally:
    nothing = jnp.zeros((env.num_agents,))
    return Tally(nothing, dict.fromkeys(event_names(env), nothing), is_whole)


def _count(tally: Tally, reward: Float[Array, "envs agents"], info: Info) -> Tally:
    events = jax.tree.map(jnp.add, tally.events, info.events)
    return Tally(tally.returns + reward, events, tally.is_whole)


def _restart(tally: Tally, trial_done: Bool[Array, "envs"]) -> Tally:
    returns, events = jax.tree.map(
        lambda total: jnp.where(trial_done[:, None], 0.0, total), (tally.returns, tally.events)
    )
    return Tally(returns, events, tally.is_whole | trial_done)


def _finished(env: MultiTrial, tally: Tally, info: Info) -> TrialSums:
    counts = (info.trial_done & tally.is_whole).astype(jnp.float32)
    which = jax.nn.one_hot(info.trial, env.num_trials) * counts[:, None]
    return TrialSums(
        trials=which.sum(0),
        returns=(which * tally.returns.mean(1, keepdims=True)).sum(0),
        events={name: (counts * total.mean(1)).sum() for name, total in tally.events.items()},
    )


def _repeat(tree: Any, times: int) -> Any:
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (times, *leaf.shape)), tree)
