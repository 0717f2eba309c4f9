"""Bounds for chance: wide enough to hold for sure, narrow enough for a wrong rate to break them."""

import math

import numpy as np
from jaxtyping import Bool, Float, Int

from osj_envs.grid.movement import Agents

SIGMAS = 5.0
"""Standard deviations allowed: a right rate passes all but once in two million seeds."""


def check_rate(hits: int, trials: int, rate: float) -> None:
    """Raises AssertionError unless `hits` of `trials` fit the rate; a rate of 0 or 1 is exact."""
    spread = SIGMAS * math.sqrt(trials * rate * (1.0 - rate))
    assert abs(hits - trials * rate) <= spread, (
        f"{hits} of {trials} is {hits / trials:.5f}; "
        f"a rate of {rate:.5f} allows {spread / trials:.5f} on either side."
    )


def check_uniform(counts: Int[np.ndarray, "kinds"]) -> None:
    """Raises AssertionError unless all kinds are equally likely."""
    check_shares(counts, np.full(len(counts), 1.0 / len(counts)))


def check_shares(counts: Int[np.ndarray, "kinds"], shares: Float[np.ndarray, "kinds"]) -> None:
    """Raises AssertionError unless the kinds come in these shares (chi-square)."""
    expected = np.sum(counts) * np.asarray(shares)
    assert np.isclose(np.sum(shares), 1.0), f"Shares sum to {np.sum(shares)}."
    assert expected.min() >= 25, f"About {expected.min():.0f} draws of a kind are too few."
    freedom = len(expected) - 1
    excess = ((counts - expected) ** 2 / expected).sum() - freedom
    # The bound's second term covers the skew of a chi-square with few kinds.
    allowed = SIGMAS * math.sqrt(2.0 * freedom) + SIGMAS**2
    assert excess <= allowed, (
        f"{np.asarray(counts).tolist()} are not in the shares of {np.round(expected).tolist()}: "
        f"chi-square is {excess:.0f} above its mean, {allowed:.0f} is allowed."
    )


def check_fair_contest(wins: Bool[np.ndarray, "worlds agents"], contenders: int) -> None:
    """Raises AssertionError unless one of the first `contenders` wins, each equally often."""
    assert (wins.sum(axis=1) == 1).all(), "Exactly one wins."
    assert not wins[:, contenders:].any(), "Only a contender wins."
    check_uniform(wins.sum(axis=0)[:contenders])


def check_starts(
    agents: Agents,
    spawn: Bool[np.ndarray, "height width"],
    ground: Bool[np.ndarray, "height width"],
) -> None:
    """Raises AssertionError unless agents start on spawn cells, then on open ground, in any order.

    Args:
        agents: of many worlds, batch first.
        spawn: cells to be taken first, each as likely for every agent.
        ground: cells for those for whom none is left.
    """
    position, heading = np.asarray(agents.position), np.asarray(agents.heading)
    worlds, count = heading.shape
    cells = position[..., 0] * spawn.shape[1] + position[..., 1]
    on_spawn, spawns = spawn.reshape(-1)[cells], int(spawn.sum())
    assert (on_spawn | ground.reshape(-1)[cells]).all(), "Nobody starts elsewhere."
    assert (on_spawn.sum(axis=1) == min(count, spawns)).all(), "Spawn cells are taken first."
    assert all(len(set(row)) == count for row in cells.tolist()), "No two share a cell."
    for agent in range(count):
        check_uniform(np.bincount(cells[:, agent], minlength=spawn.size)[spawn.reshape(-1)])
        check_uniform(np.bincount(heading[:, agent], minlength=4))
        check_rate(int(on_spawn[:, agent].sum()), worlds, min(1.0, spawns / count))
