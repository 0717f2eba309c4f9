"""Measures speed: python -m osj_envs.bench [--quick] [--runs N] [--json P] [--against P].

Random actions, five agents, every view computed and used, compilation apart. With `--against`,
fails where a rate, as a ratio to the calibration kernel, is over 20% below the stored run's in
every one of three attempts; 50% if that was taken on another kind of processor.
"""

import argparse
import collections
import pathlib
import statistics
import sys

import osj_envs
from osj_envs.bench import compare, rows
from osj_envs.devices import prepare_backend
from osj_envs.progress import progress_bar

ATTEMPTS = 3
PEERS = """For comparison, measured on 2 CPU cores but for the last, which its authors report:
  SocialJax Clean Up           4,400 to 6,200 env steps/s (5 agents, 11x11 views)
  SocialJax Commons Harvest    6,000 to 8,600 (the same)
  JaxMARL coin game, Overcooked   0.8 to 1.6 million (2 agents, tiny maps)
  XLand-MiniGrid               0.15 to 0.43 million (1 agent, 5x5 view)
  reference OpenCleanup, OpenHarvest   7 and 11 million (4,096 copies, one Hopper-class GPU)"""


def main() -> int:
    """The program; returns its exit status."""
    options = _read_options()
    try:
        stored, most = compare.load(options.against) if options.against else ({}, 0.0)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    prepare_backend()
    figures = run(options.quick, options.runs)
    _print(figures, options.quick)
    slow = confirm(figures, stored, options.quick, most)
    for name, loss in slow.items():
        print(f"{name} is {loss:.0%} below the stored run", file=sys.stderr)
    if options.json:
        compare.store(options.json, figures)
    return 1 if slow else 0


def run(is_quick: bool, runs: int = 1) -> dict[str, float]:
    """All figures by name, each the median of so many runs, taken in turn."""
    games = osj_envs.list_ids()
    kind = rows.quick if is_quick else rows.full
    work = [measurement for game in games for measurement in kind(game)] * runs
    taken: dict[str, list[float]] = collections.defaultdict(list)
    with progress_bar("measurements", len(work)) as advance:
        for _, take in work:
            for name, figure in take().items():
                taken[name].append(figure)
            advance(1)
    figures = {name: statistics.median(values) for name, values in taken.items()}
    if not is_quick:
        for game in games:
            figures |= rows.ratios(game, figures)
    return figures


def confirm(
    figures: dict[str, float],
    stored: dict[str, float],
    is_quick: bool,
    most: float = compare.MOST_LOST,
) -> dict[str, float]:
    """What is too slow in every attempt; a busy machine is seldom busy in all of them."""
    slow = compare.too_slow(figures, stored, most)
    for _ in range(ATTEMPTS - 1):
        if not slow:
            return slow
        again = compare.too_slow(run(is_quick), stored, most)
        slow = {name: min(loss, again[name]) for name, loss in slow.items() if name in again}
    return slow


def _print(figures: dict[str, float], is_quick: bool) -> None:
    targets = {k: v for game in osj_envs.list_ids() for k, v in rows.targets(game).items()}
    for name, value in figures.items():
        print(f"{name:40s} {value:14,.2f}  {_verdict(targets.get(name), value)}".rstrip())
    if not is_quick:
        print(PEERS)


def _verdict(target: rows.Target | None, value: float) -> str:
    if target is None:
        return ""
    sign = "at most" if target.is_ceiling else "at least"
    return f"{sign} {target.bound:,g}: {'met' if target.is_met(value) else 'MISSED'}"


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m osj_envs.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only what a change is checked by")
    parser.add_argument(
        "--runs", type=int, default=1, help="how often; each figure is the median (default 1)"
    )
    parser.add_argument("--json", type=pathlib.Path, help="where the figures are written")
    parser.add_argument("--against", type=pathlib.Path, help="a stored run to compare with")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error(f"--runs is {options.runs}; it must be at least 1.")
    return options


if __name__ == "__main__":
    sys.exit(main())
