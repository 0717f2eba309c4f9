"""What every environment must do, whatever its rules: one check a promise.

Each check takes a function that makes the environment with given options, and raises
AssertionError. `CHECKS` lists them all; a test runs each over every registered environment.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from osj_envs.testing.fakes import Recorder
from osj_envs.testing.trees import differing_leaves, named_leaves
from osj_envs.trials import MultiTrial
from osj_envs.types import Key

Maker: TypeAlias = Callable[..., MultiTrial]

AGENTS, TRIALS, STEPS = 3, 2, 5


class Subject(NamedTuple):
    """A small environment and its functions, compiled once for all checks."""

    env: MultiTrial
    reset: Any
    step: Any


@functools.cache
def subject(make: Maker) -> Subject:
    """Three agents, two trials of five steps."""
    env = make(num_agents=AGENTS, num_trials=TRIALS, trial_length=STEPS)
    return Subject(env, jax.jit(env.reset), jax.jit(env.step))


def some_actions(env: MultiTrial, seed: int) -> Int[Array, "agents"]:
    """Random actions of all agents."""
    return jax.random.randint(jax.random.key(seed), (env.num_agents,), 0, env.num_actions)


def check_spaces(make: Maker) -> None:
    """Observations, rewards and the rest have the shapes, dtypes and ranges that are promised."""
    env, reset, step = subject(make)
    observation, state = reset(jax.random.key(0))
    for number in range(STEPS * TRIALS + 1):
        _check_observation(env, observation)
        actions = some_actions(env, number)
        assert env.game.action_spec.contains(np.asarray(actions))
        observation, state, reward, done, info = step(jax.random.key(number), state, actions)
        assert (reward.shape, reward.dtype) == ((AGENTS,), jnp.float32)
        assert (done.shape, done.dtype) == ((), jnp.bool_)
        _check_observation(env, info.final_observation)
        for name in ("trial", "step", "trial_done"):
            assert info[name].shape == ()
        for leaf in jax.tree.leaves((info.outcome, info.events)):
            assert leaf.shape[0] == AGENTS
        np.testing.assert_array_equal(info.outcome.reward, reward)


def _check_observation(env: MultiTrial, observation: Any) -> None:
    specs = {"view": env.game.view_spec, "own": env.game.own_spec}
    for name, spec in specs.items():
        leaf = np.asarray(getattr(observation, name))
        assert leaf.shape == (env.num_agents, *spec.shape), f"{name} has shape {leaf.shape}."
        assert spec.contains(leaf), f"{name} leaves its space."


def check_fixed_point(make: Maker) -> None:
    """A step returns a state and an observation of just the shapes and types it was given."""
    env, _, _ = subject(make)
    start = jax.eval_shape(env.reset, jax.random.key(0))
    told = jax.eval_shape(env.step, jax.random.key(0), start[1], some_actions(env, 0))
    for before, after in zip(
        jax.tree.leaves((*start, start[0])),
        jax.tree.leaves((*told[:2], told[4].final_observation)),
        strict=True,
    ):
        assert before == after
        assert before.weak_type == after.weak_type


def check_one_compilation(make: Maker) -> None:
    """Whatever the state, a step is compiled once."""
    env, reset, step = subject(make)
    state = reset(jax.random.key(0))[1]
    for number in range(STEPS + 1):
        state = step(jax.random.key(number), state, some_actions(env, number))[1]
    assert step._cache_size() == 1


def check_batches(make: Maker) -> None:
    """A batch of environments out of step with each other gives what each gives alone."""
    env, reset, step = subject(make)
    keys = jax.random.split(jax.random.key(1), 4)
    states = [reset(key)[1] for key in keys]
    for index, state in enumerate(states):
        for number in range(2 * index):
            state = step(jax.random.key(number), state, some_actions(env, number))[1]
        states[index] = state
    actions = jnp.stack([some_actions(env, index) for index in range(4)])
    alone = [step(*each) for each in zip(keys, states, actions, strict=True)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)
    nested = jax.tree.map(lambda x: x.reshape(2, 2, *x.shape[1:]), (keys, stacked, actions))
    batch = jax.jit(jax.vmap(jax.vmap(env.step)))(*nested)
    flat = jax.tree.map(lambda x: x.reshape(4, *x.shape[2:]), batch)
    assert not differing_leaves(jax.tree.map(lambda *leaves: jnp.stack(leaves), *alone), flat)


def check_boundaries(make: Maker) -> None:
    """Every leaf after a trial's or an episode's end is that of a fresh start.

    Except the trial's number, and the latent where only a trial ended. And no key draws twice.
    By then every leaf of the world is another one: play alone might leave some as they were.
    """
    game: Any = Recorder(subject(make).env.game, wears=True)
    env = MultiTrial(game, TRIALS, 3)
    lay, draw = jax.jit(game.lay_world), jax.jit(game.sample_latent)
    step, observe = jax.jit(env.step), jax.jit(game.observe)
    state, fresh_keys = jax.jit(env.reset)(jax.random.key(2))[1], set()
    for number in range(2 * TRIALS * 3):
        key, before = jax.random.key(number), state
        observation, state, _, done, info = step(key, state, some_actions(env, number))
        assert bool(info.trial_done) == (number % 3 == 2)
        assert bool(done) == (number % 6 == 5)
        if not info.trial_done:
            assert not differing_leaves(before.latent, state.latent)
            assert not differing_leaves(info.final_observation, observation)
            continue
        latent = draw(_key(state.latent)) if done else before.latent
        fresh = before.replace(
            latent=latent,
            world=lay(_key(state.world), latent),
            clock=before.clock.replace(
                trial=jnp.int32(0) if done else before.clock.trial + 1, step=jnp.int32(0)
            ),
        )
        assert not (bad := differing_leaves(fresh, state)), f"Not as a fresh start has it: {bad}."
        assert not differing_leaves(observe(fresh.world, fresh.clock), observation)
        fresh_keys |= {tuple(state.world.key.tolist()), tuple(state.latent.key.tolist())}
    assert len(fresh_keys) == 2 * TRIALS + 3, "A key drew two things."


def _key(marked: Any) -> Key:
    return jax.random.wrap_key_data(marked.key)


def check_no_auto_reset(make: Maker) -> None:
    """Without auto-reset a finished episode stays as it ended, and pays nothing more."""
    env = make(num_agents=AGENTS, num_trials=1, trial_length=2, auto_reset=False)
    state, step, ended = jax.jit(env.reset)(jax.random.key(0))[1], jax.jit(env.step), None
    for number in range(5):
        told = step(jax.random.key(number), state, some_actions(env, number))
        observation, state, reward, done, info = told
        assert bool(done) == bool(state.done) == (number > 0)
        if ended is not None:
            assert not differing_leaves(ended, (observation, state))
            assert not any(np.any(x) for x in (reward, info.outcome.reward, *info.events.values()))
        ended = (observation, state) if done else None


def check_keys(make: Maker) -> None:
    """No key is used twice; raw and typed keys give the same; another key another world."""
    env, reset, step = subject(make)
    with jax.debug_key_reuse(True):
        state = jax.jit(env.reset)(jax.random.key(0))[1]
        jax.jit(env.step)(jax.random.key(1), state, some_actions(env, 0))
    told = []
    for key in (jax.random.key(3), jax.random.PRNGKey(3), jax.random.key(4)):
        told.append(step(key, reset(key)[1], some_actions(env, 0)))
    assert not differing_leaves(told[0], told[1])
    assert differing_leaves(told[0], told[2])


def check_one_agent(make: Maker) -> None:
    """No axis collapses when there is but one agent."""
    env = make(num_agents=1, num_trials=1, trial_length=1)
    observation, state = jax.jit(env.reset)(jax.random.key(0))
    told = jax.jit(env.step)(jax.random.key(1), state, some_actions(env, 0))
    for seen in (observation, told[0], told[4].final_observation):
        _check_observation(env, seen)
    assert told[2].shape == (1,)
    many = jax.eval_shape(subject(make).reset, jax.random.key(0))[1]
    for one, three in zip(jax.tree.leaves(state), jax.tree.leaves(many), strict=True):
        assert one.ndim == three.ndim


def check_latents(make: Maker) -> None:
    """Problems are fixed and differ; both splits give latents of one shape; a batch is the same."""
    env, _, _ = subject(make)
    draw = jax.jit(env.sample_latent, static_argnames="split")
    keys = jax.random.split(jax.random.key(5), 3)
    for split in ("train", "held_out"):
        alone = [draw(key, split=split) for key in keys]
        batch = jax.vmap(functools.partial(draw, split=split))(keys)
        assert not differing_leaves(jax.tree.map(lambda *x: jnp.stack(x), *alone), batch)
        assert differing_leaves(alone[0], alone[1])
    assert jax.eval_shape(env.problem, 0) == jax.eval_shape(env.sample_latent, keys[0])
    problem = jax.jit(env.problem)
    assert not differing_leaves(env.problem(906), problem(jnp.uint32(906)))
    assert differing_leaves(env.problem(906), env.problem(907))


def check_evidence(make: Maker) -> None:
    """An agent's record keeps its shape, its figures are finite, its codes in range."""
    env, reset, step = subject(make)
    observation, state = reset(jax.random.key(0))
    game, seat = env.game, functools.partial(jax.tree.map, lambda leaf: leaf[0])
    start = evidence = game.initial_evidence()
    update = jax.jit(game.update_evidence)
    for number in range(2 * STEPS):
        actions, seen = some_actions(env, number), seat(observation)
        observation, state, _, _, info = step(jax.random.key(number), state, actions)
        final = seat(info.final_observation)
        evidence = update(evidence, seen, actions[0], final, seat(info.outcome))
    shapes = [[(leaf.shape, leaf.dtype) for _, leaf in named_leaves(e)] for e in (start, evidence)]
    assert shapes[0] == shapes[1]
    features = game.evidence_features(evidence, seat(observation))
    assert features.ndim == 1
    assert np.isfinite(features).all()
    painted = np.asarray(game.paint_evidence(evidence, seat(observation)))
    assert painted.shape == game.view_spec.shape[:2]
    assert painted.max() < game.painted_codes
    assert all(np.isfinite(value) for value in game.knowledge(evidence, state.latent).values())
    assert game.reveal(state.latent).ndim == 1


def check_pictures(make: Maker) -> None:
    """A state can be read and looked at, at any scale."""
    env, reset, _ = subject(make)
    state = reset(jax.random.key(0))[1]
    assert len(env.describe(state).splitlines()) >= 1
    small, large = env.render(state, 16), env.render(state, 32)
    for picture in (small, large):
        assert picture.dtype == np.uint8
        assert picture.shape[2:] == (3,)
    assert large.shape[0] >= 1.5 * small.shape[0]


def check_bad_options(make: Maker) -> None:
    """What is not allowed is refused at once, in one sentence."""
    for options in ({"num_agents": 0}, {"num_agents": -1}, {"num_trials": 0}, {"trial_length": 0}):
        (name,) = options
        assert name in _refusal(make, options)


def _refusal(make: Maker, options: dict[str, Any]) -> str:
    """The sentence in which options are refused; empty if they are not."""
    try:
        make(**options)
    except ValueError as error:
        return str(error)
    return ""


CHECKS: tuple[Callable[[Maker], None], ...] = (
    check_spaces,
    check_fixed_point,
    check_one_compilation,
    check_batches,
    check_boundaries,
    check_no_auto_reset,
    check_keys,
    check_one_agent,
    check_latents,
    check_evidence,
    check_pictures,
    check_bad_options,
)
"""All checks."""
