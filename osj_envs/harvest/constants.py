"""What OpenHarvest is made of: the shapes of its patches, and its static configuration."""

import dataclasses
import enum
import functools
import math

import numpy as np
from jaxtyping import Bool, Int

from osj_envs.checks import check_share, check_whole

STAGES = 3
"""Stages of an apple: unripe, ripe and over-ripe."""

NEIGHBOUR_DISTANCE = 2
"""Apples within this L1 distance of an empty cell help it to regrow."""

MAX_RULE_SETS = 2**31 - 1
"""A rule set's rank is an int32."""


MAX_CELLS = 2**16
"""A layout numbers its cells in 16 bits."""


class Stage(enum.IntEnum):
    """How ripe an apple is."""

    UNRIPE = 0
    RIPE = 1
    OVERRIPE = 2


class Lost(enum.IntEnum):
    """How a cell lost its apple; `EATEN + stage` for one that was eaten."""

    HANGING = 0
    """It did not: an apple hangs there."""
    EATEN = 1
    ROTTED = 4


DIAMOND = tuple((r, c) for r in range(-2, 3) for c in range(-2, 3) if abs(r) + abs(c) <= 2)
"""Trees of a diamond patch (rows of 1-3-5-3-1) as (row, column) from its middle, row-major."""

QUARTER = tuple((r, c) for r in range(3) for c in range(3) if r + c <= 2)
"""Trees of a quarter diamond (rows of 3-2-1) as (row, column) from its corner, row-major."""


@dataclasses.dataclass(frozen=True)
class HarvestConfig:
    """Static, hashable configuration of OpenHarvest; the defaults are the paper's game.

    Sources: the paper for the colours, stages, pays and speeds; the authors' public
    implementation for the map's counts, the times and the zap (facts only).

    Raises:
        ValueError: at construction, in one sentence, where a value is out of its range.
    """

    colours: int = 5
    """Colours of apples; each patch draws one, with replacement."""
    height: int = 16
    """Rows of the map."""
    width: int = 22
    """Columns of the map."""
    diamonds: int = 4
    """Patches of 13 trees."""
    quarters: int = 2
    """Patches of 6 trees."""
    spawn_cells: int = 20
    """Cells in one row on which agents start a trial, and to which a zap sends them."""
    pays: tuple[float, float, float] = (1.0, 0.5, 0.25)
    """Points of an apple; each colour pays one of them at each stage."""
    speeds: tuple[float, float, float] = (2.0, 1.0, 0.5)
    """Factors of regrowth; each colour has one of them for each stage at which it is eaten."""
    regrowth: tuple[float, float, float, float] = (0.0, 0.001, 0.005, 0.025)
    """Chance a step of regrowing with 0, 1, 2, and 3 or more apples near, at a speed of 1."""
    stage_steps: tuple[int, int] = (15, 20)
    """Fewest and most steps that an apple's stages take; each apple draws its own, uniformly."""
    rot_delay: tuple[int, int] = (2, 5)
    """Fewest and most steps until a cell whose apple rotted regrows, drawn uniformly."""
    freeze_steps: int = 12
    """Steps for which an agent that was zapped cannot act."""
    cooldown_steps: int = 2
    """Steps after a zap for which an agent cannot zap again."""

    def __post_init__(self) -> None:
        for name in ("pays", "speeds", "regrowth", "stage_steps", "rot_delay"):
            if not isinstance(getattr(self, name), str):
                object.__setattr__(self, name, tuple(getattr(self, name)))
        self._check_counts()
        self._check_numbers()
        self._check_map()

    @property
    def cells(self) -> int:
        """Cells of the map."""
        return self.height * self.width

    @property
    def patches(self) -> int:
        """Patches, diamonds first."""
        return self.diamonds + self.quarters

    @property
    def trees(self) -> int:
        """Trees, patch by patch."""
        return len(self.patch_of_tree)

    @property
    def patch_of_tree(self) -> tuple[int, ...]:
        """The patch of each tree."""
        return _patch_of_tree(self.diamonds, self.quarters)

    @property
    def neighbours(self) -> Bool[np.ndarray, "trees trees"]:
        """Which trees stand within `NEIGHBOUR_DISTANCE` of each; the same on every layout.

        Turning and mirroring a patch keeps distances, and patches are too far apart for any other
        pair. A tree is no neighbour of itself. Read-only.
        """
        return _neighbours(self.diamonds, self.quarters)

    def _check_counts(self) -> None:
        for name, least in _LEAST.items():
            check_whole(name, getattr(self, name), least)
        if self.patches == 0:
            raise ValueError("diamonds and quarters are both 0; there must be at least one patch.")
        if math.factorial(STAGES) ** (2 * self.colours) > MAX_RULE_SETS:
            raise ValueError(
                f"colours is {self.colours}; at most 5 keep a rule set's rank in int32."
            )

    def _check_numbers(self) -> None:
        for name, size in _SIZES.items():
            if len(getattr(self, name)) != size:
                raise ValueError(f"{name} is {getattr(self, name)}; it must have {size} entries.")
        for chance in self.regrowth:
            check_share("regrowth", chance)
        for name in ("pays", "speeds"):
            if min(getattr(self, name)) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; none may be below 0.")
        for name, least, most in (("stage_steps", 1, _MOST_STEPS), ("rot_delay", 1, _MOST_DELAY)):
            low, high = getattr(self, name)
            check_whole(f"{name}[0]", low, least, most)
            check_whole(f"{name}[1]", high, low, most)

    def _check_map(self) -> None:
        if self.cells > MAX_CELLS:
            raise ValueError(
                f"a map of {self.height} x {self.width} has {self.cells:,} cells; at most "
                f"{MAX_CELLS:,} can be numbered."
            )
        used = self.trees + self.spawn_cells
        if used > self.cells or self.spawn_cells > self.width:
            raise ValueError(
                f"{self.trees} trees and a row of {self.spawn_cells} spawn cells do not fit a map "
                f"of {self.height} x {self.width}."
            )


_LEAST = {
    "colours": 1,
    "height": 1,
    "width": 1,
    "diamonds": 0,
    "quarters": 0,
    "spawn_cells": 1,
    "freeze_steps": 0,
    "cooldown_steps": 0,
}
_SIZES = {"pays": STAGES, "speeds": STAGES, "regrowth": 4, "stage_steps": 2, "rot_delay": 2}
_MOST_STEPS, _MOST_DELAY = 80, 250
"""An apple's age and a cell's delay are kept in a byte."""


def _shapes(diamonds: int, quarters: int) -> list[tuple[tuple[int, int], ...]]:
    return [DIAMOND] * diamonds + [QUARTER] * quarters


@functools.cache
def _patch_of_tree(diamonds: int, quarters: int) -> tuple[int, ...]:
    shapes = _shapes(diamonds, quarters)
    return tuple(patch for patch, shape in enumerate(shapes) for _ in shape)


@functools.cache
def _neighbours(diamonds: int, quarters: int) -> Bool[np.ndarray, "trees trees"]:
    place: Int[np.ndarray, "trees 2"] = np.array(
        [cell for shape in _shapes(diamonds, quarters) for cell in shape]
    )
    patch = np.array(_patch_of_tree(diamonds, quarters))
    distance = np.abs(place[:, None] - place[None]).sum(axis=-1)
    near = (distance <= NEIGHBOUR_DISTANCE) & (distance > 0) & (patch[:, None] == patch[None])
    near.flags.writeable = False
    return near


PAPER = HarvestConfig()
"""The paper's game."""
