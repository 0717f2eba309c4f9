"""A run against a stored one, by the rates that are relative to a calibration kernel."""

import json
import pathlib
import platform
from typing import Any

PER_PASS = "per_pass"

MOST_LOST = 0.2
"""Share of a rate that may be lost on a machine of the kind that the stored run was taken on."""

MOST_LOST_ELSEWHERE = 0.5
"""The same on another kind, where the kernel and the games need not differ by one factor."""


def losses(now: dict[str, float], stored: dict[str, float]) -> dict[str, float]:
    """The share of each relative rate that is lost against the stored run.

    Figures that are no such rates, or that one of the runs lacks, are left out.
    """
    shared = [name for name in stored if name in now and PER_PASS in name]
    return {name: 1 - now[name] / stored[name] for name in shared}


def too_slow(
    now: dict[str, float], stored: dict[str, float], most: float = MOST_LOST
) -> dict[str, float]:
    """The losses over `most`."""
    return {name: loss for name, loss in losses(now, stored).items() if loss > most}


def store(path: pathlib.Path, figures: dict[str, float]) -> None:
    """Writes a run and the machine that it was taken on."""
    path.write_text(json.dumps({"machine": machine(), "figures": figures}, indent=2) + "\n")


def load(path: pathlib.Path) -> tuple[dict[str, float], float]:
    """The figures of a stored run, and what may be lost against it here.

    Raises:
        ValueError: the file holds no stored run.
    """
    try:
        told: dict[str, Any] = json.loads(path.read_text())
        is_here = told["machine"] == machine()
        return told["figures"], MOST_LOST if is_here else MOST_LOST_ELSEWHERE
    except (OSError, ValueError, KeyError, TypeError):
        raise ValueError(f"{path} holds no stored run; write one by --json {path}.") from None


def machine() -> str:
    """The kind of this machine's processor, as far as the system tells."""
    cpus = pathlib.Path("/proc/cpuinfo")
    lines = cpus.read_text().splitlines() if cpus.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
