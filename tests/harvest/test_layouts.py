"""Every shipped layout against every rule, measured here again in plain NumPy."""

import itertools

import numpy as np
import pytest
import scipy.stats

from osj_envs.harvest import generate_layouts
from osj_envs.harvest.constants import PAPER, HarvestConfig
from osj_envs.harvest.generate_layouts import POOL_FILE, generate
from osj_envs.harvest.layouts import load_pool

HEIGHT, WIDTH = 16, 22
DIAMOND = "..*.. .***. ***** .***. ..*.."
QUARTERS = ("*** **. *..", "*** .** ..*", "..* .** ***", "*.. **. ***")
SMALL_GAMES = {
    "primes": {"height": 13, "width": 17, "diamonds": 2, "quarters": 1, "spawn_cells": 11},
    "quarters": {"height": 11, "width": 9, "diamonds": 0, "quarters": 2, "spawn_cells": 3},
    "diamonds": {"height": 19, "width": 12, "diamonds": 3, "quarters": 0, "spawn_cells": 12},
}


@pytest.fixture(scope="module")
def pool():
    return load_pool(PAPER, "all")


@pytest.fixture(scope="module")
def trees(pool):
    """The trees' (row, column)."""
    return cells_of(pool.trees, WIDTH)


@pytest.fixture(scope="module")
def spawns(pool):
    return cells_of(pool.spawns, WIDTH)


def cells_of(flat, width):
    return np.stack(np.divmod(flat.astype(int), width), axis=-1)


def chebyshev(one, other):
    """Distances (layouts, cells of one, cells of other)."""
    return np.abs(one[:, :, None] - other[:, None]).max(axis=-1)


def patches(trees, config):
    """The cells of each patch, diamonds first."""
    ends = np.cumsum([13] * config.diamonds + [6] * config.quarters)
    return np.split(trees, ends[:-1], axis=1)


def outline(patch):
    """The drawing of one patch within its own bounds."""
    rows, columns = (patch - patch.min(axis=0)).T
    board = np.full((rows.max() + 1, columns.max() + 1), ".")
    board[rows, columns] = "*"
    return " ".join("".join(row) for row in board)


def assert_keeps_the_rules(layouts, config):
    trees, spawns = (cells_of(flat, config.width) for flat in (layouts.trees, layouts.spawns))
    shapes = patches(trees, config)
    for number, patch in enumerate(shapes):
        allowed = (DIAMOND,) if number < config.diamonds else QUARTERS
        assert {outline(each) for each in patch} <= set(allowed)
    for one, other in itertools.combinations(shapes, 2):
        assert chebyshev(one, other).min() >= 3
    assert chebyshev(trees, spawns).min() >= 4
    # On the map, and one straight run in one row.
    assert layouts.trees.max() < config.cells
    assert layouts.spawns.shape[1] == config.spawn_cells
    assert np.all(spawns[:, :, 0] == spawns[:, :1, 0])
    assert np.all(np.diff(layouts.spawns.astype(int), axis=1) == 1)
    # The static table of neighbours holds on the cells themselves.
    steps = np.abs(trees[:, :, None] - trees[:, None]).sum(axis=-1)
    near = (steps <= 2) & (steps > 0)
    assert np.all(near == config.neighbours)


def test_there_are_enough_layouts(pool):
    for split, count in [("train", 1024), ("held_out", 256), ("all", 1280)]:
        layouts = load_pool(PAPER, split)
        assert layouts.trees.shape == (count, 64)
        assert layouts.spawns.shape == (count, 20)
        assert layouts.trees.dtype == layouts.spawns.dtype == np.uint16
    for name in ("trees", "spawns"):
        halves = [getattr(load_pool(PAPER, split), name) for split in ("train", "held_out")]
        np.testing.assert_array_equal(np.concatenate(halves), getattr(pool, name))


def test_no_map_occurs_twice_whatever_the_order_of_its_patches(pool):
    assert len(np.unique(np.sort(pool.trees, axis=1), axis=0)) == 1280


def test_every_layout_keeps_the_rules(pool):
    assert_keeps_the_rules(pool, PAPER)


def test_the_gaps_are_no_wider_than_they_must_be(trees, spawns):
    pairs = itertools.combinations(patches(trees, PAPER), 2)
    assert min(chebyshev(one, other).min() for one, other in pairs) == 3
    assert chebyshev(trees, spawns).min() == 4


def test_patches_of_a_shape_are_sorted(trees):
    corners = np.stack([patch.min(axis=1) for patch in patches(trees, PAPER)[:4]], axis=1)
    assert np.all(np.diff(corners @ [WIDTH, 1], axis=1) > 0)


def test_patches_lie_all_over_the_map(pool, trees):
    assert len(np.unique(pool.trees)) == HEIGHT * WIDTH
    middles = np.stack([patch[:, 6] for patch in patches(trees, PAPER)[:4]], axis=1)
    assert len(np.unique(middles.reshape(-1, 2), axis=0)) > 200
    assert len(np.unique(middles.reshape(1280, -1), axis=0)) > 1250


def test_quarters_are_turned_every_way_equally_often(trees):
    quarters = np.concatenate(patches(trees, PAPER)[4:])
    ways = [QUARTERS.index(outline(patch)) for patch in quarters]
    assert scipy.stats.chisquare(np.bincount(ways, minlength=4)).pvalue > 1e-3


def test_spawn_cells_lie_north_and_south_alike_and_not_on_the_edge_alone(spawns):
    row, column = spawns[:, 0].T
    assert scipy.stats.binomtest(int(np.sum(row < 8)), 1280).pvalue > 1e-3
    assert scipy.stats.chisquare(np.bincount(column, minlength=3)).pvalue > 1e-3
    is_inside = (row > 0) & (row < HEIGHT - 1)
    assert 40 < is_inside.sum() < 140
    assert {1, 2, 14} <= set(row)


def places_of(drawings, config):
    """All cells that a patch may take."""
    for drawing in drawings:
        shape = np.argwhere(np.array([list(row) for row in drawing.split()]) == "*")
        for corner in np.ndindex(*([config.height, config.width] - shape.max(axis=0))):
            yield shape + corner


def every_map(config):
    """Every map with one diamond and two quarters that keeps the rules, as a set of trees."""
    diamonds, quarters = list(places_of([DIAMOND], config)), list(places_of(QUARTERS, config))
    for row, start in np.ndindex(config.height, config.width - config.spawn_cells + 1):
        run = np.array([(row, start + step) for step in range(config.spawn_cells)])
        clear = [[p for p in each if are_apart(p, run, 4)] for each in (diamonds, quarters)]
        for diamond in clear[0]:
            beside = [quarter for quarter in clear[1] if are_apart(diamond, quarter, 3)]
            for one, other in itertools.combinations(beside, 2):
                if are_apart(one, other, 3):
                    yield frozenset(map(tuple, [*diamond, *one, *other])), (row, start)


def are_apart(one, other, least):
    return chebyshev(one[None], other[None]).min() >= least


def test_maps_are_drawn_uniformly(monkeypatch):
    monkeypatch.setattr(generate_layouts, "_BATCH", 1024)
    config = HarvestConfig(height=13, width=9, diamonds=1, quarters=2, spawn_cells=9)
    maps = {each: number for number, each in enumerate(every_map(config))}
    assert len(maps) == 220
    drawn = []
    for index in range(8 * len(maps)):
        layout = cells_of(generate(1, index, config), config.width)
        drawn.append(maps[frozenset(map(tuple, layout[:25])), tuple(layout[25])])
    assert scipy.stats.chisquare(np.bincount(drawn, minlength=len(maps))).pvalue > 1e-3


def test_a_single_patch_takes_every_place_equally_often(monkeypatch):
    monkeypatch.setattr(generate_layouts, "_BATCH", 1)
    config = HarvestConfig(height=9, width=6, diamonds=0, quarters=1, spawn_cells=5)
    drawn = [generate(1, index, config) for index in range(10_000)]
    counts = np.unique(np.stack(drawn), axis=0, return_counts=True)[1]
    # Four turns and columns; beside a run (one of two) in row 0 to 8 there are 3 2 1 0 0 0 1 2 3
    # rows for it.
    assert len(counts) == 4 * 4 * 2 * 12
    assert scipy.stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("game", SMALL_GAMES.values(), ids=SMALL_GAMES)
def test_other_maps_get_their_own_layouts(game):
    config = HarvestConfig(**game)
    layouts = load_pool(config, "all")
    assert layouts.trees.shape == (80, config.trees)
    assert_keeps_the_rules(layouts, config)
    assert load_pool(config, "train").trees.shape == (64, config.trees)
    assert load_pool(config, "held_out").spawns.shape == (16, config.spawn_cells)


def test_pools_do_not_depend_on_what_is_no_map():
    other = HarvestConfig(colours=2, pays=(3.0, 2.0, 1.0), rot_delay=(1, 1))
    assert load_pool(other, "train") is load_pool(PAPER, "train")


def test_pools_cannot_be_written_to():
    for cells in (load_pool(PAPER, "train").trees, load_pool(PAPER, "held_out").spawns):
        with pytest.raises(ValueError, match="read-only"):
            cells[0] = 0


def test_unknown_split_is_refused():
    with pytest.raises(ValueError, match="nearest of these is 'held_out'"):
        load_pool(PAPER, "held-out")


@pytest.mark.parametrize(
    "crowded",
    [
        {"height": 7, "width": 9, "diamonds": 1, "quarters": 0, "spawn_cells": 9},
        {"height": 4, "width": 30, "diamonds": 1, "quarters": 1, "spawn_cells": 2},
        {"height": 10, "width": 9, "diamonds": 2, "quarters": 0, "spawn_cells": 9},
    ],
)
def test_crowded_maps_are_refused(crowded, monkeypatch):
    monkeypatch.setattr(generate_layouts, "_MAX_BATCHES", 3)
    size = f"{crowded['height']} x {crowded['width']}"
    with pytest.raises(ValueError, match=f"no {size} layout found; make the map larger"):
        load_pool(HarvestConfig(**crowded), "train")


def test_maps_with_few_layouts_are_refused():
    config = HarvestConfig(height=9, width=5, diamonds=1, quarters=0, spawn_cells=5)
    with pytest.raises(ValueError, match="only 2 layouts of 9 x 5 were found; make the map larger"):
        load_pool(config, "train")


def test_the_shipped_file_is_small():
    assert POOL_FILE.stat().st_size < 100_000
