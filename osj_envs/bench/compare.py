"""A run against a stored one, each rate as a ratio to its own run's calibration kernel."""

CALIBRATION = "calibration"
MOST_LOST = 0.2


def losses(now: dict[str, float], stored: dict[str, float]) -> dict[str, float]:
    """The share of each rate that is lost against the stored run, the machines' speeds apart.

    Figures that are no rates, or that one of the runs lacks, are left out.
    """
    machine = now[CALIBRATION] / stored[CALIBRATION]
    shared = [name for name in stored if name in now and "per_second" in name]
    return {name: 1 - now[name] / (stored[name] * machine) for name in shared}


def too_slow(now: dict[str, float], stored: dict[str, float]) -> dict[str, float]:
    """The losses over `MOST_LOST`."""
    return {name: loss for name, loss in losses(now, stored).items() if loss > MOST_LOST}
