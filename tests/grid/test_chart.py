"""Views laid back on the map, against the boards that they were taken of."""

import jax
import numpy as np
import pytest

from osj_envs.grid.chart import chart
from osj_envs.grid.codes import Plane
from osj_envs.grid.movement import Agents
from osj_envs.grid.view import Window, egocentric_views
from osj_envs.testing import slow_grid

HEIGHT, WIDTH = 5, 7
WINDOWS = [Window(), Window(ahead=3, behind=1, side=1), Window(ahead=0, behind=2, side=3)]


def boards(seed=0):
    """Every cell and heading of the first of two agents, each on a board of its own."""
    rng = np.random.default_rng(seed)
    count = HEIGHT * WIDTH * 4
    item = rng.integers(1, 17, (count, HEIGHT, WIDTH)).astype(np.uint8)
    colour = rng.integers(0, 6, (count, HEIGHT, WIDTH)).astype(np.uint8)
    first = np.arange(count) // 4
    second = (first + rng.integers(1, HEIGHT * WIDTH, count)) % (HEIGHT * WIDTH)
    cells = np.stack([first, second], axis=1)
    heading = np.stack([np.arange(count) % 4, rng.integers(0, 4, count)], axis=1)
    position = np.stack(np.divmod(cells, WIDTH), axis=-1)
    return item, colour, position.astype(np.int32), heading.astype(np.int32)


@pytest.mark.parametrize("window", WINDOWS)
def test_a_charted_view_is_the_board_where_it_is_seen_and_nothing_elsewhere(window):
    def look(item, colour, position, heading):
        agents = Agents(position=position, heading=heading)
        view = egocentric_views(window, item, colour, agents)[0]
        return chart(window, (HEIGHT, WIDTH), view, heading[0], position[0])

    item, colour, position, heading = boards()
    charted, seen = map(np.asarray, jax.jit(jax.vmap(look))(item, colour, position, heading))
    assert charted.dtype == np.uint8
    assert (charted[~seen] == 0).all()
    np.testing.assert_array_equal(charted[..., Plane.ITEM], np.where(seen, item, 0))
    np.testing.assert_array_equal(charted[..., Plane.COLOUR], np.where(seen, colour, 0))
    for case in range(len(item)):
        np.testing.assert_array_equal(seen[case], slow_sight(window, position[case], heading[case]))
        others = np.zeros((HEIGHT, WIDTH), int)
        for number, (row, column) in enumerate(position[case], start=1):
            others[row, column] = number * seen[case, row, column]
        np.testing.assert_array_equal(charted[case, ..., Plane.AGENT], others)


def slow_sight(window, position, heading):
    """Which cells the first agent sees, by the slow rules."""
    cells = list(slow_grid.cells_of(HEIGHT, WIDTH))
    numbered = {cell: (1 + number, 0) for number, cell in enumerate(cells)}
    agents = [(tuple(position[0].tolist()), int(heading[0]))]
    reach = (window.ahead, window.behind, window.side)
    view = np.asarray(slow_grid.view(0, agents, numbered, *reach))
    shown = set(view[..., Plane.ITEM].ravel().tolist())
    return np.array([1 + number in shown for number in range(len(cells))]).reshape(HEIGHT, WIDTH)
