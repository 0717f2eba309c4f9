"""A checkpoint in a seat."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Float

from algorithms.checkpointing import find_checkpoint, load_about, load_params
from algorithms.config import TrainConfig
from algorithms.records import AgentInput
from algorithms.rl2 import Agent, initial_params, make_agent
from osj_envs.compose import ConfigError
from osj_envs.env import Environment
from osj_envs.env_config import make_env
from osj_envs.seats import Decision, SeatView
from osj_envs.types import Key, Latent


@struct.dataclass
class Carry:
    """What a learned policy carries.

    Attributes:
        hidden: the recurrent state; no features without recurrence.
        rules: the hidden rules as numbers; no features unless the agent is told them.
    """

    hidden: Float[Array, "hidden"]
    rules: Float[Array, "rules"]


@struct.dataclass
class LearnedPolicy:
    """Samples actions from a trained network; fair, traceable.

    An agent that was trained to forget at every trial's start forgets its recurrent state by
    itself; that its evidence, last action and last reward are wiped is up to the runner.

    Attributes:
        params: of the network.
        agent: whose network it is.
    """

    params: Any
    agent: Agent = struct.field(pytree_node=False)
    is_traceable: bool = struct.field(pytree_node=False, default=True)

    def initial_carry(self, key: Key) -> Carry:
        """Nothing seen yet."""
        del key
        memory = self.agent.initial_memory()
        return Carry(hidden=memory.hidden, rules=jnp.zeros((0,), jnp.float32))

    def act(self, carry: Carry, view: SeatView, key: Key) -> tuple[Carry, Decision]:
        """One step of one agent."""
        inputs = self.agent.inputs(view, carry.rules)
        hidden, logits = self._answer(carry.hidden, inputs)
        logits = jnp.where(view.legal_actions, logits, -jnp.inf)
        action = jax.random.categorical(key, logits).astype(jnp.int32)
        return dataclasses.replace(carry, hidden=hidden), Decision(action=action)

    def _answer(self, hidden: Array, inputs: AgentInput) -> tuple[Array, Array]:
        batch = jax.tree.map(lambda leaf: leaf[None], (hidden, inputs))
        hidden, output = self.agent.act(self.params, *batch)
        return hidden[0], output.logits[0]


@struct.dataclass
class ToldPolicy(LearnedPolicy):
    """A policy that was trained with the hidden rules in its input: an upper bound, not fair."""

    def told(self, carry: Carry, latent: Latent) -> Carry:
        """The carry at an episode's start, with the rules of this episode."""
        return dataclasses.replace(carry, rules=self.agent.hidden_rules(latent))


def make_policy(agent: Agent, params: Any) -> LearnedPolicy:
    """An agent with these parameters in a seat."""
    kind = ToldPolicy if agent.config.told_rules else LearnedPolicy
    return kind(params=params, agent=agent)


def load_policy(checkpoint: str, game: Environment | None = None) -> LearnedPolicy:
    """The policy of a checkpoint.

    Args:
        checkpoint: folder of a checkpoint, or of a run, whose newest is taken.
        game: what is to be played, by default what the checkpoint was trained on.

    Raises:
        ConfigError: there is no checkpoint, or its network does not fit the game.
    """
    folder = find_checkpoint(checkpoint)
    config = load_about(folder).config
    if game is None:
        game = make_env(config.env, is_training=False).game
    check_game(config, game)
    agent = make_agent(config.agent, game)
    like = jax.eval_shape(functools.partial(initial_params, agent), jax.random.key(0))
    return make_policy(agent, load_params(folder, like))


def check_game(config: TrainConfig, game: Environment) -> None:
    """Raises ConfigError unless the checkpoint was trained on this kind of game."""
    if config.env.name != game.name:
        raise ConfigError(
            f"The checkpoint was trained on {config.env.name!r} and cannot play {game.name!r}."
        )
