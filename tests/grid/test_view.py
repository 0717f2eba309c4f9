"""Views: every position and heading against a slow builder, and the symmetries that hold."""

import functools

import jax
import numpy as np
import pytest

from osj_envs.grid.codes import Item, Plane
from osj_envs.grid.movement import Agents
from osj_envs.grid.view import Window, egocentric_views
from osj_envs.testing import slow_grid

WINDOWS = [Window(), Window(ahead=3, behind=1, side=1), Window(ahead=0, behind=2, side=3)]
HEIGHT, WIDTH = 5, 7


@functools.partial(jax.jit, static_argnames="window")
def look(window, item, colour, position, heading):
    return jax.vmap(
        lambda i, c, p, h: egocentric_views(window, i, c, Agents(position=p, heading=h))
    )(item, colour, position, heading)


def worlds(agents, count=None, height=HEIGHT, width=WIDTH, seed=0):
    """Random boards; the first agent of the n-th stands on the n-th (cell, heading)."""
    rng = np.random.default_rng(seed)
    count = count or height * width * 4
    item = rng.integers(1, 17, (count, height, width)).astype(np.uint8)
    colour = rng.integers(0, 6, (count, height, width)).astype(np.uint8)
    heading = rng.integers(0, 4, (count, agents)).astype(np.int32)
    cells = np.zeros((count, agents), np.int32)
    for index in range(count):
        first = index // 4 % (height * width)
        others = rng.permutation([c for c in range(height * width) if c != first])
        cells[index] = [first, *others[: agents - 1]]
        heading[index, 0] = index % 4
    return item, colour, np.stack(np.divmod(cells, width), axis=-1).astype(np.int32), heading


def slow_views(window, item, colour, position, heading):
    board = {c: (int(item[c]), int(colour[c])) for c in slow_grid.cells_of(*item.shape)}
    agents = [(tuple(p), h) for p, h in zip(position.tolist(), heading.tolist(), strict=True)]
    reach = (window.ahead, window.behind, window.side)
    return [slow_grid.view(viewer, agents, board, *reach) for viewer in range(len(agents))]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("agents", [1, 2, 3, 16])
def test_every_position_and_heading_is_as_by_the_slow_rules(window, agents):
    boards = worlds(agents)
    views = np.asarray(look(window, *boards))
    assert views.shape[1:] == (agents, window.rows, window.cols, len(Plane))
    assert views.dtype == np.uint8
    stride = 1 if agents < 16 else 7
    for case in range(0, len(views), stride):
        expected = slow_views(window, *(part[case] for part in boards))
        np.testing.assert_array_equal(views[case], expected)


def test_an_agent_sees_itself_facing_up_as_number_one():
    window = Window()
    views = np.asarray(look(window, *worlds(3)))
    own = views[:, :, window.ahead, window.side]
    assert (own[..., Plane.AGENT] == 1).all()
    assert (own[..., Plane.HEADING] == 1).all()


@pytest.mark.parametrize("agents", [1, 2, 5, 16])
def test_a_window_that_holds_the_map_holds_every_agent_once(agents):
    everything = Window(ahead=9, behind=9, side=9)
    views = np.asarray(look(everything, *worlds(agents)))
    seen = views[..., Plane.AGENT].reshape(len(views), agents, -1)
    for number in range(1, agents + 1):
        assert ((seen == number).sum(-1) == 1).all()
    assert (seen <= agents).all()
    headed = views[..., Plane.HEADING] > 0
    np.testing.assert_array_equal(headed, views[..., Plane.AGENT] > 0)


def test_views_tell_what_lies_under_an_agent():
    item, colour, position, heading = worlds(2)
    window = Window(ahead=9, behind=9, side=9)
    views = np.asarray(look(window, item, colour, position, heading))
    under = item[np.arange(len(item)), position[:, 0, 0], position[:, 0, 1]]
    np.testing.assert_array_equal(views[:, 0, window.ahead, window.side, Plane.ITEM], under)


@pytest.mark.parametrize("window", WINDOWS)
def test_off_map_is_wall(window):
    """A ring of wall around the map changes no view: nothing wraps and nothing clamps."""
    item, colour, position, heading = worlds(3)
    ring = [(0, 0), (4, 4), (4, 4)]
    padded = [np.pad(item, ring, constant_values=Item.WALL), np.pad(colour, ring)]
    views, walled = look(window, item, colour, position, heading), None
    walled = look(window, *padded, position + 4, heading)
    np.testing.assert_array_equal(views, walled)


@pytest.mark.parametrize("window", WINDOWS)
def test_turning_the_world_and_the_headings_changes_no_view(window):
    item, colour, position, heading = worlds(3)
    views = look(window, item, colour, position, heading)
    for _ in range(3):
        height = item.shape[1]
        item, colour = (np.rot90(board, -1, axes=(1, 2)) for board in (item, colour))
        position = np.stack([position[..., 1], height - 1 - position[..., 0]], axis=-1)
        heading = (heading + 1) % 4
        np.testing.assert_array_equal(views, look(window, item, colour, position, heading))


def test_reseating_the_agents_in_a_circle_reseats_their_views():
    window = Window()
    item, colour, position, heading = worlds(5)
    views = np.asarray(look(window, item, colour, position, heading))
    for shift in range(1, 5):
        seats = np.roll(np.arange(5), shift)
        moved = look(window, item, colour, position[:, seats], heading[:, seats])
        np.testing.assert_array_equal(moved, views[:, seats])


def test_reseating_the_agents_in_any_order_changes_no_more_than_their_numbers():
    window, seats = Window(), np.array([3, 0, 4, 1, 2])
    item, colour, position, heading = worlds(5)
    views = np.array(look(window, item, colour, position, heading))
    moved = np.array(look(window, item, colour, position[:, seats], heading[:, seats]))
    for each in (views, moved):
        each[..., Plane.AGENT] = each[..., Plane.AGENT] > 0
    np.testing.assert_array_equal(moved, views[:, seats])


def test_a_view_depends_on_the_cells_within_the_window_and_on_no_other():
    """One changed cell changes the view of exactly those whose window holds it."""
    window = Window(ahead=3, behind=1, side=1)
    height, width = 9, 8
    item, colour, position, heading = (part[0] for part in worlds(5, 1, height, width, seed=4))
    changed = np.broadcast_to(item, (height * width, height, width)).copy()
    changed.reshape(height * width, -1)[np.diag_indices(height * width)] += 1
    repeat = [np.broadcast_to(x, (height * width, *x.shape)) for x in (colour, position, heading)]
    before = np.asarray(look(window, item[None], colour[None], position[None], heading[None]))
    differs = (np.asarray(look(window, changed, *repeat)) != before).any(axis=(2, 3, 4))
    for number, cell in enumerate(slow_grid.cells_of(height, width)):
        sees = [cell in window_cells(window, p, h) for p, h in zip(position, heading, strict=True)]
        assert differs[number].tolist() == sees
    assert 0 < differs.sum() < differs.size


def window_cells(window, position, heading):
    """The cells that an agent sees, by the slow rules."""
    (row, column), (down, across) = position, slow_grid.AHEAD[int(heading)]
    return {
        (row + forwards * down - sidewards * across, column + forwards * across + sidewards * down)
        for forwards in range(-window.behind, window.ahead + 1)
        for sidewards in range(-window.side, window.side + 1)
    }
