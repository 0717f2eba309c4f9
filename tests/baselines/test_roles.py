"""Cooperators and defectors: the ends of one range, in both games."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import osj_envs
from baselines import cleanup, harvest, registry, roles
from baselines.cleanup import Habits
from osj_envs.evaluation import evaluate
from osj_envs.seats import Privileged, SeesState

PROBLEMS = 10


def test_both_games_have_roles_that_are_fair():
    assert set(roles.GAMES) == {"cleanup", "harvest"}
    for game in roles.GAMES:
        env = osj_envs.make(game)
        for name in ("cooperator", "defector"):
            assert name in registry.list_names(game, privileged=False)
            policy = registry.make(name, env)
            assert not isinstance(policy, SeesState | Privileged)


def test_the_ends_of_the_range_are_players_of_their_own_name():
    river, orchard = osj_envs.make("cleanup"), osj_envs.make("harvest")
    assert roles.make_cooperator(river) == cleanup.make_cleaner(river)
    assert roles.make_defector(river) == cleanup.make_harvester(river)
    assert roles.make_cooperator(orchard) == harvest.make_forager(orchard, 1.0)
    assert roles.make_defector(orchard) == harvest.make_forager(orchard, 0.0)
    assert roles.make_defector(river, 0.3) == roles.make_cooperator(river, 0.3)


@pytest.mark.parametrize("game", roles.GAMES)
def test_cooperation_is_a_share(game):
    env = osj_envs.make(game)
    with pytest.raises(ValueError, match=r"-0\.1; it must lie between 0 and 1"):
        roles.make_cooperator(env, -0.1)
    assert registry.option_names("cooperator") == ("cooperation",)


@pytest.fixture(scope="module")
def by_cooperation():
    """Records of three seats, by how much the first and how much the other two contribute."""
    env = osj_envs.make("cleanup", num_agents=3, num_trials=2, trial_length=200)

    def contributes(share):
        return cleanup.make_player(env, jax.tree.map(jnp.float32, Habits(contribution=share)))

    def played(first, others):
        roster = [contributes(first), *[contributes(others)] * 2]
        return evaluate(env, roster, jax.random.key(0), range(PROBLEMS), rotate=True)

    shares = [(1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.5, 0.5), (0.25, 0.25)]
    return {share: played(*share) for share in shares}


def earns(record):
    """What the first player earns a trial."""
    return record.returns[..., 0].mean()


def test_a_river_is_a_dilemma(by_cooperation):
    """Defecting pays more beside cooperators, and all cooperating more than all defecting."""
    together, rides, alone, nobody = (
        earns(by_cooperation[share]) for share in [(1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0)]
    )
    assert nobody == 0
    assert rides > together > alone >= nobody


def test_who_contributes_more_washes_more(by_cooperation):
    shots = [by_cooperation[share, share].events["fired"].mean() for share in (0.0, 0.25, 0.5, 1.0)]
    assert shots[0] == 0
    assert (np.diff(shots) > 0).all()
