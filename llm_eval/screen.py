"""How a person's texts are laid out on a terminal."""

import re

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

NARROWEST = 76
"""Columns of a terminal on which the board and the actions still fit side by side."""

BOARD, BOARD_END = "NOW", "\nUnder agents: "
"""The block that is drawn on the left, up to and with the line that begins so."""

RIGHT = ("ACTIONS NOW", "LAST STEP")
"""The blocks that are drawn on the right; all others go above."""


def lay_out(step: str, width: int) -> RenderableType:
    """A step's text: the board and what can be done side by side at the bottom.

    Args:
        step: made of the prompt `person`.
        width: columns of the terminal.
    """
    if width < NARROWEST:
        return styled(step)
    head, *rest = re.split(r"\n\n(?=# )", step)
    blocks = {block.partition("\n")[0].removeprefix("# "): block for block in rest}
    board, further = _cut(blocks.pop(BOARD))
    right = _joined([blocks.pop(name) for name in RIGHT])
    sides = Table.grid(padding=(0, 2), expand=True)
    sides.add_column(ratio=1)
    sides.add_column(ratio=1)
    sides.add_row(styled(board), right)
    return Group(_joined([head, *blocks.values(), *further]), Text(""), sides)


def pages(text: str, console: Console, kept: int) -> list[Text]:
    """A text cut to what fits on the terminal at a time.

    Args:
        text: to be read.
        console: the terminal.
        kept: lines to be left free below it.
    """
    lines = styled(text).wrap(console, console.width)
    length = max(console.height - kept, 1)
    parts = [lines[start : start + length] for start in range(0, len(lines), length)]
    return [Text("\n").join(part) for part in parts]


def styled(text: str) -> Text:
    """The text with headings, keys and the reader's own agent set off."""
    drawn = Text(text)
    drawn.highlight_regex(r"(?m)^#+ .*$", "bold")
    drawn.highlight_regex(r"(?m)^\[.\]", "bold")
    drawn.highlight_regex(r"\bA[<>^v](?=\s)", "reverse")
    return drawn


def _cut(block: str) -> tuple[str, list[str]]:
    """The board with what stands around it, and what follows, if anything does."""
    end = block.find("\n", block.index(BOARD_END) + 1)
    return (block, []) if end < 0 else (block[:end], [block[end + 1 :]])


def _joined(blocks: list[str]) -> Text:
    return styled("\n\n".join(blocks))
