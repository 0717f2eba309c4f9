"""Games in which no two sizes are equal, so that no axis can be taken for another."""

from typing import Any

from osj_envs.grid.view import Window

NUM_ENVS = 29

SIZES: dict[str, Any] = {
    "height": 5,
    "width": 8,
    "hues": 4,
    "shades": 3,
    "base_tools": 4,
    "river_cells": 7,
    "initial_clean_cells": 1,
    "stream_cells": 0,
    "orchard_cells": 6,
    "stations": 8,
    "spawn_cells": 2,
    "window": Window(ahead=9, behind=3, side=5),
    "num_trials": 2,
    "trial_length": 17,
}
"""Options of OpenCleanup: every size of an axis is another one."""

MOST_AGENTS = 19
"""As many as the map has room for."""

ORCHARD_SIZES: dict[str, Any] = {
    "height": 12,
    "width": 16,
    "colours": 5,
    "diamonds": 0,
    "quarters": 6,
    "spawn_cells": 15,
    "window": Window(ahead=9, behind=3, side=5),
    "num_trials": 2,
    "trial_length": 17,
}
"""Options of OpenHarvest, likewise; an apple's three stages aside."""

MOST_IN_ORCHARD = 78
"""As many agents as its map has room for."""
