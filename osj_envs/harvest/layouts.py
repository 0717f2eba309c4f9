"""The pools of layouts that OpenHarvest draws its maps from."""

import functools
from collections.abc import Mapping

import numpy as np
from jaxtyping import UInt16

from osj_envs.grid import pools
from osj_envs.harvest.constants import PAPER, HarvestConfig
from osj_envs.harvest.generate_layouts import POOL_FILE, POOL_SEED, generate_pools, map_only
from osj_envs.harvest.types import Layout
from osj_envs.splits import check_split
from osj_envs.types import Split


def load_pool(config: HarvestConfig, split: str) -> Layout:
    """The layouts of a split: NumPy arrays, layouts first; read-only, and always the same arrays.

    The paper's map comes with the package. For any other size or count, a smaller pool is generated
    at the first call, always the same one, which takes some seconds.

    Raises:
        ValueError: if the split's name is unknown, or the map leaves no room for such a pool.
    """
    return _load_pools(map_only(config))[check_split(split)]


@functools.cache
def _load_pools(config: HarvestConfig) -> Mapping[Split, Layout]:
    if config == map_only(PAPER):
        flat = pools.read(POOL_FILE)
    else:
        flat = generate_pools(pools.SMALL_POOL_SIZES, POOL_SEED, config)
    return {split: _split_cells(pool, config) for split, pool in pools.with_all(flat).items()}


def _split_cells(pool: UInt16[np.ndarray, "layouts cells"], config: HarvestConfig) -> Layout:
    # NumPy arrays, which can be made read-only, stand in for the record's JAX arrays.
    trees, spawns = pool[:, : config.trees], pool[:, config.trees :]
    return Layout(trees=trees, spawns=spawns)  # type: ignore[arg-type]
