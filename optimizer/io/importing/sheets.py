"""One file, read as far as it is the same for all of its quotes: tables, header facts, evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from optimizer.io.importing.cells import Book, Cell, Row, Sheet
from optimizer.io.importing.evidence import Evidence, gather, resolve, stated_currency
from optimizer.io.importing.facts import Facts, read_facts
from optimizer.io.importing.mapping import Mapping
from optimizer.io.importing.money import currencies_in
from optimizer.io.importing.notes import Notes
from optimizer.io.importing.rows import Sorted, sort_rows
from optimizer.io.importing.tables import Table, find_tables


@dataclass(frozen=True, slots=True)
class Opened:
    """A file with its tables found and its rows told apart.

    Attributes:
        book: The file.
        tables: Its tables with their rows by what they are.
        facts: Header facts and free text of all visible sheets.
        evidence: How its numbers, dates and currencies are to be read.
        currency: Currency of amounts that name none; empty when unknown.
        mapping: What is known about the vendor.
        notes: What the file as a whole has to say.
    """

    book: Book
    tables: tuple[tuple[Table, Sorted], ...]
    facts: Facts
    evidence: Evidence
    currency: str
    mapping: Mapping
    notes: Notes


def open_sheets(book: Book, mapping: Mapping) -> Opened:
    """Find the tables of a file and what the file as a whole says."""
    notes = Notes()
    for code, place, message in book.remarks:
        notes.warn(code, place or book.name, message)
    tables: list[tuple[Table, Sorted]] = []
    outside: list[Row] = []
    for sheet in _visible(book, mapping, notes):
        found, rows = find_tables(sheet, mapping)
        outside += rows
        tables += [(table, sort_rows(table)) for table in found]
        if not found:
            _leave(sheet, notes)
    prose = [cell for _, rows in tables for cell in rows.prose]
    captions = [summary.caption for _, rows in tables for summary in rows.summaries]
    facts = read_facts(outside, [*prose, *captions])
    headings = [
        Cell(table.sheet, table.header, column.index, column.heading) for table, _ in tables for column in table.columns
    ]
    evidence = gather(book, [*facts.prose, *_values(facts)], headings, mapping)
    currency = stated_currency(evidence, _stated(facts, tables))
    _table_notes(tables, notes)
    if evidence.scale != 1:
        said = f'plain amounts are multiplied by {evidence.scale:,f}: "{evidence.scale_words[:60]}"'
        notes.warn("sheet_unit", book.name, said)
    if currency and not mapping.currency and evidence.codes == {"$"}:
        reason = resolve("$", evidence, "")[1] or "dollar_by_place"
        notes.warn(reason, book.name, f"no currency is named: $ is read as {currency}")
    return Opened(book, tuple(tables), facts, evidence, currency, mapping, notes)


def _values(facts: Facts) -> Iterator[Cell]:
    yield from (fact.cell for fact in facts.found)


def _visible(book: Book, mapping: Mapping, notes: Notes) -> Iterator[Sheet]:
    for sheet in book.sheets:
        if sheet.name in mapping.ignore_sheets:
            notes.leave(sheet.name, sheet.name, "left out by the mapping")
        elif sheet.hidden:
            notes.leave(sheet.name, sheet.name, "a hidden sheet")
            if find_tables(sheet, mapping)[0]:
                notes.warn("hidden_sheet", sheet.name, "the sheet is hidden and was not read")
        else:
            yield sheet


def _leave(sheet: Sheet, notes: Notes) -> None:
    if not sheet.rows:
        notes.leave(sheet.name or "sheet", sheet.name, "an empty sheet")
        return
    cells = list(sheet.cells())
    same_width = all(len(row.cells) == 1 for row in sheet.rows) and len(cells) > 10
    why = (
        "one column of names: metadata, no table"
        if same_width
        else "no table with prices; its header and terms were read"
    )
    if same_width:
        notes.warn("metadata_sheet", sheet.name or cells[0].place, "one column of names is metadata, not data")
    notes.leave(sheet.name or cells[0].place, cells[0].text, why)


def _stated(facts: Facts, tables: list[tuple[Table, Sorted]]) -> Iterator[str]:
    """Yield currencies of the label ``Currency``, then those in the brackets of price headings."""
    texts = [fact.text for fact in facts.found if fact.key == "currency"]
    texts += [
        column.heading for table, _ in tables for column in table.columns if "price" in column.role and column.tags
    ]
    for text in texts:
        found = (currencies_in(text) | currencies_in(text.upper())) - {"$", "¥"}
        if len(found) == 1:
            yield next(iter(found))


def _table_notes(tables: list[tuple[Table, Sorted]], notes: Notes) -> None:
    for table, rows in tables:
        for place, heading in table.unread:
            notes.leave(place, heading, "a column with no known meaning")
        for cell, why in rows.left:
            notes.leave(cell.place, cell.text, why)
        for role, one, other in table.doubled:
            place = f"{table.sheet}, row {table.header}" if table.sheet else f"row {table.header}"
            said = f'two columns mean {role.replace("_", " ")}: "{one}" and "{other}"; which one counts?'
            notes.ask("duplicate_column", place, said, f"columns.{other}", (one, other))
