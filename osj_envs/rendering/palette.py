"""Colours of the pictures. A colour never tells two things apart alone: a mark goes with it."""

from typing import TypeAlias

Colour: TypeAlias = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

WHITE: Colour = (255, 255, 255)
INK: Colour = (30, 34, 44)

GRASS: Colour = (205, 218, 170)
GRASS_BLADE: Colour = (172, 190, 132)
SLAB: Colour = (160, 166, 148)
SPAWN_RING: Colour = (250, 250, 242)
SOIL: Colour = (150, 110, 76)
FURROW: Colour = (122, 86, 58)
SPROUT: Colour = (196, 160, 118)
LEAF: Colour = (52, 112, 62)
LEAF_LIGHT: Colour = (84, 150, 82)
APPLE: Colour = (236, 52, 50)
STALK: Colour = (74, 50, 34)
WATER: Colour = (86, 152, 214)
WAVE: Colour = (148, 198, 240)
BANK: Colour = (240, 228, 190)
CARD: Colour = (246, 244, 238)
SHOT: Colour = (255, 244, 150)
FROST: Colour = (214, 240, 252)
SHEET: Colour = (252, 252, 250)

HUES: tuple[Colour, ...] = (
    (226, 62, 52),
    (246, 204, 34),
    (62, 170, 72),
    (6, 172, 194),
    (152, 78, 196),
    (240, 130, 32),
    (214, 214, 218),
    (230, 90, 170),
    (140, 94, 52),
)
"""Hues at their middle shade, in the order of the hues' codes."""

TOOLS: tuple[Colour, ...] = (
    (28, 88, 190),
    (222, 108, 8),
    (176, 28, 112),
    (44, 50, 62),
    (14, 130, 112),
    (120, 82, 40),
    (104, 62, 180),
    (128, 132, 20),
)
"""Base tools; they repeat after the last, and their number goes with them."""

AGENTS: tuple[Colour, ...] = (
    (214, 48, 80),
    (36, 104, 214),
    (240, 152, 24),
    (22, 140, 96),
    (140, 60, 200),
    (0, 166, 200),
    (240, 96, 180),
    (112, 74, 42),
    (120, 160, 20),
    (64, 70, 92),
    (252, 112, 84),
    (24, 36, 140),
    (168, 132, 0),
    (130, 10, 60),
    (0, 88, 84),
    (156, 140, 168),
)
"""Agents; they repeat after the last, and their letter goes with them."""


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """The colour `share` of the way from the first to the second."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def hue_colour(hue: int) -> Colour:
    """A hue's middle shade."""
    return HUES[hue % len(HUES)]


def shade_colour(hue: int, shade: int) -> Colour:
    """A hue at shade 0 (light), 1 (middle) or 2 (dark)."""
    colour = hue_colour(hue)
    return (mix(colour, WHITE, 0.6), colour, mix(colour, INK, 0.55))[shade]


def tool_colour(tool: int) -> Colour:
    """The colour of a base tool."""
    return TOOLS[tool % len(TOOLS)]


def agent_colour(agent: int) -> Colour:
    """The colour of the agent in a seat."""
    return AGENTS[agent % len(AGENTS)]
