"""The network: what it tells apart, and that a chunk is its steps one after another."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.config import AgentConfig
from algorithms.networks import Sizes, ViewEncoder, network_sizes
from algorithms.records import AgentInput
from algorithms.rl2 import initial_params, make_agent
from tests.algorithms import probes
from tests.algorithms.training import SMALL

TIME, ACTORS = 7, 5
RECURRENT = ["gru", "lru", "gru+evidence"]


def make_inputs(agent, seed=0):
    """A chunk of random inputs, within which some actors forget."""
    rng = np.random.default_rng(seed)
    game, shape = agent.game, (TIME, ACTORS)
    codes = agent.network.sizes.plane_codes
    view = rng.integers(0, codes, (*shape, *game.view_spec.shape[:2], len(codes)))
    record = agent.network.sizes.record
    rules = len(agent.hidden_rules(game.sample_latent(jax.random.key(0))))
    return AgentInput(
        view=jnp.asarray(view, jnp.uint8),
        own=jnp.asarray(rng.normal(size=(*shape, *game.own_spec.shape)), jnp.float32),
        last_action=jnp.asarray(rng.integers(-1, game.num_actions, shape)),
        last_reward=jnp.asarray(rng.normal(size=shape), jnp.float32),
        is_first_of_trial=jnp.asarray(rng.random(shape) < 0.4),
        forgets=jnp.asarray(rng.random(shape) < 0.3),
        record=jnp.asarray(rng.integers(-1, 2, (*shape, record)), jnp.float32),
        rules=jnp.asarray(rng.normal(size=(*shape, rules)), jnp.float32),
    )


def build(seed=0, **config):
    """An agent, its parameters, a chunk of inputs and a recurrent state to begin with."""
    agent = make_agent(AgentConfig(**{**SMALL, **config}), probes.HiddenArm(2, 5))
    params = initial_params(agent, jax.random.key(seed))
    size = agent.initial_memory().hidden.shape[0]
    hidden = jax.random.normal(jax.random.key(9), (ACTORS, size))
    return agent, params, make_inputs(agent), hidden


@pytest.mark.parametrize("memory", [*RECURRENT, "none", "evidence"])
def test_a_chunk_is_its_steps_one_after_another(memory):
    agent, params, inputs, hidden = build(memory=memory)
    last, whole = agent.network.apply(params, hidden, inputs)
    for time in range(TIME):
        now = jax.tree.map(lambda leaf, time=time: leaf[time], inputs)
        hidden, step = agent.act(params, hidden, now)
        np.testing.assert_allclose(step.logits, whole.logits[time], atol=1e-5)
        np.testing.assert_allclose(step.value, whole.value[time], atol=1e-5)
    np.testing.assert_allclose(hidden, last, atol=1e-5)


@pytest.mark.parametrize("memory", RECURRENT)
def test_forgetting_wipes_all_that_came_before_and_nothing_else_does(memory):
    agent, params, inputs, hidden = build(memory=memory)
    forgets = jnp.zeros((TIME, ACTORS), bool).at[3, 2].set(True)
    inputs = inputs.replace(forgets=forgets)
    _, one = agent.network.apply(params, hidden, inputs)
    _, other = agent.network.apply(params, hidden + 1.0, inputs)
    same = np.asarray(one.value == other.value)
    assert same[3:, 2].all()
    assert not same[:3].any()
    assert not same[3:, [0, 1, 3, 4]].any()


@pytest.mark.parametrize("memory", ["none", "evidence"])
def test_without_recurrence_steps_know_nothing_of_each_other(memory):
    agent, params, inputs, hidden = build(memory=memory)
    assert hidden.shape == (ACTORS, 0)
    _, one = agent.network.apply(params, hidden, inputs)
    other_first = inputs.replace(own=inputs.own.at[0].add(1.0))
    _, other = agent.network.apply(params, hidden, other_first)
    np.testing.assert_array_equal(one.value[1:], other.value[1:])
    assert (one.value[0] != other.value[0]).all()


def changed_by(field, **config):
    """Whether the policy's answer depends on a field of its input."""
    agent, params, inputs, hidden = build(**config)
    value = getattr(inputs, field)
    other = ~value if value.dtype == bool else value + jnp.ones((), value.dtype)
    _, one = agent.network.apply(params, hidden, inputs)
    _, two = agent.network.apply(params, hidden, inputs.replace(**{field: other}))
    return bool((one.logits != two.logits).any())


@pytest.mark.parametrize("field", ["own", "last_action", "last_reward", "is_first_of_trial"])
@pytest.mark.parametrize("memory", ["gru", "evidence"])
def test_every_input_is_read(field, memory):
    assert changed_by(field, memory=memory)


def test_the_record_and_the_rules_are_read_where_they_should_be():
    assert changed_by("record", memory="evidence")
    assert changed_by("record", memory="gru+evidence")
    assert changed_by("rules", memory="none", told_rules=True)
    assert not changed_by("record", memory="gru", record_loss=1.0)
    assert not changed_by("record", memory="gru+evidence", record_loss=1.0, reads_own_record=True)


def test_the_policy_reads_its_own_record():
    agent, params, inputs, hidden = build(
        memory="gru+evidence", record_loss=1.0, reads_own_record=True
    )
    _, one = agent.network.apply(params, hidden, inputs)
    params["params"]["record"]["bias"] += 1.0
    _, other = agent.network.apply(params, hidden, inputs)
    assert (one.logits != other.logits).any()


def test_auxiliary_targets_have_outputs_only_where_they_are_learned():
    agent, params, inputs, hidden = build(memory="gru")
    _, plain = agent.network.apply(params, hidden, inputs)
    assert plain.record_logits.shape == plain.event_logits.shape == (TIME, ACTORS, 0)
    agent, params, inputs, hidden = build(
        memory="gru", record_loss=1.0, event_loss=1.0, events=["paid"]
    )
    _, both = agent.network.apply(params, hidden, inputs)
    assert both.record_logits.shape == both.event_logits.shape == (TIME, ACTORS, 5)


def test_the_record_s_loss_trains_the_recurrent_state():
    agent, params, inputs, hidden = build(memory="gru", record_loss=1.0)

    def record_part(params):
        return agent.network.apply(params, hidden, inputs)[1].record_logits.sum()

    gradient = jax.grad(record_part)(params)["params"]
    assert (gradient["GRU_0"]["recurrent"] != 0).any()


def test_codes_of_joint_planes_are_told_apart_jointly():
    encoder = ViewEncoder(plane_codes=(3, 2, 5, 4), embedding_size=3, features=11)
    views = np.stack(np.meshgrid(*map(range, (3, 2, 5, 4)), indexing="ij"), -1).reshape(-1, 1, 1, 4)
    views = jnp.asarray(views, jnp.uint8)
    params = encoder.init(jax.random.key(0), views)
    tables = {k: v.shape for k, v in params["params"].items() if k.startswith("codes")}
    assert tables == {"codes_0_1": (6, 3), "codes_2_3": (20, 3)}
    params["params"]["cells"]["bias"] += 10.0  # past the rectifier
    found = np.asarray(encoder.apply(params, views))
    assert len(np.unique(found.round(4), axis=0)) == 120


def test_where_a_code_lies_matters():
    encoder = ViewEncoder(plane_codes=(3, 2), embedding_size=3, features=11)
    views = jnp.zeros((15, 5, 3, 2), jnp.uint8).reshape(15, 15, 2)
    views = views.at[jnp.arange(15), jnp.arange(15), 0].set(2).reshape(15, 5, 3, 2)
    found = encoder.apply(encoder.init(jax.random.key(0), views), views)
    assert len(np.unique(np.asarray(found).round(5), axis=0)) == 15


def test_sizes_follow_the_game():
    game = probes.HiddenArm(2, 5)
    assert network_sizes(AgentConfig(), game) == Sizes((6, 2), 5, 0)
    assert network_sizes(AgentConfig(memory="evidence"), game) == Sizes((6, 2, 2), 5, 5)
    config = dataclasses.replace(AgentConfig(), record_loss=1.0)
    assert network_sizes(config, game) == Sizes((6, 2), 5, 5)


def test_the_linear_recurrence_never_grows():
    agent, params, inputs, hidden = build(memory="lru")
    still = inputs.replace(forgets=jnp.zeros((TIME, ACTORS), bool))
    many = jax.tree.map(lambda leaf: jnp.concatenate([leaf] * 200), still)
    last, output = agent.network.apply(params, hidden * 100.0, many)
    assert jnp.abs(last).max() < 50.0
    assert jnp.isfinite(output.value).all()
