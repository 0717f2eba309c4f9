"""Losses against hand numbers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import losses
from algorithms.config import AgentConfig, PPOConfig
from algorithms.records import AgentInput, Batch, NetworkOutput

TIME, ACTORS, ACTIONS, RECORD = 3, 2, 5, 7
NOTHING = np.zeros((TIME, ACTORS, 0), np.float32)


def make_batch(**changes):
    zeros = jnp.zeros((TIME, ACTORS))
    inputs = AgentInput(*[None] * 6, record=jnp.zeros((TIME, ACTORS, RECORD)), rules=None)
    fields = dict.fromkeys(("log_prob", "value", "event", "advantage", "target"), zeros)
    action = jnp.zeros((TIME, ACTORS), jnp.int32)
    return Batch(**{"hidden": None, "inputs": inputs, "action": action, **fields, **changes})


def make_output(**changes):
    fields = {
        "logits": jnp.zeros((TIME, ACTORS, ACTIONS)),
        "value": jnp.zeros((TIME, ACTORS)),
        "record_logits": NOTHING,
        "event_logits": NOTHING,
    }
    return NetworkOutput(**{**fields, **changes})


def on_one_device(function, *arguments):
    """Under the axis of the devices, of which there is one."""
    batch = jax.tree.map(lambda leaf: leaf[None], arguments)
    found = jax.vmap(function, axis_name="envs")(*batch)
    return jax.tree.map(lambda leaf: leaf[0], found)


@pytest.mark.parametrize(
    ("ratio", "advantage", "gain"),
    [(1.5, 2.0, 2.4), (1.5, -2.0, -3.0), (0.5, 2.0, 1.0), (0.5, -2.0, -1.6), (1.1, 2.0, 2.2)],
)
def test_the_surrogate_is_clipped_on_the_side_that_gains(ratio, advantage, gain):
    batch = make_batch(advantage=jnp.full((TIME, ACTORS), advantage))
    log_prob = jnp.full((TIME, ACTORS), np.log(ratio))
    loss, stats = losses.policy_loss(PPOConfig(clip=0.2), log_prob, batch)
    np.testing.assert_allclose(loss, -gain, rtol=1e-5)
    assert stats["clip_fraction"] == (abs(ratio - 1) > 0.2)
    np.testing.assert_allclose(stats["approx_kl"], ratio - 1 - np.log(ratio), rtol=1e-4)


def test_a_clipped_gain_has_no_gradient():
    def loss(log_prob, advantage):
        batch = make_batch(advantage=jnp.full((TIME, ACTORS), advantage))
        return losses.policy_loss(PPOConfig(), jnp.full((TIME, ACTORS), log_prob), batch)[0]

    assert jax.grad(loss)(0.5, 1.0) == 0.0
    assert jax.grad(loss)(0.5, -1.0) > 0.0
    np.testing.assert_allclose(jax.grad(loss)(0.0, 1.0), -1.0, rtol=1e-6)


def test_the_total_weighs_its_parts():
    config = AgentConfig(ppo=PPOConfig(value_loss=0.25, entropy=0.5))
    batch = make_batch(
        advantage=jnp.ones((TIME, ACTORS)),
        target=jnp.full((TIME, ACTORS), 3.0),
        log_prob=jnp.full((TIME, ACTORS), -np.log(ACTIONS)),
    )
    loss, stats = on_one_device(
        lambda output, batch: losses.total_loss(config, output, batch, "envs"), make_output(), batch
    )
    np.testing.assert_allclose(loss, -1.0 + 0.25 * 9.0 - 0.5 * np.log(ACTIONS), rtol=1e-5)
    np.testing.assert_allclose(stats["entropy"], np.log(ACTIONS), rtol=1e-6)
    assert "record_loss" not in stats
    assert "event_loss" not in stats


def test_the_record_is_right_where_the_state_reproduces_it():
    record = jnp.broadcast_to(
        jnp.array([1.0, -1.0, 0.0, 1.0, -1.0, 0.0, 0.0]), (TIME, ACTORS, RECORD)
    )
    batch = make_batch().replace(inputs=make_batch().inputs.replace(record=record))
    good = losses.record_loss(make_output(record_logits=20 * record), batch)
    bad = losses.record_loss(make_output(record_logits=-20 * record), batch)
    np.testing.assert_allclose(good, np.log(2) * 3 / 7, rtol=1e-4)  # an unknown is a coin's toss
    np.testing.assert_allclose(bad, 20 * 4 / 7 + np.log(2) * 3 / 7, rtol=1e-4)


def event_error(batch, event_action):
    logits = jnp.zeros((TIME, ACTORS, ACTIONS)).at[..., 3].set(2.0)
    output = make_output(event_logits=logits)
    return on_one_device(
        lambda output, batch: losses.event_loss(output, batch, event_action, "envs"), output, batch
    )


def test_events_count_for_their_action_alone():
    action = jnp.array([[3, 1], [0, 3], [2, 2]])
    event = jnp.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    batch = make_batch(action=action, event=event)
    softplus = np.log1p(np.exp([-2.0, 2.0]))
    np.testing.assert_allclose(event_error(batch, 3), softplus.mean(), rtol=1e-5)
    whole = (softplus.sum() + 4 * np.log(2)) / 6
    np.testing.assert_allclose(event_error(batch, -1), whole, rtol=1e-5)
    assert event_error(batch, 4) == 0.0


def test_normalised_over_all_devices():
    advantage = jax.random.normal(jax.random.key(0), (4, 11, 3)) * 5.0 + 2.0
    found = jax.vmap(lambda part: losses.normalised(part, "envs"), axis_name="envs")(advantage)
    np.testing.assert_allclose(found.mean(), 0.0, atol=1e-6)
    np.testing.assert_allclose(found.std(), 1.0, rtol=1e-5)
    assert abs(found[0].mean()) > 1e-3


def test_explained_variance():
    target = jax.random.normal(jax.random.key(1), (4, 11))

    def explained(value):
        function = lambda v, t: losses.explained_variance(v, t, "envs")  # noqa: E731  # one use
        return jax.vmap(function, axis_name="envs")(value, target)[0]

    np.testing.assert_allclose(explained(target + 7.0), 1.0, rtol=1e-5)
    np.testing.assert_allclose(explained(jnp.zeros_like(target)), 0.0, atol=1e-5)
    np.testing.assert_allclose(explained(-target), -3.0, rtol=1e-4)


def test_events_count_alike_wherever_they_are():
    """Devices with unequal numbers of counted steps: their mean is that over all such steps."""
    action = jnp.array([[[3, 3], [3, 3], [3, 3]], [[3, 1], [1, 1], [1, 1]]])
    event = jnp.zeros((2, TIME, ACTORS)).at[1, 0, 0].set(1.0)
    logits = jnp.zeros((TIME, ACTORS, ACTIONS)).at[..., 3].set(2.0)

    def on_a_device(action, event):
        batch = make_batch(action=action, event=event)
        return losses.event_loss(make_output(event_logits=logits), batch, 3, "envs")

    found = jax.vmap(on_a_device, axis_name="envs")(action, event)
    wrong, right = np.log1p(np.exp([2.0, -2.0]))
    np.testing.assert_allclose(found.mean(), (6 * wrong + right) / 7, rtol=1e-5)
