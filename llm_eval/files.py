"""Files that survive a kill at any point: whole or absent, or lines with only the last torn."""

import asyncio
import json
import os
import pathlib
from collections.abc import Mapping
from typing import Any


def to_line(entry: Mapping[str, Any]) -> bytes:
    """An entry as one line of JSON, the same bytes for the same content."""
    return json.dumps(entry, sort_keys=True, allow_nan=False).encode("ascii") + b"\n"


def write_whole(path: pathlib.Path, content: Mapping[str, Any], is_lasting: bool = True) -> None:
    """Writes a JSON file, which other processes see whole: the old one or the new one.

    Args:
        path: of the file.
        content: in JSON types.
        is_lasting: wait until it would outlive the machine.
    """
    draft = path.with_name(f".{path.name}.draft")
    with draft.open("wb") as file:
        file.write(json.dumps(content, indent=2, allow_nan=False).encode("ascii") + b"\n")
        file.flush()
        if is_lasting:
            os.fsync(file.fileno())
    draft.replace(path)
    if is_lasting:
        sync_folder(path.parent)


def sync_folder(folder: pathlib.Path) -> None:
    """Makes the names of a folder's files outlive the machine."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_lines(path: pathlib.Path) -> tuple[list[dict[str, Any]], int]:
    """The entries of a file of JSON lines, without a torn last one; none if there is no file.

    Returns:
        The entries, and the bytes that they take.

    Raises:
        ValueError: a line before the last is no JSON.
    """
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    whole = lines[:-1]  # what follows the last newline was never finished
    if whole and not _is_entry(whole[-1]):
        whole = whole[:-1]
    for number, line in enumerate(whole, 1):
        if not _is_entry(line):
            raise ValueError(f"Line {number} of {path} is damaged; begin a new run.")
    return [json.loads(line) for line in whole], sum(len(line) + 1 for line in whole)


def _is_entry(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


class LastingLines:
    """A file of JSON lines to which entries are added for good.

    Args:
        path: of the file; a torn last line is cut off.

    Attributes:
        entries: those that were there.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self.entries, size = read_lines(path)
        self._file = path.open("ab", buffering=0)
        self._file.truncate(size)
        sync_folder(path.parent)
        self._written = 0
        self._lasting = 0
        self._syncing = asyncio.Lock()

    async def append(self, entry: Mapping[str, Any]) -> None:
        """Adds an entry; when this returns it outlives the machine.

        Entries that come while the disk is busy share its next turn.
        """
        self._file.write(to_line(entry))
        self._written += 1
        mine = self._written
        async with self._syncing:
            if self._lasting < mine:
                reached = self._written
                await asyncio.to_thread(os.fsync, self._file.fileno())
                self._lasting = reached

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


class RepeatedLines:
    """A file of JSON lines that a resumed run writes again from its start.

    What is there already is compared, and the file grows once the run is beyond it.

    Args:
        path: of the file; a torn last line is cut off.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self._file = path.open("ab", buffering=0)
        self._file.truncate(_end_of_lines(path))
        self._there = path.open("rb")
        self._count = 0

    def append(self, entry: Mapping[str, Any]) -> bool:
        """Adds an entry, or finds the same one there.

        Returns:
            Whether it was not there.

        Raises:
            ValueError: another one is there: the run did not repeat itself.
        """
        line, there = to_line(entry), self._there.readline()
        self._count += 1
        if not there:
            self._file.write(line)
            self._there.seek(0, os.SEEK_END)
        elif there != line:
            raise ValueError(
                f"Line {self._count} of {self._path} was recorded otherwise: the run did not "
                "repeat itself; go on with the version that began it, or begin a new one."
            )
        return not there

    def finish(self) -> None:
        """Makes all entries outlive the machine.

        Raises:
            ValueError: some of those recorded did not come again.
        """
        if self._there.readline():
            raise ValueError(
                f"{self._path} holds more than {self._count} lines, and the run ended there; go on "
                "with the version that began it, or begin a new one."
            )
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
        self._there.close()


def _end_of_lines(path: pathlib.Path, block: int = 1 << 16) -> int:
    """Bytes up to the last newline, and it."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end:
            start = max(end - block, 0)
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            end = start
    return 0
