"""Sheets as rows of cells that know where they stand."""

from __future__ import annotations

import datetime as dt
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

MAX_TEXT = 32_767
"""Longest text of a cell, the limit of spreadsheet programs."""

Range = tuple[int, int, int, int]
"""First row, first column, last row, last column; all from 1."""


def column_name(column: int) -> str:
    """Return the letters of a column counted from 1.

    >>> column_name(1), column_name(26), column_name(27), column_name(703)
    ('A', 'Z', 'AA', 'AAA')
    """
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def column_number(name: str) -> int:
    """Return the number of a column named by letters: ``AA`` is 27."""
    number = 0
    for letter in name.upper():
        number = number * 26 + ord(letter) - 64
    return number


def clean(text: str) -> str:
    """Return text without control characters and outer blanks; lines inside a cell become one."""
    if text.isascii() and text.isprintable():
        return text.strip()
    kept = (" " if char in "\t\n\r\x0b\x0c\x85\u2028\u2029" else char for char in text)
    return "".join(char for char in kept if unicodedata.category(char) not in ("Cc", "Cs", "Co", "Cf")).strip()


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell that is not blank.

    Attributes:
        sheet: Name of its sheet; empty for a file without sheets.
        row: From 1.
        column: From 1.
        text: As typed, cleaned; of a number or date its plain form.
        value: Number or date of a typed cell; None for text.
        currency: Currency its number format shows, e.g. ``$`` or ``EUR``; empty when none.
        origin: ``formula`` when the value was computed here, else empty.
    """

    sheet: str
    row: int
    column: int
    text: str
    value: Decimal | dt.date | None = None
    currency: str = ""
    origin: str = ""

    @property
    def place(self) -> str:
        """``Detail!H27``, or ``H27`` without sheets."""
        name = f"{column_name(self.column)}{self.row}"
        return f"{self.sheet}!{name}" if self.sheet else name

    @property
    def number(self) -> Decimal | None:
        """The number of a typed cell."""
        return self.value if isinstance(self.value, Decimal) else None


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its number from 1 and its cells by column."""

    number: int
    cells: Mapping[int, Cell]

    def text(self, column: int) -> str:
        """Return the text of a column; empty when blank."""
        cell = self.cells.get(column)
        return cell.text if cell else ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet: rows that hold something, in order.

    Attributes:
        name: Name; empty for a file without sheets.
        rows: Rows with at least one cell.
        merged: Ranges merged into one cell.
        hidden: True when the workbook hides it.
    """

    name: str
    rows: tuple[Row, ...]
    merged: tuple[Range, ...] = ()
    hidden: bool = False

    def cells(self) -> Iterator[Cell]:
        """Yield every cell, row by row."""
        for row in self.rows:
            yield from row.cells.values()

    def with_cells(self, changes: Mapping[tuple[int, int], Cell]) -> Sheet:
        """Return the sheet with some cells put in place, by row and column."""
        table: dict[int, dict[int, Cell]] = {row.number: dict(row.cells) for row in self.rows}
        for (row, column), cell in changes.items():
            table.setdefault(row, {})[column] = cell
        rows = (Row(number, dict(sorted(cells.items()))) for number, cells in sorted(table.items()))
        return replace(self, rows=tuple(rows))


@dataclass(frozen=True, slots=True)
class Book:
    """One file of sheets.

    Attributes:
        name: File name as shown.
        sha256: Checksum of the file.
        sheets: Its sheets in order.
        remarks: (code, place, message) of what reading it had to assume.
    """

    name: str
    sha256: str
    sheets: tuple[Sheet, ...]
    remarks: tuple[tuple[str, str, str], ...] = field(default=())


def sheet_of(name: str, lines: Iterable[tuple[int, Iterable[str]]]) -> Sheet:
    """Return a sheet of text cells from numbered lines of fields."""
    rows = []
    for number, fields in lines:
        cells = {
            position: Cell(name, number, position, text) for position, text in enumerate(map(clean, fields), 1) if text
        }
        if cells:
            rows.append(Row(number, cells))
    return Sheet(name, tuple(rows))
