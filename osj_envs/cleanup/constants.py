"""What OpenCleanup is made of: the kinds of ground of its map, and its static configuration."""

import dataclasses
import enum
import math
from typing import TypeAlias

import numpy as np
from jaxtyping import UInt8

from osj_envs.checks import check_share
from osj_envs.grid.codes import MAX_SHADES

Layout: TypeAlias = UInt8[np.ndarray, "height width"]
"""A map: one `Terrain` code a cell, row 0 at the north edge and column 0 at the west edge."""

MAX_RULE_SETS = 2**31 - 1
"""A rule set's rank is an int32."""


class Terrain(enum.IntEnum):
    """Codes of the cells of a layout.

    A station holds `STATION + i`, where `i` is its place along the chain of stations; it hands
    out base tool `i % base_tools`, so that neighbours in the chain differ.
    """

    GROUND = 0
    SPAWN = 1
    ORCHARD = 2
    RIVER_WASTE = 3
    """River that starts a trial as waste."""
    RIVER_CLEAN = 4
    """River that starts a trial clean."""
    STREAM = 5
    """Water for ever."""
    STATION = 6


@dataclasses.dataclass(frozen=True)
class CleanupConfig:
    """Static, hashable configuration of OpenCleanup; the defaults are the paper's game.

    Sources: the paper for the colours, the tools and the waste; the authors' public
    implementation for the map's counts and the rates; our choice for `initial_waste`.

    Raises:
        ValueError: at construction, in one sentence, where a value is out of its range.
    """

    hues: int = 5
    """Hues of waste; each has one recipe that clears its light shade."""
    shades: int = 3
    """Shades of waste, light first, at most 3; each but the first has a recipe that lightens it."""
    base_tools: int = 4
    """Kinds of base tool; an ordered pair of them, repeats allowed, is a tool."""
    height: int = 12
    """Rows of the map."""
    width: int = 16
    """Columns of the map."""
    river_cells: int = 32
    """River cells, clean ones included."""
    initial_clean_cells: int = 6
    """River cells that start every trial clean; the layout says which."""
    stream_cells: int = 5
    """Cells of the stream, which never gets dirty."""
    orchard_cells: int = 48
    """Cells on which apples grow."""
    stations: int = 8
    """Tool stations, in a chain; station i hands out base tool i % base_tools."""
    spawn_cells: int = 7
    """Cells on which agents start a trial."""
    waste_skew: float = 1.0
    """Chance that a waste cell has the dominant hue; otherwise its colour is uniform."""
    waste_spawn: float = 0.1
    """Chance a step that one clean river cell turns to waste."""
    waste_spawn_start: int = 51
    """Step of a trial, counted from 0, from which on waste spawns."""
    apple_growth: float = 0.05
    """Chance a step that an empty orchard cell grows an apple over a clean river."""
    dirt_threshold: float = 0.4
    """Share of waste in river and stream at which apples stop growing."""
    initial_waste: float | tuple[float, float] = 1.0
    """Share of the layout's waste cells that really are waste as a trial starts.

    A pair (low, high) is a range, from which each trial draws its share uniformly.
    """

    def __post_init__(self) -> None:
        if not isinstance(self.initial_waste, (int, float, str)):
            object.__setattr__(self, "initial_waste", tuple(self.initial_waste))
        self._check_counts()
        self._check_rates()
        self._check_tools()
        self._check_map()

    @property
    def pairs(self) -> int:
        """Ordered pairs of base tools."""
        return self.base_tools**2

    @property
    def effects(self) -> int:
        """Working tools: one to clear each hue's light waste, one to lighten each other shade."""
        return self.hues + self.shades - 1

    @property
    def colours(self) -> int:
        """Colours of waste; a colour's code is hue * shades + shade."""
        return self.hues * self.shades

    @property
    def cells(self) -> int:
        """Cells of the map."""
        return self.height * self.width

    @property
    def initial_waste_cells(self) -> int:
        """River cells that the layout marks as waste at a trial's start."""
        return self.river_cells - self.initial_clean_cells

    @property
    def water_cells(self) -> int:
        """River and stream cells together: what the share of dirt is measured against."""
        return self.river_cells + self.stream_cells

    @property
    def initial_waste_range(self) -> tuple[float, float]:
        """`initial_waste` as (low, high); the two are equal where it is one number."""
        if isinstance(self.initial_waste, tuple):
            return self.initial_waste
        return (self.initial_waste, self.initial_waste)

    def _check_counts(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise ValueError(f"{name} is {value!r}; it must be a whole number from {least} up.")

        if self.shades > MAX_SHADES:
            raise ValueError(f"shades is {self.shades}; a view tells at most {MAX_SHADES} apart.")

    def _check_rates(self) -> None:
        for name in _RATES:
            check_share(name, getattr(self, name))
        if self.dirt_threshold == 0.0:
            raise ValueError("dirt_threshold is 0; it must be above 0 and at most 1.")
        if isinstance(self.initial_waste, tuple) and len(self.initial_waste) != 2:
            raise ValueError(
                f"initial_waste is {self.initial_waste}; it must be a number or a (low, high) pair."
            )
        low, high = self.initial_waste_range
        check_share("initial_waste", low)
        check_share("initial_waste", high)
        if low > high:
            raise ValueError(f"initial_waste is ({low}, {high}); low must not be above high.")

    def _check_tools(self) -> None:
        if self.effects > self.pairs:
            raise ValueError(
                f"hues + shades - 1 is {self.effects}, but base_tools={self.base_tools} makes only "
                f"{self.pairs} tools; hues + shades - 1 must be at most {self.pairs}."
            )
        if math.perm(self.pairs, self.effects) > MAX_RULE_SETS:
            raise ValueError(
                f"base_tools={self.base_tools} with {self.effects} working tools makes "
                f"{math.perm(self.pairs, self.effects):,} rule sets; at most {MAX_RULE_SETS:,} are "
                "allowed, so take fewer base tools, hues or shades."
            )
        if self.stations < self.base_tools:
            raise ValueError(
                f"stations is {self.stations}; it must be at least base_tools={self.base_tools}, "
                "so that every base tool can be had."
            )

    def _check_map(self) -> None:
        if self.initial_clean_cells > self.river_cells:
            raise ValueError(
                f"initial_clean_cells is {self.initial_clean_cells}; it must be at most "
                f"river_cells={self.river_cells}."
            )
        used = self.water_cells + self.orchard_cells + self.stations + self.spawn_cells
        if used > self.cells:
            raise ValueError(
                f"river, stream, orchard, stations and spawns take {used} cells; a map of "
                f"{self.height} x {self.width} has only {self.cells}."
            )
        if self.stations > np.iinfo(np.uint8).max - Terrain.STATION + 1:
            raise ValueError(f"stations is {self.stations}; at most 250 fit a layout's codes.")


_LEAST = {
    "hues": 1,
    "shades": 1,
    "base_tools": 1,
    "height": 1,
    "width": 1,
    "river_cells": 1,
    "initial_clean_cells": 0,
    "stream_cells": 0,
    "orchard_cells": 1,
    "stations": 1,
    "spawn_cells": 1,
    "waste_spawn_start": 0,
}
_RATES = ("waste_skew", "waste_spawn", "apple_growth", "dirt_threshold")


PAPER = CleanupConfig()
"""The paper's game."""
