"""PettingZoo's own tests pass, and an episode says what the plain environment says."""

import functools
import sys
import warnings

import jax
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo import ParallelEnv
from pettingzoo.test import parallel_api_test, parallel_seed_test
from pettingzoo.utils import parallel_to_aec

import osj_envs
from osj_envs.adapters import to_pettingzoo
from osj_envs.testing.fakes import CountingGame
from osj_envs.trials import MultiTrial


def counting_env(auto_reset=True, shortest=9, longest=9):
    game = CountingGame(num_agents=3, shortest=shortest, longest=longest)
    return MultiTrial(game, num_trials=2, trial_length=3, auto_reset=auto_reset)


@pytest.fixture(scope="module")
def cleanup():
    env = osj_envs.make("cleanup", num_agents=3, num_trials=2, trial_length=3, auto_reset=False)
    return to_pettingzoo(env)


def play(adapted, seed, options=None):
    """What reset returns, and what each step of an episode of some fixed actions returns."""
    told = [adapted.reset(seed=seed, options=options)]
    while adapted.agents:
        number = len(told)
        actions = {agent: (number + i) % 3 for i, agent in enumerate(adapted.agents)}
        told.append(adapted.step(actions))
    return told


def latent_of(adapted):
    return jax.device_get(adapted._state.latent)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cycles", [4, 20])
def test_pettingzoos_parallel_api_test_passes_without_a_warning(cleanup, cycles):
    assert isinstance(cleanup, ParallelEnv)
    with warnings.catch_warnings():
        # the test resets with an option of that name, whatever an environment knows
        warnings.filterwarnings("ignore", "reset.* knows no option 'options'")
        parallel_api_test(cleanup, num_cycles=cycles)


def test_pettingzoos_parallel_seed_test_passes():
    parallel_seed_test(lambda: to_pettingzoo(counting_env(longest=4)), num_cycles=20)


def test_observations_lie_in_their_spaces_over_a_whole_episode(cleanup):
    told = play(cleanup, seed=3)
    assert len(told) == 7
    for observations, *_ in told:
        for agent in cleanup.possible_agents:
            assert cleanup.observation_space(agent).contains(observations[agent])
    assert cleanup.action_space("agent_0").n == 9
    highest = cleanup.env.game.view_spec.high
    space = cleanup.observation_space("agent_0")["view"]
    np.testing.assert_array_equal(space.high[5, 5], highest)


def test_an_episode_is_the_plain_environments(cleanup):
    told = play(cleanup, seed=11)
    env = cleanup.env
    step = jax.jit(functools.partial(MultiTrial.step, env))
    key, reset_key = jax.random.split(jax.random.key(11))
    observation, state = jax.jit(env.reset)(reset_key)
    for number, (observations, *rest) in enumerate(told):
        if number:
            key, step_key = jax.random.split(key)
            actions = np.array([(number + i) % 3 for i in range(3)], np.int32)
            observation, state, reward, done, info = step(step_key, state, actions)
            rewards, terminations, truncations, infos = rest
            assert list(rewards.values()) == reward.tolist()
            assert list(terminations.values()) == [bool(done)] * 3
            assert not any(truncations.values())
            check_infos(infos, info)
        for seat, agent in enumerate(cleanup.possible_agents):
            np.testing.assert_array_equal(observations[agent]["view"], observation.view[seat])
            np.testing.assert_array_equal(observations[agent]["own"], observation.own[seat])


def check_infos(infos, info):
    for seat, own in enumerate(infos.values()):
        assert (own["trial"], own["step"], own["trial_done"]) == (
            int(info.trial),
            int(info.step),
            bool(info.trial_done),
        )
        final = own["final_observation"]
        np.testing.assert_array_equal(final["view"], info.final_observation.view[seat])
        np.testing.assert_array_equal(own["outcome"]["blocked"], info.outcome.blocked[seat])
        assert own["events"].keys() == info.events.keys()
        assert own["events"]["fired"] == info.events["fired"][seat]


@pytest.mark.parametrize("auto_reset", [True, False])
def test_the_last_observation_of_trial_and_episode_is_told(auto_reset):
    adapted = to_pettingzoo(counting_env(auto_reset))
    told = play(adapted, seed=0)
    assert [list(step[2].values()) for step in told[1:]] == [[False] * 3] * 5 + [[True] * 3]
    # trial, step, steps counted: of the new trial at a trial's end, of the old at the episode's
    seen = [step[0]["agent_1"]["own"][:3].tolist() for step in told]
    assert seen == [[0, 0, 0], [0, 1, 1], [0, 2, 2], [1, 0, 0], [1, 1, 1], [1, 2, 2], [1, 3, 3]]
    final = [step[4]["agent_1"]["final_observation"]["own"][:3].tolist() for step in told[1:]]
    assert final[2] == [0, 3, 3]
    assert final[5] == [1, 3, 3]
    assert [step[1]["agent_2"] for step in told[1:]] == [100, 200, 300] * 2
    assert adapted.agents == []
    assert adapted.num_agents == 0
    assert adapted.max_num_agents == 3


def test_actions_go_by_name_not_by_order():
    adapted = to_pettingzoo(counting_env())
    adapted.reset(seed=0)
    observations, *_ = adapted.step({"agent_2": 2, "agent_0": 0, "agent_1": 1})
    assert {agent: seen["own"][3] for agent, seen in observations.items()} == {
        "agent_0": 0,
        "agent_1": 1,
        "agent_2": 2,
    }


def test_after_the_end_a_step_is_refused_and_a_reset_begins_anew():
    adapted = to_pettingzoo(counting_env())
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        adapted.step({})
    play(adapted, seed=0)
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        adapted.step(dict.fromkeys(adapted.possible_agents, 0))
    observations, _ = adapted.reset()
    assert adapted.agents == ["agent_0", "agent_1", "agent_2"]
    assert observations["agent_0"]["own"].tolist() == [0, 0, 0, 0]


def test_a_seed_fixes_the_episodes_that_follow():
    first, second, other = (to_pettingzoo(counting_env(longest=4)) for _ in range(3))
    first.reset(seed=8)  # a different past
    one = [play(first, seed=5), play(first, seed=None)]
    two = [play(second, seed=5), play(second, seed=None)]
    assert data_equivalence(one, two)
    first.reset(seed=5)
    latent = latent_of(first).key.tolist()
    first.reset()
    assert latent != latent_of(first).key.tolist()
    other.reset(seed=6)
    assert latent != latent_of(other).key.tolist()


def test_without_any_seed_two_environments_differ():
    first, second = to_pettingzoo(counting_env()), to_pettingzoo(counting_env())
    first.reset()
    second.reset()
    assert latent_of(first).key.tolist() != latent_of(second).key.tolist()


def test_a_problem_seed_names_the_world(cleanup):
    problem = jax.device_get(cleanup.env.problem(906))
    for seed in (0, None):
        cleanup.reset(seed=seed, options={"problem": 906})
        assert jax.tree.all(jax.tree.map(np.array_equal, latent_of(cleanup), problem))
    cleanup.reset(seed=0)
    assert not jax.tree.all(jax.tree.map(np.array_equal, latent_of(cleanup), problem))


def test_a_picture_shows_the_state(cleanup):
    assert cleanup.render_mode in cleanup.metadata["render_modes"]
    assert str(cleanup) == "cleanup"
    cleanup.reset(seed=1)
    picture = cleanup.render()
    assert picture.dtype == np.uint8
    assert picture.ndim == 3
    np.testing.assert_array_equal(picture, cleanup.env.render(cleanup._state))
    cleanup.reset(seed=2)
    assert (cleanup.render() != picture).any()


def test_turn_by_turn_play_sees_the_same_rewards():
    adapted = parallel_to_aec(to_pettingzoo(counting_env()))
    adapted.reset(seed=0)
    returns = dict.fromkeys(adapted.possible_agents, 0.0)
    for agent in adapted.agent_iter():
        _, reward, terminated, _, _ = adapted.last()
        returns[agent] += reward
        adapted.step(None if terminated else 1)
    assert list(returns.values()) == [12, 120, 1200]


@pytest.mark.parametrize(
    ("actions", "sentence"),
    [
        ({"agent_0": 0}, "one for each of agent_0, agent_1, agent_2"),
        (dict.fromkeys(["agent_0", "agent_1", "agent_2", "agent_3"], 0), "one for each"),
        (dict.fromkeys(["agent_0", "agent_1", "agent_2"], 3), "from 0 to 2"),
        (dict.fromkeys(["agent_0", "agent_1", "agent_2"], -1), "from 0 to 2"),
        (dict.fromkeys(["agent_0", "agent_1", "agent_2"], 1.0), "whole number"),
        ({f"agent_{seat}": [1] for seat in range(3)}, "whole number"),
    ],
)
def test_actions_that_are_not_allowed_are_refused(actions, sentence):
    adapted = to_pettingzoo(counting_env())
    adapted.reset(seed=0)
    with pytest.raises(ValueError, match=sentence):
        adapted.step(actions)


@pytest.mark.parametrize("seed", [-1, 2**32, 1.0, True, "1"])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(ValueError, match=r"seed is .*; it must be a whole number from 0"):
        to_pettingzoo(counting_env()).reset(seed=seed)


def test_a_problem_out_of_range_is_refused_and_an_unknown_option_is_said():
    adapted = to_pettingzoo(counting_env())
    with pytest.raises(ValueError, match="problem seed is -1"):
        adapted.reset(options={"problem": -1})
    with pytest.warns(UserWarning, match="no option 'problems', only 'problem'"):
        adapted.reset(options={"problems": 1})


def test_nothing_is_rendered_before_a_reset_and_what_is_no_environment_is_refused():
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        to_pettingzoo(counting_env()).render()
    with pytest.raises(TypeError, match=r"MultiTrial.*not a CountingGame"):
        to_pettingzoo(CountingGame())


@pytest.mark.parametrize("package", ["pettingzoo", "gymnasium"])
def test_a_missing_package_is_named_with_the_way_to_get_it(monkeypatch, package):
    monkeypatch.delitem(sys.modules, "osj_envs.adapters.pettingzoo", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"'{package}'.*pip install 'osj\[adapters\]'"):
        to_pettingzoo(counting_env())
