"""Sections of the document as sheets: figures as numbers, days as dates, everything else as text."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from optimizer.report.cells import Writer
from optimizer.report.document import Absent, Bars, Block, Cell, Column, Curves, Facts, Section, Table, Text, Value
from optimizer.report.workbook.book import Content, Page, Style

_ROLES: dict[str, Style] = {"plain": "text", "lead": "lead", "warning": "warning"}
_STYLES: dict[str, Style] = {"money": "money", "count": "number", "share": "percent", "number": "number"}


@dataclass(frozen=True, slots=True)
class Sheets:
    """Writes sections.

    Attributes:
        writer: Cells as text.
    """

    writer: Writer

    def sections(self, page: Page, sections: Iterable[Section], *, drawings: bool = True) -> None:
        """Write sections one below the other; ``drawings`` adds the values that charts show."""
        for section in sections:
            page.add([(self.writer.language.text(section.title), "title")])
            for block in section.blocks:
                if drawings or not isinstance(block, Bars | Curves):
                    self.block(page, block)
            page.skip()

    def block(self, page: Page, block: Block) -> None:
        """Write a block; of a drawing the values it shows."""
        if isinstance(block, Text):
            page.paragraph(self.writer.text(block.body), _ROLES[block.role])
        elif isinstance(block, Facts):
            for label, cell in block.rows:
                known = _native(cell, Column("word.unknown"), self.writer)[0]
                content, style = known if isinstance(known, tuple) else (known, "text")
                page.fact(self.writer.language.text(label), content, style)
        elif isinstance(block, Absent):
            page.paragraph(f"{self.writer.language.text(block.what)} {block.command}", "note")
        elif isinstance(block, Table):
            self.table(page, block)
        elif isinstance(block, Bars):
            self._bars(page, block)
        else:
            self._curves(page, block)

    def table(self, page: Page, table: Table, *, alone: bool = False) -> None:
        """Write a table under its caption; alone on its sheet its headings stay in view and offer a choice of rows."""
        heads = [self.writer.head(column) for column in table.columns]
        figures = [at for at, column in enumerate(table.columns) if column.figure]
        if alone:
            page.heading(heads, figures, filtered=True)
        else:
            page.skip()
            page.add([(self.writer.language.text(table.title), "note")])
            page.heads(heads, figures)
        for row in (*table.rows, *((table.foot,) if table.foot else ())):
            self._row(page, row, table.columns)
        if table.note is not None:
            page.paragraph(self.writer.text(table.note), "note", min(8, len(page.widths)))

    def _bars(self, page: Page, chart: Bars) -> None:
        """Write a row for each piece of a bar: what it is, from where to where."""
        words = self.writer.language.text
        page.skip()
        page.add([(words(chart.title), "note")])
        page.heads((words("book.bar"), words("book.series"), words("book.from"), words("book.to")), {2, 3})
        for bar in chart.bars:
            for span in (*bar.spans, *bar.marks):
                ends = (_plain(span.start, self.writer), _plain(span.end, self.writer))
                page.add((self.writer.text(bar.label), self._series(span.series), *ends))

    def _series(self, key: str) -> str:
        family, _, word = key.partition(".")
        return self.writer.language.name(family, word)

    def _curves(self, page: Page, chart: Curves) -> None:
        """Write a row for each point of a curve."""
        words = self.writer.language.text
        page.skip()
        page.add([(words(chart.title), "note")])
        page.heads((words("book.series"), words(chart.across), words(chart.up)), {1, 2})
        for curve in chart.series:
            for across, up in curve.points:
                page.add((self.writer.text(curve.name), _plain(across, self.writer), _plain(up, self.writer)))

    def _row(self, page: Page, row: Sequence[Cell], columns: Sequence[Column]) -> None:
        cells = (_native(cell, column, self.writer)[0] for cell, column in zip(row, columns, strict=True))
        page.add(cells)


def _plain(value: Value, writer: Writer) -> Content | tuple[Content, Style]:
    """Return a value of a drawing as a number or date."""
    return _native(value, Column("word.unknown", unit=value.unit), writer)[0]


def _native(cell: Cell, column: Column, writer: Writer) -> tuple[Content | tuple[Content, Style], ...]:
    """Return a cell as a number or date where its unit is clear without words, else as text."""
    if isinstance(cell, Value):
        if isinstance(cell.value, dt.date):
            return ((cell.value, "date"),)
        if isinstance(cell.value, (Decimal, int)) and cell.kind in _STYLES and cell.unit == column.unit:
            return ((cell.value, _STYLES[cell.kind]),)
    return (writer.text(cell, column.unit),)
