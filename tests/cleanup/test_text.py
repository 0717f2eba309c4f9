"""Boards are drawn by hand, as the text draws them, and read back into worlds."""

import itertools
import re
import textwrap

import numpy as np
import pytest

from osj_envs.cleanup.constants import CleanupConfig, Terrain
from osj_envs.cleanup.rules import Rules
from osj_envs.cleanup.text import cell_label, describe_world, draw_board
from osj_envs.cleanup.types import Latent, World
from osj_envs.grid.codes import Heading, Item
from osj_envs.grid.movement import Agents
from osj_envs.types import Clock

TINY = CleanupConfig(
    hues=2,
    shades=2,
    base_tools=2,
    height=3,
    width=4,
    river_cells=4,
    initial_clean_cells=1,
    stream_cells=1,
    orchard_cells=2,
    stations=2,
    spawn_cells=1,
)
RULES = Rules(effect=np.array([0, 2, 3, 1], np.int8))
MARKS = {
    ".": (Item.GROUND, 0, Terrain.GROUND),
    "@": (Item.SPAWN, 0, Terrain.SPAWN),
    "*": (Item.ORCHARD, 0, Terrain.ORCHARD),
    "o": (Item.RIPE_APPLE, 0, Terrain.ORCHARD),
    "~": (Item.WATER, 0, Terrain.RIVER_WASTE),
    "=": (Item.WATER, 0, Terrain.STREAM),
    **{f"T{tool}": (Item.STATION + tool, 0, Terrain.STATION + tool) for tool in range(12)},
    **{
        f"{hue}{shade}": (Item.WASTE + shade, 1 + code, Terrain.RIVER_WASTE)
        for code, hue in enumerate("rygcp")
        for shade in range(3)
    },
}


def read(drawing: str, under: dict[str, str] | None = None, windows: list | None = None):
    """The latent and the world of a drawn board.

    Args:
        drawing: cells parted by spaces; `A^` is agent A facing north.
        under: the mark of what each agent stands on; ground where it is not given.
        windows: each agent's pick-up window.
    """
    marks = [line.split() for line in drawing.strip().splitlines()]
    found = {}
    for row, col in itertools.product(range(len(marks)), range(len(marks[0]))):
        name, arrow = marks[row][col][:-1], marks[row][col][-1]
        if arrow in "^>v<":
            found[name] = (row, col, "^>v<".index(arrow))
            marks[row][col] = (under or {}).get(name, ".")
    codes = np.array([[MARKS[mark] for mark in line] for line in marks], np.uint8)
    placed = np.array([found[name] for name in sorted(found)], np.int32).reshape(-1, 3)
    world = World(
        item=codes[..., 0],
        colour=codes[..., 1],
        agents=Agents(position=placed[:, :2], heading=placed[:, 2]),
        window=np.array(windows or [(-1, -1)] * len(found), np.int32).reshape(-1, 2),
        last_tool=np.full(len(found), -1, np.int32),
    )
    return Latent(rules=RULES, layout=codes[..., 2], dominant_hue=np.int32(1)), world


def test_the_whole_text():
    latent, world = read(
        """
        y0 r1 ~  =
        .  A^ B< *
        T0 .  T1 o
        """,
        under={"A": "y1", "B": "@"},
        windows=[(-1, 1), (1, 0)],
    )
    expected = """\
        OpenCleanup, trial 2, step 51
        dirt 0.600 (3 of 5 water cells); apples grow below 0.400
        apples 1 of 2
        dominant hue yellow

        recipes (any other pair does nothing)
          1 then 1: clears light red
          0 then 1: clears light yellow
          1 then 0: turns mid of any hue to light

           0  1  2  3
        0  y0 r1 ~  =
        1  .  A^ B< *
        2  T0 .  T1 o

        legend: . ground, @ spawn, * orchard, o apple, ~ clean river, = stream
          T0 station of base tool 0
          r0 r1 waste: light, mid red; hues r red, y yellow
          A^ A> Av A< agent A facing north, east, south, west

        A: row 1, column 1, on mid yellow waste, faces north, hand 1, no tool yet
        B: row 1, column 2, on spawn, faces west, hand 1 then 0, turns mid of any hue to light"""
    clock = Clock(trial=np.int32(2), step=np.int32(51))
    assert describe_world(TINY, latent, world, clock) == textwrap.dedent(expected)


DRAWINGS = {
    "all that lies on a cell": """
        r0 r1 r2 y0 y1 y2 g0 g1
        g2 c0 c1 c2 p0 p1 p2 ~
        T0 T1 T2 T3 =  o  *  @
        .  .  .  .  .  .  .  .
        """,
    "agents facing everywhere": """
        A^ .  B>
        .  Cv =
        D< .  E^
        """,
    "a single cell": "g2",
    "one agent alone": "Av",
    "two-digit tools": """
        T9  .   T10
        A^  T11 .
        """,
    "more than ten rows and columns": "\n".join([" ".join(["."] * 11 + ["p2"])] * 11),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawn_board_comes_back(name: str):
    drawing = [line.split() for line in DRAWINGS[name].strip().splitlines()]
    lines = draw_board(*read(DRAWINGS[name])).splitlines()
    header, rows = lines[0].split(), [line.split() for line in lines[1:]]
    assert header == [str(col) for col in range(len(drawing[0]))]
    assert rows == [[str(row), *line] for row, line in enumerate(drawing)]


@pytest.mark.parametrize("name", DRAWINGS)
def test_columns_stand_below_their_numbers(name: str):
    header, *rows = draw_board(*read(DRAWINGS[name])).splitlines()
    starts = [number.start() for number in re.finditer(r"\S+", header)]
    for row in rows:
        assert all(row[place] != " " and row[place - 1] == " " for place in starts)


def test_every_code_has_its_own_mark_and_name():
    labels = [cell_label(*map(int, code)) for code in MARKS.values()]
    assert [label.mark for label in labels] == list(MARKS)
    assert len({label.name for label in labels}) == len(labels)


def test_clean_river_reads_the_same_wherever_it_started():
    labels = {cell_label(Item.WATER, 0, t) for t in (Terrain.RIVER_WASTE, Terrain.RIVER_CLEAN)}
    assert [label.mark for label in labels] == ["~"]


@pytest.mark.parametrize("mark", [m for m in MARKS if m != "o"])
def test_what_lies_under_an_agent_is_told(mark: str):
    latent, world = read("A>", under={"A": mark})
    text = describe_world(CleanupConfig(), with_paper_rules(latent), world, clock())
    assert f"on {cell_label(*map(int, MARKS[mark])).name}, faces east" in text


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ((-1, -1), "hand empty"),
        ((-1, 0), "hand 0, no tool yet"),
        ((0, 0), "hand 0 then 0, does nothing"),
        ((0, 1), "hand 0 then 1, clears light yellow"),
        ((1, 0), "hand 1 then 0, turns mid of any hue to light"),
    ],
)
def test_the_hand_and_what_it_does(window: tuple[int, int], words: str):
    text = describe_world(TINY, *read("A^", windows=[window]), clock())
    assert text.splitlines()[-1].endswith(words)


@pytest.mark.parametrize("agents", [1, 5, 16, 30])
def test_a_line_for_each_agent_and_each_is_on_the_board(agents: int):
    latent, world = read("\n".join([" ".join(["."] * 8)] * 4))
    places = np.stack(np.unravel_index(np.arange(agents), (4, 8)), axis=-1).astype(np.int32)
    heading = np.arange(agents, dtype=np.int32) % len(Heading)
    world = world.replace(
        agents=Agents(position=places, heading=heading),
        window=np.full((agents, 2), -1, np.int32),
    )
    text = describe_world(TINY, latent, world, clock())
    lines, board = text.split("\n\n")[-1].splitlines(), text.split("\n\n")[2]
    names = [line.split(":")[0] for line in lines]
    assert len(set(names)) == agents
    assert all(f"{name}{'^>v<'[seat % 4]}" in board.split() for seat, name in enumerate(names))


def test_what_the_game_does_not_have_is_refused():
    for item, colour in ((Item.WASTE, 0), (Item.OVERRIPE_APPLE, 1)):
        with pytest.raises(ValueError, match="does not exist in OpenCleanup"):
            cell_label(item, colour, Terrain.GROUND)


def clock() -> Clock:
    return Clock(trial=np.int32(0), step=np.int32(0))


def with_paper_rules(latent: Latent) -> Latent:
    return latent.replace(rules=Rules(effect=np.array([*range(8), *[0] * 8], np.int8)))
