"""Beams: the shape, the map's edges, and every position and heading against the slow rules."""

import functools

import jax
import numpy as np
import pytest

from osj_envs.grid.beam import OFF_MAP, beam_cells
from osj_envs.grid.codes import Heading
from osj_envs.grid.movement import Agents
from osj_envs.testing import slow_grid


@functools.partial(jax.jit, static_argnames=("height", "width"))
def beams(position, heading, height, width):
    return beam_cells(Agents(position=position, heading=heading), height, width)


def everywhere(height, width):
    """One agent for each cell and heading."""
    cells = np.array(list(slow_grid.cells_of(height, width)), np.int32)
    return np.repeat(cells, 4, axis=0), np.tile(np.arange(4, dtype=np.int32), len(cells))


def hit_cells(position, heading, height, width):
    """For each agent the set of cells hit."""
    flat = np.asarray(beams(position, heading, height, width))
    return [{divmod(int(cell), width) for cell in row if cell != OFF_MAP} for row in flat]


@pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 4), (4, 1), (2, 3), (3, 3), (5, 7)])
def test_every_position_and_heading_is_as_by_the_slow_rules(height, width):
    position, heading = everywhere(height, width)
    flat = np.asarray(beams(position, heading, height, width))
    for place, facing, found in zip(position.tolist(), heading.tolist(), flat, strict=True):
        expected = slow_grid.beam(tuple(place), facing, height, width)
        numbers = [OFF_MAP if c is None else c[0] * width + c[1] for c in expected]
        assert found.tolist() == numbers, (place, Heading(facing))


DRAWN = {
    Heading.NORTH: """
        . . x . .
        . x x x .
        . . A . .
        . . . . .
        . . . . .""",
    Heading.EAST: """
        . . . . .
        . . . x .
        . . A x x
        . . . x .
        . . . . .""",
    Heading.SOUTH: """
        . . . . .
        . . . . .
        . . A . .
        . x x x .
        . . x . .""",
    Heading.WEST: """
        . . . . .
        . x . . .
        x x A . .
        . x . . .
        . . . . .""",
}


@pytest.mark.parametrize("heading", Heading)
def test_the_shape_as_drawn(heading):
    rows = [line.split() for line in DRAWN[heading].strip().splitlines()]
    drawn = {(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark == "x"}
    assert hit_cells(np.array([[2, 2]]), np.array([heading]), 5, 5) == [drawn]


def test_no_beam_wraps_or_clamps_at_any_edge():
    """The same agents in the midst of a larger map hit the same cells of the small one."""
    height, width, ring = 3, 5, 2
    position, heading = everywhere(height, width)
    inner = hit_cells(position, heading, height, width)
    outer = hit_cells(position + ring, heading, height + 2 * ring, width + 2 * ring)
    for small, large in zip(inner, outer, strict=True):
        moved = {(row - ring, column - ring) for row, column in large}
        assert len(moved) == 4
        assert small == {cell for cell in moved if slow_grid.is_on_map(cell, height, width)}
    flat = np.asarray(beams(position, heading, height, width))
    assert all(len(set(hit)) == len(hit) for row in flat for hit in [row[row != OFF_MAP].tolist()])


def test_a_quarter_turn_of_map_and_heading_turns_the_beam():
    height, width = 4, 7
    position, heading = everywhere(height, width)
    turned = np.stack([position[:, 1], height - 1 - position[:, 0]], axis=-1)
    before = hit_cells(position, heading, height, width)
    after = hit_cells(turned, (heading + 1) % 4, width, height)
    assert after == [{(column, height - 1 - row) for row, column in hit} for hit in before]
