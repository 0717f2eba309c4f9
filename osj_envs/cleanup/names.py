"""What people call the things of OpenCleanup, in text and pictures alike."""

HUES = ("red", "yellow", "green", "cyan", "purple", "orange", "white", "magenta", "brown")
"""Names of the hues by code, the paper's five first; no two start alike.

There are enough for every `CleanupConfig`, which allows no more hues than these.
"""

SHADES = ("light", "mid", "dark")
"""Names of the shades by code."""


def waste_name(hue: int, shade: int) -> str:
    """A colour of waste, such as `light cyan`."""
    return f"{SHADES[shade]} {HUES[hue]}"


def waste_mark(hue: int, shade: int) -> str:
    """A colour of waste in two letters, such as `c0`: the hue's first letter, and the shade."""
    return f"{HUES[hue][0]}{shade}"


def pair_name(first: int, second: int) -> str:
    """A tool: its two base tools, the one picked up first named first."""
    return f"{first} then {second}"


def clearing_name(hue: int) -> str:
    """The effect that turns light waste of a hue to water."""
    return f"clears {waste_name(hue, 0)}"


def lightening_name(shade: int) -> str:
    """The effect that turns waste of a shade, 1 up, of any hue, one shade lighter."""
    return f"turns {SHADES[shade]} of any hue to {SHADES[shade - 1]}"
