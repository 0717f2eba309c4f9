"""Command lines: what they make, and what they are told when they make nothing."""

import dataclasses
import os
import pathlib

import pytest

from algorithms.compose import compose_train, load_train_config
from algorithms.config import AgentConfig, PPOConfig, RewardConfig
from osj_envs.compose import CONFIG_DIR, ConfigError
from osj_envs.env_config import EnvConfig, make_env

GROUPS = ("env", "agent", "scale", "reward", "logging")
MEMBERS = [
    f"{group}={path.stem}"
    for group in GROUPS
    for path in sorted((CONFIG_DIR / group).glob("*.yaml"))
]


def test_the_defaults():
    config = load_train_config([])
    assert config.env.name == "cleanup"
    assert config.agent.memory == "gru"
    assert config.reward.kind == "individual"
    assert config.logging.wandb == "offline"
    assert config == load_train_config(["env=cleanup", "agent=rl2", "scale=quick"])


@pytest.mark.parametrize("member", MEMBERS)
def test_every_member_of_every_group_loads(member):
    config = load_train_config([member])
    make_env(config.env, is_training=True)


def test_the_last_word_is_the_command_line_s():
    config = load_train_config(
        ["agent=evidence", "scale=quick", "env.trial_length=61", "agent.ppo.entropy=0.03"]
    )
    assert config.agent.memory == "evidence"
    assert config.env.options["trial_length"] == 61
    assert config.agent.ppo.entropy == 0.03


def test_training_may_differ_from_evaluation():
    config = load_train_config(
        ["env.training.initial_waste=[0.25,0.5]", "env.training.num_agents=3"]
    )
    training, evaluation = (make_env(config.env, is_training=flag) for flag in (True, False))
    assert training.game.config.initial_waste_range == (0.25, 0.5)
    assert evaluation.game.config.initial_waste_range == (1.0, 1.0)
    assert (training.num_agents, evaluation.num_agents) == (3, 5)
    assert training.trial_length == evaluation.trial_length


def test_full_scale_is_the_paper_s_game():
    config = load_train_config(["scale=full"])
    env = make_env(config.env, is_training=False)
    assert (env.num_trials, env.trial_length, env.num_agents) == (5, 400, 5)
    assert config.scale.num_envs >= 1000


def test_dashes_before_a_key_are_allowed():
    assert load_train_config(["--agent.ppo.clip=0.3"]).agent.ppo.clip == 0.3


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("agent.memry=gru", "Unknown key: 'agent.memry'; did you mean 'agent.memory'?"),
        ("agent.ppo.clp=1", "did you mean 'agent.ppo.clip'?"),
        ("env.nmu_agents=3", "did you mean 'env.num_agents'?"),
        ("sead=1", "did you mean 'seed'?"),
        ("agent=rl3", "Unknown agent: 'rl3'; did you mean 'rl2'?"),
        ("env=cleanap", "Unknown env: 'cleanap'; did you mean 'cleanup'?"),
        ("agent.memory=gruu", "agent.memory is 'gruu'; did you mean 'gru'?"),
        ("reward.kind=comon", "did you mean 'common'?"),
        ("scale.num_envs=many", "'many'"),
        ("agent.ppo.discount=1.5", "must be between 0.0 and 1.0"),
        ("agent.hidden_size=0", "agent.hidden_size is 0; it must be at least 1"),
        ("agent.memory", "an override reads key=value"),
        ("+agent.x=1", "adds, deletes or sweeps"),
        ("~agent.memory", "adds, deletes or sweeps"),
        ("seed=1,2", "adds, deletes or sweeps"),
        ("agent.record_loss=1 agent.memory=none", "no recurrent state"),
        ("agent.reads_own_record=true", "needs agent.memory=gru+evidence"),
        ("agent.event_loss=1", "needs agent.events"),
    ],
)
def test_a_bad_command_line_gets_one_clear_sentence(argument, message):
    with pytest.raises(ConfigError) as raised:
        load_train_config(argument.split(" "))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "build",
    [
        lambda: AgentConfig(memory="gru+lru"),
        lambda: PPOConfig(epochs=0),
        lambda: PPOConfig(gae_lambda=float("nan")),
        lambda: RewardConfig(kind="joint"),
        lambda: EnvConfig("harvestt", {}, {}),
    ],
)
def test_a_bad_value_is_refused_where_it_enters(build):
    with pytest.raises(ValueError, match="is"):
        build()


def test_no_litter_and_no_change_of_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load_train_config(["seed=3"])
    assert pathlib.Path.cwd() == tmp_path
    assert os.listdir(tmp_path) == []


def test_every_field_has_a_key():
    """What the records hold can be set from the command line, group by group."""
    node = compose_train([])
    for record in (AgentConfig, RewardConfig, PPOConfig):
        group = {AgentConfig: node.agent, RewardConfig: node.reward, PPOConfig: node.agent.ppo}
        assert set(group[record]) == {field.name for field in dataclasses.fields(record)}
