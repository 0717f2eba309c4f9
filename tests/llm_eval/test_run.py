"""The program: what it plays, records, resumes, refuses and prints."""

import dataclasses
import json
import pathlib
import random
import signal
import subprocess
import sys
import time

import jax
import numpy as np
import pytest

import osj_envs
from algorithms import runs
from algorithms.checkpointing import About, open_checkpoints
from algorithms.compose import load_train_config
from algorithms.learner import make_learner
from algorithms.policy import load_policy
from baselines import registry
from llm_eval import experiment, players, run
from llm_eval.clients import scripted
from llm_eval.clients.config import load_client_config
from llm_eval.play import STOPPED, WRONG, load_config
from llm_eval.records import DONE, PROGRESS, REPLIES, RESULT, STEPS
from osj_envs import metrics, records
from osj_envs.env_config import make_env
from osj_envs.evaluation import evaluate
from tests.algorithms.tiny import tiny_arguments

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = ("env.num_agents=2", "env.num_trials=2", "env.trial_length=4", "problem_seeds=[0,1]")
SAME = (RESULT, STEPS, "episode.npz")


def arguments(folder: pathlib.Path, *further: str) -> list[str]:
    return [*SMALL, f"directory={folder}", *further]


def runs_in(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path.parent for path in folder.rglob("run.json"))


def last_line(text: str) -> dict:
    return json.loads(text.strip().splitlines()[-1])


def assert_same_runs(one: pathlib.Path, other: pathlib.Path) -> None:
    assert runs_in(one)
    for left, right in zip(runs_in(one), runs_in(other), strict=True):
        assert left.relative_to(one) == right.relative_to(other)
        for name in SAME:
            assert (left / name).read_bytes() == (right / name).read_bytes(), name


@pytest.fixture
def priced(monkeypatch: pytest.MonkeyPatch) -> None:
    """The built-in model costs dollars."""
    config = load_client_config("scripted")
    dear = type(config).model_validate(
        {**config.model_dump(), "prices": {"input": 1.0, "output": 1.0}, "max_tokens": 100}
    )
    monkeypatch.setattr(players, "load_client_config", lambda name: dear)


def test_a_run_that_spent_its_budget_goes_on_to_the_same_end(tmp_path, capsys, priced):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    team = "team=llm:scripted"
    assert run.main(arguments(whole, team)) == 0
    printed = last_line(capsys.readouterr().out)
    assert (printed["env"], printed["num_problems"], printed["replies"]) == ("cleanup", 2, 40)
    assert printed["dollars"] > 0
    assert run.main(arguments(stopped, team, "budget_dollars=0.03")) == STOPPED
    told = capsys.readouterr().err
    assert "The budget is spent" in told
    assert "the same command goes on" in told
    for path in runs_in(stopped):
        assert "budget is spent" in json.loads((path / PROGRESS).read_bytes())["stopped"]
        assert not (path / DONE).exists()
    assert run.main(["--status", str(stopped)]) == 0
    assert "stopped" in capsys.readouterr().out
    assert run.main(arguments(stopped, team)) == 0
    assert last_line(capsys.readouterr().out) == printed
    assert_same_runs(whole, stopped)
    replies = [(path / REPLIES).read_bytes() for path in runs_in(stopped)]
    assert run.main(arguments(stopped, team)) == 0
    assert last_line(capsys.readouterr().out) == printed
    assert [(path / REPLIES).read_bytes() for path in runs_in(stopped)] == replies


def test_a_finished_run_shows_the_counts_of_its_records_on_every_repeat(
    tmp_path, capsys, monkeypatch
):
    def clumsy(request):
        return "No." if int(request.prompt_hash, 16) % 3 == 0 else scripted.wander(request)

    def table_in(text: str) -> list[list[str]]:
        return [line.split() for line in text.splitlines() if " done " in line]

    monkeypatch.setitem(scripted.SCRIPTS, "wander", clumsy)
    shown = []
    for _ in range(3):
        assert run.main(arguments(tmp_path, "team=llm:scripted")) == 0
        shown.append(table_in(capsys.readouterr().err)[-2:])
        assert run.main(["--status", str(tmp_path)]) == 0
        assert table_in(capsys.readouterr().out) == shown[0] == shown[-1]
    for cells, path in zip(shown[0], runs_in(tmp_path), strict=True):
        steps = [json.loads(line) for line in (path / STEPS).read_text().splitlines()]
        invalid = sum(step["invalid"] is not None for step in steps)
        assert invalid > 0
        assert cells[1:8] == ["done", "2/2", "4/4", "0", "0", str(len(steps)), str(invalid)]


def test_players_without_a_model_play_as_in_the_compiled_evaluation(tmp_path, capsys):
    team = "team=[scripted:random,scripted:stay]"
    assert run.main(arguments(tmp_path, team, "rotate=true", "seed=5", "env.trial_length=9")) == 0
    env = osj_envs.make("cleanup", num_agents=2, num_trials=2, trial_length=9)
    roster = [registry.make(name, env) for name in ("random", "stay")]
    expected = evaluate(env, roster, jax.random.key(5), [0, 1], rotate=True)
    assert_recorded(tmp_path, expected)
    for path in runs_in(tmp_path):
        lines = [json.loads(line) for line in (path / STEPS).read_text().splitlines()]
        assert len(lines) == 2 * 18
        by_player = {"scripted:random": 0.0, "scripted:stay": 0.0}
        for line in lines:
            by_player[line["player"]] += line["reward"]
        returns = records.load(path / "episode.npz").returns.sum(axis=0)
        np.testing.assert_allclose(list(by_player.values()), returns)
    assert last_line(capsys.readouterr().out)["replies"] == 0


@pytest.mark.parametrize("game", [pytest.param("cleanup", marks=pytest.mark.slow), "harvest"])
def test_a_checkpoint_plays_as_in_the_compiled_evaluation(tmp_path, game):
    """Its recurrent state goes from trial to trial, and its seats shift."""
    checkpoint = make_checkpoint(tmp_path, game)
    team = f"team=[checkpoint:{checkpoint},scripted:random]"
    options = (f"env={game}", "rotate=true", "env.trial_length=9")
    assert run.main(arguments(tmp_path / "played", team, *options)) == 0
    env = osj_envs.make(game, num_agents=2, num_trials=2, trial_length=9)
    roster = [load_policy(str(checkpoint), env.game), registry.make("random", env)]
    expected = evaluate(env, roster, jax.random.key(0), [0, 1], rotate=True)
    assert_recorded(tmp_path / "played", expected)


@pytest.mark.slow
@pytest.mark.parametrize(("game", "eats"), [("cleanup", "harvester"), ("harvest", "greedy")])
def test_a_game_of_full_size_has_the_metrics_of_the_compiled_evaluation(tmp_path, game, eats):
    """Five trials of 400 steps, learned and scripted players in the five seats."""
    checkpoint = make_checkpoint(tmp_path, game, num_agents=5)
    scripted = [eats, {"cleanup": "cleaner", "harvest": "patient"}[game], "random"]
    team = [f"checkpoint:{checkpoint}"] * 2 + [f"scripted:{name}" for name in scripted]
    options = [
        f"env={game}",
        "problem_seeds=[7]",
        "rotate=true",
        f"directory={tmp_path / 'played'}",
    ]
    assert run.main([*options, f"team=[{','.join(team)}]"]) == 0
    env = osj_envs.make(game)
    assert (env.num_trials, env.trial_length, env.num_agents) == (5, 400, 5)
    learned = load_policy(str(checkpoint), env.game)
    roster = [learned, learned, *(registry.make(name, env) for name in scripted)]
    expected = evaluate(env, roster, jax.random.key(0), [7], rotate=True)
    assert expected.returns.any()
    assert_recorded(tmp_path / "played", expected)
    (path,) = runs_in(tmp_path / "played")
    result = json.loads((path / RESULT).read_bytes())
    assert result["metrics"] == metrics.as_json(metrics.summarise(env.game, expected))


def make_checkpoint(folder: pathlib.Path, game: str, num_agents: int = 2) -> pathlib.Path:
    """The folder of a learned agent's run; it was never trained."""
    options = {"env": game, "env__num_agents": num_agents, "logging__directory": folder / "runs"}
    given = tiny_arguments(**options)
    config = load_train_config(given)
    made = runs.create(config, given)
    learner = make_learner(config, make_env(config.env, is_training=True))
    with open_checkpoints(made.checkpoints, config.checkpoint) as checkpoints:
        checkpoints.save(learner.init(3), About(config, 3, held_out_return=0.0))
    return made.path


def assert_recorded(folder: pathlib.Path, expected: records.EpisodeRecord) -> None:
    """The games in the folder, in order, are those of the problems."""
    for place, path in enumerate(runs_in(folder)):
        found = records.load(path / "episode.npz")
        for field in dataclasses.fields(found):
            of_this = jax.tree.map(lambda x, p=place: x[p], getattr(expected, field.name))
            jax.tree.map(np.testing.assert_array_equal, getattr(found, field.name), of_this)


def test_every_number_of_cooperators_makes_a_schelling_diagram(tmp_path, capsys):
    options = ("team=llm:scripted", "cooperators=[0,1,2]", "env=harvest", "rotate=true")
    assert run.main(arguments(tmp_path, *options)) == 0
    printed = last_line(capsys.readouterr().out)
    assert list(printed["teams"]) == [f"llm-scripted-{k}-cooperate" for k in range(3)]
    assert "is_dilemma" in printed["schelling"]["llm-scripted"]
    about = [json.loads((path / "run.json").read_bytes())["config"] for path in runs_in(tmp_path)]
    roles = [[each["role"] for each in one["players"]] for one in about[2:4]]
    assert roles == [["cooperator", "defector"]] * 2
    assert [one["shift"] for one in about[2:4]] == [0, 1]


MIXED = "[llm:scripted,scripted:random]"


@pytest.mark.parametrize(
    ("game", "team"),
    [("harvest", "llm:scripted"), pytest.param("cleanup", MIXED, marks=pytest.mark.slow)],
)
def test_up_to_where_it_stops_a_game_is_the_whole_one(tmp_path, capsys, game, team):
    options = (f"team={team}", f"env={game}", "problem_seeds=[1]")
    assert run.main(arguments(tmp_path / "whole", *options)) == 0
    assert "stopped_after_trials" not in last_line(capsys.readouterr().out)
    stop = "stop_after_trials=1"
    assert run.main(arguments(tmp_path / "stopped", *options, stop)) == 0
    text = capsys.readouterr().out
    printed = last_line(text)
    assert "Stopped after trial 1 of 2." in text
    assert (printed["stopped_after_trials"], printed["num_trials"]) == (1, 1)
    (whole,), (stopped,) = runs_in(tmp_path / "whole"), runs_in(tmp_path / "stopped")
    steps, all_steps = (stopped / STEPS).read_bytes(), (whole / STEPS).read_bytes()
    assert all_steps.startswith(steps)
    trials = {json.loads(line)["trial"] for line in steps.splitlines()}
    assert trials == {0}
    assert b'"trial": 1' in all_steps.removeprefix(steps).splitlines()[0]
    assert b"Trial 1 of 2. " in steps
    returns = [records.load(path / "episode.npz").returns for path in (whole, stopped)]
    np.testing.assert_array_equal(returns[0][:1], returns[1])
    about = json.loads((stopped / "run.json").read_bytes())["config"]
    assert (about["env"]["num_trials"], about["stop_after_trials"]) == (2, 1)
    assert json.loads((stopped / RESULT).read_bytes())["stopped_after_trials"] == 1
    assert json.loads((whole / RESULT).read_bytes())["stopped_after_trials"] is None


def test_another_configuration_does_not_overwrite_a_run(tmp_path, capsys):
    team = "team=scripted:random"
    assert run.main(arguments(tmp_path, team)) == 0
    before = [(path / RESULT).read_bytes() for path in runs_in(tmp_path)]
    assert run.main(arguments(tmp_path, team, "seed=1")) == STOPPED
    assert "was begun with config.seed = 0" in capsys.readouterr().err
    assert [(path / RESULT).read_bytes() for path in runs_in(tmp_path)] == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "There is no team"),
        (("team=script:random",), "Unknown player: 'script:random'"),
        (("team=scripted:randm",), "did you mean 'random'"),
        (("team=llm:gpt",), "Unknown model: 'gpt'"),
        (("team=[llm:scripted]",), "1 players for 2 seats"),
        (("team=scripted:random", "cooperators=[1]"), "can be told a role"),
        (("team=llm:scripted", "cooperators=[3]"), "from 0 to 2"),
        (("team=llm:scripted", "reveal=regrowth"), "reveal is 'regrowth'"),
        (("team=llm:scripted", "stop_after_trials=3"), "from 1 to 2, the trials"),
        (("team=llm:scripted", "stop_after_trials=0"), "must be at least 1"),
        (("team=llm:scripted", "problem_seeds=[1,1]"), "different problem seeds"),
        (("experiment=dem",), "did you mean 'demo'"),
        (("--status", "nowhere"), "takes a folder of runs"),
    ],
)
def test_what_cannot_be_played_is_refused_in_one_sentence(tmp_path, capsys, options, sentence):
    where = [] if "--status" in options else arguments(tmp_path)
    assert run.main([*where, *options]) == WRONG
    assert sentence in capsys.readouterr().err
    assert not runs_in(tmp_path)


@pytest.mark.parametrize(
    "name", sorted(path.stem for path in (ROOT / "configs" / "experiment").glob("*.yaml"))
)
@pytest.mark.parametrize("game", ["cleanup", "harvest"])
def test_every_experiment_makes_games(name, game):
    config = load_config([f"experiment={name}", f"env={game}"])
    env = experiment.make_played(config)
    teams = experiment.list_teams(config, env)
    games = experiment.list_games(config, env, teams)
    assert config.title == name
    assert len({each.path for each in games}) == len(teams) * len(config.problem_seeds)
    models = {p.player for team in teams for p in team.places if p.player.startswith("llm:")}
    assert all(load_client_config(each.removeprefix("llm:")) for each in models)


@pytest.mark.slow
def test_a_program_killed_at_random_points_comes_to_the_same_end(tmp_path):
    rng = random.Random(0)

    def start(folder: pathlib.Path) -> subprocess.Popen:
        command = [sys.executable, "llm_eval/run.py", "experiment=demo", f"directory={folder}"]
        return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)

    printed = start(tmp_path / "whole").communicate()[0]
    killed, total = tmp_path / "killed", 260
    for part in sorted(rng.random() for _ in range(5)):
        program = start(killed)
        while replies_in(killed) < part * total and program.poll() is None:
            time.sleep(0.005)
        assert program.poll() is None, "it ended before it was killed"
        program.send_signal(signal.SIGKILL)
        program.wait()
    assert last_line(start(killed).communicate()[0]) == last_line(printed)
    assert_same_runs(tmp_path / "whole", killed)


def replies_in(folder: pathlib.Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob(REPLIES))
