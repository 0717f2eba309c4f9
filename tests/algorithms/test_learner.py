"""The learner: it learns what a probe asks for, and the same on any number of devices."""

import os
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import collect
from tests.algorithms import many_devices, probes
from tests.algorithms.training import learn, make_probe_learner, mean_of_last

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def small():
    """A learner that is built often and never trained for long."""
    return make_probe_learner(
        probes.HiddenArm(3, 5), 5, 7, num_envs=8, chunk_length=11, memory="gru+evidence"
    )


def test_every_seat_learns_to_echo_what_it_sees():
    learner = make_probe_learner(probes.Echo(3, 5), 2, 7, memory="none")
    _, history = learn(learner, 40)
    assert (mean_of_last(history, "return_by_trial") > 0.9 * 7).all()
    assert (history[0]["return_by_trial"] < 0.4 * 7).all()


@pytest.mark.parametrize(
    "memory",
    ["gru", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("lru", "evidence"))],
)
def test_memory_outlives_the_trials(memory):
    learner = make_probe_learner(probes.Recall(2, 5), 5, 3, chunk_length=15, memory=memory)
    _, history = learn(learner, 100)
    assert (mean_of_last(history, "return_by_trial", 20) > 0.85).all()


@pytest.mark.parametrize(
    "agent",
    [
        pytest.param({"memory": "none"}, marks=pytest.mark.slow),
        {"memory": "gru", "wipe_at_trial": True},
    ],
)
def test_without_memory_across_trials_only_the_first_can_be_learned(agent):
    learner = make_probe_learner(probes.Recall(2, 5), 5, 3, chunk_length=15, **agent)
    _, history = learn(learner, 100)
    returns = mean_of_last(history, "return_by_trial", 20)
    assert returns[0] > 0.9
    assert (returns[1:] < 0.3).all()  # one guess in five is right


def test_the_policy_reads_its_own_reconstruction_of_the_record():
    learner = make_probe_learner(
        probes.Recall(2, 5),
        5,
        3,
        chunk_length=15,
        memory="gru+evidence",
        record_loss=1.0,
        reads_own_record=True,
    )
    _, history = learn(learner, 60)
    assert (mean_of_last(history, "return_by_trial") > 0.9).all()
    # one symbol in five is known to be right once it was seen, the others stay a coin's toss
    assert np.log(2) * 4 / 5 < mean_of_last(history, "record_loss") < 0.6


def test_exploring_in_the_first_trial_pays_in_the_later_ones():
    learner = make_probe_learner(probes.HiddenArm(2, 5), 3, 7, memory="evidence")
    _, history = learn(learner, 60)
    returns = mean_of_last(history, "return_by_trial")
    # trying arms in turn finds the one of five after two misses on average
    assert 4.0 < returns[0] < 5.3
    assert (returns[1:] > 6.5).all()


def test_the_recurrent_state_learns_to_explore_and_exploit():
    learner = make_probe_learner(probes.HiddenArm(2, 3), 3, 7, memory="lru")
    _, history = learn(learner, 120)
    returns = mean_of_last(history, "return_by_trial")
    assert returns[2] > 0.85 * 7
    assert returns[2] > returns[0]


def test_an_agent_that_is_told_the_rules_need_not_explore():
    learner = make_probe_learner(probes.HiddenArm(1, 5), 3, 7, memory="none", told_rules=True)
    _, history = learn(learner, 120)
    assert (mean_of_last(history, "return_by_trial") > 0.9 * 7).all()


@pytest.mark.parametrize("crosses_trials", [True, False])
def test_values_look_over_a_trial_s_end_only_if_they_should(crosses_trials):
    """What is paid at the end of each of three trials of 7 steps, seen from the first step."""
    ppo = {"crosses_trials": crosses_trials, "discount": 0.9, "gae_lambda": 0.8, "entropy": 0.0}
    learner = make_probe_learner(probes.Payday(7), 3, 7, memory="none", ppo=ppo)
    state, _ = learn(learner, 100)
    fresh = learner.init(1).actors
    at_start = jax.tree.map(lambda leaf: leaf[:1], fresh)  # the staggered start leaves the first
    found = float(collect.values(learner.player, state.params, at_start)[0])
    ends = [6, 13, 20] if crosses_trials else [6]
    np.testing.assert_allclose(found, sum(0.9**end for end in ends), atol=0.06)


def test_a_predicted_event_is_learned():
    learner = make_probe_learner(
        probes.Echo(2, 3), 2, 7, memory="gru", event_loss=1.0, events=["paid"], ppo={"entropy": 0.1}
    )
    _, history = learn(learner, 30)
    assert history[0]["event_loss"] > 0.5
    assert mean_of_last(history, "event_loss", 5) < 0.1


def test_metrics_report_individual_returns_whatever_is_learned_from():
    options = {"num_envs": 8, "chunk_length": 13, "memory": "none"}
    common = make_probe_learner(probes.HiddenArm(2, 5), 2, 7, reward={"kind": "common"}, **options)
    alone = make_probe_learner(probes.HiddenArm(2, 5), 2, 7, **options)
    one, other = learn(common, 1)[1][0], learn(alone, 1)[1][0]
    np.testing.assert_array_equal(one["return_by_trial"], other["return_by_trial"])
    np.testing.assert_array_equal(one["events/paid"], other["events/paid"])
    assert one["policy_loss"] != other["policy_loss"]


def test_trials_are_counted_once_and_whole():
    """Eight environments, at different steps of episodes of 5 x 7 steps, play 70 steps."""
    learner = make_probe_learner(
        probes.HiddenArm(3, 5), 5, 7, num_envs=8, chunk_length=70, memory="none"
    )
    state = learner.init(0)
    clock = jax.device_get(state.actors.env_state.clock)
    phase = clock.trial * 7 + clock.step
    np.testing.assert_array_equal(phase, np.arange(8) * 35 // 8)
    _, metrics = learner.compile_update()(state)
    expected = np.zeros(5)
    for start in phase:
        for first in range(start, start + 70):
            if first % 7 == 0 and first + 7 <= start + 70:
                expected[first // 7 % 5] += 1
    np.testing.assert_array_equal(metrics["trials_finished"], expected)
    total = (metrics["return_by_trial"] * metrics["trials_finished"]).sum()
    np.testing.assert_allclose(metrics["return_mean"], total / expected.sum(), rtol=1e-5)
    np.testing.assert_allclose(metrics["events/paid"], metrics["return_mean"], rtol=1e-5)


def test_without_staggering_all_start_at_the_beginning():
    learner = make_probe_learner(
        probes.HiddenArm(3, 5), 5, 7, num_envs=8, staggered=False, memory="none"
    )
    clock = learner.init(0).actors.env_state.clock
    assert not clock.trial.any()
    assert not clock.step.any()


def test_an_update_consumes_the_state(small):
    update, state = small.compile_update(), small.init(0)
    for number in range(2):
        before = state
        state, metrics = update(state)
        assert jax.tree.leaves(before.params)[0].is_deleted()
        assert int(state.updates) == number + 1
    assert all(np.isfinite(metrics[name]).all() for name in ("entropy", "gradient_norm"))


def test_an_interrupted_run_goes_on_bit_by_bit(small):
    straight, _ = learn(small, 4)
    half, _ = learn(small, 2)
    stored = jax.tree.map(_to_host, half)
    resumed = jax.device_put(jax.tree.map(_from_host, half, stored), small.shardings())
    update = small.compile_update()
    for _ in range(2):
        resumed, _ = update(resumed)
    for one, other in zip(jax.tree.leaves(straight), jax.tree.leaves(resumed), strict=True):
        np.testing.assert_array_equal(_to_host(one), _to_host(other))


def _to_host(leaf):
    is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    return np.array(jax.random.key_data(leaf) if is_key else leaf)


def _from_host(like, value):
    is_key = jnp.issubdtype(like.dtype, jax.dtypes.prng_key)
    return jax.random.wrap_key_data(jnp.asarray(value)) if is_key else jnp.asarray(value)


def test_a_seed_decides_everything(small):
    def figures(seed):
        return learn(small, 1, seed)[1][0]["policy_loss"]

    assert figures(0) == figures(0)
    assert figures(0) != figures(1)


def test_no_random_key_is_used_twice(small):
    with jax.debug_key_reuse(True):
        state = small.init(0)
        small.compile_update()(state)


def test_one_device_or_eight_learn_the_same_and_compile_once(tmp_path):
    environment = {**os.environ, "JAX_NUM_CPU_DEVICES": "8", "PYTHONPATH": str(ROOT)}
    file = tmp_path / "eight.npz"
    command = [sys.executable, "-m", many_devices.__name__, str(file)]
    subprocess.run(command, check=True, cwd=ROOT, env=environment)
    eight = np.load(file)
    assert eight["devices"] == 8
    assert len(jax.devices()) == 1
    for memory in many_devices.MEMORIES:
        for name, value in many_devices.figures(memory).items():
            np.testing.assert_allclose(eight[name], value, rtol=2e-3, atol=2e-4, err_msg=name)


def test_actors_that_cannot_be_shared_out_are_refused():
    with pytest.raises(ValueError, match=r"9 actors.*minibatches=4"):
        make_probe_learner(probes.Echo(3, 5), 2, 7, num_envs=3)
