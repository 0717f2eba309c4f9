"""One job for each unfinished game: which there are, how hydra starts them, what comes after."""

import json
import pathlib
import subprocess
import sys
from typing import Any

import pytest
from hydra import compose, initialize_config_dir

from llm_eval import launch, run
from llm_eval.experiment import Game, list_games, list_teams, make_played
from llm_eval.play import STOPPED, WRONG, load_config
from llm_eval.records import DONE, take_lock
from osj_envs.compose import CONFIG_DIR

ROOT = pathlib.Path(__file__).resolve().parents[2]
TINY = ("env=harvest", "env.num_agents=2", "env.num_trials=2", "env.trial_length=4")


def games_of(arguments: list[str]) -> list[Game]:
    config = load_config(arguments)
    env = make_played(config)
    return list_games(config, env, list_teams(config, env))


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The arguments of the jobs that hydra starts; none of them plays."""
    jobs: list[list[str]] = []

    def start(command: list[str]) -> subprocess.CompletedProcess[bytes]:
        assert command[:3] == [sys.executable, "-m", "llm_eval.run"]
        jobs.append(command[3:])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(launch.subprocess, "run", start)
    return jobs


@pytest.fixture
def summed_up(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The experiments whose games are read at the end."""
    configs: list[Any] = []
    monkeypatch.setattr(launch, "play", lambda config: configs.append(config) or 0)
    return configs


def test_each_unfinished_game_is_a_job_that_plays_it_alone(tmp_path, capsys, started) -> None:
    arguments = ["experiment=demo", "problem_seeds=[0,1,2]", f'directory="{tmp_path}/of it\'s"']
    arguments += ["title='a${seed}, b'", "cooperators=[0,1]", "rotate=true"]
    games = games_of(arguments)
    assert len(games) == 6
    done = games[1]
    done.path.mkdir(parents=True)
    (done.path / DONE).touch()
    assert run.main(["-m", *arguments]) == STOPPED
    assert "5 of 6 games have not come to their end" in capsys.readouterr().err
    assert [games_of(job) for job in started] == [[game] for game in games if game != done]
    assert str(done.path).startswith(f"{tmp_path}/of it's/a0, b/")


def test_what_is_swept_over_is_played_in_every_combination(tmp_path, started) -> None:
    arguments = ["experiment=homogeneous", f"directory={tmp_path}", "problem_seeds=[7]"]
    sweeps = ["env=cleanup,harvest", "only=[glm-5.3-flash],[gpt-6-sol]"]
    assert run.main(["--multirun", *arguments, *sweeps]) == STOPPED
    played = [str(game.path.relative_to(tmp_path)) for job in started for game in games_of(job)]
    assert played == [
        f"homogeneous/{env}/{team}/seed-7"
        for env in ("cleanup", "harvest")
        for team in ("glm-5.3-flash", "gpt-6-sol")
    ]


def test_where_all_is_finished_no_job_is_started(tmp_path, started, summed_up) -> None:
    arguments = ["experiment=demo", f"directory={tmp_path}"]
    for game in games_of(arguments):
        game.path.mkdir(parents=True)
        (game.path / DONE).touch()
    assert run.main(["-m", *arguments]) == 0
    assert started == []
    assert [config.title for config in summed_up] == ["demo"]


def test_a_game_that_somebody_plays_is_not_started_again(tmp_path, capsys, started) -> None:
    arguments = ["experiment=demo", f"directory={tmp_path}"]
    first, second = games_of(arguments)
    first.path.mkdir(parents=True)
    with take_lock(first.path):
        assert run.main(["-m", *arguments]) == STOPPED
    assert f"{first.path} is being played" in capsys.readouterr().err
    assert [games_of(job) for job in started] == [[second]]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("seed=0,1",), "would both be played into"),
        (("team=llm:nobody",), "Unknown model: 'nobody'"),
        (("only=[wanderer]",), "Unknown team: 'wanderer'; did you mean 'wander'"),
        (("env=cleanup,harvst",), "did you mean 'harvest'"),
        (("seed",), "an override reads key=value"),
        (("hydra/launcher=slurm",), "slurm needs the package no-such-package; pip"),
    ],
)
def test_what_cannot_be_played_starts_no_job(
    tmp_path, capsys, started, monkeypatch, options, sentence
) -> None:
    monkeypatch.setattr(launch, "SUBMITIT", "no-such-package")
    assert run.main(["-m", "experiment=demo", f"directory={tmp_path}", *options]) == WRONG
    assert sentence in capsys.readouterr().err
    assert started == []
    assert not list(tmp_path.iterdir())


def play_in_jobs(folder: pathlib.Path, *options: str) -> str:
    """What the program prints that plays two tiny games in jobs; they leave a folder each."""
    arguments = [*TINY, "team=llm:scripted", "problem_seeds=[0,1]", f"directory={folder}"]
    command = [sys.executable, "llm_eval/run.py", "-m", *arguments, *options]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    printed: dict[str, Any] = json.loads(ended.stdout.strip().splitlines()[-1])
    assert (printed["num_problems"], printed["replies"]) == (2, 40)
    assert len(list(folder.rglob(DONE))) == 2
    return ended.stdout + ended.stderr


@pytest.mark.slow
def test_jobs_run_one_after_the_other_here(tmp_path) -> None:
    assert "one for each unfinished game: 2." in play_in_jobs(tmp_path)
    assert "one for each unfinished game" not in play_in_jobs(tmp_path)


@pytest.mark.slow
def test_jobs_run_side_by_side_here(tmp_path) -> None:
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    play_in_jobs(tmp_path, "hydra/launcher=submitit_local")
    assert len(list(tmp_path.rglob("*_result.pkl"))) == 2


def test_the_clusters_settings_are_there() -> None:
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    overrides = ["job=[]", "hydra/launcher=slurm"]
    with initialize_config_dir(str(CONFIG_DIR), version_base="1.3"):
        config = compose("llm_eval_jobs", overrides, return_hydra_config=True)
    launcher = config.hydra.launcher
    assert launcher._target_.endswith("SlurmLauncher")
    assert (launcher.array_parallelism, launcher.max_num_timeout) == (8, 10)


@pytest.mark.parametrize("text", ["a", "it's", "a b,c=[]", "\\", "\\'", "${seed}", "'\\\\'", 'x"y'])
def test_a_quoted_text_is_read_as_it_was(text: str) -> None:
    with initialize_config_dir(str(CONFIG_DIR), version_base="1.3"):
        config = compose("llm_eval_jobs", [f"job=[{launch._quoted(text)}]"])
    assert list(config.job) == [text]
