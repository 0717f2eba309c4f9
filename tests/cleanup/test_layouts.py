"""Every shipped layout against every rule, measured here again with SciPy and plain NumPy."""

import numpy as np
import pytest
import scipy.ndimage
import scipy.stats

from osj_envs.cleanup import generate_layouts
from osj_envs.cleanup.acceptance import broken_rules, is_accepted
from osj_envs.cleanup.constants import PAPER, CleanupConfig, Terrain
from osj_envs.cleanup.generate_layouts import (
    POOL_FILE,
    POOL_SEED,
    generate_distinct,
)
from osj_envs.cleanup.layouts import load_pool
from osj_envs.cleanup.maps import CLASSIC, draw, parse

SMALL_GAMES = {
    "square": {
        "height": 9,
        "width": 9,
        "river_cells": 10,
        "initial_clean_cells": 2,
        "stream_cells": 2,
        "orchard_cells": 12,
        "stations": 4,
        "spawn_cells": 3,
    },
    "primes": {"height": 11, "width": 13, "river_cells": 23, "orchard_cells": 31, "stations": 5},
    "no stream": {
        "height": 6,
        "width": 7,
        "river_cells": 5,
        "initial_clean_cells": 0,
        "stream_cells": 0,
        "orchard_cells": 5,
        "base_tools": 2,
        "hues": 2,
        "stations": 2,
        "spawn_cells": 2,
    },
}


@pytest.fixture(scope="module")
def pool():
    return load_pool(PAPER, "all")


@pytest.fixture(scope="module")
def river(pool):
    return (pool == Terrain.RIVER_WASTE) | (pool == Terrain.RIVER_CLEAN)


@pytest.fixture(scope="module")
def orchard(pool):
    return pool == Terrain.ORCHARD


@pytest.fixture(scope="module")
def chains(pool):
    """The stations' (row, column), in the order of their codes."""
    codes = Terrain.STATION + np.arange(8)
    places = np.argmax(pool.reshape(-1, 1, 192) == codes[:, None], axis=2)
    return np.stack(np.divmod(places, 16), axis=2)


@pytest.fixture(scope="module")
def to_river(river):
    return np.stack([taxicab(mask) for mask in river])


@pytest.fixture(scope="module")
def to_orchard(orchard):
    return np.stack([taxicab(mask) for mask in orchard])


def taxicab(mask):
    return scipy.ndimage.distance_transform_cdt(~mask, metric="taxicab")


def pieces(masks):
    return np.array([scipy.ndimage.label(mask)[1] for mask in masks])


def shifted(masks):
    """The four neighbours of every cell; off the map there is nothing."""
    padded = np.pad(masks, ((0, 0), (1, 1), (1, 1)))
    views = (padded[:, :-2, 1:-1], padded[:, 2:, 1:-1], padded[:, 1:-1, :-2], padded[:, 1:-1, 2:])
    return np.stack(views).astype(int)


def mean_over(cells, values):
    return np.sum(values * cells, axis=(1, 2)) / np.sum(cells, axis=(1, 2))


def test_there_are_enough_layouts_and_none_twice(pool):
    assert load_pool(PAPER, "train").shape == (1024, 12, 16)
    assert load_pool(PAPER, "held_out").shape == (256, 12, 16)
    assert pool.dtype == np.uint8
    assert len(np.unique(pool.reshape(len(pool), -1), axis=0)) == 1280


def test_counts_of_cells(pool):
    counts = np.stack([np.bincount(layout.ravel(), minlength=14) for layout in pool])
    np.testing.assert_array_equal(counts, [[92, 7, 48, 26, 6, 5] + [1] * 8] * len(pool))


def test_river_is_one_piece(river):
    assert np.all(pieces(river) == 1)


def test_river_is_two_wide(river):
    opened = np.stack([scipy.ndimage.binary_opening(mask, np.ones((2, 2))) for mask in river])
    np.testing.assert_array_equal(opened, river)


def test_stream_is_a_path_that_leaves_the_river(pool, river):
    stream = pool == Terrain.STREAM
    assert np.all(pieces(stream) == 1)
    # Five cells in one piece with four links, and none with three neighbours: a path.
    assert np.all(np.sum(shifted(stream).sum(0) * stream, axis=(1, 2)) == 8)
    assert np.max(shifted(stream).sum(0) * stream) == 2
    mouths = stream & (shifted(river).sum(0) > 0)
    assert np.all(mouths.sum(axis=(1, 2)) == 1)
    assert np.all((shifted(stream).sum(0) * mouths).sum(axis=(1, 2)) == 1)


def test_orchard_is_one_piece(orchard):
    assert np.all(pieces(orchard) == 1)


def test_orchard_is_at_least_seven_steps_from_the_river(orchard, to_river):
    assert np.min(to_river[orchard]) == 7


def test_stations_form_a_chain_with_one_empty_cell_between(pool, chains):
    leaps = np.diff(chains, axis=1)
    np.testing.assert_array_equal(np.sort(np.abs(leaps), axis=2), np.tile([0, 2], (1280, 7, 1)))
    gaps = chains[:, :-1] + leaps // 2
    assert np.all(pool[np.arange(1280)[:, None], gaps[..., 0], gaps[..., 1]] == Terrain.GROUND)


def test_stations_never_touch(chains):
    leaps = np.abs(chains[:, :, None] - chains[:, None])
    chebyshev = leaps.max(axis=3) + 99 * np.eye(8, dtype=int)
    assert chebyshev.min() == 2
    manhattan = leaps.sum(axis=3) + 99 * np.eye(8, dtype=int)
    assert np.all(manhattan.min(axis=2) == 2)


def test_stations_keep_their_distances(pool, to_river, to_orchard):
    stations = pool >= Terrain.STATION
    assert (to_river[stations].min(), to_river[stations].max()) == (3, 7)
    assert (to_orchard[stations].min(), to_orchard[stations].max()) == (2, 5)


def test_spawns_keep_their_distances(pool, to_river, to_orchard):
    spawns = pool == Terrain.SPAWN
    assert (to_river[spawns].min(), to_river[spawns].max()) == (1, 7)
    assert (to_orchard[spawns].min(), to_orchard[spawns].max()) == (1, 7)


def test_clustering_is_near_the_classic_map(pool, river, orchard):
    water = river | (pool == Terrain.STREAM)
    river_share = mean_over(water, shifted(water).mean(0))
    orchard_share = mean_over(orchard, shifted(orchard).mean(0))
    assert np.all(np.abs(river_share - 25.5 / 37) <= 0.08)
    assert np.all(np.abs(orchard_share - 38.5 / 48) <= 0.08)


def test_distances_are_near_the_classic_map(pool, orchard, to_river, to_orchard):
    stations, spawns = pool >= Terrain.STATION, pool == Terrain.SPAWN
    least = np.where(orchard, to_river, 99).min(axis=(1, 2))
    assert np.all(np.abs(least - 8) <= 1)
    for cells, steps, classic, tolerance in [
        (orchard, to_river, 9, 1.5),
        (stations, to_river, 5, 1),
        (stations, to_orchard, 3, 1),
        (spawns, to_river, 23 / 7, 1.5),
        (spawns, to_orchard, 33 / 7, 1.5),
    ]:
        assert np.all(np.abs(mean_over(cells, steps) - classic) <= tolerance + 1e-9)


def test_the_package_accepts_what_it_ships(pool):
    assert all(is_accepted(layout) for layout in pool[::8])


def test_the_river_lies_along_every_side_equally_often(river):
    places = np.array([np.argwhere(mask).mean(axis=0) for mask in river])
    away = np.abs(places - [5.5, 7.5]) / [5.5, 7.5]
    vertical = away[:, 0] > away[:, 1]
    sides = np.where(vertical, places[:, 0] < 5.5, 2 + (places[:, 1] < 7.5))
    assert scipy.stats.chisquare(np.bincount(sides, minlength=4)).pvalue > 1e-3


def test_layouts_differ_in_every_part(pool, river, orchard):
    def distinct(masks):
        return len(np.unique(masks.reshape(len(masks), -1), axis=0))

    assert distinct(river) > 800
    assert distinct(orchard) > 1000
    assert distinct(pool >= Terrain.STATION) > 750
    assert distinct(pool == Terrain.RIVER_CLEAN) > 1250


def test_drawing_and_parsing_undo_each_other(pool):
    for layout in (CLASSIC, *pool[::100]):
        np.testing.assert_array_equal(parse(draw(layout)), layout)
    assert parse("0a\nz@").tolist() == [[6, 16], [41, 1]]


@pytest.mark.parametrize(("drawing", "message"), [("..\n...", "cells long"), ("?", "marks no")])
def test_bad_drawings_are_refused(drawing, message):
    with pytest.raises(ValueError, match=message):
        parse(drawing)


@pytest.mark.parametrize("game", SMALL_GAMES.values(), ids=SMALL_GAMES)
def test_other_maps_get_their_own_layouts(game):
    config = CleanupConfig(**game)
    train, held_out = load_pool(config, "train"), load_pool(config, "held_out")
    assert train.shape == (64, config.height, config.width)
    assert held_out.shape == (16, config.height, config.width)
    everything = load_pool(config, "all")
    assert len(np.unique(everything.reshape(80, -1), axis=0)) == 80
    assert all(broken_rules(layout, config) == () for layout in everything)
    first = next(generate_distinct(POOL_SEED, config))
    np.testing.assert_array_equal(first, train[0])


def test_pools_do_not_depend_on_what_is_no_map():
    other = CleanupConfig(waste_skew=0.5, hues=3, initial_waste=(0.2, 0.9))
    assert load_pool(other, "train") is load_pool(PAPER, "train")


def test_pools_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        load_pool(PAPER, "train")[0] = 0


def test_unknown_split_is_refused():
    with pytest.raises(ValueError, match="nearest of these is 'held_out'"):
        load_pool(PAPER, "held-out")


def test_crowded_maps_are_refused(monkeypatch):
    monkeypatch.setattr(generate_layouts, "_MAX_ATTEMPTS", 30)
    config = CleanupConfig(height=7, width=8, river_cells=8, orchard_cells=30, spawn_cells=4)
    with pytest.raises(ValueError, match="no acceptable 7 x 8 layout"):
        load_pool(config, "train")


def test_maps_with_few_layouts_are_refused():
    config = CleanupConfig(
        height=2,
        width=3,
        river_cells=1,
        initial_clean_cells=0,
        stream_cells=0,
        orchard_cells=1,
        base_tools=1,
        hues=1,
        shades=1,
        stations=1,
        spawn_cells=1,
    )
    with pytest.raises(ValueError, match="make the map larger"):
        load_pool(config, "train")


def test_the_shipped_file_is_small():
    assert POOL_FILE.stat().st_size < 100_000
