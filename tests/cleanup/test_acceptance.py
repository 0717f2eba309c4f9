import dataclasses

import numpy as np
import pytest

from osj_envs.cleanup import acceptance
from osj_envs.cleanup.acceptance import (
    TOLERANCE,
    broken_rules,
    is_accepted,
    is_near,
    reach,
    statistics,
    targets,
)
from osj_envs.cleanup.constants import PAPER, CleanupConfig, Terrain
from osj_envs.cleanup.maps import CLASSIC, parse


def test_classic_counts():
    np.testing.assert_array_equal(np.bincount(CLASSIC.ravel()), [92, 7, 48, 26, 6, 5] + [1] * 8)
    np.testing.assert_array_equal(np.flatnonzero(CLASSIC[0] == Terrain.RIVER_CLEAN), [3, 8, 13])
    np.testing.assert_array_equal(np.flatnonzero(CLASSIC[1] == Terrain.RIVER_CLEAN), [2, 7, 12])
    spawns = [(2, 2), (2, 6), (2, 11), (4, 3), (4, 11), (8, 4), (8, 11)]
    np.testing.assert_array_equal(np.argwhere(CLASSIC == Terrain.SPAWN), spawns)
    np.testing.assert_array_equal(
        np.argwhere(CLASSIC == Terrain.STREAM), [(row, 13) for row in range(2, 7)]
    )
    np.testing.assert_array_equal(CLASSIC[6, ::2], Terrain.STATION + np.arange(8))
    assert np.all(CLASSIC[9:] == Terrain.ORCHARD)


def test_classic_statistics():
    expected = (25.5 / 37, 38.5 / 48, 8, 9, 5, 3, 23 / 7, 33 / 7)
    assert dataclasses.astuple(statistics(CLASSIC)) == pytest.approx(expected)
    assert targets(PAPER) == statistics(CLASSIC)


def test_classic_breaks_one_rule_alone():
    # The stream ends between the last two stations.
    assert broken_rules(CLASSIC) == ("one empty cell lies between consecutive stations",)
    moved = CLASSIC.copy()
    moved[6, 13] = Terrain.GROUND
    assert broken_rules(moved, CleanupConfig(stream_cells=4)) == ()


CLEAN_CLASSIC = """
    ###~####~####~##
    ##~####~####~###
    ..@=..@....@....
    ...=............
    ..@=.......@....
    ...==...........
    0.1.2.3.4.5.6.7.
    ................
    ....@......@....
    ****************
    ****************
    ****************
"""


@pytest.mark.parametrize(
    ("line", "text", "rule"),
    [
        (0, "##.~####~####~##", "number of cells"),
        (6, "0.1.2.3.4.5.6.6.", "number of cells"),
        (6, "0.1.2.3.4.5.6.8.", "number of cells"),
        (1, "##~###..####~###", "number of cells"),
        (0, "...~####~####~##", "two cells wide"),
        (5, "..===...........", "one cell wide and leaves"),
        (4, "..@........@....", "one cell wide and leaves"),
        (2, "=.@=..@....@....", "one cell wide and leaves"),
        (10, "**************..", "number of cells"),
        (7, "....*...........", "the orchard keeps away"),
        (6, "0.1.3.2.4.5.6.7.", "one empty cell"),
        (6, "0.1@2.3.4.5.6.7.", "one empty cell"),
        (6, "0.1.2.3.4.5.67..", "one empty cell"),
        (6, "0.1.2.3.4.5.67..", "no two stations touch"),
    ],
)
def test_a_drawing_that_breaks_a_rule_is_told(line, text, rule):
    lines = CLEAN_CLASSIC.split("\n")[1:]
    lines[line] = text
    broken = broken_rules(parse("\n".join(lines)))
    assert any(rule in sentence for sentence in broken), broken
    assert broken_rules(parse(CLEAN_CLASSIC)) == ()


@pytest.mark.parametrize(
    ("here", "there", "rule"),
    [
        ((0, 0), (11, 0), "the river is one connected piece"),
        ((9, 0), (7, 9), "the orchard is one connected piece"),
        ((6, 0), (3, 0), "the stations' distances"),
        ((6, 0), (8, 0), "the stations' distances"),
        ((2, 2), (11, 2), "the spawn cells' distances"),
    ],
)
def test_a_cell_in_a_wrong_place_is_told(here, there, rule):
    layout = parse(CLEAN_CLASSIC)
    layout[here], layout[there] = layout[there], layout[here]
    assert any(rule in sentence for sentence in broken_rules(layout))


def cleared(columns):
    """Takes the orchard out of some columns."""
    return {(row, column): "." for row in (9, 10, 11) for column in range(columns)}


@pytest.mark.parametrize(
    ("edits", "broken"),
    [
        ({(6, 0): ".", (8, 0): "*", (4, 0): "0"}, ""),
        ({(6, 0): ".", (8, 0): "*", (3, 0): "0"}, "stations"),  # 2 from the river
        ({(6, 0): ".", (9, 1): ".", (10, 0): ".", (9, 0): "0"}, "stations"),  # 8 from the river
        ({(6, 0): ".", (7, 0): "0"}, ""),
        ({(6, 0): ".", (8, 0): "0"}, "stations"),  # 1 from the orchard
        (cleared(2), ""),
        (cleared(3) | {(2, 2): "."}, "stations"),  # 6 from the orchard
        (cleared(3) | {(6, 0): "."}, "spawn"),  # 8 from the orchard
        ({(9, 4): "@"}, "spawn"),  # 8 from the river
        ({(2, 0): "@"}, ""),
    ],
)
def test_distances_are_bounded_on_both_sides(edits, broken):
    layout = parse(CLEAN_CLASSIC)
    for cell, mark in edits.items():
        layout[cell] = parse(mark)[0, 0]
    rules = [rule for rule in broken_rules(layout) if "distances" in rule]
    assert len(rules) == (broken != "")
    assert all(broken in rule for rule in rules)


@pytest.mark.parametrize(
    ("drawing", "is_good"),
    [
        ("##.. ##=. ..=.", True),
        ("##.. ##.. ..==", False),  # touches the river by a corner alone
        ("##.. ##=. .==.", False),  # touches it twice
        ("..## .=## .==.", False),  # touches it twice
        ("..## ..## .==.", True),
        ("...## ...## ..==. ...=.", False),  # leaves it by its middle
        ("##... ##==. ...=. ..==.", True),
        ("##=.. ##... .=...", False),  # two pieces
        ("##.... ##===. ...=..", False),  # forks
        ("##..== ##=.==", False),  # a path and a pool
    ],
)
def test_streams(drawing, is_good):
    layout = parse(drawing.replace(" ", "\n"))
    config = CleanupConfig(
        height=layout.shape[0],
        width=layout.shape[1],
        river_cells=4,
        initial_clean_cells=0,
        orchard_cells=1,
        spawn_cells=1,
        stream_cells=1,
        stations=1,
        base_tools=1,
        hues=1,
        shades=1,
    )
    rule = "the stream is one cell wide and leaves the river"
    assert (rule not in broken_rules(layout, config)) == is_good


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(TOLERANCE)])
@pytest.mark.parametrize("side", [-1, 1])
def test_every_statistic_can_reject_a_layout(monkeypatch, name, side):
    layout = parse(CLEAN_CLASSIC)
    measured, tolerance = statistics(layout), getattr(TOLERANCE, name)
    for beyond, expected in [(-0.001, True), (0.001, False)]:
        target = getattr(measured, name) + side * (tolerance + beyond)
        shifted_targets = dataclasses.replace(measured, **{name: target})
        monkeypatch.setattr(acceptance, "targets", lambda _, to=shifted_targets: to)
        assert is_near(layout) is expected
        assert is_accepted(layout) is expected


def test_layouts_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="the layout is 12 x 16; the map is 9 x 16"):
        broken_rules(CLASSIC, CleanupConfig(height=9, width=16))


def test_small_maps_keep_the_proportions():
    small = reach(CleanupConfig(height=9, width=9, river_cells=10, orchard_cells=12))
    assert small.orchard_river == 5
    assert (small.station_river, small.station_orchard, small.spawn) == ((2, 5), (2, 4), (1, 5))
    assert reach(CleanupConfig(height=30, width=40)) == reach(PAPER)
