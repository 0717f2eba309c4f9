"""Checks of option values, each refused in one sentence that says what is allowed."""

import numpy as np

MAX_COUNT = 2**31 - 1
"""Whatever is counted in an int32."""


def check_whole(name: str, value: object, least: int, most: int = MAX_COUNT) -> None:
    """Raises ValueError unless `value` is a whole number from `least` to `most`."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or not least <= value <= most:  # type: ignore[operator]
        raise ValueError(
            f"{name} is {value!r}; it must be a whole number from {least:,} to {most:,}."
        )


def check_share(name: str, value: object) -> None:
    """Raises ValueError unless `value` is a number from 0 to 1."""
    is_number = isinstance(value, (int, float, np.integer, np.floating))
    # Written so that NaN is refused too.
    if not is_number or not 0.0 <= value <= 1.0:  # type: ignore[operator]
        raise ValueError(f"{name} is {value!r}; it must lie between 0 and 1.")
