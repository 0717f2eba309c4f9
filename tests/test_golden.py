"""Golden rollouts: what a fixed game tells, down to the last leaf.

Where a change of physics is meant, raise the environment's version and write the records anew:
`python tests/golden/regenerate.py`.
"""

import json
import pathlib

import pytest

import osj_envs
from osj_envs.testing.golden import CASES, record

FOLDER = pathlib.Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", CASES)
def test_the_game_is_played_as_recorded(name):
    recorded = json.loads((FOLDER / f"{name}.json").read_text())
    found = json.loads(json.dumps(record(CASES[name])))
    assert found["version"] == recorded["version"], "write the records of the new version"
    assert found == recorded, "raise the version and write the records anew if this is meant"


def test_every_environment_has_a_record_and_every_record_is_used():
    assert {case.name for case in CASES.values()} == set(osj_envs.list_ids())
    assert {path.stem for path in FOLDER.glob("*.json")} == set(CASES)


@pytest.mark.parametrize("game", osj_envs.list_ids())
def test_in_the_records_everything_happens(game):
    names = [name for name, case in CASES.items() if case.name == game]
    records = [json.loads((FOLDER / f"{name}.json").read_text())["sums"] for name in names]
    for name in records[0].keys() - {"tool_remade"}:
        assert sum(sums[name] for sums in records) > 0, f"no {name} in any record"
