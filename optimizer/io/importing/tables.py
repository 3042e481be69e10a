"""Find the tables of a sheet: headings by their words, wherever they stand; several tables per sheet."""

from __future__ import annotations

from collections.abc import Mapping as Map
from dataclasses import dataclass, replace
from decimal import Decimal

from optimizer.io.importing.cells import Cell, Row, Sheet
from optimizer.io.importing.mapping import Mapping
from optimizer.io.importing.money import read_price
from optimizer.io.importing.vocabulary import brackets, meaning, phrase

IGNORE = "ignore"
"""Meaning of a column that a mapping leaves out."""

PRICES = ("unit_price", "price", "gross_price", "list_price", "extended", "extended_gross")
"""Columns of which a table needs one."""

_SAMPLE = 20  # rows that show what a column means
_MANY = ("quantity", "note", "more_description", "category")  # several columns may mean these


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its position, meaning, heading as printed, and the folded words in the brackets of the heading."""

    index: int
    role: str
    heading: str
    tags: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Attributes:
        sheet: Its sheet.
        header: Row number of its headings.
        columns: Columns with a meaning, from the left.
        rows: The rows below the headings, up to the next table.
        unread: (place, heading) of columns without a known meaning.
        doubled: Meanings that two columns claim, with both headings.
    """

    sheet: str
    header: int
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    unread: tuple[tuple[str, str], ...]
    doubled: tuple[tuple[str, str, str], ...]

    def column(self, role: str) -> Column | None:
        """Return the first column of a meaning."""
        return next((column for column in self.columns if column.role == role), None)

    def all(self, role: str) -> tuple[Column, ...]:
        """Return every column of a meaning."""
        return tuple(column for column in self.columns if column.role == role)

    def cell(self, row: Row, role: str) -> Cell | None:
        """Return the first cell of a row that is not blank under a meaning."""
        return next((row.cells[column.index] for column in self.all(role) if column.index in row.cells), None)


def find_tables(sheet: Sheet, mapping: Mapping) -> tuple[tuple[Table, ...], tuple[Row, ...]]:
    """Return the tables of a sheet and the rows that belong to none (titles, terms; headings not included)."""
    starts = [position for position, row in enumerate(sheet.rows) if _is_header(row, mapping)]
    if not starts:
        return (), sheet.rows
    tables, fills = [], _fills(sheet)
    for start, end in zip(starts, [*starts[1:], len(sheet.rows)]):
        rows = tuple(_filled(row, fills) for row in sheet.rows[start + 1 : end])
        tables.append(_table(sheet.name, sheet.rows[start], rows, mapping))
    return tuple(tables), sheet.rows[: starts[0]]


def _role(text: str, mapping: Mapping) -> str | None:
    """Return the meaning of a heading; a mapping goes first."""
    said = mapping.columns.get(text) or mapping.columns.get(" ".join(text.split()))
    return said or meaning("columns", phrase(text)) or meaning("columns", phrase(text.replace("_", " ")))


def _is_header(row: Row, mapping: Mapping) -> bool:
    """True when the cells are headings: several known meanings, a price or quantity among them, no numbers."""
    if len(row.cells) < 2 or any(cell.value is not None or cell.text[0].isdigit() for cell in row.cells.values()):
        return False
    found = [_role(cell.text, mapping) for cell in row.cells.values()]
    known = {role for role in found if role}
    if not known & {*PRICES, "quantity"} or len(known) < 2:
        return False
    return len(known) * 2 >= len(found) and (len(known) > 2 or bool(known & set(PRICES)))


def _table(sheet: str, header: Row, rows: tuple[Row, ...], mapping: Mapping) -> Table:
    columns, unread = [], []
    for index, cell in header.cells.items():
        role = _role(cell.text, mapping)
        if role and role != IGNORE:
            columns.append(Column(index, role, cell.text, brackets(cell.text)))
        elif not role:
            unread.append((cell.place, cell.text))
    columns, doubled = _settled(columns, rows)
    return Table(sheet, header.number, tuple(columns), rows, tuple(unread), tuple(doubled))


def _settled(columns: list[Column], rows: tuple[Row, ...]) -> tuple[list[Column], list[tuple[str, str, str]]]:
    """Settle columns that claim the same meaning, and what a plain ``price`` means."""
    roles = [column.role for column in columns]
    settled, doubled = [], []
    seen: dict[str, Column] = {}
    for column in columns:
        role = column.role
        if role == "line" and "line" in seen and "part" not in roles:
            role = "part"
        elif role == "description" and "description" in seen:
            role = "more_description"
        elif role == "price" and "unit_price" in roles:
            role = "extended" if "extended" not in roles and _multiplies(columns, column, rows) else "unit_price"
        elif role == "price":
            role = "unit_price"
        if role in seen and role not in _MANY:
            doubled.append((role, seen[role].heading, column.heading))
            continue
        seen.setdefault(role, column)
        settled.append(replace(column, role=role))
    return _base_quantity(settled, rows), doubled


def _multiplies(columns: list[Column], candidate: Column, rows: tuple[Row, ...]) -> bool:
    """True unless the rows show that a column is not quantity x unit price."""
    quantity = next((column for column in columns if column.role == "quantity"), None)
    unit = next((column for column in columns if column.role == "unit_price"), None)
    if quantity is None or unit is None:
        return True
    found = [[_number(row, column) for column in (quantity, unit, candidate)] for row in rows[:_SAMPLE]]
    triples = [(count, each, total) for count, each, total in found if count and each and total]
    fitting = sum(count * each == total for count, each, total in triples)
    return not triples or 2 * fitting >= len(triples)


def _number(row: Row, column: Column) -> Decimal | None:
    cell = row.cells.get(column.index)
    if cell is None:
        return None
    return cell.number if cell.number is not None else read_price(cell.text, ".").amount


def _base_quantity(columns: list[Column], rows: tuple[Row, ...]) -> list[Column]:
    """A column ``unit`` that holds only 1, 100 or 1,000 is the quantity one price is for."""
    for position, column in enumerate(columns):
        if column.role == "unit":
            texts = {row.text(column.index) for row in rows if column.index in row.cells}
            if texts and texts <= {"0", "1", "10", "100", "1000", "1,000"} and texts - {"0"}:
                columns[position] = replace(column, role="base_quantity")
    return columns


def _fills(sheet: Sheet) -> Map[int, dict[int, Cell]]:
    """Return, by row, the text of cells merged downward, for each of the rows they cover."""
    tall = [area for area in sheet.merged if area[2] > area[0] and area[1] == area[3]]
    starts = {area[:2] for area in tall}
    found = {(cell.row, cell.column): cell for cell in sheet.cells() if (cell.row, cell.column) in starts}
    fills: dict[int, dict[int, Cell]] = {}
    for first, column, last, _ in tall:
        source = found.get((first, column))
        if source is None or source.value is not None:
            continue
        for number in range(first + 1, min(last, first + 10_000) + 1):
            fills.setdefault(number, {})[column] = replace(source, row=number, origin="merged")
    return fills


def _filled(row: Row, fills: Map[int, dict[int, Cell]]) -> Row:
    extra = fills.get(row.number)
    return Row(row.number, {**extra, **row.cells}) if extra else row
