"""RL²: what an agent is given at a step, and what it carries across steps, trials and episodes.

Memory lives as long as the episode, hence as the hidden rules; a trial's end is only a flag in the
input (Duan et al. 2016; Wang et al. 2016). Everything here is for one agent; callers vmap.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt8

from algorithms.config import AgentConfig
from algorithms.networks import ActorCritic, network_sizes
from algorithms.records import AgentInput, Memory, NetworkOutput
from osj_envs.env import Environment
from osj_envs.seats import NO_ACTION, SeatView
from osj_envs.types import Key, Observation


@dataclasses.dataclass(frozen=True, eq=False)
class Agent:
    """One agent of an environment: its network, its inputs and its carry rules.

    Equal only to itself, and so hashable: a static part of what is compiled.

    Attributes:
        config: what it is made of.
        game: the physics of its environment, for sizes and the evidence record.
        network: parameters aside.
    """

    config: AgentConfig
    game: Environment
    network: ActorCritic

    def initial_memory(self) -> Memory:
        """Before an episode's first step."""
        hidden = self.config.hidden_size if self.config.recurrence else 0
        return Memory(
            hidden=jnp.zeros((hidden,), jnp.float32),
            last_action=jnp.int32(NO_ACTION),
            last_reward=jnp.float32(0.0),
            is_first_of_trial=jnp.bool_(True),
            is_first_of_episode=jnp.bool_(True),
            evidence=self.game.initial_evidence() if self.config.keeps_record else None,
        )

    def view(
        self, memory: Memory, observation: Observation, trial: Int[Array, ""] | int
    ) -> SeatView:
        """What a seat would be given: the same record as for every other kind of player."""
        return SeatView(
            observation=observation,
            evidence=memory.evidence,
            legal_actions=jnp.ones((self.game.num_actions,), bool),
            last_action=memory.last_action,
            last_reward=memory.last_reward,
            trial=jnp.asarray(trial, jnp.int32),
            is_first_of_trial=memory.is_first_of_trial,
            is_first_of_episode=memory.is_first_of_episode,
        )

    def inputs(self, view: SeatView, rules: Float[Array, "rules"]) -> AgentInput:
        """The network's input; `rules` is `hidden_rules`."""
        forgets = view.is_first_of_episode
        if self.config.wipe_at_trial:
            forgets = forgets | view.is_first_of_trial
        recalls = self.config.recalls_last_step
        return AgentInput(
            view=self._painted(view),
            own=view.observation.own,
            last_action=jnp.where(recalls, view.last_action, NO_ACTION),
            last_reward=jnp.where(recalls, view.last_reward, 0.0),
            is_first_of_trial=view.is_first_of_trial,
            forgets=forgets,
            record=self._record(view),
            rules=rules,
        )

    def hidden_rules(self, latent: Any) -> Float[Array, "rules"]:
        """The hidden rules as numbers for an agent that is told them, else no numbers."""
        if not self.config.told_rules:
            return jnp.zeros((0,), jnp.float32)
        return self.game.reveal(latent)

    def act(
        self, params: Any, hidden: Float[Array, "actors hidden"], inputs: AgentInput
    ) -> tuple[Float[Array, "actors hidden"], NetworkOutput]:
        """One step of many actors: the next recurrent states and the network's answers."""
        chunk = jax.tree.map(lambda leaf: leaf[None], inputs)
        hidden, output = self.replay(params, hidden, chunk)
        return hidden, jax.tree.map(lambda leaf: leaf[0], output)

    def replay(
        self, params: Any, hidden: Float[Array, "actors hidden"], inputs: AgentInput
    ) -> tuple[Float[Array, "actors hidden"], NetworkOutput]:
        """A whole chunk (time, actors) at once; `hidden` is where it began."""
        answer: Any = self.network.apply(params, hidden, inputs)
        return answer

    def remember(
        self,
        memory: Memory,
        hidden: Float[Array, "hidden"],
        observation: Observation,
        action: Int[Array, ""],
        reward: Float[Array, ""],
        next_observation: Observation,
        outcome: Any,
    ) -> Memory:
        """The memory after a step, whatever ended with it.

        Args:
            memory: before the step.
            hidden: the recurrent state after the network saw `observation`.
            observation: what was acted on.
            action: what was done.
            reward: the individual reward that it brought.
            next_observation: after the step, and before any reset.
            outcome: what the environment told of the action.
        """
        evidence = None
        if self.config.keeps_record:
            evidence = self.game.update_evidence(
                memory.evidence, observation, action, next_observation, outcome
            )
        return Memory(
            hidden=hidden,
            last_action=action,
            last_reward=reward,
            is_first_of_trial=jnp.bool_(False),
            is_first_of_episode=jnp.bool_(False),
            evidence=evidence,
        )

    def cross_boundary(
        self, memory: Memory, trial_done: Bool[Array, ""], done: Bool[Array, ""]
    ) -> Memory:
        """What is left of the memory when a trial or an episode has ended."""
        forgets = done | (trial_done & self.config.wipe_at_trial)
        memory = jax.tree.map(
            lambda fresh, kept: jnp.where(forgets, fresh, kept), self.initial_memory(), memory
        )
        return dataclasses.replace(
            memory, is_first_of_trial=trial_done | done, is_first_of_episode=done
        )

    def _painted(self, view: SeatView) -> UInt8[Array, "rows cols planes"]:
        codes = view.observation.view
        if not self.config.reads_record:
            return codes
        painted = self.game.paint_evidence(view.evidence, view.observation)
        return jnp.concatenate([codes, painted[..., None]], axis=-1)

    def _record(self, view: SeatView) -> Float[Array, "record"]:
        if not self.config.keeps_record:
            return jnp.zeros((0,), jnp.float32)
        return self.game.evidence_features(view.evidence, view.observation)


def make_agent(config: AgentConfig, game: Environment) -> Agent:
    """The agent for an environment's physics."""
    return Agent(config, game, ActorCritic(config, network_sizes(config, game)))


def initial_params(agent: Agent, key: Key) -> Any:
    """Fresh parameters."""
    memory = agent.initial_memory()
    game = agent.game
    observation = Observation(
        view=jnp.zeros(game.view_spec.shape, game.view_spec.dtype),
        own=jnp.zeros(game.own_spec.shape, game.own_spec.dtype),
    )
    latent = game.sample_latent(jax.random.key(0))
    inputs = agent.inputs(agent.view(memory, observation, 0), agent.hidden_rules(latent))
    chunk = jax.tree.map(lambda leaf: leaf[None, None], inputs)
    return agent.network.init(key, memory.hidden[None], chunk)
