"""JaxMARL's API: dictionaries by agent name, in pure functions that compile and map over batches.

Source: `MultiAgentEnv` of JaxMARL 0.2, which need not be installed.
"""

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from osj_envs.adapters.by_agent import (
    ByAgent,
    agent_names,
    check_env,
    in_seat_order,
    info_parts,
    split_agents,
    split_observation,
)
from osj_envs.adapters.spaces import Box, Dict, Discrete
from osj_envs.trials import MultiTrial
from osj_envs.types import Info, Key, Latent, Observation, State


def to_jaxmarl(env: MultiTrial) -> "JaxMARLEnv":
    """The environment with JaxMARL's API.

    Raises:
        TypeError: `env` is not what `osj_envs.make` returns.
    """
    return JaxMARLEnv(env)


class JaxMARLEnv:
    """A multi-trial environment with the methods and attributes of JaxMARL's `MultiAgentEnv`.

    An agent's observation is a dictionary: `view`, uint8, and `own`, float32. The state is the
    environment's own. Infos hold what all agents share (`trial`, `step`, `trial_done`),
    `final_observation` by agent, and `outcome` and `events` with the agent axis first.

    Attributes:
        env: the environment that was adapted.
        num_agents: seats.
        agents: the agents' names, by seat.
        observation_spaces: by agent.
        action_spaces: by agent.
    """

    def __init__(self, env: MultiTrial) -> None:
        """Raises TypeError for what is no `MultiTrial`."""
        self.env = check_env(env)
        self.num_agents = env.num_agents
        self.agents = agent_names(env)
        self.observation_spaces = dict.fromkeys(
            self.agents, Dict({"view": Box(env.game.view_spec), "own": Box(env.game.own_spec)})
        )
        self.action_spaces = dict.fromkeys(self.agents, Discrete(env.game.action_spec))
        self._endless = _with_auto_reset(env, True)
        self._one_episode = _with_auto_reset(env, False)

    @property
    def name(self) -> str:
        """The environment's id."""
        return self.env.name

    @property
    def agent_classes(self) -> dict[str, list[str]]:
        """The agents of each kind; all are of one."""
        return {"agents": self.agents}

    def observation_space(self, agent: str) -> Dict:
        """What this agent may see."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """What this agent may do."""
        return self.action_spaces[agent]

    @functools.partial(jax.jit, static_argnums=0)
    def reset(self, key: Key, latent: Latent | None = None) -> tuple[ByAgent, State]:
        """Begins an episode, on `latent` if given, else on one drawn from the split."""
        observation, state = self._one_episode.reset(key, latent)
        return split_observation(observation, self.agents), state

    @functools.partial(jax.jit, static_argnums=0)
    def step(
        self,
        key: Key,
        state: State,
        actions: Mapping[str, Int[Array, ""]],
        reset_state: State | None = None,
    ) -> tuple[ByAgent, State, ByAgent, ByAgent, dict[str, Any]]:
        """All agents act; where the episode ends, the next begins, or `reset_state` is put in.

        Without `reset_state` it is bit for bit the step of the environment itself with its
        auto-reset on. Rewards, dones and infos are always those of the step that was taken.

        Raises:
            ValueError: the actions are not one for each agent.
        """
        if reset_state is None:
            return self._by_agent(self._endless.step(key, state, self._stack(actions)))
        observations, ended, rewards, dones, infos = self.step_env(key, state, actions)
        fresh = (self.get_obs(reset_state), reset_state)
        observations, state = jax.tree.map(
            lambda new, old: jnp.where(dones["__all__"], new, old), fresh, (observations, ended)
        )
        return observations, state, rewards, dones, infos

    @functools.partial(jax.jit, static_argnums=0)
    def step_env(
        self, key: Key, state: State, actions: Mapping[str, Int[Array, ""]]
    ) -> tuple[ByAgent, State, ByAgent, ByAgent, dict[str, Any]]:
        """All agents act; the episode's end is left as it is.

        Raises:
            ValueError: the actions are not one for each agent.
        """
        return self._by_agent(self._one_episode.step(key, state, self._stack(actions)))

    @functools.partial(jax.jit, static_argnums=0)
    def get_obs(self, state: State) -> ByAgent:
        """What each agent sees of a state."""
        observation = self.env.game.observe(state.world, state.clock)
        return split_observation(observation, self.agents)

    def get_avail_actions(self, state: State) -> dict[str, Bool[Array, "actions"]]:
        """The mask of the actions that each agent may take: all of them."""
        return dict.fromkeys(self.agents, jnp.ones(self.env.num_actions, jnp.bool_))

    def _stack(self, actions: Mapping[str, Int[Array, ""]]) -> Int[Array, "agents"]:
        return jnp.stack(in_seat_order(actions, self.agents)).astype(jnp.int32)

    def _by_agent(
        self,
        played: tuple[Observation, State, Float[Array, "agents"], Bool[Array, ""], Info],
    ) -> tuple[ByAgent, State, ByAgent, ByAgent, dict[str, Any]]:
        observation, state, reward, done, info = played
        shared, by_seat = info_parts(info)
        final = split_agents(by_seat.pop("final_observation"), self.agents)
        return (
            split_observation(observation, self.agents),
            state,
            split_agents(reward, self.agents),
            dict.fromkeys([*self.agents, "__all__"], done),
            {**shared, "final_observation": final, **by_seat},
        )


def _with_auto_reset(env: MultiTrial, auto_reset: bool) -> MultiTrial:
    return MultiTrial(env.game, env.num_trials, env.trial_length, auto_reset, env.split)
