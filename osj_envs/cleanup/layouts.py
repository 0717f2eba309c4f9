"""The pools of layouts that OpenCleanup draws its maps from."""

import functools

import numpy as np
from jaxtyping import UInt8

from osj_envs.cleanup.constants import PAPER, CleanupConfig
from osj_envs.cleanup.generate_layouts import POOL_FILE, POOL_SEED, POOL_SIZES, generate_pools
from osj_envs.splits import check_split
from osj_envs.types import Split

SMALL_POOL_SIZES: dict[Split, int] = {"train": 64, "held_out": 16}
"""Layouts of each split that are generated where the map is not the paper's."""

_MAP_FIELDS = (
    "height",
    "width",
    "river_cells",
    "initial_clean_cells",
    "stream_cells",
    "orchard_cells",
    "stations",
    "spawn_cells",
)


def load_pool(config: CleanupConfig, split: str) -> UInt8[np.ndarray, "layouts height width"]:
    """The layouts of a split; read-only, and the same array at every call.

    The paper's map comes with the package. For any other size or count, a smaller pool is generated
    at the first call, always the same one, which takes some seconds.

    Raises:
        ValueError: if the split's name is unknown, or the map leaves no room for such a pool.
    """
    return _load_pools(_map_only(config))[check_split(split)]


def _map_only(config: CleanupConfig) -> CleanupConfig:
    """The configuration without anything that does not change the map."""
    kept = {name: getattr(config, name) for name in _MAP_FIELDS}
    return CleanupConfig(hues=1, shades=1, base_tools=1, **kept)


@functools.cache
def _load_pools(config: CleanupConfig) -> dict[Split, UInt8[np.ndarray, "layouts height width"]]:
    if config == _map_only(PAPER):
        with np.load(POOL_FILE, allow_pickle=False) as file:
            pools = {split: file[split] for split in POOL_SIZES}
    else:
        pools = generate_pools(SMALL_POOL_SIZES, POOL_SEED, config)
    pools["all"] = np.concatenate(list(pools.values()))
    for pool in pools.values():
        pool.flags.writeable = False
    return pools
