"""Codes of what lies on a cell, shared by both grid worlds, and the planes of a view."""

import enum


class Item(enum.IntEnum):
    """What is on a cell, also under an agent.

    Waste is coded by shade (`WASTE + shade`), a station by the base tool that it gives
    (`STATION + tool`, open-ended), an apple by stage (`APPLE + stage`). OpenCleanup has a single
    kind of apple, which is coded ripe.
    """

    WALL = 0
    GROUND = 1
    SPAWN = 2
    ORCHARD = 3
    APPLE = 4
    RIPE_APPLE = 5
    OVERRIPE_APPLE = 6
    EMPTY_TREE = 7
    WATER = 8
    WASTE = 9
    STATION = 12


MAX_SHADES = 3
"""Shades of waste that fit between `Item.WASTE` and `Item.STATION`."""


class Plane(enum.IntEnum):
    """The last axis of a view.

    `ITEM` holds `Item` codes; `COLOUR` 0 for none, else 1 + colour; `AGENT` 0 for none, 1 for the
    viewer itself, 1 + k for the agent k places after it in seat order (cyclic); `HEADING` 0 where
    there is no agent, else 1 + quarter turns clockwise from the viewer's heading to that agent's.
    """

    ITEM = 0
    COLOUR = 1
    AGENT = 2
    HEADING = 3


class Action(enum.IntEnum):
    """Actions of the grid worlds, in the same order everywhere.

    Moves are compass moves that do not turn the agent. `BEAM` fires the tool in OpenCleanup and
    zaps in OpenHarvest; `PICK_UP` exists in OpenCleanup only.
    """

    NORTH = 0
    SOUTH = 1
    EAST = 2
    WEST = 3
    TURN_LEFT = 4
    TURN_RIGHT = 5
    BEAM = 6
    STAY = 7
    PICK_UP = 8


class Heading(enum.IntEnum):
    """Where an agent faces, clockwise."""

    NORTH = 0
    EAST = 1
    SOUTH = 2
    WEST = 3
