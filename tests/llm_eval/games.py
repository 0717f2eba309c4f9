"""Whole games driven by hand for the tests of prompts and players: a small loop, no runner."""

import asyncio
import dataclasses
import functools
import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import osj_envs
from llm_eval.clients.base import Request
from llm_eval.clients.scripted import wander
from osj_envs.seats import NO_ACTION, SeatView
from osj_envs.trials import MultiTrial

GAMES = ("cleanup", "harvest")


@functools.cache
def make(name: str, **options: Any) -> MultiTrial:
    return osj_envs.make(name, auto_reset=False, **options)


@functools.cache
def programs(env: MultiTrial) -> tuple[Callable[..., Any], ...]:
    update = jax.jit(jax.vmap(env.game.update_evidence))
    return jax.jit(env.reset), jax.jit(env.step), update


@dataclasses.dataclass
class Table:
    """A game in progress, as its players are shown it."""

    env: MultiTrial
    key: Any
    latent: Any

    def __post_init__(self) -> None:
        reset, self._step, self._update = programs(self.env)
        self.key, reset_key = jax.random.split(self.key)
        self.observation, self.state = reset(reset_key, self.latent)
        count = self.env.num_agents
        self.evidence = jax.tree.map(
            lambda x: jnp.broadcast_to(x, (count, *x.shape)), self.env.game.initial_evidence()
        )
        self.last_action = np.full(count, NO_ACTION, np.int32)
        self.last_reward = np.zeros(count, np.float32)

    def views(self) -> list[SeatView]:
        observation, evidence, clock = jax.device_get(
            (self.observation, self.evidence, self.state.clock)
        )
        return [
            SeatView(
                observation=jax.tree.map(lambda x, s=seat: x[s], observation),
                evidence=jax.tree.map(lambda x, s=seat: x[s], evidence),
                legal_actions=np.ones(self.env.num_actions, bool),
                last_action=self.last_action[seat],
                last_reward=self.last_reward[seat],
                trial=clock.trial,
                is_first_of_trial=clock.step == 0,
                is_first_of_episode=(clock.step == 0) & (clock.trial == 0),
            )
            for seat in range(self.env.num_agents)
        ]

    def step(self, actions: Sequence[int]) -> Any:
        """Plays a step; `Info`, its outcome in NumPy."""
        self.key, step_key = jax.random.split(self.key)
        chosen = jnp.array(actions, jnp.int32)
        before = self.observation
        self.observation, self.state, reward, self.done, info = self._step(
            step_key, self.state, chosen
        )
        self.evidence = self._update(
            self.evidence, before, chosen, info.final_observation, info.outcome
        )
        self.last_action, self.last_reward = np.array(chosen), np.array(reward)
        return jax.device_get(info)


def of_seat(tree: Any, seat: int) -> Any:
    return jax.tree.map(lambda x: x[seat], tree)


def play(table: Table, players: Sequence[Any], steps: int) -> list[Any]:
    """Plays steps with language models in all seats; their carries at the end."""
    return asyncio.run(_play(table, players, steps))


async def _play(table: Table, players: Sequence[Any], steps: int) -> list[Any]:
    carries = [player.initial_carry(None) for player in players]
    for _ in range(steps):
        pairs = zip(players, carries, table.views(), strict=True)
        acted = await asyncio.gather(*(p.act(carry, view, None) for p, carry, view in pairs))
        info = table.step([int(decision.action) for _, decision in acted])
        carries = [
            player.see(carry, of_seat(info.outcome, seat))
            for seat, (player, (carry, _)) in enumerate(zip(players, acted, strict=True))
        ]
        if info.trial_done:
            evidence = jax.device_get(table.evidence)
            ended = [
                player.end_trial(carry, int(info.trial), of_seat(evidence, seat))
                for seat, (player, carry) in enumerate(zip(players, carries, strict=True))
            ]
            carries = list(await asyncio.gather(*ended))
        if table.done:
            break
    return carries


def reads(request: Request) -> str:
    """A model that acts by the prompt's own words: it eats, picks up, fires at waste, or walks."""
    prompt = request.messages[-1].content
    rng = random.Random(prompt)
    if "# ACTIONS NOW" not in prompt:
        return wander(request)
    lines = prompt.partition("# ACTIONS NOW\n")[2].splitlines()
    told = dict(line.removeprefix("- ").split(": ", 1) for line in lines)
    good = [name for name, what in told.items() if _is_good(what)]
    action = rng.choice(good) if good and rng.random() < 0.8 else rng.choice(list(told))
    mode = "harvest" if "fire" in told else "wait"
    goal = {"type": rng.choice(["look", "eat"]), "cell": None, "why": "so"}
    note = {"op": rng.choice(["none", "add"]), "id": None, "text": f"I did {action}."}
    reply = {"why": "because", "mode": mode, "goal": goal, "note": note, "action": action}
    return json.dumps(reply) if rng.random() < 0.95 else "I would rather not."


def _is_good(what: str) -> bool:
    return "you would eat it" in what or "take base tool" in what or "waste (" in what
