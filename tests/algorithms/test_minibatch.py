"""Minibatches: who is in which, on how many devices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.minibatch import shuffled_members, take_actors

ACTORS, MINIBATCHES = 60, 5


def members_on(devices, key):
    """Global indices of every minibatch, gathered from all devices."""
    share = ACTORS // devices
    parts = [
        shuffled_members(key, jnp.int32(device * share), share, MINIBATCHES) + device * share
        for device in range(devices)
    ]
    return np.concatenate(parts, axis=1)


@pytest.mark.parametrize("devices", [1, 2, 3, 4, 12])
def test_every_actor_is_in_one_minibatch_whatever_the_devices(devices):
    key = jax.random.key(3)
    members = members_on(devices, key)
    assert members.shape == (MINIBATCHES, ACTORS // MINIBATCHES)
    assert sorted(members.ravel()) == list(range(ACTORS))
    np.testing.assert_array_equal(np.sort(members), np.sort(members_on(1, key)))


def test_companions_change_with_the_key_and_from_group_to_group():
    first, second = members_on(1, jax.random.key(0)), members_on(1, jax.random.key(1))
    assert (np.sort(first) != np.sort(second)).any()
    deals = first.T - MINIBATCHES * np.arange(ACTORS // MINIBATCHES)[:, None]
    assert len({tuple(deal) for deal in deals}) > 1


def test_any_two_of_a_group_share_no_minibatch_and_others_may():
    members = members_on(1, jax.random.key(2))
    groups = members // MINIBATCHES
    assert all(len(set(row)) == len(row) for row in groups)


def test_taking_actors_keeps_the_time_whole():
    steps = {"a": jnp.arange(7 * 6).reshape(7, 6), "b": jnp.zeros((7, 6, 2))}
    taken = take_actors(steps, jnp.array([4, 1]), axis=1)
    np.testing.assert_array_equal(taken["a"], np.arange(7 * 6).reshape(7, 6)[:, [4, 1]])
    assert taken["b"].shape == (7, 2, 2)
