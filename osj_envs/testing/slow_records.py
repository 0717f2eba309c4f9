"""The records of OpenCleanup's slow reference, and what the fast code's draws mean in its terms."""

import dataclasses
from typing import Any

import numpy as np

from osj_envs.testing.slow_grid import Cell


@dataclasses.dataclass
class Chance:
    """The chance of one step, by what it decides.

    Attributes:
        growth: for each cell a number in [0, 1): an apple grows where it is below the rate.
        waste_luck: for each cell a number: of the clean river cells, the greatest is drawn.
        waste_comes: a number in [0, 1): waste comes where it is below the rate.
        dominant: a number in [0, 1): the waste is of the dominant hue where it is below the skew.
        hue: the hue of other waste.
        shade: the shade of any.
        order: the agents, the one that wins every contested cell first.
    """

    growth: np.ndarray
    waste_luck: np.ndarray
    waste_comes: float
    dominant: float
    hue: int
    shade: int
    order: list[int]


def read_draws(draws: Any) -> Chance:
    """The meaning of the fast code's `Draws`."""
    word = np.asarray(draws.cell)
    return Chance(
        growth=(word >> 8) / 2.0**24,
        waste_luck=word,
        waste_comes=float(draws.spawn),
        dominant=float(draws.skew),
        hue=int(draws.hue),
        shade=int(draws.shade),
        order=[int(agent) for agent in np.argsort(np.asarray(draws.priority))[::-1]],
    )


@dataclasses.dataclass
class SlowAgent:
    """One agent; `window` holds its last pick-ups, the older first, and at most two."""

    cell: Cell
    heading: int
    window: list[int]
    last_tool: tuple[int, int] | None = None


@dataclasses.dataclass
class SlowWorld:
    """What changes within a trial: waste by (hue, shade), hanging apples, the agents."""

    waste: dict[Cell, tuple[int, int]]
    apples: set[Cell]
    agents: list[SlowAgent]


@dataclasses.dataclass
class SlowStep:
    """What a step did.

    Attributes:
        reward: of each agent.
        blocked: wanted to move and did not.
        hits: of each agent, for each cell of its shot, (colour code or `NO_COLOUR`, `ShotEffect`).
        events: counts by name, for each agent.
    """

    reward: list[float]
    blocked: list[bool]
    hits: list[list[tuple[int, int]]]
    events: dict[str, list[float]]
