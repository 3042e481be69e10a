"""A workbook with a few styles: text always as text, formulas with their value, reproducible to the byte."""

from __future__ import annotations

import datetime as dt
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from io import BytesIO
from typing import Literal

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.utility import xl_rowcol_to_cell
from xlsxwriter.worksheet import Worksheet

from optimizer.report.language import Language
from optimizer.units import minor_digits, round_money

Style = Literal[
    "text", "lead", "title", "note", "head", "head_figure", "money", "exact", "number", "factor", "percent", "date",
    "input", "input_percent", "unit", "warning",
]  # fmt: skip

REPORT_RATE = "report_rate"
"""Name of the cell that converts the plan's currency to the one amounts are shown in."""

MAX_TEXT = 32_767
"""Characters a cell can hold; longer text is cut with an ellipsis."""

_MOST_TITLE = 31
"""Characters the name of a sheet may have."""

_SHORT = 60
"""Characters that need no second line."""

_LINE_POINTS = 15.0
"""Height of a line of text, points."""

_MOST_POINTS = 409.0
"""Greatest height of a row, points."""

_OPTIONS = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_numbers": False,
    "strings_to_urls": False,
}
_DATE = {"en": "yyyy-mm-dd", "zh": 'yyyy"年"m"月"d"日"'}
_HEAD = {"bold": True, "bottom": 1, "text_wrap": True, "bg_color": "#EEF1F5"}
_INPUT = {"bg_color": "#FFF7D6", "font_color": "#0B3FA8", "border": 1, "border_color": "#D9C77A"}


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula and the value it has in the plan, which viewers that do not recalculate show."""

    text: str
    value: Decimal | str


Content = str | int | float | Decimal | dt.date | Formula | None
"""What a cell can hold; None is an unknown value."""


@dataclass(eq=False)
class Book:
    """A workbook in memory.

    Attributes:
        language: Words, and how dates look.
        currency: Currency of the plan's amounts.
        shown: Currency amounts are shown in.
        rate: What one unit of the plan's currency is in the shown one.
        today: Stands as the date of creation, so that one plan always gives one file.
    """

    language: Language
    currency: str
    shown: str
    rate: Decimal
    today: dt.date
    _buffer: BytesIO = field(default_factory=BytesIO)

    @cached_property
    def _workbook(self) -> xlsxwriter.Workbook:
        workbook = xlsxwriter.Workbook(self._buffer, _OPTIONS)
        workbook.set_properties({"created": dt.datetime.combine(self.today, dt.time())})
        workbook.set_calc_mode("auto")
        return workbook

    @cached_property
    def _looks(self) -> dict[Style, dict[str, object]]:
        digits = minor_digits(self.shown)
        money = "#,##0" + ("." + "0" * digits if digits else "")
        return {
            "text": {"num_format": "@"},
            "lead": {"num_format": "@", "bold": True},
            "title": {"bold": True, "font_size": 14},
            "note": {"italic": True, "font_color": "#555555"},
            "head": _HEAD,
            "head_figure": _HEAD | {"align": "right"},
            "money": {"num_format": f"{money};[Red]-{money}"},
            "exact": {"num_format": "#,##0.000000;[Red]-#,##0.000000", "font_color": "#777777"},
            "number": {"num_format": "#,##0.######"},
            "factor": {"num_format": "General"},
            "percent": {"num_format": "0.00%"},
            "date": {"num_format": _DATE[self.language.code], "align": "left"},
            "unit": {"num_format": "@", "indent": 1},
            "input": _INPUT,
            "input_percent": _INPUT | {"num_format": "0.00%"},
            "warning": {"bold": True, "font_color": "#B00020"},
        }

    @cached_property
    def _formats(self) -> dict[Style, Format]:
        return {style: self._workbook.add_format({"valign": "top"} | look) for style, look in self._looks.items()}

    @cached_property
    def _wrapped(self) -> dict[Style, Format]:
        wrapping = {"valign": "top", "text_wrap": True}
        return {style: self._workbook.add_format(look | wrapping) for style, look in self._looks.items()}

    def page(self, title: str, widths: Sequence[float]) -> Page:
        """Return a new sheet with its column widths in characters; long titles are cut after a word."""
        short = (
            title if len(title) <= _MOST_TITLE else title[: _MOST_TITLE + 1].rpartition(" ")[0] or title[:_MOST_TITLE]
        )
        sheet = self._workbook.add_worksheet(short)
        for column, width in enumerate(widths):
            sheet.set_column(column, column, width)
        sheet.set_landscape()
        sheet.fit_to_pages(1, 0)
        return Page(sheet.get_name(), sheet, self._formats, self._wrapped, self.language, tuple(widths))

    def rounded(self, formula: str) -> str:
        """Return the formula of an exact amount, rounded half up to the minor unit as the plan's is; then converted."""
        own = f"ROUND({formula},{minor_digits(self.currency)})"
        return own if self.shown == self.currency else f"ROUND({own}*{REPORT_RATE},{minor_digits(self.shown)})"

    def amount(self, exact: Decimal) -> Decimal:
        """Return an amount of the plan as it is shown: rounded half up to the minor unit, then converted."""
        own = round_money(exact, self.currency)
        return own if self.shown == self.currency else round_money(own * self.rate, self.shown)

    def head(self, key: str, *, exact: bool = False) -> str:
        """Return the heading of a column of amounts with its currency: exact ones keep the plan's."""
        return f"{self.language.text(key)} ({self.currency if exact else self.shown})"

    def name(self, name: str, place: str) -> None:
        """Define a name for a cell."""
        self._workbook.define_name(name, f"={place}")

    def content(self) -> bytes:
        """Close the workbook and return its bytes."""
        self._workbook.close()
        return self._buffer.getvalue()


@dataclass(eq=False)
class Page:
    """A sheet that is filled row by row.

    Attributes:
        title: Its name.
        widths: Width of each column in characters.
        row: The next free row, counted from 0.
    """

    title: str
    _sheet: Worksheet
    _formats: dict[Style, Format]
    _wrapped: dict[Style, Format]
    _language: Language
    widths: tuple[float, ...]
    row: int = 0

    def put(self, row: int, column: int, content: Content, style: Style = "text") -> None:
        """Write a cell."""
        look = self._formats[style]
        if isinstance(content, Formula):
            value = float(content.value) if isinstance(content.value, Decimal) else content.value
            self._sheet.write_formula(row, column, f"={content.text}", look, value)
        elif isinstance(content, str):
            wrapped = self._lines(content, style, column) > 1
            self._sheet.write_string(row, column, _kept(content), self._wrapped[style] if wrapped else look)
        elif isinstance(content, dt.date):
            self._sheet.write_datetime(row, column, dt.datetime.combine(content, dt.time()), look)
        elif content is None:
            self._sheet.write_string(row, column, self._language.text("word.unknown"), look)
        else:
            self._sheet.write_number(row, column, float(content), look)

    def add(self, contents: Iterable[Content | tuple[Content, Style]], style: Style = "text") -> int:
        """Write the next row, as high as its text needs; a pair states its own style. Return the row."""
        lines = 1
        for column, entry in enumerate(contents):
            content, own = entry if isinstance(entry, tuple) else (entry, style)
            if content != "":
                self.put(self.row, column, content, own)
            if isinstance(content, str):
                lines = max(lines, self._lines(content, own, column))
        self._height(lines)
        self.row += 1
        return self.row - 1

    def paragraph(self, text: str, style: Style = "text", columns: int = 8) -> None:
        """Write a sentence over several columns, with as many lines as it needs."""
        if len(text) <= _SHORT:
            self.put(self.row, 0, text, "note" if style == "note" else style)
            self.row += 1
        else:
            self._across(text, style, 0, columns)

    def fact(self, label: str, content: Content, style: Style = "text") -> None:
        """Write a label and what is known about it; long text runs over the columns to its right."""
        if isinstance(content, str) and _width(content) > self.widths[1]:
            self.put(self.row, 0, label)
            self._across(content, style, 1, min(8, len(self.widths)))
        else:
            self.add((label, (content, style)))

    def _across(self, text: str, style: Style, first: int, columns: int) -> None:
        room = sum(self.widths[first:columns])
        self._height(-(-_width(text) // int(room * 0.95)))
        self._sheet.merge_range(self.row, first, self.row, columns - 1, "", self._formats[style])
        self._sheet.write_string(self.row, first, _kept(text), self._wrapped[style])
        self.row += 1

    def _lines(self, text: str, style: Style, column: int) -> int:
        """Return the lines a text takes in its column; only plain text and headings are wrapped."""
        if style not in ("text", "head", "head_figure"):
            return 1
        return -(-_width(text) // max(1, int(self.widths[column])))

    def _height(self, lines: int) -> None:
        if lines > 1:
            self._sheet.set_row(self.row, min(_LINE_POINTS * lines, _MOST_POINTS))

    def heads(self, words: Sequence[str], figures: Container[int] = ()) -> int:
        """Write a row of headings, those of figures (by column) to the right; return the row."""
        return self.add([(word, "head_figure" if at in figures else "head") for at, word in enumerate(words)])

    def heading(
        self, words: Sequence[str], figures: Container[int] = (), *, filtered: bool = False, frozen_columns: int = 0
    ) -> None:
        """Write a row of headings that stays in view; ``filtered`` offers a choice of rows below it."""
        row = self.heads(words, figures)
        if filtered:
            self._sheet.autofilter(row, 0, row, len(words) - 1)
        self._sheet.freeze_panes(row + 1, frozen_columns)

    def titled(self, title: str, *notes: str) -> None:
        """Write the title of the sheet and what a reader must know about it."""
        self.add([(title, "title")])
        for note in notes:
            self.paragraph(note, "note", min(8, len(self.widths)))
        self.row += 1

    def skip(self, rows: int = 1) -> None:
        """Leave rows empty."""
        self.row += rows

    def cell(self, row: int, column: int) -> str:
        """Return the absolute reference to a cell, usable from every sheet."""
        return f"{self._quoted}!{xl_rowcol_to_cell(row, column, row_abs=True, col_abs=True)}"

    def column(self, column: int, first: int, last: int) -> str:
        """Return the absolute reference to rows of a column, usable from every sheet."""
        start, end = (xl_rowcol_to_cell(row, column, row_abs=True, col_abs=True) for row in (first, last))
        return f"{self._quoted}!{start}:{end}"

    @property
    def _quoted(self) -> str:
        return "'" + self.title.replace("'", "''") + "'"


def _kept(text: str) -> str:
    """Return text as long as a cell can hold."""
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _width(text: str) -> int:
    """Return the width of text in characters; Chinese ones are twice as wide."""
    return sum(2 if ord(letter) > 0x2E80 else 1 for letter in text)
