"""The multi-trial protocol: an episode is one latent, played for several trials.

Source: paper, section 3.1 (episodes, trials) and ours where it is silent (auto-reset).
"""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt8

from osj_envs.checks import check_whole
from osj_envs.env import Environment
from osj_envs.rarely import rarely
from osj_envs.splits import check_split, problem_key
from osj_envs.types import Clock, Info, Key, Latent, Observation, Split, State


class MultiTrial:
    """Episodes of `num_trials` trials of at most `trial_length` steps on one latent.

    A trial's end re-lays the world from the same latent. An episode's end begins a new episode on
    a new latent of `split` when `auto_reset` is on; when it is off the state stays as it ended,
    and further steps change nothing and pay nothing.
    """

    def __init__(
        self,
        game: Environment,
        num_trials: int = 5,
        trial_length: int = 400,
        auto_reset: bool = True,
        split: Split = "train",
    ) -> None:
        """Raises ValueError for a count that is no whole number from 1 up, or an unknown split."""
        check_whole("num_trials", num_trials, 1)
        check_whole("trial_length", trial_length, 1)
        check_split(split)
        self.game = game
        self.num_trials = num_trials
        self.trial_length = trial_length
        self.auto_reset = auto_reset
        self.split = split

    @property
    def name(self) -> str:
        """The environment's id."""
        return self.game.name

    @property
    def num_agents(self) -> int:
        """Seats."""
        return self.game.num_agents

    @property
    def num_actions(self) -> int:
        """Size of the action set."""
        return self.game.num_actions

    @property
    def episode_length(self) -> int:
        """The most steps that an episode can take."""
        return self.num_trials * self.trial_length

    def sample_latent(self, key: Key, split: Split | None = None) -> Latent:
        """Draws a latent of `split` (default: the split given at construction)."""
        return self.game.sample_latent(key, check_split(split or self.split))

    def problem(self, seed: int | Int[Array, ""]) -> Latent:
        """The held-out latent of a problem seed, the same for every kind of player."""
        return self.game.sample_latent(problem_key(seed), "held_out")

    def reset(self, key: Key, latent: Latent | None = None) -> tuple[Observation, State]:
        """Begins an episode, on `latent` if given, else on one drawn from the split."""
        latent_key, world_key = jax.random.split(key)
        if latent is None:
            latent = self.game.sample_latent(latent_key, self.split)
        clock = Clock(trial=jnp.int32(0), step=jnp.int32(0))
        world = self.game.lay_world(world_key, latent)
        state = State(latent=latent, world=world, clock=clock, done=jnp.bool_(False))
        return self.game.observe(world, clock), state

    def step(
        self, key: Key, state: State, actions: Int[Array, "agents"]
    ) -> tuple[Observation, State, Float[Array, "agents"], Bool[Array, ""], Info]:
        """All agents act; crosses trial boundaries, and at the episode's end resets if asked to.

        Returns:
            The next observation, the next state, individual rewards (float32), whether the episode
            ended with this step, and the step's `Info`.
        """
        world_key, latent_key, start_key = jax.random.split(key, 3)
        played = self.game.step_world(
            world_key, state.latent, state.world, state.clock.step, actions
        )
        if not self.auto_reset:
            played = _frozen_when(state.done, played, state.world)
        ended = self._advance_clock(state, played.world)
        trial_done = state.done | played.is_over | (ended.clock.step >= self.trial_length)
        done = state.done | (trial_done & (state.clock.trial + 1 >= self.num_trials))
        next_state = self._cross_boundary(latent_key, start_key, trial_done, done, ended)
        observation = self.game.observe(next_state.world, next_state.clock)
        final_observation = rarely(
            trial_done, self.game.observe, observation, ended.world, ended.clock
        )
        info = Info(
            trial=state.clock.trial,
            step=state.clock.step,
            trial_done=trial_done,
            final_observation=final_observation,
            outcome=played.outcome,
            events=played.events,
        )
        return observation, next_state, played.reward, done, info

    def render(self, state: State, cell_pixels: int = 32) -> UInt8[np.ndarray, "height width 3"]:
        """The board of one state (no batch axis) as an RGB picture."""
        return self.game.render(jax.device_get(state.world), cell_pixels)

    def describe(self, state: State) -> str:
        """The board of one state (no batch axis) as text for a person, hidden rules included."""
        state = jax.device_get(state)
        return self.game.describe(state.latent, state.world, state.clock)

    def _advance_clock(self, state: State, world: Any) -> State:
        step = jnp.minimum(state.clock.step + 1, self.trial_length)
        if not self.auto_reset:
            step = jnp.where(state.done, state.clock.step, step)
        return replace(state, world=world, clock=replace(state.clock, step=step))

    def _cross_boundary(
        self,
        latent_key: Key,
        start_key: Key,
        trial_done: Bool[Array, ""],
        done: Bool[Array, ""],
        ended: State,
    ) -> State:
        """Begins the next trial or episode where one ended."""
        if self.auto_reset:
            return rarely(trial_done, self._begin_next, ended, latent_key, start_key, done, ended)
        ended = replace(ended, done=done)
        return rarely(trial_done & ~done, self._begin_trial, ended, start_key, ended)

    def _begin_next(
        self, latent_key: Key, start_key: Key, done: Bool[Array, ""], ended: State
    ) -> State:
        """The next trial of this episode, or the first of the next, on a new latent.

        A new latent is drawn either way: at a trial's end, that costs less than another branch.
        """
        drawn = self.game.sample_latent(latent_key, self.split)
        latent = jax.tree.map(lambda new, old: jnp.where(done, new, old), drawn, ended.latent)
        return self._begin_trial(start_key, replace(ended, latent=latent, done=jnp.bool_(False)))

    def _begin_trial(self, key: Key, ended: State) -> State:
        """The next trial on the latent; the first one after an episode's last."""
        trial = (ended.clock.trial + 1) % self.num_trials
        clock = Clock(trial=trial, step=jnp.zeros_like(ended.clock.step))
        return replace(ended, world=self.game.lay_world(key, ended.latent), clock=clock)


def _frozen_when(done: Bool[Array, ""], played: Any, world: Any) -> Any:
    """The step undone, with nothing paid and nothing counted, where the episode has ended."""
    keep = jax.tree.map(lambda old, new: jnp.where(done, old, new), world, played.world)
    reward, events = jax.tree.map(
        lambda x: jnp.where(done, jnp.zeros_like(x), x), (played.reward, played.events)
    )
    outcome = played.outcome.replace(reward=reward)
    return played.replace(world=keep, reward=reward, outcome=outcome, events=events)
