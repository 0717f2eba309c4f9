"""Conditional work that a batch pays for only where it is needed."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Bool

SMALLEST_CHUNK = 2
CHUNKS = 128
"""A batch is worked on in chunks of a `CHUNKS`-th of it: small, so that a few elements are cheap,
and few, so that all of them are fast."""


def rarely(
    condition: Bool[Array, ""], function: Callable[..., Any], otherwise: Any, *operands: Any
) -> Any:
    """`function(*operands)` where `condition` holds, `otherwise` elsewhere.

    `jax.lax.cond` under `vmap` runs both branches for every element. Here a batch of any depth
    runs `function` only for the elements that need it, a chunk at a time.

    Args:
        condition: bool ().
        function: pure; returns a pytree with the shapes and dtypes of `otherwise`. It must not
            close over traced values.
        otherwise: the result where `condition` does not hold.
        *operands: arguments of `function`, pytrees of arrays.
    """
    function = jax.jit(function)  # so that it is traced once, and only batched after that

    @custom_vmap
    def one(condition: Any, otherwise: Any, operands: Any) -> Any:
        return jax.lax.cond(condition, lambda: function(*operands), lambda: otherwise)

    @custom_vmap
    def many(condition: Any, otherwise: Any, operands: Any) -> Any:
        return _in_chunks(condition, function, otherwise, operands)

    @one.def_vmap
    def _(size: int, batched: Any, *arguments: Any) -> Any:
        result = many(*_broadcast(size, batched, arguments))
        return result, jax.tree.map(lambda _: True, result)

    @many.def_vmap
    def _(size: int, batched: Any, *arguments: Any) -> Any:
        arguments = _broadcast(size, batched, arguments)
        inner = arguments[0].shape[1]
        result = many(*jax.tree.map(lambda x: x.reshape(size * inner, *x.shape[2:]), arguments))
        result = jax.tree.map(lambda x: x.reshape(size, inner, *x.shape[1:]), result)
        return result, jax.tree.map(lambda _: True, result)

    return one(condition, otherwise, operands)


def _broadcast(size: int, batched: Any, arguments: Any) -> Any:
    """Gives a leading batch axis to the arguments that lack one."""
    return jax.tree.map(
        lambda is_batched, x: x if is_batched else jnp.broadcast_to(x, (size, *x.shape)),
        tuple(batched),
        arguments,
    )


def _in_chunks(
    condition: Bool[Array, "batch"], function: Callable[..., Any], otherwise: Any, operands: Any
) -> Any:
    """Replaces the rows of `otherwise` where `condition` holds."""
    size = condition.shape[0]
    chunk = min(size, max(SMALLEST_CHUNK, size // CHUNKS))

    def replace_some(carry: tuple[Any, Any]) -> tuple[Any, Any]:
        pending, result = carry
        (rows,) = jnp.nonzero(pending, size=chunk, fill_value=size)
        chosen = jax.tree.map(lambda x: x[jnp.minimum(rows, size - 1)], operands)
        fresh = jax.vmap(function)(*chosen)
        result = jax.tree.map(lambda x, new: x.at[rows].set(new, mode="drop"), result, fresh)
        return pending.at[rows].set(False, mode="drop"), result

    _, result = jax.lax.while_loop(
        lambda carry: carry[0].any(), replace_some, (condition, otherwise)
    )
    return result
