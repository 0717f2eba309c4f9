"""JaxMARL's API says, by agent, exactly what the plain environment says."""

import functools
import inspect
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import osj_envs
from osj_envs.adapters import to_jaxmarl
from osj_envs.testing.fakes import CountingGame
from osj_envs.testing.trees import differing_leaves
from osj_envs.trials import MultiTrial

ENVS, STEPS = 5, 13


def counting_env(**options):
    game = CountingGame(**{"num_agents": 3, "shortest": 1, "longest": 4} | options)
    return MultiTrial(game, num_trials=2, trial_length=3)


def cleanup_env():
    return osj_envs.make("cleanup", num_agents=3, num_trials=2, trial_length=2, initial_waste=0.25)


def sample_actions(env, key):
    return jax.random.randint(key, (env.num_agents,), 0, env.num_actions)


def roll(reset, step, key):
    """The first observation, and everything that each step returns, time first."""
    reset_key, play_key = jax.random.split(key)
    observation, state = reset(reset_key)

    def advance(state, key):
        told = step(key, state)
        return told[1], told

    return observation, jax.lax.scan(advance, state, jax.random.split(play_key, STEPS))[1]


@functools.partial(jax.jit, static_argnums=0)
def roll_plain(env, keys):
    def step(key, state):
        return env.step(key, state, sample_actions(env, key))

    return jax.vmap(functools.partial(roll, env.reset, step))(keys)


@functools.partial(jax.jit, static_argnums=0)
def roll_adapted(adapted, keys):
    def step(key, state):
        actions = sample_actions(adapted.env, key)
        return adapted.step(key, state, dict(zip(adapted.agents, actions, strict=True)))

    return jax.vmap(functools.partial(roll, adapted.reset, step))(keys)


def restack(by_agent, axis):
    """The array form of what is told by agent."""
    names = [f"agent_{seat}" for seat in range(len(by_agent))]
    assert list(by_agent) == names
    return jax.tree.map(lambda *leaves: np.stack(leaves, axis), *by_agent.values())


@pytest.mark.parametrize("build", [counting_env, pytest.param(cleanup_env, marks=pytest.mark.slow)])
def test_a_vmapped_rollout_is_the_plain_environments_bit_for_bit(build):
    env = build()
    keys = jax.random.split(jax.random.key(7), ENVS)
    first, plain = jax.device_get(roll_plain(env, keys))
    adapted_first, adapted = jax.device_get(roll_adapted(to_jaxmarl(env), keys))
    observation, state, reward, done, info = plain
    told, told_state, rewards, dones, infos = adapted
    assert done.sum() >= ENVS
    assert not done.all()
    assert not differing_leaves(vars(first), restack(adapted_first, axis=1))
    assert not differing_leaves(vars(observation), restack(told, axis=2))
    assert not differing_leaves(state, told_state)
    assert not differing_leaves(reward, restack(rewards, axis=2))
    assert not differing_leaves(done, dones.pop("__all__"))
    assert not differing_leaves(np.stack([done] * 3, axis=2), restack(dones, axis=2))
    final = restack(infos.pop("final_observation"), axis=2)
    assert not differing_leaves(vars(info.final_observation), final)
    assert not differing_leaves(vars(info.outcome), infos.pop("outcome"))
    expected = {name: value for name, value in vars(info).items() if name in infos}
    assert infos.keys() == {"trial", "step", "trial_done", "events"}
    assert not differing_leaves(expected, infos)


def play_to_the_end(adapted, take_step):
    """The last step of an episode of two trials of three steps."""
    observation, state = adapted.reset(jax.random.key(1))
    actions = {agent: jnp.int32(seat) for seat, agent in enumerate(adapted.agents)}
    for index in range(6):
        told = take_step(jax.random.key(index), state, actions)
        state = told[1]
        assert bool(told[3]["__all__"]) == (index == 5)
    return observation, told


def test_step_env_stops_at_the_episodes_end_and_step_begins_the_next():
    adapted = to_jaxmarl(counting_env(shortest=9, longest=9))
    _, (stopped, ended, rewards, _, infos) = play_to_the_end(adapted, adapted.step_env)
    assert stopped["agent_2"]["own"].tolist() == [1, 3, 3, 6]
    assert bool(ended.done)
    assert rewards["agent_1"] == 30
    _, (fresh, state, same_rewards, _, same_infos) = play_to_the_end(adapted, adapted.step)
    assert fresh["agent_2"]["own"].tolist() == [0, 0, 0, 0]
    assert not bool(state.done)
    assert int(state.clock.trial) == 0
    assert not differing_leaves(rewards, same_rewards)
    assert not differing_leaves(infos, same_infos)
    assert not differing_leaves(stopped, same_infos["final_observation"])


def test_step_puts_a_given_state_in_at_the_episodes_end_and_only_there():
    adapted = to_jaxmarl(counting_env(shortest=9, longest=9))
    actions = dict.fromkeys(adapted.agents, jnp.int32(2))
    _, start = adapted.reset(jax.random.key(5))
    _, given, *_ = adapted.step(jax.random.key(6), start, actions)
    put_in = functools.partial(adapted.step, reset_state=given)
    first, (observation, state, rewards, *_) = play_to_the_end(adapted, put_in)
    assert not differing_leaves(given, state)
    assert not differing_leaves(adapted.get_obs(given), observation)
    assert observation["agent_0"]["own"].tolist() == [0, 1, 1, 2]
    assert rewards["agent_0"] == 3
    assert not differing_leaves(adapted.get_obs(adapted.reset(jax.random.key(1))[1]), first)


def test_everyone_gets_its_own_also_where_names_do_not_sort_by_seat():
    adapted = to_jaxmarl(counting_env(num_agents=12))
    _, state = adapted.reset(jax.random.key(0))
    actions = {agent: jnp.int32(seat) for seat, agent in enumerate(adapted.agents)}
    backwards = dict(reversed(actions.items()))
    observation, *_ = adapted.step_env(jax.random.key(1), state, backwards)
    sums = {agent: int(seen["own"][3]) for agent, seen in observation.items()}
    assert sums == {f"agent_{seat}": seat for seat in range(12)}


def test_the_latent_may_be_chosen():
    env = counting_env(longest=1000)
    adapted = to_jaxmarl(env)
    _, state = adapted.reset(jax.random.key(0), env.problem(906))
    assert not differing_leaves(env.problem(906), state.latent)


@pytest.mark.parametrize("build", [counting_env, cleanup_env])
def test_spaces_hold_what_is_seen_and_what_they_sample(build):
    adapted = to_jaxmarl(build())
    observation, state = adapted.reset(jax.random.key(0))
    for agent in adapted.agents:
        seen, space = observation[agent], adapted.observation_space(agent)
        assert {name: (x.shape, x.dtype) for name, x in seen.items()} == {
            name: (part.shape, part.dtype) for name, part in space.spaces.items()
        }
        assert space.contains(seen)
        for bound in (space.spaces["own"].low - 1.0, space.spaces["own"].high + 1.0, jnp.nan):
            outside = jnp.full_like(seen["own"], bound)
            assert space.contains(seen | {"own": outside}) == np.isinf(bound).all()
        drawn = jax.jit(space.sample)(jax.random.key(2))
        assert space.contains(drawn)
        assert drawn["view"].dtype == jnp.uint8
        assert space.spaces["own"].low.shape == seen["own"].shape
        assert adapted.action_space(agent).n == adapted.env.num_actions
        masks = adapted.get_avail_actions(state)
        assert masks[agent].shape == (adapted.env.num_actions,)
        assert masks[agent].all()


def test_sampled_actions_and_codes_reach_both_ends_of_their_range():
    adapted = to_jaxmarl(counting_env())
    keys = jax.random.split(jax.random.key(3), 200)
    actions = jax.vmap(adapted.action_space("agent_0").sample)(keys)
    assert set(actions.tolist()) == {0, 1, 2}
    assert adapted.action_space("agent_0").contains(actions).all()
    assert not adapted.action_space("agent_0").contains(jnp.array([-1, 3])).any()
    views = jax.vmap(adapted.observation_space("agent_0").sample)(keys)["view"]
    assert (int(views.min()), int(views.max())) == (0, 255)


@pytest.mark.parametrize("given", [["agent_0"], ["agent_0", "agent_1", "agent_2", "agent_3"], []])
def test_actions_that_are_not_one_for_each_agent_are_refused(given):
    adapted = to_jaxmarl(counting_env())
    _, state = adapted.reset(jax.random.key(0))
    actions = dict.fromkeys(given, jnp.int32(0))
    with pytest.raises(ValueError, match="one for each of agent_0, agent_1, agent_2"):
        adapted.step(jax.random.key(0), state, actions)


def test_what_is_no_environment_is_refused():
    with pytest.raises(TypeError, match=r"MultiTrial.*not a CountingGame"):
        to_jaxmarl(CountingGame())


def test_the_libraries_are_not_imported_before_they_are_needed():
    code = (
        "import sys, osj_envs.adapters as adapters, osj_envs\n"
        "adapters.to_jaxmarl(osj_envs.make('cleanup'))\n"
        "assert not {'jaxmarl', 'pettingzoo', 'gymnasium'} & sys.modules.keys()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr


@pytest.fixture
def library():
    name = "jaxmarl.environments.multi_agent_env"
    return pytest.importorskip(name, reason="the package jaxmarl is not installed")


def test_every_method_of_jaxmarls_base_class_takes_the_same_arguments(library):
    adapted = to_jaxmarl(counting_env())
    base = library.MultiAgentEnv
    methods = {name for name in vars(base) if not name.startswith("_")}
    assert {"reset", "step", "step_env", "get_obs", "observation_space"} <= methods
    for name in methods:
        theirs, ours = getattr(base, name), getattr(type(adapted), name)
        if callable(theirs):
            expected = list(inspect.signature(theirs).parameters)
            assert list(inspect.signature(ours).parameters)[: len(expected)] == expected
        else:
            assert isinstance(ours, property)
    assert vars(base(3)).keys() <= vars(adapted).keys()
    assert base(3).agents == adapted.agents


def test_jaxmarls_own_wrapper_logs_the_returns(library):
    from jaxmarl.wrappers.baselines import LogWrapper

    wrapped = LogWrapper(to_jaxmarl(counting_env(shortest=9, longest=9)))
    actions = dict.fromkeys(wrapped.agents, jnp.int32(0))
    _, state = wrapped.reset(jax.random.key(0))
    for index in range(7):
        _, state, _, _, info = wrapped.step(jax.random.key(index), state, actions)
        assert bool(info["returned_episode"].all()) == (index == 5)
    # two trials of three steps: 2 * (1 + 2 + 3), ten times as much from seat to seat
    assert info["returned_episode_returns"].tolist() == [12, 120, 1200]
    assert info["returned_episode_lengths"].tolist() == [6, 6, 6]
