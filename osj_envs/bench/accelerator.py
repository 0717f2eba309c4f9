"""Checks and measures the environments on an accelerator: python -m osj_envs.bench.accelerator.

Plays the golden games and 1,024 random games of each environment on the CPU and on the accelerator
from the same keys and compares them; then measures steps a second, resets a second, compile seconds
and memory. Ends with a table for docs/PERFORMANCE.md; the exit status is 1 where a check failed.
"""

import argparse
import dataclasses
import functools
import json
import pathlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np

import osj_envs
from osj_envs.bench import measure
from osj_envs.bench.rows import Target
from osj_envs.progress import progress_bar
from osj_envs.testing import golden
from osj_envs.types import Key

COUNTS = (4096, 16384)
"""Environments that are stepped at once."""

STEPS = 200
"""Steps that are timed."""

REFERENCE = {"cleanup": 7e6, "harvest": 11e6}
"""Steps a second that the authors of the public reference report: 4,096 copies on one
Hopper-class GPU."""

MUST, AIM = 2, 5
"""How many times the reference's rate is asked for, and aimed at."""

GAMES, GAME_STEPS = 1024, 200
MOST_ERRORS = 4.5
"""Standard errors that a mean may differ by; over some 40 means, chance alone passes that once in
thousands of runs."""


@dataclasses.dataclass(frozen=True)
class Check:
    """What was compared, and how it went.

    Attributes:
        name: what was played.
        is_good: whether both devices agree.
        told: how far, in words.
    """

    name: str
    is_good: bool
    told: str


def main() -> int:
    """The program; returns its exit status."""
    options = _read_options()
    if jax.default_backend() == "cpu" and not options.rehearse:
        print(
            "JAX sees no accelerator. Install osj[cuda] on a machine that has one, or look what "
            "this program does with --rehearse.",
            file=sys.stderr,
        )
        return 2
    checks, figures = run(osj_envs.list_ids(), COUNTS[:1] if options.rehearse else COUNTS)
    for check in checks:
        print(f"{'agrees' if check.is_good else 'DIFFERS':8s} {check.name}: {check.told}")
    print(table(figures))
    if options.json:
        told = {"device": device_name(), "checks": [vars(check) for check in checks]}
        options.json.write_text(json.dumps(told | {"figures": figures}, indent=2) + "\n")
    return 0 if all(check.is_good for check in checks) else 1


def run(games: Sequence[str], counts: tuple[int, ...]) -> tuple[list[Check], dict[str, float]]:
    """All checks and all figures by name."""
    checks: list[Check] = []
    figures: dict[str, float] = {}
    cases = [name for name, case in golden.CASES.items() if case.name in games]
    with progress_bar(
        "checks and measurements", len(cases) + len(games) * (2 + len(counts))
    ) as did:
        for name in cases:
            checks.append(compare_golden(name))
            did(1)
        for game in games:
            checks.append(compare_statistics(game))
            did(1)
            for taken in _rates(game, counts):
                figures |= taken
                did(1)
    return checks, figures


def compare_golden(name: str) -> Check:
    """Whether a golden game is the same to the last leaf on both devices."""
    record = functools.partial(golden.record, golden.CASES[name])
    found, expected = record(), _on_cpu(record)
    differing = [
        leaf
        for part in ("sums", "fingerprints")
        for leaf in _differing(found[part], expected[part])
    ]
    told = f"differs in {', '.join(differing)}" if differing else "identical to the last leaf"
    return Check(f"golden game {name}", not differing, told)


def compare_statistics(game: str, count: int = GAMES, steps: int = GAME_STEPS) -> Check:
    """Whether random games have the same means of reward and of every event on both devices."""
    play = functools.partial(_totals, game, count, steps)
    found, expected = play(), _on_cpu(play)
    errors = {name: standard_errors(found[name], expected[name]) for name in found}
    worst = max(errors, key=lambda name: errors[name])
    same = sum(np.array_equal(found[name], expected[name]) for name in found)
    told = f"{same} of {len(found)} totals identical; most apart is {worst}, by {errors[worst]:.1f}"
    is_good = errors[worst] <= MOST_ERRORS
    return Check(f"{count:,} random games of {game}", is_good, f"{told} standard errors")


def standard_errors(these: np.ndarray, those: np.ndarray) -> float:
    """The difference of two means over games, in its standard errors; 0 where they are equal."""
    difference = these.astype(np.float64) - those
    if not difference.any():
        return 0.0
    error = np.sqrt((these.var(ddof=1) + those.var(ddof=1)) / len(these))
    return float(abs(difference.mean()) / error)


def table(figures: dict[str, float]) -> str:
    """The figures as rows in Markdown, with what is asked for."""
    head = f"| {device_name()} | measured | must | aim |\n|---|---|---|---|"
    rows = [f"| {name} | {value:,.1f} | {_asked(name, value)} |" for name, value in figures.items()]
    return "\n".join([head, *rows])


def device_name() -> str:
    """How many of which devices are used."""
    devices = jax.devices()
    return f"{len(devices)} × {devices[0].device_kind}"


def _rates(game: str, counts: tuple[int, ...]) -> Iterator[dict[str, float]]:
    for count in counts:
        rate, compiling = measure.step_rate(game, count, STEPS)
        yield {
            f"{game}/steps_per_second/{count}": rate.per_second,
            f"{game}/compile_seconds/{count}": compiling,
            f"{game}/peak_megabytes/{count}": _peak_megabytes(),
        }
    yield {f"{game}/resets_per_second": measure.reset_rate(game, counts[0]).per_second}


def _totals(game: str, count: int, steps: int) -> dict[str, np.ndarray]:
    """Each game's reward and events under random actions, summed over agents and steps."""
    env = osj_envs.make(game)

    @jax.jit
    @jax.vmap
    def play(key: Key) -> dict[str, Any]:
        first_key, act_key, step_key = jax.random.split(key, 3)
        actions = jax.random.randint(act_key, (steps, env.num_agents), 0, env.num_actions)

        def step(state: Any, inputs: Any) -> Any:
            _, state, reward, _, info = env.step(inputs[0], state, inputs[1])
            return state, {"reward": reward, **info.events}

        start = env.reset(first_key)[1]
        told = jax.lax.scan(step, start, (jax.random.split(step_key, steps), actions))[1]
        return jax.tree.map(lambda counts: counts.sum(), told)

    return jax.device_get(play(jax.random.split(jax.random.key(0), count)))


def _on_cpu(work: Any) -> Any:
    with jax.default_device(jax.devices("cpu")[0]):
        return work()


def _differing(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    return [name for name in expected if found.get(name) != expected[name]]


def _peak_megabytes() -> float:
    """The most memory that a device has held so far; a CPU does not tell, so its process's."""
    told = jax.devices()[0].memory_stats()
    return told["peak_bytes_in_use"] / measure.MEBIBYTE if told else measure.own_peak_megabytes()


def _asked(name: str, value: float) -> str:
    game, kind = name.split("/")[:2]
    if kind != "steps_per_second":
        return " | "
    bounds = [Target(times * REFERENCE[game]) for times in (MUST, AIM)]
    return " | ".join(f"{b.bound:,.0f}: {'met' if b.is_met(value) else 'MISSED'}" for b in bounds)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m osj_envs.bench.accelerator",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", type=pathlib.Path, help="where checks and figures are written")
    parser.add_argument("--rehearse", action="store_true", help="run without an accelerator, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
