"""Players by their role in a social dilemma, as one number from defector to cooperator.

What it means is the game's: in OpenCleanup the share of the time in which a player sees to the
river (`cleanup.make_cleaner`), in OpenHarvest how many apples it leaves hanging for the sake of
those that grow beside them (`harvest.make_forager`). All of these players are fair.
"""

from typing import Any

from baselines import cleanup, harvest
from osj_envs.trials import MultiTrial

_BUILDERS = {"cleanup": cleanup.make_cleaner, "harvest": harvest.make_forager}

GAMES = tuple(_BUILDERS)
"""Ids of the games that have roles."""


def make_cooperator(env: MultiTrial, cooperation: float = 1.0) -> Any:
    """Gives all that it can, or a share of it.

    Raises:
        ValueError: cooperation is not from 0 to 1.
    """
    return _BUILDERS[env.name](env, cooperation)


def make_defector(env: MultiTrial, cooperation: float = 0.0) -> Any:
    """Gives nothing, or a share.

    Raises:
        ValueError: cooperation is not from 0 to 1.
    """
    return make_cooperator(env, cooperation)
