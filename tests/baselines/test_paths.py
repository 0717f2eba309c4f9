"""Shortest walks against plain breadth-first search, and how ties are broken."""

from collections import deque

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from baselines.paths import UNREACHABLE, reachable, towards
from osj_envs.grid.codes import Action

MOVES = {Action.NORTH: (-1, 0), Action.SOUTH: (1, 0), Action.EAST: (0, 1), Action.WEST: (0, -1)}
SHAPES = [(1, 1), (1, 9), (8, 1), (5, 7), (12, 16), (4, 32)]


def slow_distances(start, free):
    """Steps from a cell to every other over free cells, itself being walkable; -1 without a way."""
    distance = np.full(free.shape, -1)
    distance[start] = 0
    queue = deque([start])
    while queue:
        row, column = queue.popleft()
        for down, right in MOVES.values():
            cell = (row + down, column + right)
            inside = 0 <= cell[0] < free.shape[0] and 0 <= cell[1] < free.shape[1]
            if inside and free[cell] and distance[cell] < 0:
                distance[cell] = distance[row, column] + 1
                queue.append(cell)
    return distance


def cases(shape, count=120, seed=0):
    rng = np.random.default_rng(seed)
    density = rng.uniform(0.3, 1.0, (count, 1, 1))
    free = rng.random((count, *shape)) < density
    goals = rng.random((count, *shape)) < rng.choice([0.0, 0.02, 0.2], (count, 1, 1))
    position = np.stack([rng.integers(size, size=count) for size in shape], axis=-1)
    return position.astype(np.int32), goals, free, rng.integers(2**32, size=count, dtype=np.uint32)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_way_is_a_shortest_one(shape):
    position, goals, free, luck = cases(shape)
    route = jax.tree.map(np.asarray, jax.jit(jax.vmap(towards))(position, goals, free, luck))
    assert route.action.dtype == route.distance.dtype == np.int32
    for case, here in enumerate(map(tuple, position.tolist())):
        steps = slow_distances(here, free[case])
        ends = steps[goals[case] & (steps >= 0)]
        assert route.is_reachable[case] == (ends.size > 0)
        nearest = int(ends.min()) if ends.size else UNREACHABLE
        assert route.distance[case] == nearest
        if nearest in (0, UNREACHABLE):
            assert route.action[case] == Action.STAY
            continue
        down, right = MOVES[Action(int(route.action[case]))]
        after = (here[0] + down, here[1] + right)
        assert free[case][after]
        rest = slow_distances(after, free[case])
        assert rest[goals[case] & (rest >= 0)].min() == nearest - 1


@pytest.mark.parametrize("shape", SHAPES)
def test_what_can_be_reached(shape):
    position, _, free, _ = cases(shape, count=40, seed=1)
    reached = np.asarray(jax.jit(jax.vmap(reachable))(position, free))
    for case, here in enumerate(map(tuple, position.tolist())):
        np.testing.assert_array_equal(reached[case], slow_distances(here, free[case]) >= 0)


def test_equally_good_moves_are_equally_likely():
    """A goal to the south-east, then one on every side."""
    luck = jax.random.bits(jax.random.key(0), (8000,))
    walk = jax.jit(jax.vmap(towards, in_axes=(None, None, None, 0)))
    middle, free = jnp.array([2, 2]), jnp.ones((5, 5), bool)
    for cells, moves in (([(4, 4)], 2), ([(0, 2), (4, 2), (2, 0), (2, 4)], 4)):
        goals = jnp.zeros((5, 5), bool).at[tuple(np.transpose(cells))].set(True)
        taken = np.bincount(np.asarray(walk(middle, goals, free, luck).action), minlength=4)
        taken = taken[taken > 0]
        assert len(taken) == moves
        # the byte that decides favours the first of equal ones by less than one part in a hundred
        assert stats.chisquare(taken).pvalue > 1e-6
        assert taken.max() / taken.sum() < 1.1 / moves


def test_without_luck_the_first_move_is_taken():
    goals = jnp.zeros((5, 5), bool).at[4, 4].set(True)
    route = towards(jnp.array([2, 2]), goals, jnp.ones((5, 5), bool))
    assert route.action == Action.SOUTH
    assert route.distance == 4


def test_a_goal_under_an_obstacle_counts_only_where_one_stands_on_it():
    goals = jnp.zeros((1, 3), bool).at[0, 2].set(True)
    blocked = jnp.array([[True, True, False]])
    assert not towards(jnp.array([0, 0]), goals, blocked).is_reachable
    there = towards(jnp.array([0, 2]), goals, blocked)
    assert there.distance == 0
    assert there.action == Action.STAY


def test_too_wide_a_board_is_refused():
    wide = jnp.ones((2, 33), bool)
    with pytest.raises(ValueError, match="33 columns wide; at most 32"):
        towards(jnp.array([0, 0]), wide, wide)
