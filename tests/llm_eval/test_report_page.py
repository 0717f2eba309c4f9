"""The page on metrics names every figure that reports write."""

import csv
import pathlib
import re

import pytest

from llm_eval import report
from tests.llm_eval.recorded import episode, write_run

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "METRICS.md").read_text()
LUNA, SOL = "llm:gpt-6-luna", "llm:gpt-6-sol"
FACTS = {"team", "seeds", "seeds_shared", "trials", "trial", "game", "figure", "player", "value"}
DIAGRAM = {"cooperating_co_players", "condition", "verdict", "margin"}


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> pathlib.Path:
    """The folder of a report with every table and figure."""
    folder = tmp_path_factory.mktemp("all")
    for game in ("cleanup", "harvest"):
        for team in ([LUNA, LUNA], [SOL, SOL], [LUNA, SOL], *(["scripted:greedy"] * 2,)):
            write_run(folder, game, team, _lively(game), team="-".join(team).replace(":", "-"))
        for k in range(3):
            roles = ["cooperator"] * k + ["defector"] * (2 - k)
            name = f"gpt-6-luna-{k}-cooperate"
            write_run(folder, game, [LUNA] * 2, _lively(game), roles=roles, team=name)
    write_run(folder, "harvest", ["scripted:steward"] * 2, _lively("harvest"), team="steward")
    out = folder / "report"
    assert report.main([str(folder), f"out={out}"]) == 0
    return out


def _lively(game: str):
    eaten = {"ate_best": 1} if game == "harvest" else {"cleared": 2}
    return episode(game, [[1, 2], [2, 3]], apples=2, **eaten)


def test_everything_is_drawn(written):
    names = {path.name.partition(".")[0].partition("-")[0] for path in written.iterdir()}
    assert names == {item.name for item in report.ITEMS} | {"report"}


def test_every_number_is_named_on_the_page(written):
    found = set()
    for path in written.glob("*.csv"):
        with path.open() as file:
            rows = list(csv.DictReader(file))
        columns = {re.sub(r"_(low|high|sd|seeds)$", "", name) for name in rows[0]}
        found |= {name for name in columns if name} | {row.get("figure", "") for row in rows}
    named = {*re.findall(r"`(\w+)`", PAGE), *FACTS, *DIAGRAM, ""}
    roles = {f"return_{name}" for name in ("cooperator", "defector", "advantage")}
    assert roles <= named
    ends = r"_(early|last|change)$"
    rest = {name for name in found if name not in named and f"return_{name}" not in roles}
    assert not {name for name in rest if re.sub(ends, "", name) not in named}
    assert {"explore_share", "cleaning_share", "return_own", "position"} <= found
