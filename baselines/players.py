"""Players as a command line names them: a scripted policy, a checkpoint, or any factory."""

import pathlib
from collections.abc import Mapping
from typing import Any

from omegaconf import OmegaConf

from baselines import registry
from osj_envs.compose import CONFIG_DIR
from osj_envs.roster import make_player
from osj_envs.seats import Policy
from osj_envs.trials import MultiTrial

CHECKPOINT = "checkpoint:"
"""What the name of a trained player starts with; the folder of a run or checkpoint follows."""


def unset_options() -> dict[str, Any]:
    """The options of all scripted policies, each None: what a configuration starts from."""
    return dict.fromkeys(registry.all_options())


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def make_named(
    player: str | Mapping[str, Any], env: MultiTrial, options: Mapping[str, Any]
) -> Policy:
    """A player for an environment.

    Args:
        player: the name of a scripted policy, `checkpoint:PATH`, or an entry as in the files of
            `configs/seats`, with the `_target_` of its factory.
        env: what is played.
        options: of a scripted policy.

    Raises:
        ValueError: there is no such player, it has no such option, or it refused its entries.
    """
    if isinstance(player, str) and not player.startswith(CHECKPOINT):
        return registry.make(player, env, **options)
    if options:
        raise ValueError(f"Only scripted policies take options; {player} is none.")
    return make_player(_checkpoint(player) if isinstance(player, str) else player, env)


def title_of(player: str | Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """A player in a few words: a scripted one with its options, a trained one by its folder."""
    if not isinstance(player, str):
        return str(player.get("_target_", "a player")).rpartition(".")[2]
    if player.startswith(CHECKPOINT):
        return f"checkpoint {pathlib.Path(player.removeprefix(CHECKPOINT)).name}"
    listed = ", ".join(f"{name} {value}" for name, value in options.items())
    return f"{player} ({listed})" if listed else player


def _checkpoint(name: str) -> dict[str, Any]:
    """The entry of `configs/seats` that seats trained agents, with its path filled in."""
    entry: Any = OmegaConf.to_container(OmegaConf.load(CONFIG_DIR / "seats" / "checkpoint.yaml"))
    return {**entry, "checkpoint": name.removeprefix(CHECKPOINT)}
