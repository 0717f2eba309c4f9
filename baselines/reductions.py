"""What is said of a whole board, found fast on a CPU."""

from collections.abc import Callable
from typing import Any

import jax
from jaxtyping import Array


def over_board(reduce: Callable[..., Any], cells: Array, **options: Any) -> Any:
    """`reduce(cells)` over the last two axes, for a sum, an extreme, or whether any holds.

    All columns are reduced at a time, and then what is left of each: XLA on CPU goes through the
    cells of a board one by one, which took up to fourteen times as long. The barrier keeps it from
    making one reduction of the two.

    Args:
        reduce: takes an `axis`, as `jnp.sum` does.
        cells: (..., height, width).
        **options: handed on, such as a `dtype`.
    """
    columns = jax.lax.optimization_barrier(reduce(cells, axis=-2, **options))
    return reduce(columns, axis=-1, **options)
