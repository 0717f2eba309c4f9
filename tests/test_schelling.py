"""Schelling diagrams from records written by hand."""

import csv
import io
import json

import numpy as np
import pytest

from osj_envs import schelling
from osj_envs.records import EpisodeRecord
from osj_envs.schelling import Diagram, make_diagram
from osj_envs.schelling_figure import draw
from osj_envs.testing.returns import record_of

PRISONERS = ((1.0, 2.0, 6.0), (3.0, 5.0, 7.0))
STAG_HUNT = ((1.0, 2.0, 9.0), (3.0, 5.0, 7.0))
SNOWDRIFT = ((4.0, 5.0, 6.0), (3.0, 5.0, 7.0))
NO_DILEMMA = ((4.0, 5.0, 9.0), (3.0, 3.0, 3.0))
USELESS = ((0.0, 0.0, 0.0), (3.0, 3.0, 3.0))
ALL_ALIKE = ((2.0, 2.0, 2.0), (2.0, 2.0, 2.0))
"""C(x) and D(x) of three players."""


def games(curves, spread=0.0, trials=2, problems=12) -> list[EpisodeRecord]:
    """The games of a diagram; every return of a problem is shifted by the problem's own luck."""
    cooperate, defect = curves
    luck = spread * np.random.default_rng(0).normal(size=(problems, trials, 1))
    players = len(cooperate)
    return [
        record_of(luck + ([cooperate[k - 1]] * k + [defect[min(k, players - 1)]] * (players - k)))
        for k in range(players + 1)
    ]


def verdicts(diagram: Diagram) -> str:
    """Of (i), (ii), fear, greed and the whole: + holds, - fails, ? not shown."""
    sign = {"holds": "+", "fails": "-", "not shown": "?"}
    each = [diagram.verdict(condition.name) for condition in schelling.CONDITIONS]
    return "".join(sign[one] for one in (*each, diagram.is_dilemma))


@pytest.mark.parametrize("curves", [PRISONERS, STAG_HUNT, SNOWDRIFT])
def test_the_curves_are_the_mean_returns_of_either_role(curves):
    found = make_diagram(games(curves)).curves
    assert found["cooperator"].value == pytest.approx(curves[0])
    assert found["defector"].value == pytest.approx(curves[1])
    assert found["advantage"].value == pytest.approx(np.subtract(curves[1], curves[0]))
    c, d = curves
    team = [d[0], (c[0] + 2 * d[1]) / 3, (2 * c[1] + d[2]) / 3, c[2]]
    assert found["team"].value == pytest.approx(team)


def test_a_curve_takes_the_mean_over_players_trials_and_problems():
    plays = games(PRISONERS, problems=2)
    returns = np.arange(12.0).reshape(2, 2, 3)
    found = make_diagram([plays[0], plays[1], record_of(returns), plays[3]]).curves
    assert found["cooperator"].value[1] == pytest.approx(returns[..., :2].mean())
    assert found["defector"].value[2] == pytest.approx(returns[..., 2].mean())
    by_problem = returns[..., :2].mean(axis=(1, 2))
    assert found["cooperator"].interval[1] == pytest.approx(by_problem)


@pytest.mark.parametrize(
    ("curves", "found"),
    [
        (PRISONERS, "+++++"),
        (STAG_HUNT, "+++-+"),
        (SNOWDRIFT, "++-++"),
        (NO_DILEMMA, "++---"),
        (USELESS, "-?++-"),
        (ALL_ALIKE, "?????"),
    ],
)
def test_the_verdicts_of_games_whose_payoffs_are_known(curves, found):
    assert verdicts(make_diagram(games(curves))) == found


@pytest.mark.parametrize(
    ("curves", "found"),
    [
        (((1, 2, 6), (1, 5, 6)), "++???"),  # neither fear nor greed, but neither is excluded
        (((1, 2, 6), (0, 5, 6)), "++-??"),
        (((6, 2, 6), (3, 5, 7)), "+?-+?"),  # alone as well off as together
        (((1, 2, 3), (3, 5, 7)), "?+++?"),
    ],
)
def test_a_tie_is_not_shown(curves, found):
    assert verdicts(make_diagram(games(curves))) == found


def test_the_luck_of_a_problem_is_in_the_curves_and_not_in_the_margins():
    diagram = make_diagram(games(PRISONERS, spread=20.0))
    low, high = diagram.curves["cooperator"].interval.T
    assert (high - low > 5).all()
    for name, margin in (("cooperation_pays", 3), ("exploitation_hurts", 5), ("fear", 2)):
        assert diagram.margins[name].value == pytest.approx(margin, abs=1e-4)
        assert diagram.margins[name].interval == pytest.approx([margin] * 2, abs=1e-4)
    assert verdicts(diagram) == "+++++"


def test_a_margin_that_chance_explains_is_not_shown():
    plays = games(PRISONERS)
    noise = np.random.default_rng(1).normal(size=plays[0].returns.shape)
    plays[0] = record_of(plays[0].returns + 40 * noise)
    diagram = make_diagram(plays)
    assert diagram.verdict("cooperation_pays") == diagram.verdict("fear") == "not shown"
    assert diagram.verdict("exploitation_hurts") == diagram.verdict("greed") == "holds"
    assert diagram.is_dilemma == "not shown"


def test_games_that_make_no_diagram_are_refused():
    plays = games(PRISONERS)
    with pytest.raises(ValueError, match="3 players make 4 games, not 3"):
        make_diagram(plays[:3])
    others = record_of(plays[3].returns, problem_seeds=range(1, 13))
    with pytest.raises(ValueError, match="same problem seeds"):
        make_diagram([*plays[:3], others])


def test_one_player_has_no_others():
    diagram = make_diagram([record_of([[[1.0]], [[2.0]]]), record_of([[[3.0]], [[6.0]]])])
    assert diagram.curves["cooperator"].value == [4.5]
    assert diagram.margins["cooperation_pays"].value == 3
    assert diagram.margins["exploitation_hurts"].value == 0


def test_the_numbers_survive_json():
    diagram = make_diagram(games(STAG_HUNT))
    found = json.loads(json.dumps(schelling.as_json(diagram)), parse_constant=pytest.fail)
    assert found["return_cooperator"] == list(STAG_HUNT[0])
    assert found["return_defector_ci"] == [[d, d] for d in STAG_HUNT[1]]
    assert len(found["return_team"]) == 4
    assert (found["num_problems"], found["num_trials"], found["num_agents"]) == (12, 2, 3)
    assert (found["fear"], found["fear_margin"], found["fear_margin_ci"]) == ("holds", 2, [2, 2])
    assert (found["greed"], found["greed_margin"], found["is_dilemma"]) == ("fails", -2, "holds")


def test_the_rows_are_by_cooperating_co_players():
    rows = schelling.as_rows(make_diagram(games(STAG_HUNT)))
    page = io.StringIO()
    writer = csv.DictWriter(page, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    read = list(csv.DictReader(io.StringIO(page.getvalue())))
    assert [row["cooperating_co_players"] for row in read] == ["0", "1", "2"]
    assert [float(row["cooperator"]) for row in read] == list(STAG_HUNT[0])
    assert [float(row["defector_high"]) for row in read] == list(STAG_HUNT[1])
    assert [float(row["advantage_low"]) for row in read] == [2, 3, -2]


def test_the_table_shows_curves_and_verdicts():
    text = schelling.table(make_diagram(games(STAG_HUNT)))
    lines = {line.split()[0]: line.split() for line in text.splitlines() if line.split()}
    assert lines["1"][:5] == ["1", "2", "(2", "..", "2)"]
    greed = next(line for line in text.splitlines() if "greed" in line)
    assert greed.endswith("-2 (-2 .. -2)   fails")
    assert "12 problems, 2 trials, N = 3 agents." in text
    assert max(map(len, text.splitlines())) <= 120


def test_a_figure_is_drawn_and_shows_the_curves(tmp_path):
    paths = [tmp_path / f"{name}.png" for name in ("hunt", "again", "prisoners")]
    for path, curves in zip(paths, (STAG_HUNT, STAG_HUNT, PRISONERS), strict=True):
        draw(path, make_diagram(games(curves)), "a game")
    hunt, again, prisoners = (path.read_bytes() for path in paths)
    assert hunt.startswith(b"\x89PNG")
    assert hunt == again != prisoners
