"""Simultaneous movement, exhaustively: every placement and joint action of tiny rooms.

The fast code takes who wins as an input, so the comparison with the slow rules is exact for every
order of priority.
"""

import functools
import itertools

import jax
import numpy as np
import pytest

from osj_envs.grid.codes import Action
from osj_envs.grid.movement import Agents, move, place_agents, resolve_moves, turn
from osj_envs.random_words import draw_words
from osj_envs.testing import slow_grid
from osj_envs.testing.chance import check_rate, check_uniform

MOVES = np.array([Action.NORTH, Action.SOUTH, Action.EAST, Action.WEST, Action.STAY], np.int32)
NUMBER_OF_HEADINGS = 4


def every(*axes):
    """The product of arrays of cases, each with its own index: one row a case."""
    grid = np.meshgrid(*(np.arange(len(axis)) for axis in axes), indexing="ij")
    return [axis[index.reshape(-1)] for axis, index in zip(axes, grid, strict=True)]


def joint(choices, agents):
    return np.array(list(itertools.product(choices, repeat=agents)))


def orders(agents):
    """Every order of priority, as priorities: the highest wins."""
    return np.array(list(itertools.permutations(range(agents))), np.uint32)


def first_to_last(priority):
    return np.argsort(priority)[::-1]


@functools.partial(jax.jit, static_argnames=("height", "width"))
def move_all(position, heading, actions, priority, height, width):
    moved, blocked = jax.vmap(
        lambda p, h, a, r: move(Agents(position=p, heading=h), a, r, height, width)
    )(position, heading, actions, priority)
    return moved.position, moved.heading, blocked


def slow_cells(cells, actions, priorities, height, width):
    """Where everyone ends, by the slow rules, for each order of priority."""
    places = [divmod(int(cell), width) for cell in cells]
    wanted = [
        row * width + column
        for place, action in zip(places, actions, strict=True)
        for row, column in [slow_grid.wanted_cell(place, int(action), height, width)]
    ]

    @functools.cache
    def ends(wins):
        moves = slow_grid.who_moves(cells, wanted, wins)
        return [w if m else c for c, w, m in zip(cells, wanted, moves, strict=True)]

    return [ends(slow_grid.winners(cells, wanted, first_to_last(p))) for p in priorities]


def play_room(height, width, agents):
    """All cases of a room: (start, wanted actions, end) as flat cells, and who was blocked."""
    room = range(height * width)
    # Placements up to order: relabelling has a test of its own.
    placements = np.array(list(itertools.combinations(room, agents)), np.int32)
    actions, priorities = joint(MOVES, agents).astype(np.int32), orders(agents)
    start, acted, priority = every(placements, actions, priorities)
    position = np.stack(np.divmod(start, width), axis=-1)
    end, _, blocked = move_all(position, np.zeros_like(start), acted, priority, height, width)
    end = np.asarray(end)
    expected = [
        cells
        for placement in placements
        for act in actions
        for cells in slow_cells(tuple(placement), act, priorities, height, width)
    ]
    return position, acted, end, np.asarray(blocked), np.array(expected)


ROOMS = [(3, 3, 2), (3, 3, 3), (1, 4, 2), (1, 4, 3), (1, 4, 4), (2, 2, 4), (2, 3, 4)]


@pytest.mark.parametrize(
    ("height", "width", "agents"), [*ROOMS, pytest.param(3, 3, 4, marks=pytest.mark.slow)]
)
def test_every_case_of_a_room_is_as_by_the_slow_rules(height, width, agents):
    position, acted, end, blocked, expected = play_room(height, width, agents)
    cells = end[..., 0] * width + end[..., 1]
    np.testing.assert_array_equal(cells, expected)

    steps = np.abs(end - position).sum(-1)
    assert steps.max() <= 1, "nobody moves more than one cell"
    assert (np.sort(cells, axis=1)[:, 1:] != np.sort(cells, axis=1)[:, :-1]).all(), "no two on one"
    assert ((end >= 0) & (end < (height, width))).all()
    wanted_to_move = np.isin(acted, MOVES[:4])
    np.testing.assert_array_equal(blocked, wanted_to_move & (steps == 0))

    start = position[..., 0] * width + position[..., 1]
    swapped = (cells[:, :, None] == start[:, None, :]) & (start[:, :, None] == cells[:, None, :])
    swapped &= (start[:, :, None] != start[:, None, :]) & (steps > 0)[:, :, None]
    assert not swapped.any(), "nobody walks through anybody"


@jax.jit
def resolve_all(cells, wanted, priority):
    return jax.vmap(resolve_moves)(cells, wanted, priority)


@pytest.mark.parametrize("agents", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_any_wish_for_any_cell_is_as_by_the_slow_rules(agents):
    """Also wishes that no grid allows, such as cycles of three."""
    cells = np.arange(agents)
    wanted, priority = every(joint(range(agents + 2), agents), orders(agents))
    moves = resolve_all(np.broadcast_to(cells, wanted.shape), wanted, priority)
    who_moves = functools.cache(slow_grid.who_moves)
    for wish, rank, does in zip(wanted, priority, np.asarray(moves), strict=True):
        wins = slow_grid.winners(cells, wish, first_to_last(rank))
        assert who_moves(tuple(cells), tuple(wish), wins) == does.tolist(), (wish, rank)


def test_nothing_depends_on_an_agents_index():
    wanted, priority = every(joint(range(6), 4), orders(4)[::5])
    cells = np.broadcast_to(np.arange(4), wanted.shape)
    moves = np.asarray(resolve_all(cells, wanted, priority))
    for seats in itertools.permutations(range(4)):
        moved = resolve_all(cells[:, seats], wanted[:, seats], priority[:, seats])
        np.testing.assert_array_equal(moved, moves[:, seats])


@pytest.mark.parametrize(
    ("cells", "wanted", "expected"),
    [
        ([0, 1, 2], [1, 2, 3], [True, True, True]),  # a chain follows its leader
        ([0, 1, 2], [1, 2, 2], [False, False, False]),  # which stays
        ([0, 1, 2], [1, 2, 0], [True, True, True]),  # a cycle of three
        ([0, 1, 2, 3], [1, 2, 3, 0], [True, True, True, True]),  # and of four
        ([0, 1], [1, 0], [False, False]),  # no swap
        ([0, 1, 2], [1, 0, 0], [False, False, False]),  # nor behind one
        ([0, 1, 2, 3], [1, 0, 3, 2], [False, False, False, False]),
        ([0, 5], [9, 9], [False, True]),  # the greater priority wins
        ([0, 1, 5, 6], [9, 0, 9, 5], [False, False, True, True]),  # who queues behind loses too
    ],
)
def test_cases_told_by_hand(cells, wanted, expected):
    priority = np.arange(len(cells), dtype=np.uint32)
    cases = (np.array([case]) for case in (cells, wanted, priority))
    assert resolve_all(*cases)[0].tolist() == expected


def test_every_heading_and_action_of_two_agents():
    """Turns turn, moves do not, and neither heading changes where anyone goes."""
    height, width = 2, 3
    placements = np.array(list(itertools.permutations(range(6), 2)), np.int32)
    headings, actions = joint(range(4), 2), joint(range(-1, 10), 2)
    start, heading, acted = every(placements, headings, actions)
    priority = np.broadcast_to(np.array([1, 2], np.uint32), start.shape)
    position = np.stack(np.divmod(start, width), axis=-1)
    end, facing, _ = move_all(position, heading, acted, priority, height, width)

    turned = [[slow_grid.turned(h, a) for a in range(-1, 10)] for h in range(NUMBER_OF_HEADINGS)]
    np.testing.assert_array_equal(facing, np.array(turned)[heading, acted + 1])
    cells = np.asarray(end[..., 0] * width + end[..., 1])
    expected = {
        (tuple(place), tuple(act)): slow_cells(tuple(place), act, [(1, 2)], height, width)[0]
        for place in placements.tolist()
        for act in actions.tolist()
    }
    wanted = [
        expected[tuple(p), tuple(a)] for p, a in zip(start.tolist(), acted.tolist(), strict=True)
    ]
    np.testing.assert_array_equal(cells, wanted)


def test_turning_four_times_comes_back():
    heading = np.arange(4)
    for action in (Action.TURN_LEFT, Action.TURN_RIGHT):
        facing, seen = heading, []
        for _ in range(4):
            facing = turn(facing, np.full(4, action))
            seen.append(np.asarray(facing))
        np.testing.assert_array_equal(facing, heading)
        assert len(np.unique(np.stack(seen)[:, 0])) == 4


@functools.partial(jax.jit, static_argnames="count")
def place_many(keys, allowed, fallback, count):
    def place(key):
        return place_agents(allowed, fallback, *draw_words(key, allowed.shape, (count,), (count,)))

    return jax.vmap(place)(keys)


PLACES = 8000


@pytest.mark.parametrize("agents", [1, 3, 7])
def test_agents_start_on_distinct_allowed_cells_uniformly_with_all_four_headings(agents):
    rng = np.random.default_rng(agents)
    kinds = rng.permutation([1] * 7 + [2] * 5 + [0] * 23).reshape(5, 7)
    placed = place_many(jax.random.split(jax.random.key(1), PLACES), kinds == 1, kinds == 2, agents)
    cells = np.asarray(placed.position[..., 0] * 7 + placed.position[..., 1])
    assert all(len(set(row)) == agents for row in cells.tolist())
    assert set(np.unique(cells)) == set(np.flatnonzero(kinds == 1))
    for agent in range(agents):
        check_uniform(np.bincount(cells[:, agent], minlength=35)[(kinds == 1).reshape(-1)])
        check_uniform(np.bincount(np.asarray(placed.heading)[:, agent], minlength=4))
    joint_headings = np.asarray(placed.heading)[:, :2] @ np.array([4, 1])[:agents][:2]
    if agents > 1:
        check_uniform(np.bincount(joint_headings, minlength=16))


def test_further_agents_start_on_the_fallback_whatever_their_index():
    kinds = np.random.default_rng(0).permutation([1] * 3 + [2] * 11 + [0] * 21).reshape(5, 7)
    keys = jax.random.split(jax.random.key(2), PLACES)
    position = np.asarray(place_many(keys, kinds == 1, kinds == 2, 8).position)
    on = kinds[position[..., 0], position[..., 1]]
    assert ((on == 1).sum(axis=1) == 3).all(), "the allowed cells fill first"
    assert ((on == 2).sum(axis=1) == 5).all()
    for agent in range(8):
        check_rate(int((on[:, agent] == 1).sum()), PLACES, 3 / 8)
    taken = position[on == 2]
    check_uniform(np.bincount(taken[:, 0] * 7 + taken[:, 1], minlength=35)[(kinds == 2).ravel()])
