"""The rows of the table: what is measured of a game, and what is aimed at."""

import dataclasses
import functools
from collections.abc import Callable, Iterator

from osj_envs.bench import measure

STEPS = {1: 2000, 64: 500, 1024: 100, 4096: 50}
"""Steps that are timed, by the number of environments."""

LEAST_RATE = {"cleanup": 120_000, "harvest": 150_000}
SEATS = {"few": 2, "many": 16}


@dataclasses.dataclass(frozen=True)
class Target:
    """What a figure must reach: at least `bound`, or at most where `is_ceiling`."""

    bound: float
    is_ceiling: bool = False

    def is_met(self, value: float) -> bool:
        """Whether the figure is good enough."""
        return value <= self.bound if self.is_ceiling else value >= self.bound


Measurement = tuple[str, Callable[[], dict[str, float]]]


def quick(game: str) -> Iterator[Measurement]:
    """The rows that a change is checked by; each yields figures by name."""
    yield f"{game}/1024", lambda: _rates(game, 1024)
    yield f"{game}/resets", functools.partial(_resets, game)


def full(game: str) -> Iterator[Measurement]:
    """All rows of a game; each yields figures by name."""
    for count in STEPS:
        yield f"{game}/{count}", functools.partial(_rates, game, count)
    yield f"{game}/resets", functools.partial(_resets, game)
    for kind, seats in SEATS.items():
        yield f"{game}/{seats} agents", functools.partial(_rate_with, game, kind)
    yield (
        f"{game}/memory",
        lambda: {f"{game}/peak_megabytes/4096": measure.peak_megabytes(game, 4096)},
    )


def ratios(game: str, figures: dict[str, float]) -> dict[str, float]:
    """Costs of one figure of a full run against another."""
    rate = f"{game}/steps_per_second"
    return {
        f"{game}/cost_64_to_4096": figures[f"{rate}/64"] / figures[f"{rate}/4096"],
        f"{game}/cost_2_to_16_agents": figures[f"{rate}/few"] / figures[f"{rate}/many"],
    }


def targets(game: str) -> dict[str, Target]:
    """What the figures of a game must reach on two cores."""
    return {
        f"{game}/steps_per_second/1024": Target(LEAST_RATE[game]),
        f"{game}/compile_seconds/1024": Target(5, is_ceiling=True),
        f"{game}/resets_per_second": Target(20_000),
        f"{game}/peak_megabytes/4096": Target(800, is_ceiling=True),
        f"{game}/cost_64_to_4096": Target(1.5, is_ceiling=True),
        f"{game}/cost_2_to_16_agents": Target(8, is_ceiling=True),
    }


def _rates(game: str, count: int) -> dict[str, float]:
    rate, compiling = measure.step_rate(game, count, STEPS[count])
    return {
        f"{game}/steps_per_second/{count}": rate.per_second,
        f"{game}/steps_per_pass/{count}": rate.per_pass,
        f"{game}/compile_seconds/{count}": compiling,
    }


def _resets(game: str) -> dict[str, float]:
    rate = measure.reset_rate(game, 1024)
    return {
        f"{game}/resets_per_second": rate.per_second,
        f"{game}/resets_per_pass": rate.per_pass,
    }


def _rate_with(game: str, kind: str) -> dict[str, float]:
    rate, _ = measure.step_rate(game, 256, 200, num_agents=SEATS[kind])
    return {f"{game}/steps_per_second/{kind}": rate.per_second}
