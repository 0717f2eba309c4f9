"""PettingZoo's parallel API: one environment on the host, its steps compiled.

Source: `ParallelEnv` of PettingZoo 1.24 and newer.
"""

import secrets
import warnings
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from gymnasium import spaces
from jaxtyping import Int32, UInt8
from pettingzoo import ParallelEnv

from osj_envs.adapters.by_agent import (
    ByAgent,
    agent_names,
    check_env,
    in_seat_order,
    info_parts,
    split_agents,
    split_observation,
)
from osj_envs.specs import BoxSpec
from osj_envs.trials import MultiTrial
from osj_envs.types import Info, Key, Latent, State

SEEDS = 2**32
"""Seeds of `reset` run from 0 to one less than this."""

PROBLEM = "problem"
"""The one option of `reset`."""


class PettingZooEnv(ParallelEnv):
    """A multi-trial environment as a PettingZoo `ParallelEnv`.

    An agent's observation is a dictionary: `view`, uint8, and `own`, float32. An episode runs
    over all its trials and ends for all agents at once, whatever the environment's `auto_reset`.
    The end counts as a termination, not a truncation, for the length belongs to the game and the
    agents see the clock. The last observation of an episode is returned as such; that of a trial
    is `infos[agent]["final_observation"]`, beside `trial`, `step`, `trial_done`, `outcome` and
    `events`.

    Attributes:
        env: the environment that was adapted.
        possible_agents: the agents' names, by seat.
        agents: those who still play: all of them, or none before a reset and after the end.
        render_mode: "rgb_array".
    """

    render_mode = "rgb_array"

    def __init__(self, env: MultiTrial) -> None:
        """Raises TypeError for what is no `MultiTrial`."""
        self.env = check_env(env)
        self.metadata = {"name": env.name, "render_modes": ["rgb_array"], "render_fps": 10}
        self.possible_agents = agent_names(env)
        self.agents: list[str] = []
        self.observation_spaces = {agent: _seen(env) for agent in self.possible_agents}
        self.action_spaces: dict[str, spaces.Discrete] = {
            agent: spaces.Discrete(env.num_actions) for agent in self.possible_agents
        }
        self._playing = MultiTrial(env.game, env.num_trials, env.trial_length, False, env.split)
        self._reset = jax.jit(self._playing.reset)
        self._step = jax.jit(self._playing.step)
        self._key: Key = jax.random.key(secrets.randbelow(SEEDS))
        self._state: State | None = None

    def observation_space(self, agent: str) -> spaces.Dict:
        """What this agent may see."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """What this agent may do."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[ByAgent, ByAgent]:
        """Begins an episode.

        Args:
            seed: fixes this episode and those after it. Without one, chance goes on where it
                was; the first time it is the operating system's.
            options: {"problem": 906} plays the held-out world of that problem seed. Without it
                the world is drawn from the environment's split. A name that is not known brings
                a warning, for PettingZoo lets wrappers read options of their own.

        Raises:
            ValueError: the seed or the problem seed is out of range.
        """
        latent = self._latent(options or {})
        if seed is not None:
            self._key = jax.random.key(_check_seed(seed))
        observation, self._state = self._reset(self._next_key(), latent)
        self.agents = list(self.possible_agents)
        seen = split_observation(jax.device_get(observation), self.agents)
        return seen, {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[ByAgent, dict[str, float], dict[str, bool], dict[str, bool], ByAgent]:
        """All agents act; returns observations, rewards, terminations, truncations and infos.

        Raises:
            RuntimeError: no episode is running.
            ValueError: the actions are not one for each agent, or one is out of range.
        """
        if not self.agents:
            raise RuntimeError("No episode is running; call reset() first.")
        chosen = self._check_actions(actions)
        played = self._step(self._next_key(), self._state, chosen)
        observation, self._state, reward, done, info = played
        observation, reward, done, info = jax.device_get((observation, reward, done, info))
        agents = self.agents
        self.agents = [] if done else agents
        return (
            split_observation(observation, agents),
            dict(zip(agents, reward.tolist(), strict=True)),
            dict.fromkeys(agents, bool(done)),
            dict.fromkeys(agents, False),
            _split_info(info, agents),
        )

    def render(self) -> UInt8[np.ndarray, "height width 3"]:
        """The board as an RGB picture.

        Raises:
            RuntimeError: `reset` has not been called yet.
        """
        if self._state is None:
            raise RuntimeError("There is nothing to render yet; call reset() first.")
        return self.env.render(self._state)

    def _next_key(self) -> Key:
        self._key, key = jax.random.split(self._key)
        return key

    def _latent(self, options: Mapping[str, Any]) -> Latent | None:
        for name in options:
            if name != PROBLEM:
                warnings.warn(f"reset() knows no option {name!r}, only {PROBLEM!r}.", stacklevel=3)
        return self.env.problem(options[PROBLEM]) if PROBLEM in options else None

    def _check_actions(self, actions: Mapping[str, int]) -> Int32[np.ndarray, "agents"]:
        chosen = np.asarray(in_seat_order(actions, self.possible_agents))
        spec = self.env.game.action_spec
        if chosen.shape != (self.env.num_agents,) or not spec.contains(chosen):
            raise ValueError(
                f"The actions are {chosen.tolist()}; each must be a whole number from 0 to "
                f"{spec.size - 1}."
            )
        return chosen.astype(spec.dtype)


def _seen(env: MultiTrial) -> spaces.Dict:
    return spaces.Dict({"view": _box(env.game.view_spec), "own": _box(env.game.own_spec)})


def _box(spec: BoxSpec) -> spaces.Box:
    low, high = (np.broadcast_to(bound, spec.shape) for bound in (spec.low, spec.high))
    return spaces.Box(low.astype(spec.dtype), high.astype(spec.dtype), dtype=spec.dtype.type)


def _check_seed(seed: int) -> int:
    is_whole = isinstance(seed, (int, np.integer)) and not isinstance(seed, bool)
    if not is_whole or not 0 <= seed < SEEDS:
        raise ValueError(f"seed is {seed!r}; it must be a whole number from 0 to {SEEDS - 1:,}.")
    return int(seed)


def _split_info(info: Info, agents: list[str]) -> ByAgent:
    shared, by_seat = info_parts(info)
    common = {name: value.item() for name, value in shared.items()}
    return {agent: common | own for agent, own in split_agents(by_seat, agents).items()}
