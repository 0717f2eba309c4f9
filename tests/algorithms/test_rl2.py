"""What an agent carries: rules by hand, and the replay of what was played."""

import distrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import collect
from algorithms.records import Boundaries
from osj_envs.seats import NO_ACTION
from tests.algorithms import probes
from tests.algorithms.training import make_probe_learner

TRIALS, LENGTH, CHUNK, ENVS, AGENTS, ACTIONS = 3, 5, 37, 7, 2, 11
MEMORIES = ["gru", "lru", "evidence", "gru+evidence", "none"]


def play(chunks=2, **agent):
    """Plays from scratch with a decided policy; the last chunk, where it began, and parameters."""
    learner = make_probe_learner(
        probes.HiddenArm(AGENTS, ACTIONS),
        TRIALS,
        LENGTH,
        num_envs=ENVS,
        chunk_length=CHUNK,
        ppo={"minibatches": 1, **agent.pop("ppo", {})},
        **agent,
    )
    state = learner.init(0)
    params = jax.tree_util.tree_map_with_path(_decide, state.params)
    chunk = jax.jit(
        lambda actors, key: collect.play_chunk(
            learner.player, params, actors, collect.env_keys(key, 0, ENVS), CHUNK
        )
    )
    actors = state.actors
    for number in range(chunks):
        before = actors
        actors, steps, _ = chunk(before, jax.random.key(number))
    return learner.player, params, before, steps


def _decide(path, leaf):
    """Makes the last layer of the policy large, so that its answers tell inputs apart."""
    return leaf * 100.0 if "['policy']" in jax.tree_util.keystr(path) else leaf


def replay(player, params, hidden, steps):
    """How far recomputed log-probabilities and values are from the stored ones."""
    _, output = player.agent.network.apply(params, hidden, steps.inputs)
    log_prob = distrax.Categorical(logits=output.logits).log_prob(steps.action)
    away = jnp.maximum(jnp.abs(log_prob - steps.log_prob), jnp.abs(output.value - steps.value))
    return float(away.max())


def initial_hidden(before):
    return collect.merge_axes(before.memory.hidden, 0)


@pytest.mark.parametrize(
    ("memory", "wipe_at_trial"), [*((memory, False) for memory in MEMORIES), ("gru", True)]
)
def test_the_first_ratio_is_one(memory, wipe_at_trial):
    player, params, before, steps = play(memory=memory, wipe_at_trial=wipe_at_trial)
    assert steps.boundaries.episode_end.sum() > ENVS * AGENTS
    assert replay(player, params, initial_hidden(before), steps) < 1e-4


@pytest.fixture(scope="module", params=["gru", "lru"])
def played(request):
    return play(memory=request.param)


def one_dropped(forgets):
    """Without its last reset (where one comes first, the carried state is wiped already)."""
    return forgets.at[tuple(jnp.argwhere(forgets)[-1])].set(False)


@pytest.mark.parametrize(
    "mutate",
    [
        lambda steps: jnp.roll(steps.inputs.forgets, 1, axis=0),
        lambda steps: one_dropped(steps.inputs.forgets),
        lambda steps: steps.inputs.is_first_of_trial,
        lambda steps: jnp.zeros_like(steps.inputs.forgets),
    ],
    ids=["shifted", "one dropped", "at trials", "never"],
)
def test_a_wrong_reset_shows_in_the_replay(played, mutate):
    player, params, before, steps = played
    wrong = steps.replace(inputs=steps.inputs.replace(forgets=mutate(steps)))
    assert replay(player, params, initial_hidden(before), wrong) > 1e-2


def test_swapped_environments_show_in_the_replay(played):
    player, params, before, steps = played
    hidden = before.memory.hidden
    swapped = before.replace(
        memory=before.memory.replace(hidden=hidden[jnp.array([1, 0, *range(2, ENVS)])])
    )
    assert replay(player, params, initial_hidden(swapped), steps) > 1e-2
    agents_swapped = before.replace(memory=before.memory.replace(hidden=hidden[:, ::-1]))
    assert replay(player, params, initial_hidden(agents_swapped), steps) > 1e-2
    fresh = jnp.zeros_like(initial_hidden(before))
    assert replay(player, params, fresh, steps) > 1e-2


@pytest.mark.parametrize("wipe_at_trial", [False, True])
def test_what_crosses_which_boundary(wipe_at_trial):
    """Inputs of a step against the step before: kept at a trial's end, gone at an episode's."""
    _, _, _, steps = play(memory="gru+evidence", wipe_at_trial=wipe_at_trial)
    now = jax.tree.map(lambda leaf: leaf[1:], steps.inputs)
    was = jax.tree.map(lambda leaf: leaf[:-1], steps)
    is_wiped = was.boundaries.trial_end if wipe_at_trial else was.boundaries.episode_end
    np.testing.assert_array_equal(now.is_first_of_trial, was.boundaries.trial_end)
    np.testing.assert_array_equal(now.forgets, is_wiped)
    np.testing.assert_array_equal(now.last_action, np.where(is_wiped, NO_ACTION, was.action))
    np.testing.assert_array_equal(now.last_reward, np.where(is_wiped, 0.0, was.reward))
    tried = np.arange(ACTIONS) == np.asarray(was.action)[..., None]
    record = np.where(tried, np.where(was.reward > 0, 1.0, -1.0)[..., None], was.inputs.record)
    np.testing.assert_array_equal(now.record, np.where(is_wiped[..., None], 0.0, record))


def test_the_memoryless_agent_is_given_nothing_of_the_past():
    _, _, _, steps = play(memory="none")
    assert (steps.inputs.last_action == NO_ACTION).all()
    assert (steps.inputs.last_reward == 0.0).all()
    assert steps.inputs.record.shape[-1] == 0


def test_the_told_agent_is_given_the_rules_of_its_own_episode():
    player, _, before, steps = play(memory="none", told_rules=True)
    rules = jax.vmap(player.env.game.reveal)(before.env_state.latent)
    np.testing.assert_array_equal(steps.inputs.rules[0], np.repeat(rules, AGENTS, axis=0))
    ends = np.flatnonzero(steps.boundaries.episode_end[:, 0])
    changes = np.flatnonzero((steps.inputs.rules[1:, 0] != steps.inputs.rules[:-1, 0]).any(-1))
    assert set(changes) <= set(ends)


def test_the_painted_record_is_the_last_plane():
    _, _, _, steps = play(memory="evidence")
    found_arm = (steps.inputs.record > 0).any(-1)
    assert steps.inputs.view.shape[-1] == probes.PLANES + 1
    np.testing.assert_array_equal(steps.inputs.view[..., 0, 0, -1], found_arm)
    assert found_arm.any()
    assert not found_arm.all()


def test_a_time_limit_s_value_is_of_the_final_observation():
    """The value after an episode's last step is that of the memory which saw the whole episode."""
    player, params, before, steps = play(memory="gru", ppo={"bootstraps_time_limit": True})
    ends: Boundaries = steps.boundaries
    np.testing.assert_array_equal(ends.time_limit, ends.episode_end)
    last = int(np.flatnonzero(ends.episode_end[:, 0])[0])
    head = jax.tree.map(lambda leaf: leaf[: last + 1], steps.inputs)
    hidden, _ = player.agent.network.apply(params, initial_hidden(before), head)
    final = jax.tree.map(lambda leaf: leaf[last], steps.inputs)
    final = final.replace(
        own=jnp.broadcast_to(jnp.array([LENGTH, TRIALS - 1]) / 10.0, final.own.shape),
        last_action=steps.action[last],
        last_reward=steps.reward[last],
        is_first_of_trial=jnp.zeros_like(final.is_first_of_trial),
        forgets=jnp.zeros_like(final.forgets),
    )
    _, output = player.agent.act(params, hidden, final)
    np.testing.assert_allclose(output.value[0], ends.final_value[last, 0], atol=1e-5)
    assert (ends.final_value[~np.asarray(ends.time_limit).any(1)] == 0.0).all()


def test_no_time_limit_unless_asked_for():
    _, _, _, steps = play(memory="none")
    assert not steps.boundaries.time_limit.any()
