"""Pools of layouts: how a generator's layouts are gathered, written to a file and read again."""

import argparse
import itertools
import pathlib
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
from jaxtyping import UInt
from rich.progress import track

from osj_envs.types import Split

POOL_SIZES: dict[Split, int] = {"train": 1024, "held_out": 256}
"""Layouts of each split that are shipped for the paper's map of each game."""

SMALL_POOL_SIZES: dict[Split, int] = {"train": 64, "held_out": 16}
"""Layouts of each split that are generated where the map is not the paper's."""

FlatLayout: TypeAlias = UInt[np.ndarray, "..."]
Pools: TypeAlias = dict[Split, UInt[np.ndarray, "layouts ..."]]

_MAX_REPEATS = 100


def distinct(generate: Callable[[int], FlatLayout], size: str) -> Iterator[FlatLayout]:
    """A generator's layouts by rising index, without repeats.

    Args:
        generate: the layout of an index, the same array for the same map.
        size: what the map is called in an error.

    Raises:
        ValueError: where a map so small has no further layout, as far as one can tell.
    """
    seen: set[bytes] = set()
    repeats = 0
    for index in itertools.count():
        layout = generate(index)
        if layout.tobytes() not in seen:
            seen.add(layout.tobytes())
            repeats = 0
            yield layout
        elif (repeats := repeats + 1) > _MAX_REPEATS:
            raise ValueError(f"only {len(seen)} layouts of {size} were found; make the map larger.")


def cut(sizes: Mapping[Split, int], layouts: Iterator[FlatLayout], show: bool = False) -> Pools:
    """Stacks the first of distinct layouts into pools, so that none occurs in two.

    Args:
        sizes: layouts of each split; the first split takes the first layouts.
        layouts: distinct ones.
        show: shows a progress bar with the time left.
    """
    total = sum(sizes.values())
    first = itertools.islice(layouts, total)
    pool = np.stack(list(track(first, "layouts", total=total, disable=not show)))
    ends = np.cumsum(list(sizes.values()))
    return dict(zip(sizes, np.split(pool, ends[:-1]), strict=True))


def write(game: str, file: pathlib.Path, seed: int, make: Callable[..., Pools]) -> None:
    """A generator's program: writes its pools, the same bytes for the same arguments.

    Args:
        game: the game's name.
        file: where the pools are written unless another file is asked for.
        seed: the seed unless another is asked for.
        make: pools from (sizes, seed, show).
    """
    parser = argparse.ArgumentParser(description=f"Generates {game}'s pools of layouts.")
    parser.add_argument("--out", type=pathlib.Path, default=file, help="file to write (.npz)")
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--train", type=int, default=POOL_SIZES["train"], help="training layouts")
    parser.add_argument(
        "--held-out", type=int, default=POOL_SIZES["held_out"], help="held-out layouts"
    )
    options = parser.parse_args()
    sizes: dict[Split, int] = {"train": options.train, "held_out": options.held_out}
    pools = make(sizes, options.seed, show=True)
    np.savez_compressed(options.out, allow_pickle=False, **pools)
    print(f"wrote {options.train} + {options.held_out} layouts to {options.out}")


def read(file: pathlib.Path) -> Pools:
    """The pools of a file that `write` wrote."""
    with np.load(file, allow_pickle=False) as stored:
        return {split: stored[split] for split in POOL_SIZES}


def with_all(pools: Pools) -> Pools:
    """The pools and, as the split "all", both together; read-only."""
    whole = pools | {"all": np.concatenate(list(pools.values()))}
    for pool in whole.values():
        pool.flags.writeable = False
    return whole
