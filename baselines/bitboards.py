"""Boards of yes and no with a row in the bits of a word: dozens of cells at a stroke.

Column 0 is the lowest bit. Bits beyond the board's width mean nothing.
"""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, UInt32

MOST_COLUMNS = 32
"""Columns of a board whose rows fit a word."""


def check_width(width: int) -> None:
    """Raises ValueError where a row of so many columns does not fit a word."""
    if width > MOST_COLUMNS:
        raise ValueError(f"the board is {width} columns wide; at most {MOST_COLUMNS} fit a word.")


def pack(cells: Bool[Array, "*boards height width"]) -> UInt32[Array, "*boards height"]:
    """The cells of each row as bits.

    Raises:
        ValueError: the board is wider than `MOST_COLUMNS`.
    """
    check_width(cells.shape[-1])
    bits = jnp.uint32(1) << jnp.arange(cells.shape[-1], dtype=jnp.uint32)
    return jnp.where(cells, bits, jnp.uint32(0)).sum(axis=-1, dtype=jnp.uint32)


def unpack(rows: UInt32[Array, "*boards height"], width: int) -> UInt32[Array, "*shape"]:
    """Each cell as 0 or 1. Undoes `pack`."""
    return (rows[..., None] >> jnp.arange(width, dtype=jnp.uint32)) & 1


def one_cell(position: Int[Array, "2"], shape: tuple[int, ...]) -> UInt32[Array, "height"]:
    """The board with that cell alone.

    Raises:
        ValueError: the board is wider than `MOST_COLUMNS`.
    """
    check_width(shape[1])
    bit = jnp.uint32(1) << position[1].astype(jnp.uint32)
    return jnp.where(jnp.arange(shape[0]) == position[0], bit, jnp.uint32(0))


def move(
    rows: UInt32[Array, "*boards height"], down: int, right: int
) -> UInt32[Array, "*boards height"]:
    """Every cell moved so far; nothing comes back in at the other edge."""
    edge = jnp.zeros((*rows.shape[:-1], abs(down)), jnp.uint32)
    if down > 0:
        rows = jnp.concatenate([edge, rows[..., :-down]], axis=-1)
    elif down < 0:
        rows = jnp.concatenate([rows[..., -down:], edge], axis=-1)
    return rows << right if right >= 0 else rows >> -right


def count_four(rows: UInt32[Array, "*boards 4 height"], width: int) -> UInt32[Array, "*shape"]:
    """How many of four boards have each cell: added as bits, and unpacked only then."""
    one, two, three, four = (rows[..., board, :] for board in range(4))
    odd, other_odd = one ^ two, three ^ four
    both, other_both = one & two, three & four
    ones, twos = odd ^ other_odd, both ^ other_both ^ (odd & other_odd)
    fours = both & other_both
    return unpack(ones, width) + 2 * unpack(twos, width) + 4 * unpack(fours, width)
