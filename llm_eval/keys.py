"""The key of each action, and keys that say the same."""

from llm_eval.replies import ACTIONS

KEYS = {
    "north": "w",
    "south": "s",
    "east": "d",
    "west": "a",
    "turn_left": "q",
    "turn_right": "e",
    "fire": "f",
    "zap": "f",
    "stay": "x",
    "pick_up": "p",
}
"""By the action's name; laid out on the keyboard like the map, north up."""

ARROWS = {"north": "up", "south": "down", "east": "right", "west": "left"}
"""The arrow key that does the same as a letter."""

HELP, RULES = "?", "r"
"""List the keys; tell the rules of the game."""


def actions_by_key(game: str) -> dict[str, str]:
    """What each key does in a game, by the key's letter or name."""
    names = ACTIONS[game]
    letters = {KEYS[name]: name for name in names}
    return letters | {ARROWS[name]: name for name in names if name in ARROWS}


def key_help(game: str) -> str:
    """All keys of a game, one a line."""
    lines = [f"{_keys(name):<12}{name}" for name in ACTIONS[game]]
    lines += [
        f"{HELP:<12}this list",
        f"{RULES:<12}the rules of the game, as far as they are not hidden",
        f"{'Ctrl-C':<12}stop; the same command goes on from here",
    ]
    return "\n".join(lines)


def _keys(action: str) -> str:
    arrow = ARROWS.get(action)
    return KEYS[action] + (f" or {arrow}" if arrow else "")
