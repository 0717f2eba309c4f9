"""What people call the things of OpenHarvest, in text and pictures alike."""

COLOURS = ("red", "yellow", "green", "cyan", "purple")
"""Names of the colours by code; no two start alike.

There are enough for every `HarvestConfig`, which allows no more colours than these.
"""

STAGES = ("unripe", "ripe", "over-ripe")
"""Names of the stages by code."""


def apple_name(colour: int, stage: int) -> str:
    """An apple, such as `ripe cyan apple`."""
    return f"{STAGES[stage]} {COLOURS[colour]} apple"


def apple_mark(colour: int, stage: int) -> str:
    """An apple in two letters, such as `c1`: the colour's first letter, and the stage."""
    return f"{COLOURS[colour][0]}{stage}"


def bare_name(colour: int) -> str:
    """A tree without its apple, such as `bare cyan tree`."""
    return f"bare {COLOURS[colour]} tree"


def bare_mark(colour: int) -> str:
    """A tree without its apple in two letters, such as `c-`."""
    return f"{COLOURS[colour][0]}-"


def loss_name(lost: int) -> str:
    """How a cell lost its apple, by its `Lost` code, 1 up: `eaten ripe`, say, or `rotted`."""
    return f"eaten {STAGES[lost - 1]}" if lost <= len(STAGES) else "rotted"
