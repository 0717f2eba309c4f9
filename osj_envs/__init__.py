"""OSJ environments: social dilemmas with hidden rules, pure JAX, several trials an episode."""

from osj_envs.registry import list_ids, make

__all__ = ["list_ids", "make"]
__version__ = "0.1.0"
