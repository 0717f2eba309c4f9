"""Reward transforms against hand numbers."""

import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.config import REWARDS, RewardConfig
from algorithms.rewards import transform

PAID = [3.0, 0.0, 1.0]
NOBODY = [0.0, 0.0, 0.0]


def transformed(reward, trace=None, **config):
    trace = jnp.zeros(len(reward)) if trace is None else jnp.asarray(trace)
    trace, reward = transform(RewardConfig(**config), trace, jnp.asarray(reward))
    return np.asarray(trace), np.asarray(reward)


def test_individual_is_what_was_paid():
    np.testing.assert_array_equal(transformed(PAID, kind="individual")[1], PAID)


def test_common_is_the_mean():
    np.testing.assert_allclose(transformed(PAID, kind="common")[1], [4 / 3] * 3)


def test_svo_costs_the_distance_between_angles():
    _, found = transformed(PAID, kind="svo", weight=0.5, angle=45.0)
    angles = np.arctan2([0.5, 2.0, 1.5], PAID)
    np.testing.assert_allclose(found, PAID - 0.5 * np.abs(np.pi / 4 - angles), rtol=1e-6)


def test_a_prosocial_agent_wants_everyone_paid_alike():
    _, fair = transformed([1.0, 1.0, 1.0], kind="svo", weight=0.5, angle=45.0)
    np.testing.assert_allclose(fair, 1.0, rtol=1e-6)
    np.testing.assert_array_equal(transformed(NOBODY, kind="svo", weight=0.5)[1], NOBODY)


def test_inequity_aversion_by_hand():
    options = {"kind": "inequity_aversion", "alpha": 5.0, "beta": 0.5, "smoothing": 0.5}
    trace, found = transformed(PAID, trace=[0.0, 2.0, 0.0], **options)
    np.testing.assert_allclose(trace, [3.0, 1.0, 1.0])
    # (3, 1, 1): the first has 2 and 2 more, the others 2 less each; halved, as there are 2 others
    np.testing.assert_allclose(found, [3 - 0.5 * 2, 0 - 5 * 1, 1 - 5 * 1])


@pytest.mark.parametrize("kind", REWARDS)
def test_one_agent_alone_gets_what_it_was_paid(kind):
    _, found = transformed([2.0], kind=kind)
    np.testing.assert_array_equal(found, [2.0])


@pytest.mark.parametrize("kind", REWARDS)
def test_relabelling_the_agents_relabels_the_rewards(kind):
    order = np.array([2, 0, 1])
    straight, turned = transformed(PAID, kind=kind), transformed(np.array(PAID)[order], kind=kind)
    for one, other in zip(straight, turned, strict=True):
        np.testing.assert_allclose(one[order], other, rtol=1e-6)
