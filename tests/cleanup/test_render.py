"""Pictures of OpenCleanup, judged by colour difference as people see it."""

import itertools

import numpy as np
import pytest

from osj_envs.cleanup.render import draw_item, render_world
from osj_envs.cleanup.types import World
from osj_envs.grid.codes import Heading, Item
from osj_envs.grid.movement import Agents
from osj_envs.rendering.sprites import VARIANTS
from osj_envs.testing.vision import VISION, cell, difference, lab, least_difference

WASTE = [(Item.WASTE + shade, 1 + hue) for hue in range(5) for shade in range(3)]
STATIONS = [(Item.STATION + tool, 0) for tool in range(4)]
PLAIN = [
    (Item.GROUND, 0),
    (Item.SPAWN, 0),
    (Item.ORCHARD, 0),
    (Item.RIPE_APPLE, 0),
    (Item.WATER, 0),
]
CODES = [*PLAIN, *WASTE, *STATIONS]


def make_world(
    item: np.ndarray | None = None,
    colour: np.ndarray | None = None,
    positions: tuple = ((1, 1),),
    headings: tuple | None = None,
    windows: tuple | None = None,
) -> World:
    item = np.full((3, 3), Item.GROUND, np.uint8) if item is None else item
    count = len(positions)
    return World(
        item=item,
        colour=np.zeros_like(item) if colour is None else colour,
        agents=Agents(
            position=np.array(positions, np.int32).reshape(count, 2),
            heading=np.array(headings or [0] * count, np.int32),
        ),
        window=np.array(windows or [(-1, -1)] * count, np.int32),
        last_tool=np.full(count, -1, np.int32),
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
def test_all_waste_differs_at_32_pixels_for_the_colour_blind_too(vision: str):
    least, pair = least_difference({c: draw_item(*c, 32) for c in WASTE}, vision)
    assert least >= 0.06, pair


@pytest.mark.parametrize("vision", VISION)
def test_all_stations_differ_at_32_pixels_for_the_colour_blind_too(vision: str):
    least, pair = least_difference({c: draw_item(*c, 32) for c in STATIONS}, vision)
    assert least >= 0.1, pair


def test_variants_of_ground_and_water_look_the_same_at_a_glance():
    for code in PLAIN:
        for variant in range(1, VARIANTS):
            assert difference(draw_item(*code, 32), draw_item(*code, 32, variant)) < 0.05


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("seat", [0, 15])
def test_headings_differ(seat: int, vision: str):
    seats = (*[(0, 0)] * seat, (1, 1))
    pictures = {
        heading: cell(
            render_world(make_world(positions=seats, headings=(0,) * seat + (heading,))), 1, 1
        )
        for heading in Heading
    }
    least, pair = least_difference(pictures, vision)
    assert least >= 0.09, pair


@pytest.mark.parametrize("heading", Heading)
def test_the_nose_reaches_the_edge_that_the_agent_faces_and_no_other(heading: Heading):
    empty = cell(render_world(make_world(positions=())), 1, 1).astype(int)
    faced = cell(render_world(make_world(headings=(heading,))), 1, 1).astype(int)
    changed = np.abs(faced - empty).sum(axis=-1) > 100
    edges = (changed[0], changed[:, -1], changed[-1], changed[:, 0])
    assert [edge.any() for edge in edges] == [side == heading for side in Heading]


def test_an_agent_is_drawn_in_its_cell_and_nowhere_else():
    item = np.full((2, 5), Item.GROUND, np.uint8)
    empty = render_world(make_world(item, positions=()))
    with_agent = render_world(make_world(item, positions=((1, 3),)))
    changed = {
        (row, col)
        for row, col in np.ndindex(item.shape)
        if (cell(empty, row, col) != cell(with_agent, row, col)).any()
    }
    assert changed == {(1, 3)}


def test_sixteen_agents_differ():
    places = tuple((i // 4, i % 4) for i in range(16))
    picture = render_world(make_world(np.full((4, 4), Item.ORCHARD, np.uint8), positions=places))
    least, pair = least_difference({place: cell(picture, *place) for place in places})
    assert least >= 0.12, pair


@pytest.mark.parametrize("vision", VISION)
def test_hands_differ_in_tools_and_order(vision: str):
    windows = [(-1, -1), *((-1, b) for b in range(4)), *itertools.product(range(4), repeat=2)]
    pictures = {w: cell(render_world(make_world(windows=(w,))), 1, 1) for w in windows}
    least, pair = least_difference(pictures, vision)
    assert least >= 0.045, pair


def test_what_an_agent_stands_on_is_still_told():
    codes = [code for code in CODES if code[0] != Item.RIPE_APPLE]  # eaten by whoever stands there
    stood_on = {}
    for code in codes:
        item, colour = (np.full((3, 3), part, np.uint8) for part in code)
        world = make_world(item, colour, windows=((0, 1),))
        stood_on[code] = cell(render_world(world), 1, 1)
    least, pair = least_difference(stood_on)
    assert least >= 0.08, pair


def test_the_same_code_is_drawn_wherever_it_lies():
    item = np.array([code[0] for code in CODES], np.uint8).reshape(4, 6)
    colour = np.array([code[1] for code in CODES], np.uint8).reshape(4, 6)
    picture = render_world(make_world(item, colour, positions=()))
    for place, code in enumerate(CODES):
        drawn = cell(picture, place // 6, place % 6)
        nearest = min(CODES, key=lambda other: difference(drawn, draw_item(*other, 32)))
        assert nearest == code


def test_a_shore_runs_where_water_meets_land_and_not_along_the_edge_of_the_map():
    item = np.array([[Item.WATER, Item.WASTE, Item.GROUND]], np.uint8)
    colour = np.array([[0, 1, 0]], np.uint8)
    shore = render_world(make_world(item, colour, positions=()))
    all_wet = render_world(make_world(item[:, :2], colour[:, :2], positions=()))
    changed = (shore[:, :64] != all_wet).any(axis=-1)
    assert changed[:, 61:].all()
    assert not changed[:, :58].any()


def test_beams_mark_their_cells_only_and_tell_who_fired():
    world = make_world(positions=((0, 0), (2, 2)))
    mask = np.zeros((2, 3, 3), bool)
    mask[0, 1, 1] = mask[1, 0, 2] = True
    dark, lit = render_world(world), render_world(world, beams=mask)
    for row, col in itertools.product(range(3), repeat=2):
        is_lit = bool(mask[:, row, col].any())
        assert (cell(lit, row, col) != cell(dark, row, col)).any() == is_lit
        assert not is_lit or difference(cell(lit, row, col), cell(dark, row, col)) > 0.2
    assert difference(cell(lit, 1, 1), cell(lit, 0, 2)) > 0.15
    anyone = render_world(world, beams=mask.any(axis=0))
    assert ((anyone != dark).any(axis=-1) == (lit != dark).any(axis=-1)).mean() > 0.99


@pytest.mark.parametrize("code", WASTE)
def test_waste_under_a_beam_is_still_read(code: tuple[int, int]):
    item, colour = (np.full((1, 1), part, np.uint8) for part in code)
    lit = render_world(make_world(item, colour, positions=()), beams=np.ones((1, 1), bool))
    middle = np.s_[8:24, 8:24]
    nearest = min(
        WASTE,
        key=lambda c: float(np.linalg.norm(lab(lit)[middle] - lab(draw_item(*c, 32))[middle])),
    )
    assert nearest == code


@pytest.mark.parametrize("agents", [1, 5, 16])
@pytest.mark.parametrize(("shape", "size"), [((3, 7), 8), ((12, 16), 32), ((5, 4), 21)])
def test_size_and_type_for_any_map_and_any_number_of_agents(
    agents: int, shape: tuple[int, int], size: int
):
    places = tuple((i // shape[1], i % shape[1]) for i in range(agents))
    item = np.full(shape, Item.GROUND, np.uint8)
    picture = render_world(make_world(item, positions=places), size)
    assert picture.shape == (shape[0] * size, shape[1] * size, 3)
    assert picture.dtype == np.uint8


def test_drawing_changes_nothing_that_is_drawn_later():
    world = make_world(positions=((0, 0), (1, 2)))
    first = render_world(world)
    first[:] = 0
    render_world(world, beams=np.ones((3, 3), bool))
    assert render_world(world).any()
    np.testing.assert_array_equal(render_world(world), render_world(world))


def test_what_can_not_be_drawn_is_refused():
    with pytest.raises(ValueError, match="cell_pixels is 4"):
        render_world(make_world(), cell_pixels=4)
    with pytest.raises(
        ValueError, match=r"beams has shape \(3, 4\); it must be the map's \(3, 3\)"
    ):
        render_world(make_world(), beams=np.zeros((3, 4), bool))
    with pytest.raises(ValueError, match="item 9 with colour 0 does not exist"):
        render_world(make_world(np.full((3, 3), Item.WASTE, np.uint8)))
