"""A checkpoint in a seat plays just as the learner does."""

import dataclasses
import pathlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import collect
from algorithms.checkpointing import About, open_checkpoints
from algorithms.config import CheckpointConfig
from algorithms.learner import Learner
from algorithms.policy import LearnedPolicy, ToldPolicy, load_policy, make_policy
from algorithms.records import Actors, LearnerState
from osj_envs.compose import ConfigError
from osj_envs.seats import Privileged, SeatView
from tests.algorithms import probes
from tests.algorithms.tiny import make_tiny_learner
from tests.algorithms.training import make_probe_learner

STEPS = 47
"""Of 21 an episode: two ends of episodes and several of trials."""

KINDS: dict[str, dict[str, Any]] = {
    "gru+evidence": {"memory": "gru+evidence"},
    "none": {"memory": "none"},
    "told": {"memory": "gru", "told_rules": True},
    "wiped": {"memory": "gru+evidence", "wipe_at_trial": True},
}


def make_learner(**agent: Any) -> Learner:
    options = {"num_envs": 1, "chunk_length": 5, "staggered": False, "ppo": {"minibatches": 1}}
    return make_probe_learner(probes.HiddenArm(3, 5), 3, 7, **options, **agent)


def seat_views(learner: Learner, actors: Actors) -> SeatView:
    """What the seats of the one environment are given, agents first."""
    agent = learner.player.agent
    memory, observation, trial = jax.tree.map(
        lambda leaf: leaf[0], (actors.memory, actors.observation, actors.env_state.clock.trial)
    )
    return jax.vmap(agent.view, (0, 0, None))(memory, observation, trial)


def play_both(learner: Learner, policy: LearnedPolicy) -> tuple[np.ndarray, np.ndarray]:
    """The learner's actions, and those of the policy in the same seats with the same keys."""
    player = learner.player
    state = learner.init(0)
    # an untrained head answers much the same to everything
    params = jax.tree.map(lambda leaf: 3.0 * leaf, state.params)
    policy = dataclasses.replace(policy, params=params)
    fresh = jax.vmap(policy.initial_carry)(jax.random.split(jax.random.key(0), 3))

    def episode_start(actors: Actors) -> Any:
        if not isinstance(policy, ToldPolicy):
            return fresh
        latent = jax.tree.map(lambda leaf: leaf[0], actors.env_state.latent)
        return jax.vmap(policy.told, (0, None))(fresh, latent)

    def step(carry: Any, key: jax.Array) -> Any:
        actors, carries = carry
        act_key, step_key = jax.random.split(key)
        views = seat_views(learner, actors)
        begins = views.is_first_of_episode[0]
        carries = jax.tree.map(
            lambda new, old: jnp.where(begins, new, old), episode_start(actors), carries
        )
        seat_keys = jax.random.split(act_key, 3)
        carries, decisions = jax.vmap(policy.act)(carries, views, seat_keys)
        actors, (transition, _) = collect.play_step(
            player, params, actors, act_key[None], step_key[None]
        )
        return (actors, carries), (transition.action[0], decisions.action)

    start = (state.actors, episode_start(state.actors))
    keys = jax.random.split(jax.random.key(1), STEPS)
    _, (learned, seated) = jax.jit(lambda: jax.lax.scan(step, start, keys))()
    return np.asarray(learned), np.asarray(seated)


@pytest.mark.parametrize("kind", KINDS)
def test_a_policy_acts_as_the_learner_does_on_the_same_keys(kind: str):
    learner = make_learner(**KINDS[kind])
    policy = make_policy(learner.player.agent, None)
    learned, seated = play_both(learner, policy)
    np.testing.assert_array_equal(learned, seated)
    assert len(np.unique(learned)) == 5


def test_a_policy_that_forgets_differently_acts_differently():
    """The comparison above can fail: this policy wipes what the learner keeps."""
    learner = make_learner(memory="gru")
    other = make_learner(memory="gru", wipe_at_trial=True)
    learned, seated = play_both(learner, make_policy(other.player.agent, None))
    assert (learned != seated).any()
    assert (learned[:7] == seated[:7]).all()  # the first trial is the same


@pytest.mark.parametrize("kind", ["none", "told"])
def test_a_loaded_policy_has_the_trained_parameters(kind: str, tmp_path: pathlib.Path):
    state = save_cleanup(tmp_path, **KINDS[kind])
    policy = load_policy(str(tmp_path))
    assert isinstance(policy, Privileged) == (kind == "told")
    jax.tree.map(np.testing.assert_array_equal, policy.params, jax.device_get(state.params))


def test_a_checkpoint_of_another_game_or_network_is_refused(tmp_path: pathlib.Path):
    save_cleanup(tmp_path, **KINDS["none"])
    with pytest.raises(ConfigError, match="trained on 'cleanup' and cannot play 'hidden_arm'"):
        load_policy(str(tmp_path), probes.HiddenArm(3, 5))


def test_a_policy_never_takes_an_illegal_action():
    learner = make_learner(memory="gru")
    policy = make_policy(learner.player.agent, learner.init(0).params)
    views = seat_views(learner, learner.init(0).actors)
    legal = jnp.arange(5) == 2
    views = dataclasses.replace(views, legal_actions=jnp.broadcast_to(legal, (3, 5)))
    keys = jax.random.split(jax.random.key(0), 3)
    carries = jax.vmap(policy.initial_carry)(keys)
    _, decisions = jax.vmap(policy.act)(carries, views, keys)
    assert (decisions.action == 2).all()


def save_cleanup(folder: pathlib.Path, **agent: Any) -> LearnerState:
    """The checkpoint of an untrained agent of OpenCleanup."""
    learner, config = make_tiny_learner(**agent)
    state = learner.init(3)
    with open_checkpoints(folder / "checkpoints", CheckpointConfig()) as checkpoints:
        checkpoints.save(state, About(config, update=0))
    return state
