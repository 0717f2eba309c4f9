"""The pools of layouts that OpenCleanup draws its maps from."""

import functools

import numpy as np
from jaxtyping import UInt8

from osj_envs.cleanup.constants import PAPER, CleanupConfig
from osj_envs.cleanup.generate_layouts import POOL_FILE, POOL_SEED, generate_pools
from osj_envs.grid import pools
from osj_envs.splits import check_split
from osj_envs.types import Split

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
        return pools.with_all(pools.read(POOL_FILE))
    return pools.with_all(generate_pools(pools.SMALL_POOL_SIZES, POOL_SEED, config))
