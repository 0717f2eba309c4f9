"""Boards are drawn by hand, as the text draws them, and read back into worlds."""

import itertools
import re
import textwrap

import numpy as np
import pytest

from osj_envs.grid.codes import Item
from osj_envs.grid.movement import Agents
from osj_envs.harvest.constants import HarvestConfig, Lost
from osj_envs.harvest.text import cell_label, describe_world, draw_board, draw_timers
from osj_envs.harvest.types import Latent, Layout, Rules, Trees, World
from osj_envs.types import Clock

SMALL = HarvestConfig(colours=2, height=4, width=4, diamonds=0, quarters=1, spawn_cells=2)
RULES = Rules(
    pay=np.array([[2, 0, 1], [0, 1, 2]], np.int8), speed=np.array([[1, 0, 2], [2, 1, 0]], np.int8)
)
MARKS = {
    ".": (Item.GROUND, 0),
    "@": (Item.SPAWN, 0),
    **{
        f"{name}{stage}": (Item.APPLE + stage, 1 + colour)
        for colour, name in enumerate("rygcp")
        for stage in range(3)
    },
    **{f"{name}-": (Item.EMPTY_TREE, 1 + colour) for colour, name in enumerate("rygcp")},
}


def read(drawing: str, under: dict[str, str] | None = None, **changes) -> World:
    """The world of a drawn board.

    Args:
        drawing: cells parted by spaces; `A^` is agent A facing north.
        under: the mark of what each agent stands on; ground where it is not given.
        changes: fields of the trees, or waits of the agents; stages take 20 steps.
    """
    marks = [line.split() for line in drawing.strip().splitlines()]
    found, trees, spawns = {}, [], []
    width = len(marks[0])
    for row, col in itertools.product(range(len(marks)), range(width)):
        name, arrow = marks[row][col][:-1], marks[row][col][-1]
        if arrow in "^>v<":
            found[name] = (row, col, "^>v<".index(arrow))
            marks[row][col] = (under or {}).get(name, ".")
        if marks[row][col] == "@":
            spawns.append(row * width + col)
        elif marks[row][col] != ".":
            trees.append((row * width + col, marks[row][col]))
    placed = np.array([found[name] for name in sorted(found)], np.int32).reshape(-1, 3)
    bare = [mark[1] == "-" for _, mark in trees]
    fields = {
        "lost": [Lost.EATEN if is_bare else Lost.HANGING for is_bare in bare],
        "age": [0 if mark[1] == "-" else 20 * int(mark[1]) for _, mark in trees],
        "stage_steps": [20] * len(trees),
        "delay": [0] * len(trees),
    }
    values = {name: np.array(changes.get(name, each), np.uint8) for name, each in fields.items()}
    waits = {
        name: np.array(changes.get(name, [0] * len(found)), np.int32)
        for name in ("frozen", "cooldown")
    }
    return World(
        trees=Trees(**values),
        layout=Layout(
            trees=np.array([cell for cell, _ in trees], np.uint16),
            spawns=np.array(spawns, np.uint16),
        ),
        tree_colour=np.array(["rygcp".index(mark[0]) for _, mark in trees], np.int8),
        agents=Agents(position=placed[:, :2], heading=placed[:, 2]),
        **waits,
    )


def latent(world: World) -> Latent:
    return Latent(rules=RULES, layout=world.layout, patch_colour=world.tree_colour[:1])


def sized(drawing: str) -> HarvestConfig:
    """A configuration of the drawing's size."""
    rows = drawing.strip().splitlines()
    return HarvestConfig(
        height=len(rows), width=len(rows[0].split()), diamonds=0, quarters=1, spawn_cells=1
    )


def test_the_whole_text():
    world = read(
        """
        y0 y1 y- .
        y- B< .  .
        y2 .  .  @
        .  A^ .  @
        """,
        under={"B": "y-"},
        lost=[0, 0, Lost.EATEN + 1, Lost.ROTTED, Lost.EATEN + 2, 0],
        age=[7, 26, 0, 0, 0, 40],
        delay=[0, 0, 0, 4, 0, 0],
        frozen=[5, 0],
        cooldown=[2, 1],
    )
    expected = """\
        OpenHarvest, trial 2, step 51
        apples 3 of 6: 1 unripe, 1 ripe, 1 over-ripe
        bare trees 3: 1 rotted, 2 eaten

        pay, and speed of regrowth, of an apple by the stage at which it is eaten
          red: unripe 0.25 x1, ripe 1 x2, over-ripe 0.5 x0.5
          yellow: unripe 1 x0.5, ripe 0.5 x1, over-ripe 0.25 x2

           0  1  2  3
        0  y0 y1 y- .
        1  y- B< .  .
        2  y2 .  .  @
        3  .  A^ .  @

        legend: . ground, @ spawn
          r0 r1 r2 apple: unripe, ripe, over-ripe red; r- bare red tree
          colours r red, y yellow
          A^ A> Av A< agent A facing north, east, south, west

        steps until an apple turns or rots, and until a rotted one is back
           0  1  2  3
        0  13 14 -  .
        1  4  -  .  .
        2  20 .  .  .
        3  .  .  .  .

        bare trees
          row 0, column 2: yellow, eaten ripe, 2 apples near, back with chance 0.005 a step
          row 1, column 0: yellow, rotted, back in 4 steps
          row 1, column 1: yellow, eaten over-ripe, 3 apples near, back with chance 0.05 a step

        A: row 3, column 1, on ground, faces north, frozen for 5 steps, cannot zap for 2 steps
        B: row 1, column 1, on bare yellow tree, faces west, cannot zap for 1 step"""
    clock = Clock(trial=np.int32(2), step=np.int32(51))
    assert describe_world(SMALL, latent(world), world, clock) == textwrap.dedent(expected)


DRAWINGS = {
    "all that lies on a cell": """
        r0 r1 r2 r- y0 y1 y2 y-
        g0 g1 g2 g- c0 c1 c2 c-
        p0 p1 p2 p- .  @  .  .
        """,
    "agents facing everywhere": """
        A^ .  B>
        .  Cv r1
        D< .  E^
        """,
    "a row": "g2 y- . . p1 A< r0",
    "more than ten rows and columns": "\n".join([" ".join(["."] * 11 + ["p2"])] * 11),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawn_board_comes_back(name: str):
    drawing = [line.split() for line in DRAWINGS[name].strip().splitlines()]
    lines = draw_board(sized(DRAWINGS[name]), read(DRAWINGS[name])).splitlines()
    header, rows = lines[0].split(), [line.split() for line in lines[1:]]
    assert header == [str(col) for col in range(len(drawing[0]))]
    assert rows == [[str(row), *line] for row, line in enumerate(drawing)]


@pytest.mark.parametrize("draw", [draw_board, draw_timers])
@pytest.mark.parametrize("name", DRAWINGS)
def test_columns_stand_below_their_numbers(name: str, draw):
    header, *rows = draw(sized(DRAWINGS[name]), read(DRAWINGS[name])).splitlines()
    starts = [number.start() for number in re.finditer(r"\S+", header)]
    for row in rows:
        assert all(row[place] != " " and row[place - 1] == " " for place in starts)


def test_every_code_has_its_own_mark_and_name():
    labels = [cell_label(*map(int, code)) for code in MARKS.values()]
    assert [label.mark for label in labels] == list(MARKS)
    assert len({label.name for label in labels}) == len(labels)


@pytest.mark.parametrize("mark", MARKS)
def test_what_lies_under_an_agent_is_told(mark: str):
    world = read("A> . y0 y0 y0 y0 y0" + (" y0" if mark in ".@" else ""), under={"A": mark})
    config = HarvestConfig(height=1, width=8, diamonds=0, quarters=1, spawn_cells=1)
    rules = Rules(pay=np.zeros((5, 3), np.int8), speed=np.zeros((5, 3), np.int8))
    text = describe_world(config, latent(world).replace(rules=rules), world, clock())
    assert f"A: row 0, column 0, on {cell_label(*map(int, MARKS[mark])).name}, faces east" in text


@pytest.mark.parametrize(
    ("frozen", "cooldown", "words"),
    [
        (0, 0, "faces north, can zap"),
        (0, 2, "faces north, cannot zap for 2 steps"),
        (3, 0, "faces north, frozen for 3 steps, can zap"),
    ],
)
def test_what_an_agent_waits_for(frozen: int, cooldown: int, words: str):
    world = read("y0 y0 y0 @\ny0 y0 . .\ny0 . A^ .\n. . . .", frozen=[frozen], cooldown=[cooldown])
    assert describe_world(SMALL, latent(world), world, clock()).endswith(words)


def test_an_orchard_in_full_has_no_bare_trees():
    world = read("y0 y0 y0 @\ny0 y0 . .\ny0 . A^ .\n. . . .")
    text = describe_world(SMALL, latent(world), world, clock())
    assert "bare trees 0: 0 rotted, 0 eaten" in text
    assert "bare trees\n" not in text
    assert "\n\n\n" not in text


def test_what_the_game_does_not_have_is_refused():
    for item, colour in ((Item.APPLE, 0), (Item.EMPTY_TREE, 0), (Item.WATER, 1), (Item.WALL, 0)):
        with pytest.raises(ValueError, match="does not exist in OpenHarvest"):
            cell_label(item, colour)


def clock() -> Clock:
    return Clock(trial=np.int32(0), step=np.int32(0))
