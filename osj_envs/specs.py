"""Spaces of actions and observations, as plain hashable data."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class DiscreteSpec:
    """The integers 0 .. `size` - 1, int32."""

    size: int

    @property
    def dtype(self) -> np.dtype:
        """Element type."""
        return np.dtype(np.int32)

    def contains(self, value: object) -> bool:
        """Whether every element of `value` is an integer in range."""
        array = np.asarray(value)
        return bool(
            np.issubdtype(array.dtype, np.integer) and ((array >= 0) & (array < self.size)).all()
        )


@dataclasses.dataclass(frozen=True)
class BoxSpec:
    """Arrays of a fixed shape whose elements lie within `low` .. `high`, both included.

    `high` is one bound for all elements, or one for each entry of the last axis.
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    low: float
    high: float | tuple[float, ...]

    def contains(self, value: object) -> bool:
        """Whether `value` has this shape (leading axes allowed), dtype and range."""
        array = np.asarray(value)
        if array.dtype != self.dtype or array.shape[array.ndim - len(self.shape) :] != self.shape:
            return False
        return bool(((array >= self.low) & (array <= np.asarray(self.high))).all())
