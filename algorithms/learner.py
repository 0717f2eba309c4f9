"""The learner: one jitted function plays a chunk, estimates advantages and learns from it.

Environments are sharded over the devices, parameters are replicated, gradients are averaged. What
an environment or an actor does depends on its global index and never on how many devices there
are.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jaxtyping import Array, Float

from algorithms import collect, devices, losses
from algorithms.collect import Player, TrialSums
from algorithms.config import PPOConfig, ScaleConfig, TrainConfig, check_choice
from algorithms.devices import AXIS
from algorithms.gae import advantages
from algorithms.minibatch import shuffled_members, take_actors
from algorithms.records import Actors, Batch, LearnerState, Transition
from algorithms.rl2 import initial_params, make_agent
from osj_envs.trials import MultiTrial
from osj_envs.types import Key

Metrics = dict[str, Float[Array, "..."]]
"""Figures of one update by name; those by trial have one entry for each trial of an episode."""

_LAYOUT: dict[str, Any] = dict.fromkeys(("params", "opt_state", "key", "updates"), P())
SHARDING = LearnerState(**_LAYOUT, actors=P(AXIS))  # type: ignore[arg-type]  # a part's sharding
"""How a state lies on the devices."""


@dataclasses.dataclass(frozen=True)
class Learner:
    """A training run's pure functions; hashable, so that they compile once.

    Attributes:
        player: the environment and the agent in its seats.
        scale: how much is run at once.
        optimiser: of the parameters.
        mesh: the devices.
    """

    player: Player
    scale: ScaleConfig
    optimiser: optax.GradientTransformation
    mesh: Mesh

    @property
    def ppo(self) -> PPOConfig:
        """How the agent learns."""
        return self.player.agent.config.ppo

    @property
    def num_actors(self) -> int:
        """Seats over all environments."""
        return self.scale.num_envs * self.player.env.num_agents

    @property
    def agent_steps_per_update(self) -> int:
        """Steps of single agents that one update plays."""
        return self.num_actors * self.scale.chunk_length

    @property
    def num_updates(self) -> int:
        """Updates of the whole run."""
        return num_updates(self.scale, self.player.env)

    def shardings(self) -> LearnerState:
        """The sharding of each part of a state."""
        return jax.tree.map(lambda spec: NamedSharding(self.mesh, spec), SHARDING)

    def init(self, seed: int) -> LearnerState:
        """The state before the first update."""
        build = jax.jit(self._init, out_shardings=self.shardings())
        return build(jax.random.key(seed))

    def compile_update(self) -> Callable[[LearnerState], tuple[LearnerState, Metrics]]:
        """The jitted update, which consumes the state that it is given.

        It returns when it is done: CPU devices meet on one pool of threads, where two updates in
        flight at once can wait for each other for ever.
        """
        update = self.jit_update()
        return lambda state: jax.block_until_ready(update(state))

    def jit_update(self) -> Any:
        """As `compile_update`, but the caller must wait for each update before the next."""
        sharded = jax.shard_map(
            self._update,
            mesh=self.mesh,
            in_specs=(SHARDING,),
            out_specs=(SHARDING, P()),
            check_vma=False,  # loops start from constants, which it would want cast one by one
        )
        layout = (self.shardings(), NamedSharding(self.mesh, P()))
        return jax.jit(sharded, donate_argnums=0, out_shardings=layout)

    def _init(self, key: Key) -> LearnerState:
        key, params_key, envs_key = jax.random.split(key, 3)
        params = initial_params(self.player.agent, params_key)
        keys = collect.env_keys(envs_key, 0, self.scale.num_envs)
        index = jnp.arange(self.scale.num_envs)
        phase = index * self.player.env.episode_length // self.scale.num_envs
        return LearnerState(
            params=params,
            opt_state=self.optimiser.init(params),
            actors=collect.begin(self.player, keys, phase * self.scale.staggered),
            key=key,
            updates=jnp.int32(0),
        )

    def _update(self, state: LearnerState) -> tuple[LearnerState, Metrics]:
        """One update, seen from one device."""
        play_key, shuffle_key = jax.random.split(jax.random.fold_in(state.key, state.updates))
        num_envs = self.scale.num_envs // self.mesh.size
        first_env = jax.lax.axis_index(AXIS) * num_envs
        keys = collect.env_keys(play_key, first_env, num_envs)
        actors, steps, sums = collect.play_chunk(
            self.player, state.params, state.actors, keys, self.scale.chunk_length
        )
        last_value = collect.values(self.player, state.params, actors)
        batch = make_batch(self.ppo, state.actors, steps, last_value)
        first_actor = first_env * self.player.env.num_agents
        learned, stats = self._learn(state, batch, shuffle_key, first_actor)
        metrics = {**stats, **self._value_stats(batch), **trial_metrics(sums)}
        return dataclasses.replace(learned, actors=actors, updates=state.updates + 1), metrics

    def _learn(
        self, state: LearnerState, batch: Batch, key: Key, first_actor: Any
    ) -> tuple[LearnerState, losses.Stats]:
        """Epochs of gradient steps on one chunk."""
        keys = jax.random.split(key, self.ppo.epochs)
        num_actors = batch.hidden.shape[0]

        def epoch(carry: Any, key: Key) -> tuple[Any, losses.Stats]:
            members = shuffled_members(key, first_actor, num_actors, self.ppo.minibatches)
            return jax.lax.scan(lambda c, m: self._descend(c, select(batch, m)), carry, members)

        carry, stats = jax.lax.scan(epoch, (state.params, state.opt_state), keys)
        means = jax.tree.map(lambda stat: jax.lax.pmean(stat.mean(), AXIS), stats)
        return dataclasses.replace(state, params=carry[0], opt_state=carry[1]), means

    def _descend(self, carry: Any, batch: Batch) -> tuple[Any, losses.Stats]:
        """One gradient step."""
        params, opt_state = carry

        def loss(params: Any) -> tuple[Float[Array, ""], losses.Stats]:
            _, output = self.player.agent.replay(params, batch.hidden, batch.inputs)
            return losses.total_loss(self.player.agent.config, output, batch, AXIS)

        gradients, stats = jax.grad(loss, has_aux=True)(params)
        gradients = jax.lax.pmean(gradients, AXIS)
        updates, opt_state = self.optimiser.update(gradients, opt_state, params)
        stats["gradient_norm"] = optax.tree.norm(gradients)
        return (optax.apply_updates(params, updates), opt_state), stats

    def _value_stats(self, batch: Batch) -> losses.Stats:
        return {"explained_variance": losses.explained_variance(batch.value, batch.target, AXIS)}


def make_learner(config: TrainConfig, env: MultiTrial) -> Learner:
    """The learner of a run on `env`, over all devices that can have equal shares.

    Raises:
        ValueError: the environments cannot be shared out, or an event to predict is unknown.
    """
    ppo = config.agent.ppo
    mesh = devices.make_mesh(config.scale.num_envs, env.num_agents, ppo.minibatches)
    for event in config.agent.events:
        check_choice("agent.events", event, collect.event_names(env))
    agent = make_agent(config.agent, env.game)
    optimiser = make_optimiser(ppo, num_updates(config.scale, env))
    return Learner(Player(env, agent, config.reward), config.scale, optimiser, mesh)


def num_updates(scale: ScaleConfig, env: MultiTrial) -> int:
    """Whole updates within the run's agent-steps, at least one."""
    return max(1, scale.agent_steps // (scale.num_envs * env.num_agents * scale.chunk_length))


def make_optimiser(ppo: PPOConfig, updates: int) -> optax.GradientTransformation:
    """Adam on clipped gradients."""
    rate: Any = ppo.learning_rate
    if ppo.anneal:
        rate = optax.linear_schedule(rate, 0.0, updates * ppo.epochs * ppo.minibatches)
    return optax.chain(optax.clip_by_global_norm(ppo.max_gradient_norm), optax.adam(rate, eps=1e-5))


def make_batch(
    ppo: PPOConfig, before: Actors, steps: Transition, last_value: Float[Array, "actors"]
) -> Batch:
    """A chunk with its advantages, seen from one device; `before` is where it began."""
    advantage = advantages(
        steps.reward,
        steps.value,
        steps.boundaries,
        last_value,
        ppo.discount,
        ppo.gae_lambda,
        ppo.crosses_trials,
    )
    return Batch(
        hidden=collect.merge_axes(before.memory.hidden, 0),
        inputs=steps.inputs,
        action=steps.action,
        log_prob=steps.log_prob,
        value=steps.value,
        event=steps.event,
        advantage=losses.normalised(advantage, AXIS),
        target=advantage + steps.value,
    )


def select(batch: Batch, members: Array) -> Batch:
    """The part of a batch that belongs to some actors, over the whole chunk."""
    timeless = dataclasses.replace(batch, hidden=batch.hidden[None])
    taken: Batch = take_actors(timeless, members, axis=1)
    return dataclasses.replace(taken, hidden=taken.hidden[0])


def trial_metrics(sums: TrialSums) -> Metrics:
    """Means over the trials that finished anywhere with this update; NaN where none did."""
    sums = jax.lax.psum(sums, AXIS)
    total = sums.trials.sum()
    events = {f"events/{name}": count / total for name, count in sums.events.items()}
    return {
        "return_mean": sums.returns.sum() / total,
        "return_by_trial": sums.returns / sums.trials,
        "trials_finished": sums.trials,
        **events,
    }
