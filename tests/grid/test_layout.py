import numpy as np
import pytest
import scipy.stats

from osj_envs.grid.layout import (
    grow,
    is_connected,
    manhattan_to,
    neighbours_along,
    neighbours_in,
    pick,
    same_kind_share,
    sample_cells,
    walk,
)


def mask(*rows):
    return np.array([[cell == "#" for cell in row] for row in rows])


def test_distances_are_counted_in_steps():
    steps = manhattan_to(mask("#....", ".....", "....#"))
    np.testing.assert_array_equal(steps, [[0, 1, 2, 3, 2], [1, 2, 3, 2, 1], [2, 3, 2, 1, 0]])
    np.testing.assert_array_equal(manhattan_to(mask("..", "..", "..")), np.full((3, 2), 5))


def test_neighbours_end_at_the_edge():
    piece = mask("##.", ".#.")
    along_column, along_row = neighbours_along(piece)
    np.testing.assert_array_equal(along_column, [[0, 1, 0], [1, 1, 0]])
    np.testing.assert_array_equal(along_row, [[1, 1, 1], [1, 0, 1]])
    np.testing.assert_array_equal(neighbours_in(piece), along_column + along_row)
    assert same_kind_share(piece) == pytest.approx((1 + 2 + 1) / 3 / 4)
    assert np.isnan(same_kind_share(mask("..")))


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        (mask("##.", ".##"), True),
        (mask("#..", ".##"), False),
        (mask("#.#", "#.#", "###"), True),
        (mask("..", ".."), False),
    ],
)
def test_connected_means_by_edges(piece, expected):
    assert is_connected(piece) is expected


def test_picks_follow_the_weights():
    rng = np.random.default_rng(0)
    weights = np.array([[0.0, 1.0], [3.0, 0.0]])
    counts = np.bincount([pick(rng, weights) for _ in range(4000)], minlength=4)
    assert counts[0] == counts[3] == 0
    assert scipy.stats.binomtest(int(counts[1]), 4000, 0.25).pvalue > 1e-3
    assert pick(rng, np.zeros(3)) is None


def test_samples_are_uniform_and_without_repeats():
    rng = np.random.default_rng(1)
    allowed = mask("##.#", "#.##")
    samples = np.stack([sample_cells(rng, allowed, 3) for _ in range(3000)])
    assert np.all(samples.sum(axis=(1, 2)) == 3)
    counts = samples.sum(axis=0)
    assert not counts[~allowed].any()
    assert np.all(np.abs(counts[allowed] - 1500) < 150)
    assert sample_cells(rng, allowed, 7) is None


def test_pieces_grow_connected_within_bounds():
    rng = np.random.default_rng(2)
    allowed = np.ones((9, 11), bool)
    allowed[:, 5] = False
    for _ in range(50):
        piece = grow(rng, allowed, size=13, axis=1, bias=2.0, compactness=2.0)
        assert piece.sum() == 13
        assert is_connected(piece)
        assert not piece[~allowed].any()
    assert grow(rng, allowed, size=46, axis=1, bias=2.0, compactness=2.0) is None


def test_bias_stretches_a_piece_along_its_axis():
    rng = np.random.default_rng(3)
    extents = {axis: [] for axis in (0, 1)}
    for axis in (0, 1):
        for _ in range(30):
            piece = grow(rng, np.ones((31, 31), bool), 20, axis, bias=8.0, compactness=2.0)
            rows, columns = np.nonzero(piece)
            extents[axis].append((np.ptp(rows), np.ptp(columns)))
    tall, wide = np.mean(extents[0], axis=0), np.mean(extents[1], axis=0)
    assert tall[0] > 1.5 * tall[1]
    assert wide[1] > 1.5 * wide[0]


def test_walks_take_free_cells_and_stop_where_stuck():
    rng = np.random.default_rng(4)

    def is_free(cell, path):
        return cell not in path and 0 <= cell[0] < 5 and cell[1] == 2

    def weigh(heading, way):
        return 1.0

    assert walk(rng, (0, 2), None, 4, weigh, is_free) == [(row, 2) for row in range(5)]
    assert walk(rng, (0, 2), None, 2, weigh, is_free, stride=2) == [(0, 2), (2, 2), (4, 2)]
    assert walk(rng, (0, 2), None, 5, weigh, is_free) is None


def test_walks_weigh_the_ways():
    rng = np.random.default_rng(5)
    path = walk(rng, (0, 0), 1, 10, lambda heading, way: float(way == heading), lambda *_: True)
    assert path == [(0, column) for column in range(11)]
