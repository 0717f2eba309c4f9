"""The numbers that figures 3 to 9 draw, on runs written by hand."""

import json
import pathlib
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from llm_eval.reports import figure3, figure4, figure5, figure6, figure7, figure8, figure9
from llm_eval.reports.items import Made, Unfilled
from llm_eval.reports.styles import COLOURS, GREY, styles
from osj_envs import records
from tests.llm_eval.recorded import episode, request, rows_of, sheet_of, write_run

LUNA, SOL, GREEDY = "llm:gpt-6-luna", "llm:gpt-6-sol", "scripted:greedy"


def write_cleanup(folder: pathlib.Path, players: list[str], seed: int, gain: float) -> None:
    record = episode(
        "cleanup",
        [[1, 3], [2 + gain, 4 + gain], [3, 5]],
        seed,
        shift=seed % 2,
        known=[[0, 1], [1, 2], [2, 3]],
        cleared=[[2, 2], [9 + gain, 0], [6, 2]],
    )
    write_run(folder, "cleanup", players, record, team="-".join(players).replace(":", "-"))


def write_harvest(folder: pathlib.Path, players: list[str], seed: int, last: int) -> None:
    record = episode(
        "harvest",
        [[4, 4], [6, 2], [3, 3]],
        seed,
        known=[[0.25, 0.25], [0.5, 0.5], [0.5, 0.75]],
        last={"apples": [last, 2 * last, last]},
        steps=[last + 1, 400, last + 1],
        apples=5,
        ate_best=[[1, 1], [2, 2], [3, 3]],
    )
    write_run(folder, "harvest", players, record, team="-".join(players).replace(":", "-"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> pathlib.Path:
    """Two models alone and together, and a scripted player, in both games on two problems."""
    folder = tmp_path_factory.mktemp("runs")
    for seed in (0, 1):
        write_cleanup(folder, [LUNA, LUNA], seed, gain=10 * seed)
        write_cleanup(folder, [SOL, SOL], seed, gain=10 * seed - 1)
        write_cleanup(folder, [LUNA, SOL], seed, gain=0)
        write_harvest(folder, [LUNA, LUNA], seed, last=100 + 20 * seed)
        write_harvest(folder, [GREEDY, GREEDY], seed, last=50)
        write_harvest(folder, [LUNA, GREEDY], seed, last=60)
    return folder


def panels_of(made: Made, suffix: str = "") -> list[Axes]:
    return made.pictures[suffix].axes


def curves_of(axes: Axes) -> list[list[float]]:
    """The heights of all curves over more than one trial."""
    lines = [line for line in axes.get_lines() if len(np.asarray(line.get_xdata())) == 3]
    return [np.asarray(line.get_ydata()).tolist() for line in lines]


def bars_of(axes: Axes) -> list[tuple[float, float]]:
    """Where everything is drawn that is no curve: along, and up."""
    points = [container.lines[0] for container in axes.containers]  # type: ignore[attr-defined]
    return [(float(one.get_xdata()[0]), float(one.get_ydata()[0])) for one in points]


def by_trial(rows: list[dict[str, str]], figure: str, team: str, game: str) -> dict[str, float]:
    return {
        row["trial"]: float(row["value"])
        for row in rows
        if (row["figure"], row["team"], row["game"]) == (figure, team, game)
    }


def test_figure_3_draws_returns_by_trial_and_over_all(folder):
    made = figure3.make(request(folder))
    rows = rows_of(sheet_of(made))
    found = by_trial(rows, "return_mean", "gpt-6-luna", "OpenCleanup")
    assert found == {"1": 2, "2": 8, "3": 4, "all": pytest.approx(14 / 3, rel=1e-5)}
    left, right, *_ = panels_of(made)
    assert curves_of(left)[0] == [2, 8, 4]
    assert [round(value, 4) for value, row in bars_of(right) if row == 0] == [4.6667]
    (low, high) = (float(rows[1][f"value_{end}"]) for end in ("low", "high"))
    assert (rows[1]["team"], rows[1]["trial"], low, high) == ("gpt-6-luna", "2", 3, 13)
    assert made.seeds["harvest: scripted greedy"] == 2


def test_figure_3_compares_on_shared_problems(folder):
    row = next(
        row
        for row in rows_of(sheet_of(figure3.make(request(folder)), "differences-cleanup"))
        if row["team"] == "gpt-6-sol"
    )
    # one point less for each of two agents in one of three trials, whatever the problem
    ends = [float(row[f"return_mean{end}"]) for end in ("", "_low", "_high")]
    assert ends == pytest.approx([-1 / 3] * 3, rel=1e-5)
    assert float(row["adaptation_gain"]) == -0.5


def test_a_spread_of_one_standard_deviation(folder):
    left, *_ = panels_of(figure3.make(request(folder, spread="sd")))
    (segment,) = [
        path.vertices for path in left.collections[1].get_paths() if path.vertices[0, 0] > 1.5
    ][:1]
    # returns of 3 and 13 in the second trial
    assert sorted(segment[:, 1]) == pytest.approx([8 - 50**0.5, 8 + 50**0.5])


def test_figure_4_draws_what_agents_know(folder):
    made = figure4.make(request(folder))
    rows = rows_of(sheet_of(made))
    assert by_trial(rows, "recipes_known", "gpt-6-luna", "OpenCleanup") == {
        "1": 0.5,
        "2": 1.5,
        "3": 2.5,
        "all": 1.5,
    }
    cleanup, harvest = panels_of(made)
    assert curves_of(cleanup)[0] == [0.5, 1.5, 2.5]
    assert curves_of(harvest)[0] == [0.25, 0.5, 0.625]


def test_figure_5_draws_cleaners_orchards_and_inequality(folder):
    made = figure5.make(request(folder))
    rows = rows_of(sheet_of(made))
    cleaners = by_trial(rows, "effective_cleaners", "gpt-6-luna", "OpenCleanup")
    assert (cleaners["1"], cleaners["2"], cleaners["3"]) == (2, 1, 1.6)
    orchard = by_trial(rows, "orchard_lifetime", "gpt-6-luna", "OpenHarvest")
    # the orchard survived the second trial
    assert [orchard[trial] for trial in "123"] == [110, 400, 110]
    gini = by_trial(rows, "gini", "scripted greedy", "OpenHarvest")
    assert [gini[trial] for trial in "123"] == [0, 0.25, 0]
    _, ends, _, _, _, cloud = panels_of(made)
    assert [value for value, row in bars_of(ends) if abs(row) < 0.5] == [2, 1.6]
    points = {(round(x, 4), round(y, 4)) for x, y in bars_of(cloud)}
    assert points == {(0.0833, 3.6667)}
    (change,) = {
        row["effective_cleaners_change"] for row in rows_of(sheet_of(made, "differences-cleanup"))
    }
    assert float(change) == 0


def test_figure_6_shows_each_player_beside_its_own_team(folder):
    made = figure6.make(request(folder))
    rows = {(row["game"], row["player"]): row for row in rows_of(sheet_of(made))}
    assert set(rows) == {
        ("OpenCleanup", "gpt-6-luna"),
        ("OpenCleanup", "gpt-6-sol"),
        ("OpenHarvest", "gpt-6-luna"),
        ("OpenHarvest", "scripted greedy"),
    }
    luna = rows["OpenCleanup", "gpt-6-luna"]
    assert (luna["seeds"], luna["seeds_shared"]) == ("2", "2")
    assert float(luna["return_mixed"]) == 2
    assert float(luna["return_own"]) == pytest.approx(14 / 3, rel=1e-5)
    ends = [float(luna[f"return_difference{end}"]) for end in ("", "_low", "_high")]
    assert ends == pytest.approx([-8 / 3, 2 - 19 / 3, 2 - 3], rel=1e-5)
    assert not made.remarks
    assert len(made.pictures) == 2


def test_figure_6_shows_who_cleans(folder):
    made = figure6.make(request(folder))
    rows = rows_of(sheet_of(made, "cleaning"))
    luna = [float(row["cleaning_share"]) for row in rows if row["player"] == "gpt-6-luna"]
    sol = [float(row["cleaning_share"]) for row in rows if row["player"] == "gpt-6-sol"]
    assert (luna, sol) == ([0.5, 1, 0.75], [0.5, 0, 0.25])
    orchards = rows_of(sheet_of(made, "orchards"))
    teams = {row["team"] for row in orchards}
    assert teams == {"gpt-6-luna", "scripted greedy", "gpt-6-luna + scripted greedy"}


def test_figure_6_names_players_that_were_not_seen_alone(tmp_path):
    write_cleanup(tmp_path, [LUNA, GREEDY], 0, gain=0)
    write_cleanup(tmp_path, [LUNA, LUNA], 1, gain=0)
    made = figure6.make(request(tmp_path))
    assert made.remarks == (
        "No run shows these players in a team of their own: scripted greedy in OpenCleanup.",
    )
    luna, greedy = rows_of(sheet_of(made))
    # the problems differ, so nothing is compared
    assert (luna["seeds_shared"], luna["return_difference"], luna["return_own"]) == ("0", "", "3")
    assert greedy["return_own"] == ""


def test_a_player_with_several_seats_counts_as_one(tmp_path):
    record = episode("cleanup", [[6, 1, 2]], cleared=[[5, 3, 2]])
    write_run(tmp_path, "cleanup", [SOL, LUNA, LUNA], record, team="among")
    made = figure6.make(request(tmp_path))
    sol, luna = rows_of(sheet_of(made))
    assert [float(row["return_mixed"]) for row in (sol, luna)] == [6, 1.5]
    shares = [float(row["cleaning_share"]) for row in rows_of(sheet_of(made, "cleaning"))]
    assert shares == [0.5, 0.5]


def write_roles(folder: pathlib.Path, seeds: range, cooperators: range) -> None:
    """A prisoner's dilemma of three: C is 1, 2, 6 and D is 3, 5, 7."""
    for k in cooperators:
        for seed in seeds:
            paid = [[[1, 2, 6][k - 1]] * k + [[3, 5, 7][min(k, 2)]] * (3 - k)]
            roles = ["cooperator"] * k + ["defector"] * (3 - k)
            record = episode("harvest", np.array(paid) + seed, seed, shift=seed % 3)
            team = f"gpt-6-luna-{k}-cooperate"
            write_run(folder, "harvest", [LUNA] * 3, record, roles=roles, team=team)


def test_figure_7_draws_both_curves_and_tells_the_verdicts(tmp_path):
    write_roles(tmp_path, range(4), range(4))
    write_roles(tmp_path, range(4, 6), range(1))
    made = figure7.make(request(tmp_path))
    rows = rows_of(sheet_of(made))
    luck = 1.5
    assert [float(row["cooperator"]) - luck for row in rows] == [1, 2, 6]
    assert [float(row["defector"]) - luck for row in rows] == [3, 5, 7]
    assert {row["seeds"] for row in rows} == {"4"}  # those that all numbers of cooperators played
    verdicts = {row["condition"]: row["verdict"] for row in rows_of(sheet_of(made, "conditions"))}
    assert set(verdicts.values()) == {"holds"}
    assert "a sequential social dilemma: holds" in made.remarks[0]
    (axes,) = panels_of(made)
    assert curves_of(axes)[0] == [2.5, 3.5, 7.5]


def test_figure_7_says_which_games_are_lacking(tmp_path):
    write_roles(tmp_path, range(2), range(2))
    with pytest.raises(Unfilled, match="gpt-6-luna in OpenHarvest lacks games with 2, 3 coop"):
        figure7.make(request(tmp_path))


def test_figure_7_takes_games_without_a_shared_problem_for_none(tmp_path):
    write_roles(tmp_path, range(2), range(3))
    write_roles(tmp_path, range(2, 4), range(3, 4))
    with pytest.raises(Unfilled, match="lacks shared problems"):
        figure7.make(request(tmp_path))


def test_figure_7_draws_the_folder_of_scripted_roles(tmp_path):
    games = {k: [] for k in range(3)}
    for k, seed in ((k, seed) for k in games for seed in range(3)):
        paid: Any = [[2.0 + k] * k + [3.0 + k] * (2 - k)]
        games[k].append(episode("cleanup", paid, seed))
    for k, episodes in games.items():
        fields = vars(episodes[0])
        stacked = {name: _stack([vars(each)[name] for each in episodes]) for name in fields}
        records.save(tmp_path / f"cooperators-{k}.npz", type(episodes[0])(**stacked))
    config = {"env": {"name": "cleanup"}, "cooperator": "cleaner", "defector": "harvester"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    made = figure7.make(request(tmp_path))
    assert made.seeds == {"cleanup: cleaner, harvester": 3}
    assert [float(row["defector"]) for row in rows_of(sheet_of(made))] == [3, 4]


def _stack(values: list[Any]) -> Any:
    if isinstance(values[0], dict):
        return {name: _stack([each[name] for each in values]) for name in values[0]}
    return np.stack(values)


def test_figure_8_compares_the_second_trial_with_the_last(folder):
    made = figure8.make(request(folder))
    luna = next(row for row in rows_of(sheet_of(made)) if row["team"] == "gpt-6-luna")
    assert float(luna["tiles_cleared_early"]) == (9 + 19) / 2
    assert float(luna["tiles_cleared_last"]) == 8
    ends = [float(luna[f"tiles_cleared_change{end}"]) for end in ("", "_low", "_high")]
    assert ends == [-6, -11, -1]
    (axes,) = panels_of(made)
    place = [row["team"] for row in rows_of(sheet_of(made))].index("gpt-6-luna")
    assert [value for value, row in bars_of(axes) if abs(row - place) < 0.5] == [14, 8]
    assert axes.get_yticklabels()[place].get_text() == "gpt-6-luna (2)"


def test_figure_9_draws_knowing_against_using(folder):
    made = figure9.make(request(folder))
    luna = next(row for row in rows_of(sheet_of(made)) if row["team"] == "gpt-6-luna")
    assert (float(luna["payoffs_known_last"]), float(luna["best_stage_share"])) == (0.625, 0.4)
    (axes,) = panels_of(made)
    assert bars_of(axes)[0] == pytest.approx((0.625, 0.4))


def test_a_team_that_ate_nothing_is_no_point(tmp_path):
    write_run(tmp_path, "harvest", [LUNA] * 2, episode("harvest", [[0, 0]]))
    with pytest.raises(Unfilled, match="in which somebody eats an apple"):
        figure9.make(request(tmp_path))
    assert figure5.make(request(tmp_path)).pictures


@pytest.mark.parametrize("figure", [figure3, figure4, figure5, figure6, figure7, figure8, figure9])
def test_a_figure_that_runs_cannot_fill_says_which_it_takes(tmp_path, figure):
    write_roles(tmp_path, range(1), range(1))
    with pytest.raises(Unfilled, match=r"Figure \d takes runs"):
        figure.make(request(tmp_path))


def test_a_game_that_nobody_played_is_named(tmp_path):
    write_cleanup(tmp_path, [LUNA, LUNA], 0, gain=0)
    made = figure3.make(request(tmp_path))
    assert made.remarks == ("There is no run of OpenHarvest to draw.",)
    assert len(panels_of(made)) == 2


def test_a_team_has_one_style_in_all_figures_and_no_two_have_the_same(folder):
    found = styles(request(folder))
    assert len({(each.colour, each.marker) for each in found.values()}) == len(found)
    assert found["scripted greedy"].colour == GREY
    assert found["gpt-6-luna"].colour in COLOURS


def test_a_player_that_is_told_rules_has_the_colour_of_the_one_that_is_not(tmp_path):
    record = episode("cleanup", [[1, 2]])
    write_run(tmp_path, "cleanup", [LUNA] * 2, record, team="luna")
    write_run(tmp_path, "cleanup", [LUNA] * 2, record, team="told", reveal="all")
    found = styles(request(tmp_path))
    plain, told = found["gpt-6-luna"], found["gpt-6-luna, told all"]
    assert plain.colour == told.colour
    assert plain.line != told.line
