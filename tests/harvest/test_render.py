"""Pictures of OpenHarvest, judged by colour difference as people see it."""

import itertools

import numpy as np
import pytest

from osj_envs.grid.codes import Heading, Item
from osj_envs.grid.movement import Agents
from osj_envs.harvest.constants import HarvestConfig, Lost
from osj_envs.harvest.render import draw_item, render_world
from osj_envs.harvest.types import Layout, Trees, World
from osj_envs.rendering.sprites import VARIANTS
from osj_envs.testing.vision import VISION, cell, difference, least_difference

PLAIN = [(Item.GROUND, 0), (Item.SPAWN, 0)]
STATES = (Item.APPLE, Item.RIPE_APPLE, Item.OVERRIPE_APPLE, Item.EMPTY_TREE)
TREES = [(state, 1 + colour) for state in STATES for colour in range(5)]
CODES = [*PLAIN, *TREES]
CONFIG = HarvestConfig(height=3, width=4, diamonds=0, quarters=1, spawn_cells=1)


def make_world(
    lost=(0,) * 6, age=(0,) * 6, colour=0, positions=((2, 3),), headings=None, frozen=None
) -> World:
    """A quarter diamond in the north-west corner, and a spawn cell in the south-east one."""
    count = len(positions)
    return World(
        trees=Trees(
            lost=np.array(lost, np.uint8),
            age=np.array(age, np.uint8),
            stage_steps=np.full(6, 15, np.uint8),
            delay=np.full(6, 3, np.uint8),
        ),
        layout=Layout(
            trees=np.array([0, 1, 2, 4, 5, 8], np.uint16), spawns=np.array([11], np.uint16)
        ),
        tree_colour=np.full(6, colour, np.int8),
        agents=Agents(
            position=np.array(positions, np.int32).reshape(count, 2),
            heading=np.array(headings or [0] * count, np.int32),
        ),
        frozen=np.array(frozen or [0] * count, np.int32),
        cooldown=np.zeros(count, np.int32),
    )


@pytest.mark.parametrize(
    "variants", list(itertools.combinations_with_replacement(range(VARIANTS), 2))
)
def test_every_two_codes_differ_at_32_pixels(variants: tuple[int, int]):
    first, second = ({c: draw_item(*c, 32, v) for c in CODES} for v in variants)
    alike = [
        (a, b)
        for a, b in itertools.combinations(CODES, 2)
        if difference(first[a], second[b]) < 0.15
    ]
    assert not alike


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("size", [16, 32])
def test_colours_and_ripeness_differ_for_the_colour_blind_too(vision: str, size: int):
    least, pair = least_difference({c: draw_item(*c, size) for c in TREES}, vision)
    assert least >= 0.12, pair


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("colour", range(5))
def test_ripeness_is_seen_at_a_glance(vision: str, colour: int):
    """Also where the cells are small, and whatever the colour."""
    for size in (12, 16, 32):
        drawn = {state: draw_item(state, 1 + colour, size) for state in STATES}
        least, pair = least_difference(drawn, vision)
        assert least >= 0.15, (size, pair)


def test_ripeness_shows_without_any_colour():
    """Apples grow from unripe to ripe, and get dark as they pass."""
    grey = {state: [draw_item(state, 1 + c, 32).mean() for c in range(5)] for state in STATES}
    for ripe, overripe in zip(grey[Item.RIPE_APPLE], grey[Item.OVERRIPE_APPLE], strict=True):
        assert overripe < ripe - 20


def test_what_an_agent_stands_on_is_still_told():
    def stood_on(place: tuple[int, int], colour: int = 0) -> np.ndarray:
        world = make_world(lost=(1,) * 6, colour=colour, positions=(place,))
        return cell(render_world(CONFIG, world), *place)

    pictures = {str(colour): stood_on((0, 1), colour) for colour in range(5)}
    pictures |= {"ground": stood_on((1, 3)), "spawn": stood_on((2, 3))}
    least, pair = least_difference(pictures)
    assert least >= 0.08, pair


def test_every_tree_is_drawn_where_it_stands_as_it_is():
    lost = [Lost.HANGING, Lost.HANGING, Lost.HANGING, Lost.EATEN, Lost.ROTTED, Lost.EATEN + 2]
    world = make_world(lost=lost, age=[14, 15, 30, 0, 0, 0], colour=3, positions=())
    picture = render_world(CONFIG, world)
    expected = [Item.APPLE, Item.RIPE_APPLE, Item.OVERRIPE_APPLE, *[Item.EMPTY_TREE] * 3]
    for tree, item in zip(world.layout.trees, expected, strict=True):
        np.testing.assert_array_equal(cell(picture, *divmod(int(tree), 4)), draw_item(item, 4, 32))
    nearest = min(CODES, key=lambda c: difference(cell(picture, 2, 3), draw_item(*c, 32)))
    assert nearest == (Item.SPAWN, 0)


def test_the_hidden_state_of_a_tree_is_not_drawn():
    """Neither how a bare tree lost its apple, nor any timer."""
    worlds = [make_world(lost=[how] * 6) for how in (Lost.EATEN, Lost.EATEN + 2, Lost.ROTTED)]
    young, old = make_world(age=[0] * 6), make_world(age=[14] * 6)
    first, *others = [render_world(CONFIG, world) for world in worlds]
    assert all((picture == first).all() for picture in others)
    np.testing.assert_array_equal(render_world(CONFIG, young), render_world(CONFIG, old))


@pytest.mark.parametrize("vision", VISION)
def test_headings_are_told_apart(vision: str):
    pictures = {
        heading: cell(render_world(CONFIG, make_world(headings=[heading])), 2, 3)
        for heading in Heading
    }
    least, pair = least_difference(pictures, vision)
    assert least >= 0.05, pair


def one_of(seat: int, frozen: int) -> np.ndarray:
    """The cell of the agent in a seat."""
    positions = [*[(1, 3), (2, 2), (1, 2)][:seat], (2, 3)]
    world = make_world(positions=positions, frozen=[0] * seat + [frozen])
    return cell(render_world(CONFIG, world), 2, 3)


@pytest.mark.parametrize("vision", VISION)
def test_a_frozen_agent_is_marked(vision: str):
    for seat in range(3):
        assert difference(one_of(seat, 0), one_of(seat, 12), vision) > 0.2
    np.testing.assert_array_equal(one_of(0, 1), one_of(0, 12))


def test_a_frozen_agent_is_still_read():
    middle = np.s_[8:24, 8:24]
    free = {seat: one_of(seat, 0)[middle] for seat in range(3)}
    for seat in free:
        ice = one_of(seat, 12)[middle]
        assert min(free, key=lambda s: difference(ice, free[s])) == seat


@pytest.mark.parametrize("size", [8, 21, 32])
def test_size_and_type(size: int):
    picture = render_world(CONFIG, make_world(), size)
    assert picture.shape == (3 * size, 4 * size, 3)
    assert picture.dtype == np.uint8


def test_drawing_changes_nothing_that_is_drawn_later():
    world = make_world()
    first = render_world(CONFIG, world)
    first[:] = 0
    assert render_world(CONFIG, world).any()
    np.testing.assert_array_equal(render_world(CONFIG, world), render_world(CONFIG, world))


def test_what_can_not_be_drawn_is_refused():
    with pytest.raises(ValueError, match="cell_pixels is 4"):
        render_world(CONFIG, make_world(), cell_pixels=4)
    for item, colour in ((Item.APPLE, 0), (Item.EMPTY_TREE, 0), (Item.WATER, 0), (Item.WALL, 0)):
        with pytest.raises(ValueError, match=f"item {item} with colour 0 does not exist"):
            draw_item(item, colour, 32)
