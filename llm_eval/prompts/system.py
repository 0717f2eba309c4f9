"""The fixed system prompt of a seat; every number in it is the environment's own."""

import math
from typing import Any, Literal

import numpy as np

from llm_eval.memory import MAX_NOTES, RECENT_STEPS
from llm_eval.prompts import fill
from llm_eval.prompts.examples import examples
from llm_eval.replies import ACTIONS, LONGEST_TEXT, STEP_REPLIES
from llm_eval.views import words
from llm_eval.views.base import GameText
from llm_eval.views.cleanup import CleanupText
from llm_eval.views.harvest import HarvestText
from osj_envs.cleanup import names as cleanup_names
from osj_envs.cleanup.rules import NOTHING
from osj_envs.cleanup.text import effect_name
from osj_envs.compose import nearest
from osj_envs.grid.names import agent_name
from osj_envs.harvest import names as harvest_names
from osj_envs.harvest.constants import NEIGHBOUR_DISTANCE
from osj_envs.trials import MultiTrial
from osj_envs.types import Latent

AgentRole = Literal["none", "cooperator", "defector"]
Reveal = Literal["none", "regrowth", "all"]

ROLES: tuple[AgentRole, ...] = ("none", "cooperator", "defector")
REVEALS: dict[str, tuple[Reveal, ...]] = {
    "cleanup": ("none", "all"),
    "harvest": ("none", "regrowth", "all"),
}
"""What of the hidden rules can be told, by game."""


def game_text(env: MultiTrial) -> GameText:
    """The texts of an environment's game.

    Raises:
        ValueError: there are none.
    """
    if env.name not in GAMES:
        raise ValueError(f"No prompts for {env.name!r}; {nearest(env.name, list(GAMES))}")
    game: Any = env.game
    return GAMES[env.name](game.config, game.window)


def system_prompt(env: MultiTrial, role: AgentRole = "none", revealed: str = "") -> str:
    """The system prompt.

    Args:
        env: the game.
        role: stated as one added item; the objective then states the scoring rule alone.
        revealed: what is told of the hidden rules (`reveal_text`).

    Raises:
        ValueError: an unknown role or game.
    """
    if role not in ROLES:
        raise ValueError(f"Unknown role: {role!r}; {nearest(role, list(ROLES))}")
    return _world(
        env,
        role,
        revealed,
        turn=fill("turn", recent=RECENT_STEPS),
        notes=fill("notes", most_notes=MAX_NOTES, longest=LONGEST_TEXT),
        reply=_reply(game_text(env)),
    )


def rules_for_a_person(env: MultiTrial) -> str:
    """What a language model is told of the game, with how a person reads a step.

    Raises:
        ValueError: an unknown game.
    """
    return _world(env, "none", "", turn=fill("person_turn"), notes="", reply="").strip()


def _world(env: MultiTrial, role: AgentRole, revealed: str, **manner: str) -> str:
    """A game's rules, with how its player reads, remembers and replies."""
    game = game_text(env)
    items = fill(f"{game.name}_{role}", **_role_fields(env, role)) if role != "none" else ""
    return fill(
        f"{game.name}_system",
        frame=_frame(env),
        objective=_objective(game, role),
        moving=fill("moving"),
        role=f"{items}\n\n" if items else "",
        revealed=f"{revealed}\n\n" if revealed else "",
        ahead=game.window.ahead,
        behind=game.window.behind,
        side=game.window.side,
        **manner,
        **_NUMBERS[game.name](game.config),
    )


def reveal_text(game: GameText, latent: Latent, reveal: Reveal) -> str:
    """What is told of the hidden rules.

    Raises:
        ValueError: the game has no such part to tell.
    """
    allowed = REVEALS[game.name]
    if reveal not in allowed:
        raise ValueError(f"{game.name} has no reveal {reveal!r}; {nearest(reveal, list(allowed))}")
    if reveal == "none":
        return ""
    if isinstance(game, CleanupText):
        return _recipes(game, latent)
    assert isinstance(game, HarvestText)
    return _pay_and_regrowth(game, latent, reveal)


def _frame(env: MultiTrial) -> str:
    others = [agent_name(seat) for seat in range(1, env.num_agents)]
    return fill(
        "frame",
        agents=env.num_agents,
        trials=env.num_trials,
        steps=env.trial_length,
        others=", ".join(others) or "nobody",
    )


def _objective(game: GameText, role: str) -> str:
    pays = {} if isinstance(game, CleanupText) else {"pays": _alternatives(game.config.pays)}
    name = "objective" if role == "none" else "objective_with_role"
    return fill(name, scoring=fill(f"{game.name}_scoring", **pays))


def _role_fields(env: MultiTrial, role: str) -> dict[str, object]:
    return {"agents": env.num_agents} if role == "cooperator" else {}


def _reply(game: GameText) -> str:
    modes = STEP_REPLIES[game.name].model_json_schema()["properties"]["mode"]["enum"]
    return fill(
        "reply",
        modes=", ".join(f'"{mode}"' for mode in modes),
        actions=", ".join(f'"{action}"' for action in ACTIONS[game.name]),
        examples=examples(game),
    )


def _cleanup_numbers(config: Any) -> dict[str, object]:
    newest = min(1, config.base_tools - 1)
    shades = cleanup_names.SHADES[: config.shades]
    lightening = [
        fill("cleanup_lightening", dark=shades[shade], lighter=shades[shade - 1])
        for shade in range(1, config.shades)
    ]
    return {
        "height": config.height,
        "width": config.width,
        "river": config.river_cells,
        "stream": config.stream_cells,
        "orchard": config.orchard_cells,
        "stations": config.stations,
        "last_tool": config.base_tools - 1,
        "growth_limit": math.ceil(config.dirt_threshold * config.water_cells - 1e-6) - 1,
        "growth": f"{config.apple_growth:g}",
        "spawn_start": config.waste_spawn_start,
        "spawn": f"{config.waste_spawn:g}",
        "hues": config.hues,
        "hue_names": ", ".join(cleanup_names.HUES[: config.hues]),
        "shades": config.shades,
        "shade_names": ", ".join(shades),
        "skew": f"{config.waste_skew:g}",
        "pair": cleanup_names.pair_name(0, newest),
        "first": 0,
        "second": newest,
        "pairs": config.pairs,
        "effects": config.effects,
        "lightening": "".join(lightening),
    }


def _harvest_numbers(config: Any) -> dict[str, object]:
    return {
        "height": config.height,
        "width": config.width,
        "trees": config.trees,
        "patches": config.patches,
        "colour_names": ", ".join(harvest_names.COLOURS[: config.colours]),
        "stage_names": ", then ".join(harvest_names.STAGES),
        "pays": _alternatives(config.pays),
        "speeds": _alternatives(config.speeds),
        "distance": NEIGHBOUR_DISTANCE,
        "near_most": len(config.regrowth) - 1,
        "freeze": config.freeze_steps,
        "cooldown": config.cooldown_steps,
    }


def _alternatives(numbers: tuple[float, ...]) -> str:
    *first, last = (f"{number:g}" for number in numbers)
    return f"{', '.join(first)} or {last}"


def _recipes(game: CleanupText, latent: Latent) -> str:
    effects = np.asarray(latent.rules.effect).tolist()
    lines = [
        f"{cleanup_names.pair_name(*divmod(pair, game.config.base_tools))}: "
        f"{effect_name(game.config, effect)}"
        for pair, effect in enumerate(effects)
        if effect != NOTHING
    ]
    hue = cleanup_names.HUES[int(latent.dominant_hue)]
    return fill("cleanup_reveal", recipes=words.listed(lines), hue=hue)


def _pay_and_regrowth(game: HarvestText, latent: Latent, reveal: Reveal) -> str:
    config, rules = game.config, latent.rules
    near = len(config.regrowth) - 1
    chances = [f"{chance:g} with {count}" for count, chance in enumerate(config.regrowth)]
    base = f"{', '.join(chances)} apples near (the last also with more than {near})"
    speeds = _by_stage(np.asarray(config.speeds)[np.asarray(rules.speed)], "factor {:g}")
    regrowth = fill("harvest_reveal_regrowth", base=base, lines=speeds)
    if reveal == "regrowth":
        return regrowth
    pays = _by_stage(np.asarray(config.pays)[np.asarray(rules.pay)], "{:g} points")
    return fill("harvest_reveal_pay", lines=pays) + "\n\n" + regrowth


def _by_stage(table: np.ndarray, form: str) -> str:
    """A line for each colour."""
    lines = []
    for colour, numbers in enumerate(table.tolist()):
        stages = zip(harvest_names.STAGES, numbers, strict=True)
        told = ", ".join(f"{name} {form.format(number)}" for name, number in stages)
        lines.append(f"{harvest_names.COLOURS[colour]}: {told}")
    return words.listed(lines)


GAMES: dict[str, Any] = {"cleanup": CleanupText, "harvest": HarvestText}
"""The games that models can play."""

_NUMBERS = {"cleanup": _cleanup_numbers, "harvest": _harvest_numbers}
