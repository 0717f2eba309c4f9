"""The environments in the APIs of other multi-agent libraries."""

from typing import TYPE_CHECKING

from osj_envs.adapters.jaxmarl import JaxMARLEnv, to_jaxmarl
from osj_envs.trials import MultiTrial

if TYPE_CHECKING:
    from osj_envs.adapters.pettingzoo import PettingZooEnv

__all__ = ["JaxMARLEnv", "to_jaxmarl", "to_pettingzoo"]


def to_pettingzoo(env: MultiTrial) -> "PettingZooEnv":
    """The environment as a PettingZoo `ParallelEnv`.

    Raises:
        ImportError: PettingZoo is not installed.
        TypeError: `env` is not what `osj_envs.make` returns.
    """
    try:
        from osj_envs.adapters.pettingzoo import PettingZooEnv
    except ModuleNotFoundError as error:
        raise ImportError(
            f"to_pettingzoo needs the package {error.name!r}, which is not installed; "
            "get it with: pip install 'osj[adapters]'"
        ) from error
    return PettingZooEnv(env)
