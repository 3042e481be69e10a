"""Write tables as CSV and XLSX; text is never a live formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping as Map
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from optimizer.errors import InputError, Problem
from optimizer.io.importing.records import neutral

_EXACT_DIGITS = 15  # a spreadsheet number keeps so many digits

MAX_CELL = 32_000
"""Longest text of a cell that is written."""


@dataclass(frozen=True, slots=True)
class Page:
    """One sheet to write.

    Attributes:
        name: Name of the sheet.
        rows: Rows of texts, numbers and None.
        widths: Column (from 0) -> width in characters.
        bold: Rows (from 0) in bold.
        lists: Column -> words to choose from, in rows ``first`` to ``last`` (from 0).
        notes: (row, column) -> note beside the cell.
        hidden: True to hide the sheet.
    """

    name: str
    rows: Sequence[Sequence[object]]
    widths: Map[int, int] = field(default_factory=dict)
    bold: frozenset[int] = frozenset()
    lists: Map[tuple[int, int, int], Sequence[str]] = field(default_factory=dict)
    notes: Map[tuple[int, int], str] = field(default_factory=dict)
    hidden: bool = False


def csv_text(rows: Sequence[Sequence[object]]) -> str:
    """Return rows as CSV; text that looks like a formula gets an apostrophe in front."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    for row in rows:
        writer.writerow([_text(value) for value in row])
    return out.getvalue()


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:f}" if isinstance(value, Decimal) else neutral(value) if isinstance(value, str) else str(value)


def write_xlsx(path: Path, pages: Sequence[Page]) -> None:
    """Write sheets as XLSX; all text as strings.

    Raises:
        InputError: The file cannot be written.
    """
    import xlsxwriter  # noqa: PLC0415 - only when a workbook is written
    from xlsxwriter.exceptions import FileCreateError  # noqa: PLC0415

    options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    book = xlsxwriter.Workbook(str(path), options)
    bold = book.add_format({"bold": True})
    for page in pages:
        _write_page(book.add_worksheet(page.name), page, bold)
    try:
        book.close()
    except (FileCreateError, OSError) as error:
        raise InputError([Problem(str(path), f"cannot be written ({error})", "")]) from None


def _write_page(sheet: object, page: Page, bold: object) -> None:
    for number, row in enumerate(page.rows):
        for column, value in enumerate(row):
            _write_cell(sheet, number, column, value, bold if number in page.bold else None)
    for column, width in page.widths.items():
        sheet.set_column(column, column, width)  # type: ignore[attr-defined]  # the library has no types
    for (column, first, last), words in page.lists.items():
        rule = {"validate": "list", "source": list(words)} if sum(map(len, words)) < 200 else None
        if rule:
            sheet.data_validation(first, column, last, column, rule)  # type: ignore[attr-defined]
    for (number, column), note in page.notes.items():
        sheet.write_comment(number, column, note)  # type: ignore[attr-defined]
    if page.hidden:
        sheet.hide()  # type: ignore[attr-defined]


def _write_cell(sheet: object, row: int, column: int, value: object, style: object) -> None:
    if value is None:
        return
    if isinstance(value, (int, Decimal)) and _fits(value):
        sheet.write_number(row, column, float(value), style)  # type: ignore[attr-defined]
    else:
        text = f"{value:f}" if isinstance(value, Decimal) else str(value)
        if len(text) > MAX_CELL:
            raise InputError(
                [Problem(f"row {row + 1}", f"a text of {len(text):,} characters", f"Expected at most {MAX_CELL:,}")]
            )
        sheet.write_string(row, column, text, style)  # type: ignore[attr-defined]


def _fits(value: int | Decimal) -> bool:
    """True when a spreadsheet number keeps every digit."""
    return len(f"{abs(value):f}".replace(".", "").strip("0")) <= _EXACT_DIGITS and Decimal(repr(float(value))) == value
