"""The simple players, their registry, and the program that evaluates them."""

import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import osj_envs
from baselines import registry
from baselines.evaluate import load_config, main, run
from baselines.simple import Random, Stay
from osj_envs.compose import CONFIG_DIR, ConfigError, compose_config
from osj_envs.evaluation import evaluate
from osj_envs.grid.codes import Action
from osj_envs.paired import make_bounds
from osj_envs.roster import make_roster
from osj_envs.seats import Policy, SeatView
from osj_envs.trials import MultiTrial
from osj_envs.types import Observation

SMALL = ("env.num_agents=2", "env.num_trials=2", "env.trial_length=3", "num_problems=3")


def view(legal) -> SeatView:
    return SeatView(
        observation=Observation(view=jnp.zeros((1, 1, 1), jnp.uint8), own=jnp.zeros(1)),
        evidence=(),
        legal_actions=jnp.array(legal, bool),
        last_action=jnp.int32(0),
        last_reward=jnp.float32(0),
        trial=jnp.int32(0),
        is_first_of_trial=jnp.bool_(False),
        is_first_of_episode=jnp.bool_(False),
    )


def many_actions(policy, legal, number=6000):
    keys = jax.random.split(jax.random.key(0), number)
    act = jax.jit(jax.vmap(lambda key: policy.act((), view(legal), key)[1].action))
    return np.asarray(act(keys))


@pytest.mark.parametrize(
    "legal", [[1] * 9, [0, 1, 0, 0, 1, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1, 1, 0]]
)
def test_random_is_uniform_over_the_legal_actions(legal):
    counts = np.bincount(many_actions(Random(), legal), minlength=len(legal))
    assert len(counts) == len(legal)
    assert (counts[np.array(legal) == 0] == 0).all()
    if sum(legal) > 1:
        assert stats.chisquare(counts[np.array(legal) == 1]).pvalue > 1e-6


def test_stay_stays():
    assert set(many_actions(Stay(action=Action.STAY), [1] * 9, 20)) == {int(Action.STAY)}


BEAMS = {"cleanup": "fired", "harvest": "zaps"}


@pytest.mark.parametrize("game", osj_envs.list_ids())
def test_every_registered_player_plays_its_game(game):
    names = registry.list_names(game)
    env = osj_envs.make(game, num_trials=1, trial_length=30, num_agents=len(names))
    roster = [registry.make(name, env) for name in names]
    assert all(isinstance(policy, Policy) for policy in roster)
    record = evaluate(env, roster, jax.random.key(0), range(2))
    assert (record.steps == 30).all()
    fired = dict(zip(names, record.events[BEAMS[game]].sum(axis=(0, 1)), strict=True))
    assert fired["stay"] == 0 < fired["random"]


def test_an_unknown_player_is_answered_with_the_nearest():
    env = osj_envs.make("cleanup", num_agents=2)
    with pytest.raises(ValueError, match="did you mean 'random'"):
        registry.make("randon", env)


def test_a_player_of_another_game_is_unknown():
    class Other(MultiTrial):
        name = "other"

    other = Other(osj_envs.make("cleanup", num_agents=1).game)
    assert registry.list_names("other") == ("random",)
    with pytest.raises(ValueError, match="other has no scripted policy 'stay'"):
        registry.make("stay", other)


@pytest.mark.parametrize("name", ["random", "stay", "one_random"])
def test_the_rosters_on_disk_fill_the_seats(name):
    config = load_config([f"seats={name}"])
    roster = make_roster(config.seats, osj_envs.make("cleanup"))
    assert len(roster) == 5
    assert all(isinstance(policy, Policy) for policy in roster)
    assert len({id(policy) for policy in roster}) == (2 if name == "one_random" else 1)


def test_a_roster_of_another_size_is_refused():
    config = load_config(["seats=one_random"])
    with pytest.raises(ValueError, match="5 players for 3 seats"):
        make_roster(config.seats, osj_envs.make("cleanup", num_agents=3))


def test_a_factory_that_refuses_its_entries_is_one_sentence():
    with pytest.raises(ValueError, match="action"):
        make_roster({"_target_": "baselines.simple.Stay"}, osj_envs.make("cleanup", num_agents=2))


def test_the_program_prints_a_table_and_ends_with_the_figures_as_json(capsys):
    assert main(["policy=random", *SMALL]) == 0
    text = capsys.readouterr().out
    assert "return_mean" in text.splitlines()[3]
    assert "3 problems, 2 trials, 2 agents" in text
    shown = json.loads(text.splitlines()[-1])
    head = [shown[k] for k in ("env", "policy", "split", "num_problems", "num_trials")]
    assert head == ["cleanup", "random", "held_out", 3, 2]
    assert shown["return_mean_n"] == 3
    assert len(shown["return_by_trial"]) == 2


def test_options_reach_the_evaluation(capsys):
    random, stay = {"_target_": "baselines.simple.Random"}, {"_target_": "baselines.simple.Stay"}
    options = ["rotate=true", "split=train", "seed=3", "first_problem=7", "batch_size=2"]
    assert main(["seats=one_random", *SMALL[1:], "env.num_agents=5", *options]) == 0
    shown = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert shown["split"] == "train"
    assert "policy" not in shown
    assert shown["seats"]["players"] == [random, *[stay | {"action": 7}] * 4]
    assert shown["num_agents"] == 5


@pytest.mark.slow
def test_bounds_tell_the_position(capsys):
    stay = {"_target_": "baselines.simple.Stay", "action": 7}
    scale = {"env": "cleanup", "low": stay, "high": {"_target_": "baselines.simple.Random"}}
    config = load_config([*SMALL, "env.initial_waste=0.0", "env.trial_length=40"])
    shown = run(dataclasses.replace(config, bounds=scale))
    assert shown["position"] == 1
    assert shown["bounds"] == scale
    assert "position" in capsys.readouterr().out


@pytest.mark.parametrize("game", osj_envs.list_ids())
def test_the_bounds_on_disk_fit_their_game(game):
    config = load_config([f"env={game}", f"bounds={game}"])
    env = osj_envs.make(game, num_agents=3)
    bounds = make_bounds(config.bounds, env)
    assert [len(roster) for roster in (bounds.low, bounds.high)] == [3, 3]


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("bounds=harvest", "do not fit 'cleanup'"),
        ("polcy=stay", "did you mean 'policy'"),
        ("policy=stray", "did you mean 'stay'"),
        ("env=clean", "did you mean 'cleanup'"),
        ("env.trial_lenght=3", "did you mean 'env.trial_length'"),
        ("seats=rand", "did you mean 'random'"),
        ("split=heldout", "held_out"),
        ("num_problems=0", "at least 1"),
        ("num_problems=few", "few"),
        ("env.hues=0", "hues is 0"),
        ("+extra=1", "only key=value"),
        ("policy", "key=value"),
    ],
)
def test_a_wrong_argument_is_one_clear_line(argument, said, capsys):
    assert main([argument]) == 2
    told = capsys.readouterr().err.strip()
    assert said in told
    assert told.startswith("error: ")
    assert len(told.splitlines()) == 1


def test_help_lists_the_options(capsys):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for key in ("policy: random", "num_problems: 256", "trial_length: 400", "rotate: false"):
        assert key in text


def test_dashes_before_an_override_are_dropped():
    assert load_config(["--policy=stay"]).policy == "stay"


def test_an_unknown_schema_or_file_is_a_config_error():
    assert (CONFIG_DIR / "baseline.yaml").exists()
    with pytest.raises(ConfigError):
        compose_config("no_such_file", [])


@pytest.fixture
def eater(monkeypatch):
    """A privileged player of OpenCleanup with two options, beside the two simple ones."""

    def make_eater(env, keep=3, radius=7):
        return Stay(action=100 * keep + radius)

    entries = {name: registry._ENTRIES[name] for name in ("random", "stay")}
    entries["eater"] = registry.Entry(make_eater, games=("cleanup",), privileged=True)
    monkeypatch.setattr(registry, "_ENTRIES", entries)


@pytest.mark.usefixtures("eater")
def test_options_reach_the_player():
    env = osj_envs.make("cleanup", num_agents=2)
    assert registry.make("eater", env) == Stay(action=307)
    assert registry.make("eater", env, keep=2) == Stay(action=207)
    config = load_config(["policy=eater", "policy_options.radius=4"])
    assert config.policy_options == {"keep": None, "radius": 4}


@pytest.mark.usefixtures("eater")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["policy=eater", "policy_options.kept=2"], "did you mean 'policy_options.keep'"),
        (["policy=random", "policy_options.keep=2"], "random takes no options, so 'keep' is none"),
        (["policy=eatr"], "did you mean 'eater'? Known are fair: random, stay; privileged: eater"),
    ],
)
def test_a_wrong_option_is_one_clear_line(arguments, said, capsys):
    assert main(arguments) == 2
    told = capsys.readouterr().err.strip()
    assert said in told
    assert len(told.splitlines()) == 1


@pytest.mark.usefixtures("eater")
def test_an_unknown_option_of_a_player_is_answered_with_the_nearest():
    env = osj_envs.make("cleanup", num_agents=2)
    with pytest.raises(ValueError, match="eater has no option 'radios'; did you mean 'radius'"):
        registry.make("eater", env, radios=2)


@pytest.mark.usefixtures("eater")
def test_fair_and_privileged_players_are_listed_apart(capsys):
    assert registry.list_names("cleanup", privileged=False) == ("random", "stay")
    assert registry.list_names("cleanup", privileged=True) == ("eater",)
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert "  fair: random, stay\n  privileged: eater (keep, radius)" in text


@pytest.mark.usefixtures("eater")
def test_a_factory_is_given_the_environment_where_it_asks_for_it():
    env = osj_envs.make("cleanup", num_agents=2)
    entry = {"_target_": "baselines.registry.make", "name": "eater", "keep": 1}
    assert make_roster(entry, env) == [Stay(action=107)] * 2
    with pytest.raises(ValueError, match="no option 'kept'"):
        make_roster({"_target_": "baselines.registry.make", "name": "eater", "kept": 1}, env)
    with pytest.raises(ValueError, match="gone"):
        make_roster({"_target_": "baselines.gone.Player"}, env)
