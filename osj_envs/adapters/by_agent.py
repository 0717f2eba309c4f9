"""From arrays with an agent axis to dictionaries by agent name, and back."""

from collections.abc import Mapping
from typing import Any

import jax
from flax import serialization

from osj_envs.trials import MultiTrial
from osj_envs.types import Info, Observation

ByAgent = dict[str, Any]
"""One entry for each agent, by its name: "agent_0" sits in seat 0."""

_WITHOUT_AGENT_AXIS = ("trial", "step", "trial_done")


def check_env(env: object) -> MultiTrial:
    """The environment, if it is one.

    Raises:
        TypeError: it is not what `osj_envs.make` returns.
    """
    if not isinstance(env, MultiTrial):
        raise TypeError(
            "An adapter takes a MultiTrial, which is what osj_envs.make returns, "
            f"not a {type(env).__name__}."
        )
    return env


def agent_names(env: MultiTrial) -> list[str]:
    """The agents' names, by seat."""
    return [f"agent_{seat}" for seat in range(env.num_agents)]


def split_agents(tree: Any, agents: list[str]) -> ByAgent:
    """Each agent's part of a tree whose leaves have the agent axis first."""
    return {
        agent: jax.tree.map(lambda leaf, seat=seat: leaf[seat], tree)
        for seat, agent in enumerate(agents)
    }


def split_observation(observation: Observation, agents: list[str]) -> ByAgent:
    """Each agent's observation, as a dictionary of `view` and `own`."""
    return split_agents({"view": observation.view, "own": observation.own}, agents)


def info_parts(info: Info) -> tuple[dict[str, Any], dict[str, Any]]:
    """A step's info as nested dictionaries: what all agents share, and what has an agent axis."""
    fields = serialization.to_state_dict(info)
    shared = {name: fields.pop(name) for name in _WITHOUT_AGENT_AXIS}
    return shared, fields


def in_seat_order(actions: Mapping[str, Any], agents: list[str]) -> list[Any]:
    """The agents' actions, by seat.

    Raises:
        ValueError: an agent has no action, or an action is of no agent.
    """
    if set(actions) != set(agents):
        raise ValueError(
            f"Actions are given for {', '.join(map(str, actions)) or 'no agent'}; "
            f"it must be one for each of {', '.join(agents)}."
        )
    return [actions[agent] for agent in agents]
