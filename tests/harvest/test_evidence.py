"""The record of an agent's meals and watches, against a plain-Python one and against the truth."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from osj_envs.grid.codes import Action, Item, Plane
from osj_envs.grid.view import Window
from osj_envs.harvest import dynamics
from osj_envs.harvest import evidence as records
from osj_envs.harvest.constants import STAGES, HarvestConfig
from osj_envs.harvest.evidence import Evidence
from osj_envs.harvest.observation import decode_own, encode_own, observe
from osj_envs.harvest.types import NOTHING_EATEN
from osj_envs.harvest.watches import LOSSES, NEARBY, OPEN
from osj_envs.testing.glimpses import DRAWN, see
from osj_envs.testing.orchards import random_latent
from osj_envs.testing.slow_watcher import SlowWatcher
from osj_envs.types import Clock, Observation

PAPER = HarvestConfig()
SMALL = HarvestConfig(
    colours=2,
    height=7,
    width=9,
    diamonds=1,
    quarters=1,
    spawn_cells=3,
    regrowth=(0.05, 0.2, 0.4, 0.5),
    stage_steps=(3, 5),
    rot_delay=(1, 4),
    freeze_steps=3,
    cooldown_steps=1,
)
TINY = HarvestConfig(
    colours=1,
    height=5,
    width=4,
    diamonds=0,
    quarters=1,
    spawn_cells=2,
    regrowth=(0.3, 0.3, 0.3, 0.3),
    stage_steps=(1, 2),
    rot_delay=(1, 1),
)
GAMES = {
    "paper": (PAPER, Window(), 5, 60),
    "small": (SMALL, Window(4, 1, 2), 4, 60),
    "small, seen narrowly": (SMALL, Window(2, 0, 0), 5, 60),
    "tiny, alone": (TINY, Window(3, 1, 1), 1, 40),
}
LEANING = np.array([0.18, 0.18, 0.18, 0.18, 0.08, 0.08, 0.05, 0.07])
features = jax.jit(records.features, static_argnums=0)
paint = jax.jit(records.paint, static_argnums=0)


@functools.partial(jax.jit, static_argnums=(0, 1, 2, 3))
def play(config, window, agents, steps, key, latent, evidence, trial):
    """A trial of random actions, and all that the agents' records are made of, step by step."""
    lay_key, act_key, step_key = jax.random.split(key, 3)
    world = dynamics.lay_world(config, agents, lay_key, latent)
    actions = jax.random.choice(act_key, len(LEANING), (steps, agents), p=jnp.asarray(LEANING))

    def step(carry, now):
        world, evidence = carry
        index, action = now
        draws = dynamics.sample_draws(config, agents, jax.random.fold_in(step_key, index))
        played = dynamics.step_world(config, latent, world, action, draws)
        before = observe(config, window, world, Clock(trial=trial, step=index))
        after = observe(config, window, played.world, Clock(trial=trial, step=index + 1))
        one = functools.partial(records.update, config, window)
        evidence = jax.vmap(one)(evidence, before, action, after, played.outcome)
        told = before, action, after, played.outcome, evidence, played.world
        return (played.world, evidence), told

    (_, evidence), told = jax.lax.scan(step, (world, evidence), (jnp.arange(steps), actions))
    return evidence, told


def games(config, window, agents, steps, seed, trials=2):
    """An episode's trials, as they were played."""
    latent = jax.tree.map(jnp.asarray, random_latent(config, np.random.default_rng(seed)))
    evidence = jax.tree.map(lambda x: jnp.stack([x] * agents), records.initial(config))
    for trial in range(trials):
        key = jax.random.key(100 * seed + trial)
        evidence, told = play(
            config, window, agents, steps, key, latent, evidence, jnp.int32(trial)
        )
        yield latent, jax.device_get(told)


def slow_evidence(config, slow: SlowWatcher) -> dict:
    """What a plain record holds, in the form of the fast one."""
    pays = [float(np.float32(pay)) for pay in config.pays]
    pay, eaten = np.zeros((2, config.colours, STAGES), int)
    for entry, points in slow.pay.items():
        pay[entry], eaten[entry] = 1 + pays.index(points), slow.eaten[entry]
    count, steps, around = np.zeros((3, config.colours, LOSSES), int)
    for entry, returns in slow.returns.items():
        count[entry] = len(returns)
        steps[entry], around[entry] = np.sum(returns, axis=0)
    exposed, exposed_count = np.zeros((2, config.colours, LOSSES, NEARBY), int)
    for entry, came in slow.exposed.items():
        exposed[entry], exposed_count[entry] = len(came), sum(came)
    stage_count = [len(slow.stages[stage]) for stage in range(STAGES)]
    stage_steps = [sum(slow.stages[stage]) for stage in range(STAGES)]
    kind, since = np.zeros((2, config.height, config.width), int)
    for cell, timed in slow.timed.items():
        bare = timed.stage is None
        kind[cell] = OPEN + timed.colour * LOSSES + timed.loss if bare else 1 + timed.stage
        since[cell] = timed.since
    return {
        "pay": pay,
        "eaten": eaten,
        "count": count,
        "steps": steps,
        "around": around,
        "exposed": exposed,
        "exposed_count": exposed_count,
        "stage_count": stage_count,
        "stage_steps": stage_steps,
        "kind": kind,
        "since": since,
    }


def plain(evidence: Evidence) -> dict:
    """The fast record as one dictionary; `since` only where something is timed."""
    kind = np.asarray(evidence.watches.kind)
    return {
        "pay": evidence.pay,
        "eaten": evidence.eaten,
        **vars(evidence.returns),
        "stage_count": evidence.stages.count,
        "stage_steps": evidence.stages.steps,
        "kind": kind,
        "since": np.where(kind > 0, evidence.watches.since, 0),
    }


def take(tree, *places):
    return jax.tree.map(lambda x: x[places], tree)


@pytest.mark.parametrize("game", GAMES)
def test_it_is_what_a_plain_record_holds(game):
    config, window, agents, steps = GAMES[game]
    slow = [SlowWatcher(config, window) for _ in range(agents)]
    for _, (before, action, after, outcome, evidence, _) in games(*GAMES[game], seed=2):
        for step in range(steps):
            for agent, watcher in enumerate(slow):
                watcher.update(
                    *(take(part, step, agent) for part in (before, action, after, outcome))
                )
                if step % 4 == 3:
                    fast = plain(take(evidence, step, agent))
                    for name, numbers in slow_evidence(config, watcher).items():
                        np.testing.assert_array_equal(fast[name], numbers, f"{name} at {step}")
    total = [slow_evidence(config, watcher) for watcher in slow]
    seen = {name: sum(np.asarray(each[name]).sum() for each in total) for name in total[0]}
    assert min(seen[name] for name in ("eaten", "stage_count", "kind")) > 0
    assert game != "small" or min(seen["count"], seen["exposed_count"]) > 20


@functools.cache
def truths():
    """Many games of a small world, of which much is in view."""
    config, window, agents, steps = GAMES["small"]
    return [told for seed in range(8) for told in games(config, window, agents, steps, seed)]


def newly_bare(evidence):
    """Of each step and agent, the cells of which it has just recorded a loss."""
    kind = np.asarray(evidence.watches.kind)
    now = np.arange(1, len(kind) + 1)[:, None, None, None]
    return (kind >= OPEN) & (evidence.watches.since == now)


def test_a_loss_is_what_it_is_said_to_be_and_in_the_right_colour():
    config, _, agents, _ = GAMES["small"]
    losses = np.zeros((2, LOSSES), int)
    for latent, (_, _, _, outcome, evidence, world) in truths():
        trees = np.asarray(latent.layout.trees)
        at_tree = newly_bare(evidence).reshape(-1, agents, config.cells)
        at_tree = at_tree[..., trees]
        kind = np.asarray(evidence.watches.kind).reshape(-1, agents, config.cells)[..., trees]
        colour, loss = np.divmod(kind.astype(int) - OPEN, LOSSES)
        lost, true_colour = world.trees.lost[:, None], world.tree_colour[:, None]
        assert (1 + loss == lost)[at_tree].all()
        assert (colour == true_colour)[at_tree].all()
        own = np.asarray(outcome.eaten_colour)[..., None] != NOTHING_EATEN
        for is_own, number in ((True, losses[0]), (False, losses[1])):
            number += np.bincount(loss[at_tree & (own == is_own)], minlength=LOSSES)
    assert (losses > 10).all(), losses


def test_returns_come_as_often_as_the_hidden_rules_have_it():
    config, *_ = GAMES["small"]
    expected, variance, came = np.zeros((3, STAGES))
    base = np.asarray(config.regrowth)
    for trial, (latent, (*_, evidence, _)) in enumerate(truths()):
        if trial % 2:  # the record of an episode, at its end
            returns = take(evidence, -1).returns
            speed = np.asarray(config.speeds)[np.asarray(latent.rules.speed)]
            chance = base * speed[:, :, None]
            steps = np.asarray(returns.exposed[:, :, :STAGES], float)
            expected += (steps * chance).sum(axis=(0, 1, 3))
            variance += (steps * chance * (1 - chance)).sum(axis=(0, 1, 3))
            came += np.asarray(returns.exposed_count[:, :, :STAGES], float).sum(axis=(0, 1, 3))
    assert (expected > 50).all()
    assert (np.abs(came - expected) < 4 * np.sqrt(variance)).all()


def test_times_are_those_that_the_rules_allow():
    config, *_ = GAMES["small"]
    met = []
    for _, (*_, evidence, _) in truths():
        stages, returns = evidence.stages, evidence.returns
        shortest, longest = config.stage_steps
        assert (stages.count * shortest <= stages.steps).all()
        assert (stages.steps <= stages.count * longest).all()
        rotted = returns.count[..., -1], returns.steps[..., -1]
        assert (rotted[0] * config.rot_delay[0] <= rotted[1]).all()
        met.append(np.asarray(stages.count[-1]).sum(axis=0))
    assert (np.mean(met[1::2], axis=0) > 20).all(), "in an episode"


def test_it_depends_on_trees_agents_and_the_own_meal_alone():
    """Whatever else views, own numbers, actions and outcomes hold changes nothing."""
    config, window, agents, steps = GAMES["small"]
    before, action, after, outcome, evidence, _ = truths()[0][1]
    before, action, after, outcome, evidence = jax.tree.map(
        lambda x: x.reshape(steps * agents, *x.shape[2:]),
        (before, action, after, outcome, evidence),
    )
    step = jax.jit(jax.vmap(functools.partial(records.update, config, window)))
    plainly = step(evidence, before, action, after, outcome)
    ate = outcome.eaten_colour != NOTHING_EATEN
    otherwise = step(
        evidence,
        disguised(before),
        np.where(ate, action, Action.BEAM),
        disguised(after),
        outcome.replace(
            blocked=~outcome.blocked,
            zapped=~outcome.zapped,
            reward=np.where(ate, outcome.reward, 0.5).astype(np.float32),
            eaten_stage=np.where(ate, outcome.eaten_stage, 1),
        ),
    )
    assert ate.any()
    for one, two in zip(jax.tree.leaves(plainly), jax.tree.leaves(otherwise), strict=True):
        np.testing.assert_array_equal(one, two)


def disguised(observation):
    """Other agents are others and face elsewhere; ground and spawns change places; no waits."""
    view = observation.view.copy()
    agent, heading, item = (view[..., p] for p in (Plane.AGENT, Plane.HEADING, Plane.ITEM))
    agent[agent > 1] += 1
    heading[heading > 0] = 5 - heading[heading > 0]
    item[:] = np.choose(np.minimum(item, 3), [0, Item.SPAWN, Item.GROUND, item])
    own = decode_own(observation.own)
    own = own.replace(trial=own.trial + 1, frozen=own.frozen + 3, cooldown=own.cooldown + 1)
    return Observation(view=view, own=np.asarray(encode_own(own)))


def experienced(config) -> Evidence:
    """A record with all kinds of numbers in it."""
    rng = np.random.default_rng(2)
    shape = config.colours, LOSSES
    pay = rng.integers(0, 1 + STAGES, (config.colours, STAGES)).astype(np.uint8)
    count = rng.integers(0, 3, shape).astype(np.uint16)
    exposed = rng.integers(0, 50, (*shape, NEARBY)).astype(np.uint16)
    blank = records.initial(config)
    return blank.replace(
        pay=pay,
        eaten=(5 * pay).astype(np.uint16),
        returns=blank.returns.replace(
            count=count,
            steps=count * rng.integers(1, 40, shape).astype(np.uint16),
            around=count * rng.integers(0, 13, shape).astype(np.uint16),
            exposed=exposed,
            exposed_count=np.minimum(exposed, rng.integers(0, 4, exposed.shape)).astype(np.uint16),
        ),
        stages=blank.stages.replace(count=np.uint16([0, 1, 4]), steps=np.uint16([0, 17, 66])),
        watches=blank.watches.replace(
            kind=rng.integers(0, OPEN + config.colours * LOSSES, blank.watches.kind.shape).astype(
                np.uint8
            )
        ),
    )


@pytest.mark.parametrize("step", [0, 7])
@pytest.mark.parametrize("config", [PAPER, SMALL], ids=["paper", "small"])
def test_the_features_are_laid_out_as_documented(config, step):
    evidence = experienced(config)
    numbers = iter(np.asarray(features(config, evidence, see("^", step))).tolist())
    kind, returns = np.asarray(evidence.watches.kind), evidence.returns
    for known in np.asarray(evidence.pay).reshape(-1):
        assert [next(numbers) for _ in range(3)] == [known == 1, known == 2, known == 3]
    for entry, count in np.ndenumerate(returns.count):
        waiting = (kind == OPEN + entry[0] * LOSSES + entry[1]).sum() * (step > 0)
        mean = returns.steps[entry] / count if count else 0
        near = returns.around[entry] / count if count else 0
        expected = [count / (count + 2), 20 / (20 + mean) * (count > 0), near / 12]
        found = [next(numbers) for _ in range(4)]
        np.testing.assert_allclose(found, [*expected, waiting / (waiting + 4)], rtol=1e-5)
    for entry in np.ndindex(config.colours, STAGES):
        came = returns.exposed_count[entry].sum()
        due = (returns.exposed[entry] * np.array(config.regrowth)).sum()
        expected = [(came - due) / (came + due + 1), (came + due) / (came + due + 1)]
        np.testing.assert_allclose([next(numbers) for _ in range(2)], expected, rtol=1e-5)
    longest = config.stage_steps[1]
    expected = [0, 0, 1 / 3, 17 / longest, 4 / 6, 16.5 / longest]
    np.testing.assert_allclose(list(numbers), expected, rtol=1e-5)


def test_features_are_few_float_and_within_one():
    played = GAMES["paper"]
    *_, (_, (_, _, after, _, evidence, _)) = games(*played, seed=1)
    one = functools.partial(records.features, PAPER)
    numbers = jax.jit(jax.vmap(jax.vmap(one)))(evidence, after)
    assert (numbers.shape[2:], numbers.dtype) == ((161,), jnp.float32)
    assert np.abs(numbers).max() <= 1
    assert (np.abs(numbers).max(axis=(0, 1)) > 0).sum() > 60
    blank = features(PAPER, records.initial(PAPER), see("^", 3))
    assert not blank.any()


def test_apples_in_view_are_painted_with_what_they_are_known_to_pay():
    evidence = records.initial(DRAWN)
    pay = evidence.pay.at[0, 1].set(3).at[1, 0].set(1).at[0, 2].set(2)
    observation = see("r0 r1 r2 r- .\ny0 y1 y- ^ .", 5)
    painted = np.asarray(paint(DRAWN, evidence.replace(pay=pay), observation))
    row, col = 9 - 1, 9 - 3  # of the drawing's first cell in the window
    assert painted[row, col : col + 5].tolist() == [1, 4, 3, 0, 0]
    assert painted[row + 1, col : col + 5].tolist() == [2, 1, 0, 0, 0]
    assert painted.sum() == 11
    assert (painted.dtype, int(painted.max())) == (jnp.uint8, records.PAINTED_CODES - 1)


def test_a_record_is_small():
    sizes = [leaf.nbytes for leaf in jax.tree.leaves(records.initial(PAPER))]
    assert sum(sizes) < 2048
