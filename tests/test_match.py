"""The host runner: the same records as the compiled one, and every host player's own view."""

import asyncio
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import osj_envs
from baselines import registry
from osj_envs.match import Match
from osj_envs.rollout import play
from osj_envs.seats import Decision, HostPolicy
from osj_envs.testing.trees import differing_leaves

ROSTERS = {
    "cleanup": ("cleaner", "random", "oracle", "cleaner", "harvester"),
    "harvest": ("greedy", "steward", "random", "greedy", "cooperator"),
}


def make(name, **options):
    return osj_envs.make(name, **{"num_trials": 2, "trial_length": 13, **options})


def seat_all(env, names):
    players = {name: registry.make(name, env) for name in set(names)}
    return [players[name] for name in names]


@pytest.mark.parametrize("name", [pytest.param("cleanup", marks=pytest.mark.slow), "harvest"])
def test_traceable_players_leave_the_same_record_in_both_runners(name):
    env = make(name)
    roster, latent, key = seat_all(env, ROSTERS[name]), env.problem(7), jax.random.key(3)
    match = Match(env, roster)
    for shift in (0, 2):
        on_host = asyncio.run(match.play(key, latent, shift))
        compiled = jax.jit(lambda shift: play(env, roster, key, latent, shift=shift))
        assert not differing_leaves(compiled(jnp.int32(shift)), on_host)


@dataclasses.dataclass
class Counting:
    """Plays a fixed action; carries what it was shown and told."""

    action: int
    is_traceable: bool = False

    def initial_carry(self, key):
        return {"acts": [], "sees": 0, "ends": []}

    async def act(self, carry, view, key):
        assert isinstance(view.observation.view, np.ndarray)
        shown = (int(view.trial), bool(view.is_first_of_trial), int(view.last_action))
        return {**carry, "acts": [*carry["acts"], shown]}, Decision(action=self.action)

    def see(self, carry, outcome):
        assert outcome.reward.shape == ()
        return {**carry, "sees": carry["sees"] + 1}

    async def end_trial(self, carry, trial, evidence):
        self.last = {**carry, "ends": [*carry["ends"], trial]}
        return self.last


def test_host_players_are_asked_told_and_counted():
    env = make("harvest", num_agents=3)
    stays, walks = Counting(7), Counting(1)
    assert isinstance(stays, HostPolicy)
    roster, steps = [stays, registry.make("greedy", env), walks], []
    record = asyncio.run(
        Match(env, roster).play(jax.random.key(0), env.problem(1), 1, steps.append)
    )
    for player in (stays, walks):
        assert player.last["ends"] == [0, 1]
        assert player.last["sees"] == len(player.last["acts"]) == 26
        first = [shown[:2] for shown in player.last["acts"]]
        assert first == [(trial, step == 0) for trial in (0, 1) for step in range(13)]
        assert player.last["acts"][0][2] == -1
        assert {shown[2] for shown in player.last["acts"][1:]} == {player.action}
    assert [(step.trial, step.step) for step in steps] == [
        (t, s) for t in (0, 1) for s in range(13)
    ]
    assert {step.actions[0] for step in steps} == {7}
    np.testing.assert_allclose(sum(step.rewards for step in steps), record.returns.sum(axis=0))
    assert record.seat.tolist() == [1, 2, 0]


def test_a_dead_trial_is_not_played_on():
    env = make("harvest", num_agents=2, trial_length=400, diamonds=0, quarters=1, spawn_cells=4)
    steps = []
    greedy = registry.make("greedy", env)
    record = asyncio.run(
        Match(env, [greedy, Counting(7)]).play(jax.random.key(0), env.problem(1), 0, steps.append)
    )
    assert record.steps.max() < 400
    assert len(steps) == record.steps.sum()


def test_a_failure_is_raised_when_all_have_answered():
    answered = []

    class Fails(Counting):
        async def act(self, carry, view, key):
            raise ConnectionError("nobody there")

    class Answers(Counting):
        async def act(self, carry, view, key):
            await asyncio.sleep(0.01)
            answered.append(self.action)
            return await super().act(carry, view, key)

    env = make("cleanup", num_agents=2)
    match = Match(env, [Fails(7), Answers(7)])
    with pytest.raises(ConnectionError, match="nobody there"):
        asyncio.run(match.play(jax.random.key(0), env.problem(1)))
    assert answered == [7]


def test_every_seat_has_a_player():
    env = make("cleanup", num_agents=2)
    with pytest.raises(ValueError, match="1 players for 2 seats"):
        Match(env, [Counting(7)])
