"""The numbers of tables 3, 4 and 5, on runs written by hand."""

import pathlib

import numpy as np
import pytest

from llm_eval.reports import table3, table4, table5
from llm_eval.reports.items import Unfilled
from osj_envs.tally import NEVER
from tests.llm_eval.recorded import episode, request, rows_of, sheet_of, write_run

MODEL, OTHER = "llm:gpt-6-luna", "llm:gpt-6-sol"


@pytest.fixture
def cleaners(tmp_path) -> pathlib.Path:
    """Two teams of OpenCleanup, of two players and three trials; problems 0 and 1, and 1 and 2."""
    for team, seeds, later in ((MODEL, (0, 1), 20), (OTHER, (1, 2), 30)):
        for place, seed in enumerate(seeds):
            record = episode(
                "cleanup",
                [[1, 0], [4, 2], [6, 2]] if team == MODEL else [[0, 0], [1, 0], [1, 0]],
                seed,
                known=[[0, 1], [1, 2], [2, 1]],
                first={"cleared": [60 + 20 * place, later, later], "apples": [NEVER, 90, 50]},
                early={"cleared": [[1, 0], [5, 0], [7, 2]], "lightened": [[0, 1], [0, 1], [0, 1]]},
                effort={"picked_up": [[9, 9], [6, 10], [4, 0]]},
                cleared=[[1, 0], [6, 0], [4, 2]],
                lightened=[[0, 1], [0, 1], [1, 1]],
                picked_up=[[9, 9], [3, 5], [4, 2]],
                tool_made=[[1, 1], [1, 2], [3, 1]],
                tool_remade=[[0, 0], [0, 1], [1, 0]],
            )
            explore = [["explore", "explore"], ["explore", "clean"]]
            modes = [explore, [["craft", "explore"]], [["clean", None], ["harvest", "clean"]]]
            write_run(tmp_path, "cleanup", [team] * 2, record, team=team[4:], modes=modes)
    return tmp_path


def test_table_3_has_the_first_trial_the_later_ones_and_the_change(cleaners):
    made = table3.make(request(cleaners))
    rows = {(row["team"], row["trials"]): row for row in rows_of(sheet_of(made))}
    first, later, change = (rows["gpt-6-luna", name] for name in ("1", "2 to 3", "change"))
    assert [first["seeds"], later["explore_share_seeds"]] == ["2", "2"]
    # 3 of 4 steps, then 1 of the 5 with a mode; problem by problem
    assert float(first["explore_share"]) == 0.75
    assert float(later["explore_share"]) == 0.2
    assert float(change["explore_share"]) == -0.55
    assert [float(first[f"first_clear_step{end}"]) for end in ("", "_low", "_high")] == [70, 60, 80]
    assert float(first["first_clear_step_sd"]) == pytest.approx(200**0.5, rel=1e-4)
    assert float(later["first_clear_step"]) == 20
    assert float(change["first_clear_step"]) == -50
    assert (first["first_apple_step"], first["first_apple_step_seeds"]) == ("", "0")
    assert float(later["first_apple_step"]) == 70
    assert float(first["early_cleaning"]) == 2
    assert float(later["early_cleaning"]) == (6 + 10) / 2
    assert made.seeds == {"cleanup: gpt-6-luna": 2, "cleanup: gpt-6-sol": 2}


def test_table_3_compares_teams_on_the_problems_that_both_played(cleaners):
    made = table3.make(request(cleaners))
    (row,) = rows_of(sheet_of(made, "differences"))
    # of problem 1 alone: no interval
    assert (row["team"], row["seeds"]) == ("gpt-6-sol", "1")
    assert float(row["first_clear_step"]) == 30 - 20
    assert row["first_clear_step_low"] == ""
    other = table3.make(request(cleaners, against="gpt-6-sol"))
    (row,) = rows_of(sheet_of(other, "differences"))
    assert row["team"] == "gpt-6-luna"
    assert float(row["first_clear_step"]) == 20 - 30


def test_table_4_is_of_the_later_trials(cleaners):
    made = table4.make(request(cleaners))
    row = rows_of(sheet_of(made))[0]
    assert (row["team"], row["seeds"]) == ("gpt-6-luna", "2")
    assert float(row["pick_ups_per_agent"]) == (8 + 6) / 2 / 2
    assert float(row["pick_ups_per_tool"]) == pytest.approx(14 / 7)
    assert float(row["remade_tool_share"]) == pytest.approx(2 / 7, rel=1e-5)
    assert float(row["crafting_steps_per_cell"]) == pytest.approx(20 / 15, rel=1e-5)
    # known (1, 2) with pick-ups (3, 5): 1, then (2, 1) with (4, 2): 1; no switch in trial 2
    assert float(row["pick_up_correlation"]) == 1
    assert float(row["tool_switch_correlation"]) == 1
    assert row["pick_ups_per_tool_seeds"] == "2"


def test_table_4_tells_the_median_correlation_over_runs_and_trials(cleaners):
    text = sheet_of(table4.make(request(cleaners))).text()
    # trial 1: pick-ups are all equal there, so only trials 2 and 3 of four runs count
    assert "Over 8 trials of 4 runs the median ρ with pick-ups is 1.00" in text.replace("\n", " ")


def test_table_4_takes_two_trials(tmp_path):
    write_run(tmp_path, "cleanup", [MODEL] * 2, episode("cleanup", [[1, 2]]))
    with pytest.raises(Unfilled, match="at least two trials"):
        table4.make(request(tmp_path))
    rows = rows_of(sheet_of(table3.make(request(tmp_path))))
    assert [row["trials"] for row in rows] == ["1"]


@pytest.fixture
def eaters(tmp_path) -> pathlib.Path:
    """Two teams of OpenHarvest, of two players, two trials and the same two problems."""
    for seed, luck in ((4, 0), (5, 2)):
        good = episode(
            "harvest",
            [[3, 1 + luck], [5, 3]],
            seed,
            known=[[0.25, 0.5], [0.5, 1]],
            apples=[[4, 2 + luck], [5, 5]],
            ate_best=[[2, 1], [4, 3]],
            ate_early=[[1, 1], [0, 1]],
        )
        write_run(tmp_path, "harvest", [MODEL] * 2, good, team="luna")
        bad = episode("harvest", [[1, 1], [1, luck]], seed, known=0.5, apples=2, ate_best=1)
        write_run(tmp_path, "harvest", ["scripted:greedy", MODEL], bad, team="mixed")
    return tmp_path


def test_table_5(eaters):
    made = table5.make(request(eaters))
    luna, mixed = rows_of(sheet_of(made))
    assert (luna["team"], luna["seeds"], mixed["team"]) == ("gpt-6-luna", "2", "mixed")
    assert float(luna["payoffs_known_last"]) == 0.75
    assert float(luna["best_stage_share"]) == pytest.approx(20 / 34, rel=1e-5)
    assert float(luna["too_early_share"]) == pytest.approx(6 / 34, rel=1e-5)
    assert float(luna["points_per_apple"]) == pytest.approx(26 / 34, rel=1e-5)
    assert [float(luna[f"return_mean{end}"]) for end in ("", "_low", "_high")] == [3.25, 3, 3.5]
    assert float(mixed["return_mean"]) == 1


def test_table_5_is_paired_by_problem(eaters):
    made = table5.make(request(eaters))
    (row,) = rows_of(sheet_of(made, "differences"))
    assert (row["team"], row["seeds"]) == ("mixed", "2")
    # 0.75 - 3 and 1.25 - 3.5: the problems' luck is in both teams
    assert [float(row[f"return_mean{end}"]) for end in ("", "_low", "_high")] == [-2.25] * 3
    text = sheet_of(made).text()
    assert "mixed: scripted greedy, gpt-6-luna." in text


def test_table_5_has_the_position_between_two_scripted_players(eaters):
    for player, paid in (("greedy", 1.0), ("steward", 5.5)):
        record = episode("harvest", np.full((2, 2), paid), 5)
        write_run(eaters, "harvest", [f"scripted:{player}"] * 2, record, team=player)
    rows = {row["team"]: row for row in rows_of(sheet_of(table5.make(request(eaters))))}
    # problem 5 alone: luna was paid 3.5 there, and the mixed team 1.25
    assert (float(rows["gpt-6-luna"]["position"]), rows["gpt-6-luna"]["position_seeds"]) == (
        pytest.approx(2.5 / 4.5, rel=1e-5),
        "1",
    )
    assert float(rows["mixed"]["position"]) == pytest.approx(0.25 / 4.5, rel=1e-5)
    assert [float(rows[f"scripted {name}"]["position"]) for name in ("greedy", "steward")] == [0, 1]


def test_a_table_is_the_same_in_markdown(eaters):
    sheet = sheet_of(table5.make(request(eaters)))
    lines = sheet.markdown().splitlines()
    cells = next(line for line in lines if "gpt-6-luna" in line).split("|")
    assert [each.strip() for each in cells[1:4]] == ["gpt-6-luna", "2", "75% (75%..75%)"]
    assert sheet.title in lines[0]
    assert "75% (75%..75%)" in sheet.text()


def test_a_table_without_runs_of_its_game_says_which_it_takes(eaters):
    with pytest.raises(Unfilled, match=r"Table 3 takes runs of OpenCleanup .* env=cleanup"):
        table3.make(request(eaters))
