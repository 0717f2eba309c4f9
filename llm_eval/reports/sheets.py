"""Sheets of figures: for a person as text or Markdown, and as CSV with every number."""

import csv
import dataclasses
import io
import itertools
import math
import textwrap
from collections.abc import Sequence
from typing import TypeAlias

from rich.box import MARKDOWN, SIMPLE_HEAD, Box
from rich.console import Console
from rich.table import Table

from llm_eval.reports.measures import Measured, Quantity
from osj_envs.metrics import TABLE_WIDTH, UNDEFINED
from osj_envs.statistics import LEVEL

SEEDS = "seeds"
"""Heading of the column with the number of problem seeds behind a row."""

UNLIMITED = 10_000
"""Width of the page on which tables are laid out: their lines are not broken."""

Cell: TypeAlias = str | int | Measured


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of a sheet.

    Attributes:
        key: its name in CSV files.
        heading: for a person.
        is_share: its numbers are shown in per cent.
    """

    key: str
    heading: str
    is_share: bool = False


@dataclasses.dataclass(frozen=True)
class Sheet:
    """A table.

    Attributes:
        title: what it shows.
        columns: of the rows.
        rows: of cells; numbers are `Measured` figures without axes.
        notes: what a reader must know.
        name: of its CSV file, after that of the report's table or figure; empty for the main one.
    """

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[Cell, ...]]
    notes: tuple[str, ...] = ()
    name: str = ""

    def text(self) -> str:
        """For a person."""
        lines = self._lines(SIMPLE_HEAD)
        if max(map(len, lines)) > TABLE_WIDTH:
            lines = self._lines(SIMPLE_HEAD, between="\n")
        notes = [textwrap.fill(note, TABLE_WIDTH) for note in self._all_notes()]
        return "\n".join([self.title, *lines, *notes])

    def markdown(self) -> str:
        """The same as Markdown."""
        lines = [line.strip() for line in self._lines(MARKDOWN)]
        parts = [f"**{self.title}**", "\n".join(filter(None, lines)), *self._all_notes()]
        return "\n\n".join(parts)

    def csv(self) -> str:
        """Every number with its interval, standard deviation and problem seeds."""
        page = io.StringIO()
        writer = csv.writer(page, lineterminator="\n")
        numbers = [
            any(isinstance(row[place], Measured) for row in self.rows)
            for place in range(len(self.columns))
        ]
        named = [_names(*each) for each in zip(self.columns, numbers, strict=True)]
        writer.writerow(itertools.chain(*named))
        for row in self.rows:
            valued = [_values(*each) for each in zip(row, numbers, strict=True)]
            writer.writerow(itertools.chain(*valued))
        return page.getvalue()

    def _lines(self, box: Box, between: str = " ") -> list[str]:
        """The table; with its numbers' intervals beside them, or beneath."""
        grid = Table(box=box, padding=(0, 1, 0, 0))
        for column in self.columns:
            grid.add_column(column.heading, no_wrap=True)
        for row in self.rows:
            texts = self._texts(row, is_markdown=box is MARKDOWN)
            grid.add_row(*(text.replace(" (", f"{between}(") for text in texts))
        page = io.StringIO()
        Console(file=page, width=UNLIMITED, markup=False, highlight=False).print(grid)
        return [line.rstrip() for line in page.getvalue().splitlines()]

    def _texts(self, row: tuple[Cell, ...], is_markdown: bool) -> list[str]:
        """A row's cells; seeds are told where a number has fewer than its row."""
        texts = []
        for column, cell in zip(self.columns, row, strict=True):
            if isinstance(cell, Measured):
                mark = f" [{int(cell.seeds)}]" if self._has_fewer(row, cell) else ""
                texts.append(f"{cell_text(cell, column.is_share)}{mark}")
            else:
                texts.append(str(cell).replace("|", "\\|") if is_markdown else str(cell))
        return texts

    def _has_fewer(self, row: tuple[Cell, ...], cell: Cell) -> bool:
        """Whether a number has fewer problem seeds than its row."""
        headings = [column.heading for column in self.columns]
        if SEEDS not in headings or not isinstance(cell, Measured) or math.isnan(cell.value):
            return False
        return int(cell.seeds) != row[headings.index(SEEDS)]

    def _all_notes(self) -> tuple[str, ...]:
        has_fewer = any(self._has_fewer(row, cell) for row in self.rows for cell in row)
        return (*self.notes, *((FEWER,) if has_fewer else ()))


FEWER = "In square brackets: a number's problem seeds, where they are fewer than its row's."
INTERVALS = f"In brackets: {LEVEL:.0%} intervals, by bootstrap over problem seeds."
"""A note of most sheets."""


def columns_of(quantities: Sequence[Quantity]) -> tuple[Column, ...]:
    """A column for each figure."""
    return tuple(Column(each.key, each.heading, each.is_share) for each in quantities)


def cell_text(cell: Measured, is_share: bool) -> str:
    """A number and its interval for a person; lines do not break within an interval."""
    value, low, high = (float(each) for each in (cell.value, cell.low, cell.high))
    if math.isnan(value):
        return UNDEFINED
    ends = "" if math.isnan(low) else f" ({_number(low, is_share)}..{_number(high, is_share)})"
    return f"{_number(value, is_share)}{ends}"


def _number(value: float, is_share: bool) -> str:
    if is_share:
        return f"{round(100 * value) + 0}%"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    # Adding 0 makes a negative zero a plain one.
    return f"{round(value, digits) + 0.0:,.{digits}f}"


def _names(column: Column, is_number: bool) -> list[str]:
    ends = ("", "_low", "_high", "_sd", "_seeds") if is_number else ("",)
    return [f"{column.key}{end}" for end in ends]


def _values(cell: Cell, is_number: bool) -> list[str]:
    if not is_number:
        return [str(cell)]
    if not isinstance(cell, Measured):
        raise TypeError(f"{cell!r} stands in a column of numbers.")
    numbers = [float(each) for each in (cell.value, cell.low, cell.high, cell.sd)]
    return [*("" if math.isnan(each) else f"{each:.6g}" for each in numbers), str(int(cell.seeds))]
