"""Sweeps, offline: the command lines that wandb's own agent makes of them, fed to the trainer."""

import itertools
import os
import pathlib
from collections.abc import Iterator
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import pytest
import wandb
from wandb import wandb_agent
from wandb.apis.public import sweeps as public_sweeps
from wandb.sdk.launch.sweeps.utils import load_sweep_config

from algorithms import ippo_rl2, runs
from algorithms.collect import TrialSums
from algorithms.compose import load_train_config
from algorithms.devices import AXIS
from algorithms.learner import make_learner, trial_metrics
from algorithms.loggers import Wandb
from algorithms.serialisation import flatten, to_dict
from algorithms.train import readable
from osj_envs.compose import CONFIG_DIR, ConfigError
from osj_envs.env_config import make_env
from tests.algorithms.tiny import run_program, tiny_arguments

SWEEPS = sorted((CONFIG_DIR / "sweep").glob("*.yaml"))
ROOT = CONFIG_DIR.parent

GROUPS = {"env": "env.name", "reward": "reward.kind", "logging": "logging.wandb"}
"""The value by which a member of a group is known."""

KEYS = {"name", "program", "method", "metric", "parameters", "command"}
DISTRIBUTIONS = {"uniform", "int_uniform", "log_uniform_values"}
ASKED = ("WANDB_RUN_ID", "WANDB_SWEEP_ID", "WANDB_RESUME", "WANDB_SWEEP_PARAM_PATH", "WANDB_DIR")


class Process:
    """Takes the place of the process that an agent starts."""

    commands: ClassVar[list[list[str]]] = []

    def __init__(self, command: list[str], env: dict[str, str], forward_signals: bool) -> None:
        self.commands.append(command)


@pytest.fixture(autouse=True)
def _agent_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    before = dict(os.environ)
    for name in ASKED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WANDB_SWEEP_ID", "s")
    monkeypatch.setattr(wandb_agent, "AgentProcess", Process)
    monkeypatch.setattr(Process, "commands", [])
    yield
    os.environ.clear()
    os.environ.update(before)


def load(path: pathlib.Path) -> dict[str, Any]:
    sweep = load_sweep_config(str(path))
    assert sweep, f"wandb cannot read {path}"
    return sweep


def choices(parameter: dict[str, Any]) -> list[Any]:
    """Values that a parameter may take: all of a list, the ends of a range."""
    if "value" in parameter:
        return [parameter["value"]]
    return parameter["values"] if "values" in parameter else [parameter["min"], parameter["max"]]


def draws(sweep: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every value of every parameter in some run of the sweep."""
    lists = {name: choices(parameter) for name, parameter in sweep["parameters"].items()}
    for turn in range(max(map(len, lists.values()))):
        yield {name: values[turn % len(values)] for name, values in lists.items()}


def handed_on(sweep: dict[str, Any], values: dict[str, Any], kind: str = "run") -> list[str]:
    """What the trainer gets when wandb's agent carries out a command."""
    agent = wandb_agent.Agent.__new__(wandb_agent.Agent)
    agent.__dict__.update(
        _sweep_command=list(sweep["command"]),
        _in_jupyter=False,
        _function=None,
        _forward_signals=False,
        _run_processes={},
        _log=[],
    )
    arguments = {name: {"value": value} for name, value in values.items()}
    command = {"type": kind, "run_id": "r1", "program": sweep["program"], "args": arguments}
    response = agent._process_command(command)
    assert "exception" not in response, response
    *start, program = Process.commands[-1][:3]
    assert start == ["/usr/bin/env", "python"]
    assert (ROOT / program).is_file()
    return Process.commands[-1][3:]


def logged_names() -> set[str]:
    """Names of the learner's figures on trials, as they are logged."""
    sums = TrialSums(trials=jnp.ones((1, 2)), returns=jnp.ones((1, 2)), events={})
    metrics = jax.vmap(trial_metrics, axis_name=AXIS)(sums)
    return set(readable({name: values[0] for name, values in metrics.items()}))


def test_there_are_sweeps() -> None:
    assert len(SWEEPS) >= 3
    dashes = {argument.startswith("--") for path in SWEEPS for argument in first_arguments(path)}
    assert dashes == {True, False}, "both forms of argument are tried"


def first_arguments(path: pathlib.Path) -> list[str]:
    sweep = load(path)
    return handed_on(sweep, next(draws(sweep)))


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_every_choice_reaches_the_configuration(path: pathlib.Path) -> None:
    sweep = load(path)
    for values in draws(sweep):
        config = load_train_config(handed_on(sweep, values))
        found = dict(flatten(to_dict(config)))
        for name, value in values.items():
            assert found[GROUPS.get(name, name)] == value
        make_learner(config, make_env(config.env, is_training=True))


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_a_sweep_searches_for_what_is_logged(path: pathlib.Path) -> None:
    sweep = load(path)
    assert sweep["metric"]["goal"] == "maximize"
    assert sweep["metric"]["name"] in logged_names()


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_wandb_takes_the_sweep(path: pathlib.Path) -> None:
    sweep = load(path)
    public_sweeps._validate_config_and_fill_distribution(sweep)
    assert set(sweep) == KEYS
    assert sweep["method"] in ("grid", "bayes", "random")
    for parameter in sweep["parameters"].values():
        if "min" in parameter:
            assert set(parameter) == {"distribution", "min", "max"}
            assert parameter["distribution"] in DISTRIBUTIONS
        else:
            assert set(parameter) in ({"value"}, {"values"})
    lists = [choices(p) for p in sweep["parameters"].values() if "min" not in p]
    if sweep["method"] == "grid":
        assert len(lists) == len(sweep["parameters"]), "a grid has no ranges"
        assert len(list(itertools.product(*lists))) > 1


@pytest.mark.parametrize("kind", ["run", "resume"])
@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_a_preempted_run_goes_on_in_its_folder(
    path: pathlib.Path, kind: str, tmp_path: pathlib.Path
) -> None:
    sweep = load(path)
    values = next(draws(sweep)) | {"logging.directory": str(tmp_path / "runs")}
    first_line = handed_on(sweep, values)
    first = runs.prepare(load_train_config(first_line), first_line)
    assert not first.is_resumed
    again_line = handed_on(sweep, values, kind=kind)
    again = runs.prepare(load_train_config(again_line), again_line)
    assert again.is_resumed
    assert again.folder == first.folder
    assert again.config == first.config


def test_another_run_of_the_sweep_gets_its_own_folder(tmp_path, monkeypatch) -> None:
    sweep = load(SWEEPS[0])
    line = handed_on(sweep, next(draws(sweep)) | {"logging.directory": str(tmp_path / "runs")})
    first = runs.prepare(load_train_config(line), line)
    monkeypatch.setenv("WANDB_RUN_ID", "r2")
    assert runs.prepare(load_train_config(line), line).folder != first.folder


@pytest.mark.parametrize(
    ("sweep_id", "resume", "goes_on"),
    [
        ("s", "", True),
        ("s", "must", True),
        ("s", "never", False),
        ("", "allow", True),
        ("", "", False),
        ("", "never", False),
    ],
)
def test_when_a_wandb_id_names_the_run_to_go_on_with(
    sweep_id: str, resume: str, goes_on: bool, tmp_path, monkeypatch
) -> None:
    sweep = load(SWEEPS[0])
    line = handed_on(sweep, next(draws(sweep)) | {"logging.directory": str(tmp_path / "runs")})
    first = runs.prepare(load_train_config(line), line)
    monkeypatch.setenv("WANDB_SWEEP_ID", sweep_id)
    monkeypatch.setenv("WANDB_RESUME", resume)
    again = runs.prepare(load_train_config(line), line)
    assert again.is_resumed == goes_on
    assert (again.folder == first.folder) == goes_on


def test_an_interrupted_run_is_handed_out_again(tmp_path, monkeypatch) -> None:
    """For wandb: marked as preempted, and a status other than 0."""
    told: list[Any] = []
    mark, finish = wandb.Run.mark_preempting, wandb.Run.finish
    monkeypatch.setattr(wandb.Run, "mark_preempting", lambda run: (told.append("mark"), mark(run)))

    def note(run: wandb.Run, exit_code: int) -> None:
        told.append(exit_code)
        finish(run, exit_code)

    monkeypatch.setattr(wandb.Run, "finish", note)
    sweep = load(CONFIG_DIR / "sweep" / "memory.yaml")
    line = handed_on(sweep, next(draws(sweep)) | offline(tmp_path))
    monkeypatch.setattr(ippo_rl2, "train", lambda session, place: False)
    assert ippo_rl2.run(runs.prepare(load_train_config(line), line)) == ippo_rl2.INTERRUPTED
    assert told == ["mark", 1]


def test_the_wandb_run_is_the_one_that_the_agent_names(tmp_path) -> None:
    sweep = load(CONFIG_DIR / "sweep" / "memory.yaml")
    values = next(draws(sweep)) | offline(tmp_path)
    line = handed_on(sweep, values)
    wandb.teardown()  # A process reads an agent's variables once, and has in other tests.
    for _ in range(2):
        logger = Wandb(runs.prepare(load_train_config(line), line))
        config = dict(logger._run.config)
        logger.close(has_failed=False)
        assert (logger._run.id, logger._run.sweep_id) == ("r1", "s")
        assert {name: config[name] for name in values} == values
    assert len(list((tmp_path / "runs").iterdir())) == 1


def offline(folder: pathlib.Path) -> dict[str, Any]:
    """Makes a sweep's run tiny, and keeps it on this machine."""
    tiny = tiny_arguments(logging__wandb="offline", logging__directory=folder / "runs")
    return dict(argument.split("=", 1) for argument in tiny)


def test_an_unknown_parameter_is_refused() -> None:
    sweep = load(SWEEPS[0])
    line = handed_on(sweep, {"agent.ppo.learning_rat": 0.1})
    with pytest.raises(ConfigError, match="learning_rate"):
        load_train_config(line)


@pytest.mark.slow
def test_the_program_runs_as_an_agent_starts_it(tmp_path: pathlib.Path) -> None:
    """Twice with the same id, as after a preemption: one folder, one wandb run, trained once."""
    sweep = load(CONFIG_DIR / "sweep" / "cleanup_quick.yaml")
    line = handed_on(sweep, next(draws(sweep)) | offline(tmp_path))
    names = ("WANDB_RUN_ID", "WANDB_SWEEP_ID", "WANDB_SWEEP_PARAM_PATH")
    environment = {name: os.environ[name] for name in names}
    for _ in range(2):
        done = run_program("algorithms/ippo_rl2.py", line, **environment)
        result = done.last_line()
    (folder,) = (tmp_path / "runs").iterdir()
    assert result["run_dir"] == str(folder)
    assert len(list((folder / "wandb").glob("offline-run-*-r1"))) == 1
    assert "is finished" in done.errors
