"""The scanned runner and the batched evaluation, on a tiny game replayed in plain Python."""

import dataclasses
import functools
import os
import subprocess
import sys
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import struct

from osj_envs.env import Environment
from osj_envs.evaluation import evaluate
from osj_envs.rollout import group_seats, play
from osj_envs.seats import NO_ACTION, Decision
from osj_envs.specs import BoxSpec
from osj_envs.tally import EARLY_STEPS, NEVER
from osj_envs.trials import MultiTrial
from osj_envs.types import Observation, WorldStep


@struct.dataclass
class Told:
    """The probe's outcome."""

    reward: Any


class Probe(Environment):
    """Rewards an agent's action times its seat's number; a trial may end early.

    An agent sees its seat, the trial and the step. Event `four` is the action 4, `loud` a number
    that grows with the step. The record adds up the rewards that an agent was told, and keeps what
    it last saw.
    """

    name = "probe"
    version = 1
    num_actions = 7

    def __init__(self, num_agents: int, trial_ends: tuple[int, ...] = (99,)) -> None:
        self.num_agents = num_agents
        self.trial_ends = trial_ends

    def sample_latent(self, key, split="train"):
        return jax.random.randint(key, (), 0, 1000) + (1000 if split == "held_out" else 0)

    def lay_world(self, key, latent):
        del key, latent
        return jnp.int32(0)

    def step_world(self, key, latent, world, step, actions):
        del key
        seat = jnp.arange(1, self.num_agents + 1)
        reward = (actions * seat + 0.0001 * latent).astype(jnp.float32)
        ends = jnp.array(self.trial_ends)[latent % len(self.trial_ends)]
        events = {
            "loud": jnp.where(actions == 2, 0.5 * step, 0.0),
            "four": (actions == 4).astype(jnp.float32),
        }
        return WorldStep(world + 1, reward, Told(reward), events, step + 1 >= ends)

    def observe(self, world, clock):
        seat = jnp.arange(self.num_agents)
        own = jnp.stack([seat, clock.trial + 0 * seat, clock.step + 0 * seat], axis=-1)
        view = jnp.zeros((self.num_agents, 1, 1, 1), jnp.uint8)
        return Observation(view=view, own=own.astype(jnp.float32))

    def initial_evidence(self):
        return {"sum": jnp.float32(0), "step": jnp.float32(-1), "seat": jnp.float32(-1)}

    def update_evidence(self, evidence, observation, action, next_observation, outcome):
        del observation, action
        seat, _, step = next_observation.own
        return {"sum": evidence["sum"] + outcome.reward, "step": step, "seat": seat}

    def knowledge(self, evidence, latent):
        return dict(evidence)

    evidence_features = paint_evidence = reveal = describe = render = None
    painted_codes = 0
    view_spec = BoxSpec((1, 1, 1), np.dtype(np.uint8), 0, 0)
    own_spec = BoxSpec((3,), np.dtype(np.float32), 0, np.inf)

    @classmethod
    def option_names(cls):
        return ("num_agents", "trial_ends")


@dataclasses.dataclass(frozen=True)
class Clockwork:
    """Acts by its own step count, its last action and the trial, so that its returns show them."""

    pace: int = 1
    is_traceable: ClassVar[bool] = True

    def initial_carry(self, key):
        del key
        return jnp.int32(0)

    def act(self, carry, view, key):
        del key
        action = (self.pace * carry + view.last_action + 2 * view.trial) % Probe.num_actions
        return carry + 1, Decision(action=action)


@dataclasses.dataclass(frozen=True)
class Seer:
    """Acts as one expression of its view says."""

    see: Any
    is_traceable: ClassVar[bool] = True

    def initial_carry(self, key):
        return jax.random.uniform(key)

    def act(self, carry, view, key):
        return carry, Decision(action=jnp.int32(self.see(carry, view, key)))


@dataclasses.dataclass(frozen=True)
class Human(Clockwork):
    """Cannot be traced."""

    is_traceable: ClassVar[bool] = False


@dataclasses.dataclass
class Plain:
    """What the plain replay keeps, by the names of `EpisodeRecord`."""

    returns: np.ndarray
    events: dict
    early_events: dict
    effort: dict
    first_step: dict
    last_step: dict
    steps: np.ndarray
    knowledge: dict


def replay(game, num_trials, trial_length, paces, latent, wipes=False) -> Plain:
    """Clockwork players in plain loops."""
    shape = (num_trials, game.num_agents)
    names = ("four", "loud")
    kept = Plain(
        np.zeros(shape),
        {n: np.zeros(shape) for n in names},
        {n: np.zeros(shape) for n in names},
        {n: np.zeros(shape) for n in names},
        {n: np.full(num_trials, NEVER) for n in names},
        {n: np.full(num_trials, NEVER) for n in names},
        np.zeros(num_trials),
        {
            "sum": np.zeros(shape),
            "step": np.zeros(shape),
            "seat": np.zeros(shape) + np.arange(game.num_agents),
        },
    )
    length = min(trial_length, game.trial_ends[latent % len(game.trial_ends)])
    count, last = [0] * game.num_agents, [NO_ACTION] * game.num_agents
    known = [0.0] * game.num_agents
    for trial in range(num_trials):
        if wipes:
            count, last = [0] * game.num_agents, [NO_ACTION] * game.num_agents
            known = [0.0] * game.num_agents
        since = [0] * game.num_agents
        for step in range(length):
            for agent, pace in enumerate(paces):
                action = (pace * count[agent] + last[agent] + 2 * trial) % game.num_actions
                count[agent], last[agent] = count[agent] + 1, action
                reward = action * (agent + 1) + 0.0001 * latent
                kept.returns[trial, agent] += reward
                known[agent] += reward
                since[agent] += 1
                happened = {"four": float(action == 4), "loud": 0.5 * step * (action == 2)}
                for name, amount in happened.items():
                    kept.events[name][trial, agent] += amount
                    kept.early_events[name][trial, agent] += amount * (step < EARLY_STEPS)
                    if amount > 0:
                        kept.effort[name][trial, agent] += since[agent]
                        if kept.first_step[name][trial] == NEVER:
                            kept.first_step[name][trial] = step
                        kept.last_step[name][trial] = step
                since[agent] = 0 if any(happened.values()) else since[agent]
            kept.steps[trial] += 1
        kept.knowledge["sum"][trial] = known
        kept.knowledge["step"][trial] = length
    return kept


def assert_same(record, plain):
    for field in dataclasses.fields(Plain):
        got, wanted = getattr(record, field.name), getattr(plain, field.name)
        assert jax.tree.structure(got) == jax.tree.structure(wanted)
        jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-5), got, wanted)


def episode(game, roster, latent, num_trials=3, trial_length=61, key=0, **options):
    env = MultiTrial(game, num_trials, trial_length)
    run = jax.jit(lambda key, latent: play(env, roster, key, latent, **options))
    return run(jax.random.key(key), jnp.int32(latent))


@pytest.mark.parametrize("agents", [1, 2, 3, 5])
@pytest.mark.parametrize("ends", [(99,), (13, 57)])
@pytest.mark.parametrize("wipes", [False, True])
def test_the_record_is_that_of_a_plain_replay(agents, ends, wipes):
    game = Probe(agents, ends)
    paces = [1, 3, 2, 3, 1][:agents]
    kinds = {pace: Clockwork(pace) for pace in set(paces)}
    roster = [kinds[pace] for pace in paces]
    for latent in (4, 7):
        record = episode(game, roster, latent, wipe_at_trial=wipes)
        assert_same(record, replay(game, 3, 61, paces, latent, wipes))
        np.testing.assert_array_equal(record.seat, np.arange(agents))


def test_one_trial_of_one_step():
    game = Probe(2)
    record = episode(game, Clockwork(), 5, num_trials=1, trial_length=1)
    assert_same(record, replay(game, 1, 1, [1, 1], 5))
    assert record.first_step["four"].tolist() == record.last_step["four"].tolist() == [NEVER]


def test_the_environments_own_auto_reset_does_not_matter():
    game, policy, key = Probe(2, (13, 57)), Clockwork(), jax.random.key(0)
    with_it = play(MultiTrial(game, 2, 20, auto_reset=True), policy, key, jnp.int32(6))
    without = play(MultiTrial(game, 2, 20, auto_reset=False), policy, key, jnp.int32(6))
    jax.tree.map(np.testing.assert_array_equal, with_it, without)


def shown(see, num_trials=2, trial_length=3, agents=3, **options):
    """Returns by (trial, agent) of a player that acts as `see` says, in units of the seat."""
    record = episode(Probe(agents), Seer(see), 0, num_trials, trial_length, **options)
    return np.asarray(record.returns) / np.arange(1, agents + 1)


def test_a_view_is_the_seats_own():
    np.testing.assert_allclose(shown(lambda c, v, k: v.observation.own[0]), [[0, 3, 6]] * 2)


def test_flags_tell_the_first_step_of_a_trial_and_of_the_episode():
    trial = shown(lambda c, v, k: v.is_first_of_trial)
    np.testing.assert_allclose(trial, np.ones((2, 3)))
    first = shown(lambda c, v, k: v.is_first_of_episode)
    np.testing.assert_allclose(first, [[1, 1, 1], [0, 0, 0]])
    wiped = shown(lambda c, v, k: v.is_first_of_episode, wipe_at_trial=True)
    np.testing.assert_allclose(wiped, np.ones((2, 3)))


def test_trial_and_legal_actions_reach_the_player():
    np.testing.assert_allclose(shown(lambda c, v, k: v.trial), [[0] * 3, [3] * 3])
    legal = shown(lambda c, v, k: v.legal_actions.sum() * v.legal_actions.all())
    np.testing.assert_allclose(legal, np.full((2, 3), 3 * Probe.num_actions))


@pytest.mark.parametrize("wipes", [False, True])
def test_the_last_reward_reaches_the_player(wipes):
    def one_more(carry, view, key):
        return jnp.round(view.last_reward / (view.observation.own[0] + 1)) + 1

    later = 1 + 2 + 3 if wipes else 4 + 5 + 6
    np.testing.assert_allclose(shown(one_more, wipe_at_trial=wipes), [[1 + 2 + 3] * 3, [later] * 3])


@pytest.mark.parametrize("wipes", [False, True])
def test_the_evidence_reaches_the_player(wipes):
    def once(carry, view, key):
        return view.evidence["sum"] == 0

    known = shown(once, wipe_at_trial=wipes)
    np.testing.assert_allclose(known, [[1] * 3, [int(wipes)] * 3])


def test_every_player_has_an_own_carry_and_own_chance():
    drawn = shown(lambda c, v, k: 1000 * c, trial_length=1, num_trials=1, agents=5)[0]
    assert len(set(np.round(drawn))) == 5
    chance = shown(
        lambda c, v, k: 1000 * jax.random.uniform(k), trial_length=1, num_trials=4, agents=5
    )
    assert len(set(np.round(chance.ravel()))) == 20


def test_an_episode_depends_on_its_key_alone():
    def luck(carry, view, key):
        return jax.random.randint(key, (), 0, 7)

    first, again, other = (shown(luck, key=key) for key in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_no_key_is_used_twice():
    with jax.debug_key_reuse(True):
        shown(lambda c, v, k: jax.random.randint(k, (), 0, 7))


@pytest.mark.parametrize("shift", [0, 1, 2, 7])
def test_a_shift_seats_the_players_further_on(shift):
    game = Probe(3)
    roster = [Seer(lambda c, v, k: v.observation.own[0] + 1), Clockwork(), Clockwork()]
    record = episode(game, roster, 0, 1, 4, shift=jnp.int32(shift))
    seat = [(player + shift) % 3 for player in range(3)]
    assert record.seat.tolist() == seat
    assert record.returns[0, 0] == 4 * (seat[0] + 1) ** 2
    actions = [6, 0, 2, 5]  # what Clockwork does in its first four steps
    np.testing.assert_allclose(record.returns[0, 1:], sum(actions) * (np.array(seat[1:]) + 1))
    np.testing.assert_allclose(record.knowledge["sum"], record.returns, rtol=1e-6)
    np.testing.assert_array_equal(record.knowledge["seat"], [seat])


def test_events_are_counted_for_the_player_and_not_for_the_seat():
    roster = [Seer(lambda c, v, k: 4), Seer(lambda c, v, k: 3), Seer(lambda c, v, k: 2)]
    record = episode(Probe(3), roster, 0, 1, 3, shift=jnp.int32(1))
    assert record.events["four"].tolist() == [[3, 0, 0]]
    assert record.events["loud"].tolist() == [[0, 0, 1.5]]
    assert record.effort["loud"].tolist() == [[0, 0, 3]]


@struct.dataclass
class Learned:
    """A policy with parameters, whose trace is counted."""

    weight: Any
    traces: list = struct.field(pytree_node=False)
    is_traceable: ClassVar[bool] = True

    def initial_carry(self, key):
        del key
        return ()

    def act(self, carry, view, key):
        del key
        self.traces.append(view.trial.shape)
        return carry, Decision(action=self.weight.astype(jnp.int32))


class Traces(list):
    """A list that hashes, as what is compiled in must."""

    __hash__ = object.__hash__


def test_seats_of_one_policy_are_traced_once_and_share_its_parameters():
    policy = Learned(jnp.float32(3), Traces())
    record = episode(Probe(5), [policy, Clockwork(), policy, policy, policy], 0, 1, 2)
    assert len(policy.traces) == 1
    np.testing.assert_allclose(record.returns[0, [0, 2, 3, 4]], 6 * np.array([1, 3, 4, 5]))


def test_equal_policies_that_are_two_objects_are_two_players():
    one, other = Clockwork(), Clockwork()
    players, places = group_seats([one, other, one], 3)
    assert players == (one, other)
    assert places == ((0, 2), (1,))
    assert group_seats(one, 4) == ((one,), ((0, 1, 2, 3),))


def test_a_roster_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="2 players for 3 seats"):
        group_seats([Clockwork(), Clockwork()], 3)
    with pytest.raises(ValueError, match="Player 1, Human, is not traceable"):
        group_seats([Clockwork(), Human()], 2)


@dataclasses.dataclass(frozen=True)
class Knowing(Seer):
    """Is told the latent."""

    def told(self, carry, latent):
        return carry * 0 + latent


def test_a_privileged_player_is_told_the_latent_and_a_fair_one_is_not():
    told = Knowing(lambda c, v, k: c)
    for wipes in (False, True):
        record = episode(Probe(2), [told, Clockwork()], 3, 2, 2, wipe_at_trial=wipes)
        np.testing.assert_allclose(record.returns[:, 0], [6.0006, 6.0006], rtol=1e-6)


SEEDS = (5, 0, 11, 2**32 - 1, 8)


def test_an_evaluation_plays_the_problems_one_by_one():
    env = MultiTrial(Probe(2, (3, 9)), 2, 7)
    roster = [Seer(lambda c, v, k: jax.random.randint(k, (), 0, 7)), Clockwork()]
    key = jax.random.key(3)
    assert len(jax.local_devices()) == int(os.environ.get("JAX_NUM_CPU_DEVICES", 1))
    whole = evaluate(env, roster, key, SEEDS)
    in_twos = evaluate(env, roster, key, SEEDS, 2)
    jax.tree.map(np.testing.assert_array_equal, whole, in_twos)
    assert all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(whole))
    assert whole.problem_seed.tolist() == list(SEEDS)
    assert whole.trial_length.tolist() == [7] * len(SEEDS)
    alone = jax.jit(
        lambda seed: play(env, roster, jax.random.fold_in(key, seed), env.problem(seed))
    )
    for place, seed in enumerate(SEEDS):
        there = jax.tree.map(lambda x, i=place: x[i], dataclasses.replace(whole, problem_seed=None))
        jax.tree.map(np.testing.assert_array_equal, alone(np.uint32(seed)), there)


def test_devices_share_the_problems_and_the_records_stay_the_same():
    this = f"{__file__}::{test_an_evaluation_plays_the_problems_one_by_one.__name__}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", this],
        env=os.environ | {"JAX_NUM_CPU_DEVICES": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_an_evaluation_can_draw_from_the_training_split():
    env, policy = MultiTrial(Probe(1), 1, 1), Seer(lambda c, v, k: 0)
    latents = {
        split: evaluate(env, policy, jax.random.key(0), SEEDS, split=split).returns * 10000
        for split in ("train", "held_out")
    }
    assert latents["train"].max() < 999.5 <= latents["held_out"].min()


def test_an_evaluation_tells_of_the_problems_that_are_done():
    done = []
    env = MultiTrial(Probe(1), 1, 1)
    evaluate(env, Clockwork(), jax.random.key(0), SEEDS, 2, advance=done.append)
    assert sum(done) == len(SEEDS)
    assert all(count > 0 for count in done)


def test_an_evaluation_can_wipe_memories():
    env, policy = MultiTrial(Probe(1), 3, 1), Seer(lambda c, v, k: v.is_first_of_episode)
    for wipes, expected in ((False, [1, 0, 0]), (True, [1, 1, 1])):
        record = evaluate(env, policy, jax.random.key(0), [1], wipe_at_trial=wipes)
        assert np.floor(record.returns[0, :, 0]).tolist() == expected


def test_rotation_shifts_the_seating_by_the_problem_seed():
    env, key = MultiTrial(Probe(3), 1, 1), jax.random.key(0)
    roster = [Seer(lambda c, v, k: 1), Seer(lambda c, v, k: 0), Seer(lambda c, v, k: 0)]
    rotated = evaluate(env, roster, key, (3, 4, 5), rotate=True)
    assert rotated.seat.tolist() == [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    assert np.floor(rotated.returns[:, 0, 0]).tolist() == [1, 2, 3]
    straight = evaluate(env, roster, key, (3, 4, 5))
    assert straight.seat.tolist() == [[0, 1, 2]] * 3


def test_new_parameters_need_no_new_compilation():
    env, traces = MultiTrial(Probe(2), 1, 2), Traces()
    returns = [
        evaluate(env, Learned(jnp.float32(w), traces), jax.random.key(w), SEEDS, 2).returns
        for w in (1, 4)
    ]
    assert len(traces) == 1
    np.testing.assert_allclose(returns[1] - returns[0], np.full((5, 1, 2), [6.0, 12.0]), rtol=1e-4)


@pytest.mark.parametrize(
    ("seeds", "said"),
    [([], "at least one"), ([-1], "whole numbers"), ([2**32], "whole"), ([0.5], "whole")],
)
def test_bad_problem_seeds_are_refused(seeds, said):
    with pytest.raises(ValueError, match=said):
        evaluate(MultiTrial(Probe(1), 1, 1), Clockwork(), jax.random.key(0), seeds)


def test_a_bad_batch_size_or_split_is_refused():
    env = MultiTrial(Probe(1), 1, 1)
    for wrong in (-1, 0):
        with pytest.raises(ValueError, match=f"batch_size is {wrong}"):
            evaluate(env, Clockwork(), jax.random.key(0), [1], wrong)
    with pytest.raises(ValueError, match="held_out"):
        evaluate(env, Clockwork(), jax.random.key(0), [1], split="heldout")


def test_neither_another_split_nor_forgetting_needs_a_new_compilation():
    env, traces = MultiTrial(Probe(2), 2, 2), Traces()
    policy = Learned(jnp.float32(1), traces)
    for split, wipes in (("held_out", False), ("train", False), ("held_out", True)):
        evaluate(env, policy, jax.random.key(0), SEEDS, 2, split=split, wipe_at_trial=wipes)
    assert len(traces) == 1
