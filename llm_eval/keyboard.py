"""A person at a terminal, asked like a model: a client that shows a step and waits for a key."""

import asyncio
import json
import os
import re
import termios
import time
import tty
from types import TracebackType
from typing import Protocol, Self, TextIO

from rich.console import Console, RenderableType

from llm_eval.clients.base import Reply, Request
from llm_eval.keys import HELP, RULES, actions_by_key, key_help
from llm_eval.screen import lay_out, pages

END_OF_INPUT = "\x04"
"""Ctrl-D, which a terminal hands on as a letter where keys come one by one."""

KEY = re.compile(r"\x1b[\[O][\d;]*[A-Za-z~]|.", re.DOTALL)
"""One key as a terminal writes it."""

ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
"""By the letter that ends an arrow key's sequence."""

HINT = "? lists the keys, r tells the rules, Ctrl-C stops."
BACK = "Any key goes on."


class Keys(Protocol):
    """Where keys come from."""

    async def next(self) -> str:
        """The next key: its letter, or `up`, `down`, `right` or `left`."""


class Keyboard:
    """The keys of a terminal, one by one and without Enter, while the context lasts.

    Args:
        terminal: whose keys they are.
    """

    def __init__(self, terminal: TextIO) -> None:
        self._file = terminal.fileno()
        self._typed = ""

    def __enter__(self) -> Self:
        self._before = termios.tcgetattr(self._file)
        self._take_keys()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        termios.tcsetattr(self._file, termios.TCSADRAIN, self._before)

    async def next(self) -> str:
        """The next key; at the end of the input the program is interrupted as by Ctrl-C."""
        while not self._typed:
            self._typed = await self._read()
        found = KEY.match(self._typed)
        assert found is not None
        self._typed = self._typed[found.end() :]
        if found.group() == END_OF_INPUT:
            await interrupt()
        return _name(found.group())

    async def _read(self) -> str:
        self._take_keys()  # again, since a shell sets it back when it fetches the program
        loop, came = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._file, came.set)
        try:
            await came.wait()
        finally:
            loop.remove_reader(self._file)
        return os.read(self._file, 1024).decode(errors="replace") or END_OF_INPUT

    def _take_keys(self) -> None:
        """Has the terminal hand on each key at once, those typed before included."""
        tty.setcbreak(self._file, termios.TCSADRAIN)


class Person:
    """A client that is a person; several seats of it are asked one after the other.

    Args:
        keys: that are pressed.
        console: that is looked at.
        game: whose actions can be chosen.
    """

    def __init__(self, keys: Keys, console: Console, game: str) -> None:
        self._keys = keys
        self._console = console
        self._game = game
        self._actions = actions_by_key(game)
        self._turn = asyncio.Lock()

    async def complete(self, request: Request) -> Reply:
        """The action that the person chose, as a JSON object; see `Client`."""
        async with self._turn:
            begun = time.monotonic()
            action = await self._choose(request)
            self._console.print(f"{action}. The others' turn ...", style="dim")
        text = json.dumps({"action": action})
        return Reply(text, seconds=time.monotonic() - begun, model="human")

    async def _choose(self, request: Request) -> str:
        step, said = request.messages[-1].content, HINT
        while True:
            board = lay_out(step, self._console.width)
            self._show(board, f"Seat {request.tags['seat']}. {said}")
            key = await self._keys.next()
            if key in self._actions:
                return self._actions[key]
            said = HINT
            if key == HELP:
                await self._read_through(key_help(self._game))
            elif key == RULES:
                await self._read_through(request.system)
            else:
                said = f"{key!r} is no key here. {HINT}"

    async def _read_through(self, text: str) -> None:
        """Shows a text page by page."""
        for page in pages(text, self._console, kept=2):
            self._show(page, BACK)
            await self._keys.next()

    def _show(self, shown: RenderableType, below: str) -> None:
        self._console.clear()
        self._console.print(shown)
        self._console.print(below, style="dim", highlight=False)


def check_terminal(stdin: TextIO) -> None:
    """Raises ValueError if nobody can press keys there."""
    if not stdin.isatty():
        raise ValueError(
            "A human plays by the keys of a terminal, and standard input is none; start the "
            "program in a terminal, or take another player for human."
        )


def _name(key: str) -> str:
    return ARROWS.get(key[-1], "an unknown key") if len(key) > 1 else key


async def interrupt() -> None:
    """Does what Ctrl-C does, also where that signal is ignored, as in jobs in the background."""
    raise KeyboardInterrupt
