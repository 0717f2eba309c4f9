"""Run folders: one a run, kept apart, locked, and resumed as they were begun."""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from algorithms import runs
from algorithms.compose import load_train_config
from algorithms.runs import Job
from algorithms.serialisation import from_dict, to_dict
from osj_envs.compose import ConfigError
from tests.algorithms.tiny import ROOT, tiny_arguments


@pytest.fixture(autouse=True)
def _no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WANDB_RUN_ID", "WANDB_SWEEP_ID", "WANDB_RESUME"):
        monkeypatch.delenv(name, raising=False)


def prepare(arguments: list[str]) -> Job:
    job = runs.prepare(load_train_config(arguments), arguments)
    with runs.locked(job.folder):
        runs.write_config(job.folder, job.config)
    return job


@pytest.fixture
def arguments(tmp_path: pathlib.Path) -> list[str]:
    return tiny_arguments(logging__directory=tmp_path, seed=3)


@pytest.fixture
def first(arguments: list[str]) -> Job:
    return prepare(arguments)


def resume(first: Job, *more: str) -> Job:
    return prepare([f"resume={first.folder.path}", *more])


def test_runs_that_start_in_the_same_second_get_folders_of_their_own(tmp_path):
    def begin(_: int) -> pathlib.Path:
        return runs.new_folder(tmp_path / "runs", "cleanup")

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(begin, range(64)))
    assert len(set(paths)) == 64
    assert all(re.fullmatch(r"cleanup-\d{8}-\d{6}-[0-9a-f]{6}", path.name) for path in paths)


def test_a_folder_that_is_there_is_never_taken(tmp_path, monkeypatch):
    names = iter(["aa", "aa", "bb"])
    monkeypatch.setattr(runs.secrets, "token_hex", lambda size: next(names))
    monkeypatch.setattr(runs.time, "strftime", lambda form: "now")
    assert runs.new_folder(tmp_path, "x").name == "x-now-aa"
    assert runs.new_folder(tmp_path, "x").name == "x-now-bb"


def test_a_run_says_what_made_it(first, arguments):
    about = first.folder.about()
    assert about["arguments"] == arguments
    assert {"jax", "osj", "commit"} <= set(about["versions"])
    assert first.folder.config() == first.config
    assert first.config.seed == 3
    assert not first.is_resumed


def test_the_commit_is_that_of_the_checkout():
    inside = ["git", "-C", str(ROOT), "rev-parse"]
    is_checkout = subprocess.run([*inside, "--git-dir"], capture_output=True).returncode == 0
    commit = runs.versions()["commit"]
    if not is_checkout:
        assert commit is None
        return
    head = subprocess.run([*inside, "HEAD"], capture_output=True, text=True, check=True)
    assert commit is not None
    assert commit.rstrip("+") == head.stdout.strip()


def test_no_secret_of_the_environment_is_written_down(arguments, monkeypatch):
    monkeypatch.setenv("WANDB_API_KEY", "a-key-that-nobody-may-see")
    folder = prepare(arguments).folder
    texts = [path.read_text() for path in folder.path.rglob("*") if path.is_file()]
    assert texts
    assert not [text for text in texts if "a-key-that-nobody-may-see" in text]


def test_a_resumed_run_has_its_own_folder_and_configuration(first):
    job = resume(first)
    assert job.is_resumed
    assert job.folder == first.folder
    assert job.config == first.config


@pytest.mark.parametrize(
    ("override", "named"),
    [
        ("seed=4", "seed=4 .* has seed=3"),
        ("env.num_agents=1", "env.num_agents=1 .* has env.num_agents=2"),
        ("agent=evidence", "agent.memory=evidence .* has agent.memory=gru"),
        ("reward=common", "reward.kind=common .* has reward.kind=individual"),
        ("env.training.initial_waste=0.5", "env.training.initial_waste=0.5 "),
        ("env.initial_waste=0.5", "env.initial_waste=0.5 .* has env.initial_waste=None"),
        ("scale.agent_steps=80", "scale.agent_steps=80 is less than the 480"),
        ("sead=4", "Unknown key: 'sead'; did you mean 'seed'"),
    ],
)
def test_an_override_that_contradicts_the_run_is_an_error(first, override, named):
    with pytest.raises(ConfigError, match=named):
        resume(first, override)
    assert first.folder.config() == first.config


@pytest.mark.parametrize(
    "override", ["seed=3", "agent=rl2", "env.num_agents=2", "agent.memory=gru", "env=cleanup"]
)
def test_an_override_that_agrees_with_the_run_is_none(first, override):
    assert resume(first, override).config == first.config


def test_more_steps_and_other_logging_are_allowed_and_kept(first):
    job = resume(first, "scale.agent_steps=960", "logging=offline", "checkpoint.keep=5")
    assert job.config.scale.agent_steps == 960
    assert job.config.logging.wandb == "offline"
    assert job.config.checkpoint.keep == 5
    assert resume(first).config == job.config
    with pytest.raises(ConfigError, match=r"scale\.agent_steps=480 is less than the 960"):
        resume(first, "scale.agent_steps=480")


def test_steps_cannot_be_added_where_learning_rates_depend_on_them(tmp_path):
    arguments = tiny_arguments(logging__directory=tmp_path, agent__ppo__anneal=True)
    with pytest.raises(ConfigError, match=r"agent\.ppo\.anneal"):
        resume(prepare(arguments), "scale.agent_steps=960")


def test_a_missing_run_names_the_nearest(first):
    with pytest.raises(ConfigError, match=f"Did you mean {first.folder.path}"):
        prepare([f"resume={first.folder.path}0"])
    (first.folder.path / "empty").mkdir()
    with pytest.raises(ConfigError, match="holds no run"):
        prepare([f"resume={first.folder.path / 'empty'}"])


def test_two_processes_cannot_write_one_run(first):
    script = (
        "import pathlib, sys; from algorithms.runs import RunFolder, locked\n"
        "with locked(RunFolder(pathlib.Path(sys.argv[1]))): print('writing', flush=True); input()"
    )
    command = [sys.executable, "-c", script, str(first.folder.path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, **pipes) as writer:
        assert writer.stdout.readline() == "writing\n"
        with pytest.raises(ConfigError, match="Another process"), runs.locked(first.folder):
            pass
        writer.kill()
    with runs.locked(first.folder):
        pass


def test_a_run_that_an_agent_starts_again_goes_on(arguments, monkeypatch):
    monkeypatch.setenv("WANDB_SWEEP_ID", "sweep1")
    monkeypatch.setenv("WANDB_RUN_ID", "abc123")
    first = prepare(arguments)
    assert first.folder.about()["wandb_id"] == "abc123"
    again = prepare(arguments)
    assert again.is_resumed
    assert again.folder == first.folder
    monkeypatch.setenv("WANDB_RUN_ID", "abc124")
    assert prepare(arguments).folder != first.folder


def test_a_wandb_id_alone_reuses_no_folder(arguments, monkeypatch):
    monkeypatch.setenv("WANDB_RUN_ID", "abc123")
    assert prepare(arguments).folder != prepare(arguments).folder


def test_half_a_folder_beside_it_does_not_matter(arguments, tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_SWEEP_ID", "sweep1")
    monkeypatch.setenv("WANDB_RUN_ID", "abc123")
    (tmp_path / "cleanup-killed").mkdir()
    assert not prepare(arguments).is_resumed


def test_a_configuration_is_plain_data_and_back():
    config = load_train_config(tiny_arguments(env__training__initial_waste="[0.1,0.5]"))
    data = json.loads(json.dumps(to_dict(config)))
    assert from_dict(data) == config
    with pytest.raises(ConfigError, match="'sead' not in"):
        from_dict({**data, "sead": 3})
    del data["agent"]["hidden_size"]
    assert from_dict(data).agent.hidden_size == 128
