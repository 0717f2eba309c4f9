"""The program that draws tables and figures: what it reads, names, refuses, writes and prints."""

import json
import pathlib
import shutil
import sys

import numpy as np
import pytest

import osj_envs
from llm_eval import report, run
from llm_eval.records import RUN, STEPS
from llm_eval.reports.items import GAMES
from llm_eval.reports.reading import read_runs
from llm_eval.reports.teams import Teams, gather
from tests.llm_eval.recorded import EVENTS, KNOWLEDGE, episode, write_run

LUNA, SOL = "llm:gpt-6-luna", "llm:gpt-6-sol"
TABLES = "table3,table4,table5"


@pytest.fixture
def runs(tmp_path) -> pathlib.Path:
    """A finished team of OpenHarvest on two problems, and a run that was only begun."""
    folder = tmp_path / "runs"
    for seed in (0, 1):
        record = episode("harvest", [[1, 2], [3, 4 + seed]], seed, apples=5)
        write_run(folder, "harvest", [LUNA] * 2, record, team="luna")
    write_run(folder, "harvest", [SOL] * 2, record, team="sol", is_done=False)
    return folder


def last_line(text: str) -> dict:
    return json.loads(text.strip().splitlines()[-1])


def names_in(folder: pathlib.Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def teams_in(folder: pathlib.Path) -> Teams:
    return gather(read_runs([folder]))


def test_all_that_the_runs_fill_is_drawn_and_the_rest_is_told(runs, tmp_path, capsys):
    out = tmp_path / "report"
    assert report.main([str(runs), "--out", str(out)]) == 0
    printed = capsys.readouterr()
    told = last_line(printed.out)
    assert set(told["drawn"]) == {"table5", "figure3", "figure4", "figure5", "figure9"}
    assert set(told["not_drawn"]) == {"table3", "table4", "figure6", "figure7", "figure8"}
    assert (told["runs"], told["out"]) == (2, str(out))
    files = {name for each in told["drawn"].values() for name in each["files"]}
    assert names_in(out) == files | {"report.json"}
    assert told["drawn"]["figure3"]["files"] == ["figure3.csv", "figure3.png", "figure3.pdf"]
    assert told["drawn"]["table5"]["files"] == ["table5.md", "table5.csv"]
    assert told["drawn"]["table5"]["problem_seeds"] == {"harvest: gpt-6-luna": 2}
    assert (out / "figure3.png").read_bytes().startswith(b"\x89PNG")
    assert "Table 5. OpenHarvest" in printed.out
    assert "figure3: returns of 1 team in OpenHarvest; 2 problem seeds behind each." in printed.out
    assert "table3 is not drawn: Table 3 takes runs of OpenCleanup" in printed.out
    assert "sol/seed-1: it is not finished (begun)" in printed.err


def test_the_same_command_makes_the_same_files(runs, tmp_path, capsys):
    arguments = [str(runs), "--out", str(tmp_path / "report"), "--only", "table5,figure9"]
    assert report.main(arguments) == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "report").iterdir()}
    assert report.main(arguments) == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "report").iterdir()} == before
    assert set(last_line(capsys.readouterr().out)["drawn"]) == {"table5", "figure9"}


def test_options_may_be_given_as_overrides(runs, tmp_path, capsys):
    out = tmp_path / "report"
    assert report.main([str(runs), f"out={out}", "only=table5", "seed=4", "spread=sd"]) == 0
    told = last_line(capsys.readouterr().out)
    assert (told["out"], list(told["drawn"])) == (str(out), ["table5"])
    about = json.loads((out / "report.json").read_text())
    assert (about["seed"], about["spread"]) == (4, "sd")


def test_nothing_is_overwritten(runs, tmp_path, capsys):
    out = tmp_path / "report"
    assert report.main([str(runs), "--out", str(out), "--only", "table5"]) == 0
    before = (out / "table5.csv").read_bytes()
    record = episode("harvest", [[9, 9], [9, 9]], 2)
    write_run(runs, "harvest", [LUNA] * 2, record, team="luna")
    assert report.main([str(runs), "--out", str(out)]) == report.WRONG
    assert (
        "holds a report with runs, and other ones would take its place" in capsys.readouterr().err
    )
    assert (out / "table5.csv").read_bytes() == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    assert report.main([str(runs), "--out", str(tmp_path / "mine")]) == report.WRONG
    assert "no folder of a report, and it is not empty" in capsys.readouterr().err
    assert names_in(tmp_path / "mine") == {"notes.txt"}


def test_other_options_take_another_folder(runs, tmp_path, capsys):
    out = str(tmp_path / "report")
    assert report.main([str(runs), "--out", out, "--only", "table5"]) == 0
    assert report.main([str(runs), "--out", out, "--seed", "1"]) == report.WRONG
    assert "seed = 0, and 1 would take its place" in capsys.readouterr().err


def test_the_default_folder_belongs_to_the_runs(runs, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert report.main(["runs", "--only", "table5"]) == 0
    first = last_line(capsys.readouterr().out)["out"]
    assert first.startswith("runs/report-")
    assert report.main(["runs", "--only", "table5"]) == 0
    assert last_line(capsys.readouterr().out)["out"] == first
    assert report.main(["runs/harvest", "--only", "table5", "--seed", "3"]) == 0
    assert last_line(capsys.readouterr().out)["out"] != first


def test_what_was_asked_for_and_cannot_be_drawn_is_no_success(runs, tmp_path, capsys):
    arguments = [str(runs), "--out", str(tmp_path / "report"), "--only", "table3,table5"]
    assert report.main(arguments) == report.UNFILLED
    told = last_line(capsys.readouterr().out)
    assert (list(told["drawn"]), list(told["not_drawn"])) == (["table5"], ["table3"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "No folder of runs is named"),
        (("RUNS", "--only", "table6"), "Unknown table or figure: 'table6'; did you mean 'table"),
        (("RUNS", "--only", "figur3"), "did you mean 'figure3'"),
        (("RUNS", "--against", "gpt-6-lun"), "did you mean 'gpt-6-luna'"),
        (("RUNS", "--spread", "se"), "invalid choice: 'se'"),
        (("RUNS", "--onyl", "table3"), "unrecognized arguments: --onyl"),
        (("nowhere",), "There is no folder nowhere"),
        (("EMPTY",), "There is no run below"),
        (("BEGUN",), "is finished"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_sentence(
    runs, tmp_path, capsys, arguments, sentence
):
    places = {
        "RUNS": str(runs),
        "EMPTY": str(tmp_path / "empty"),
        "BEGUN": str(runs / "harvest" / "sol"),
    }
    (tmp_path / "empty").mkdir()
    given = [places.get(each, each) for each in arguments]
    assert report.main([*given, "--out", str(tmp_path / "report")]) == report.WRONG
    told = capsys.readouterr()
    assert sentence in told.err
    assert told.err.count("\n") == 1
    assert not (tmp_path / "report").exists()


def test_the_list_and_the_help_name_everything(capsys):
    assert report.main(["--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == [item.name for item in report.ITEMS]
    with pytest.raises(SystemExit) as ended:
        report.main(["--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert all(line in told for line in listed)


def test_tables_take_no_matplotlib(runs, tmp_path, capsys, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("llm_eval.reports.")]:
        if name.rpartition(".")[2].startswith(("figure", "drawing")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    arguments = [str(runs), "--out", str(tmp_path / "report"), "--only", "table5,figure3"]
    assert report.main(arguments) == report.UNFILLED
    told = last_line(capsys.readouterr().out)
    assert list(told["drawn"]) == ["table5"]
    assert "pip install matplotlib" in told["not_drawn"]["figure3"]


def test_a_damaged_run_is_left_out(runs, tmp_path, capsys):
    (runs / "harvest" / "luna" / "seed-1" / "episode.npz").write_bytes(b"damaged")
    arguments = [str(runs), "--out", str(tmp_path / "report"), "--only", "table5"]
    assert report.main(arguments) == 0
    printed = capsys.readouterr()
    assert "luna/seed-1: it cannot be read" in printed.err
    assert last_line(printed.out)["drawn"]["table5"]["problem_seeds"] == {"harvest: gpt-6-luna": 1}


def test_a_run_that_was_played_twice_counts_once(runs, tmp_path, capsys):
    shutil.copytree(runs / "harvest" / "luna", tmp_path / "runs" / "again" / "luna")
    arguments = [str(runs), str(runs), "--out", str(tmp_path / "report"), "--only", "table5"]
    assert report.main(arguments) == 0
    printed = capsys.readouterr()
    told = last_line(printed.out)
    assert (told["runs"], len(told["repeated"])) == (2, 2)
    assert "another run of the same team and problem is taken" in printed.err
    taken = {str(each.path) for team in teams_in(runs).plain for each in team.runs}
    assert len(taken) == 2
    assert not taken & set(told["repeated"])


def test_teams_are_ordered_by_return_and_each_has_a_name_of_its_own(tmp_path):
    players = {
        "a": [LUNA] * 2,
        "b": ["scripted:greedy"] * 2,
        "c": ["checkpoint:runs/x/learned"] * 2,
        "d": ["checkpoint:runs/y/learned"] * 2,
        "arena": [LUNA, SOL],
        "a-very-long-name-of-a-mixed-team": ["scripted:greedy", LUNA],
    }
    for paid, (team, seated) in enumerate(players.items()):
        record = episode("cleanup", [[paid, paid]])
        write_run(tmp_path, "cleanup", seated, record, team=team)
    found = teams_in(tmp_path)
    assert [team.label for team in found.plain] == [
        "scripted greedy + gpt-6-luna",
        "arena",
        "checkpoint learned [2]",
        "checkpoint learned [1]",
        "scripted greedy",
        "gpt-6-luna",
    ]


def test_runs_under_other_settings_are_other_teams(tmp_path):
    record = episode("cleanup", [[1, 2]])
    write_run(tmp_path / "one", "cleanup", [LUNA] * 2, record)
    write_run(tmp_path / "two", "cleanup", [LUNA] * 2, record, initial_waste=0.5)
    write_run(tmp_path / "three", "cleanup", [LUNA] * 2, record, reveal="all")
    labels = {team.label for team in teams_in(tmp_path).plain}
    assert labels == {
        "gpt-6-luna [initial_waste=None]",
        "gpt-6-luna [initial_waste=0.5]",
        "gpt-6-luna, told all",
    }


def test_how_a_model_is_asked_makes_no_other_team(tmp_path):
    for seed in (0, 1):
        path = write_run(tmp_path, "cleanup", [LUNA] * 2, episode("cleanup", [[1, 2]], seed))
        about = json.loads((path / RUN).read_bytes())
        about["config"]["clients"][LUNA] |= {"base_url": f"http://localhost:{seed}"}
        (path / RUN).write_text(json.dumps(about))
    (team,) = teams_in(tmp_path).plain
    assert team.problem_seeds == (0, 1)
    about["config"]["clients"][LUNA] |= {"temperature": 0.5}
    (path / RUN).write_text(json.dumps(about))
    labels = [team.label for team in teams_in(tmp_path).plain]
    assert sorted(labels) == ["gpt-6-luna [temperature=0.5]", "gpt-6-luna [temperature=None]"]


REAL = {
    "cleanup": (("team=llm:scripted",), "table3,table4,figure8"),
    "harvest": (("team=llm:scripted", "cooperators=[0,1,2]", "rotate=true"), "figure7"),
}
"""What is played, and what this fills."""


@pytest.mark.parametrize("game", ["cleanup", pytest.param("harvest", marks=pytest.mark.slow)])
def test_runs_of_real_games_are_read(tmp_path, capsys, game):
    """And the runs that these tests write by hand have the same form."""
    played, (options, names) = tmp_path / "played", REAL[game]
    small = ("env.num_agents=2", "env.num_trials=2", "env.trial_length=4", "problem_seeds=[3]")
    assert run.main([f"env={game}", *small, *options, f"directory={played}"]) == 0
    capsys.readouterr()
    arguments = [str(played), "--out", str(tmp_path / "report"), "--only", names]
    assert report.main(arguments) == 0
    told = last_line(capsys.readouterr().out)
    assert ",".join(told["drawn"]) == names
    found = teams_in(played)
    (first, *_) = (*found.plain, *found.with_roles)
    real = first.runs[0]
    assert tuple(sorted(real.record.events)) == EVENTS[game]
    assert list(real.record.knowledge) == [KNOWLEDGE[game]]
    players = ["llm:scripted", "llm:scripted"]
    record, modes = episode(game, np.zeros((2, 2))), [[["explore", None]], []]
    by_hand = write_run(tmp_path / "by_hand", game, players, record, modes=modes)
    assert keys_of(by_hand / RUN) <= keys_of(real.path / RUN)
    assert _step_keys(by_hand) == _step_keys(real.path)


def keys_of(path: pathlib.Path) -> set[str]:
    about = json.loads(path.read_bytes())
    parts = (about, about["config"], about["config"]["players"][0], about["config"]["env"])
    return {key for part in parts for key in part}


def _step_keys(path: pathlib.Path) -> set[str]:
    return set(json.loads((path / STEPS).read_text().splitlines()[0]))


@pytest.mark.parametrize("game", osj_envs.list_ids())
def test_every_game_has_a_name_for_people(game):
    assert game in GAMES
