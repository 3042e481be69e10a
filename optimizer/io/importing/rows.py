"""Tell items from sub-totals, captions, column numbers and text among the rows of a table."""

from __future__ import annotations

from dataclasses import dataclass

from optimizer.io.importing.cells import Cell, Row
from optimizer.io.importing.tables import PRICES, Table
from optimizer.io.importing.vocabulary import fold, meaning, phrase

_NAMES = ("line", "part", "description", "category", "more_description", "offer")
_MEASURES = (*PRICES, "quantity", "min_quantity", "list_extended", "tax_amount")
_SINGLE = ("unit_price", "price", "gross_price", "quantity", "min_quantity", "min_units")


@dataclass(frozen=True, slots=True)
class Summary:
    """A row that is no item: a sub-total, total, discount, freight or tax row, or an amount in words.

    Attributes:
        kind: A name of the list ``summaries`` in vocabulary.yaml, or ``caption``.
        row: The row.
        caption: The cell that says what it is.
    """

    kind: str
    row: Row
    caption: Cell


@dataclass(frozen=True, slots=True)
class Sorted:
    """The rows of a table by what they are.

    Attributes:
        items: Rows that are lines of the quote.
        summaries: Rows of totals.
        prose: Cells of rows that are text.
        left: (cell, reason) of rows that are nothing.
    """

    items: tuple[Row, ...]
    summaries: tuple[Summary, ...]
    prose: tuple[Cell, ...]
    left: tuple[tuple[Cell, str], ...]


def sort_rows(table: Table) -> Sorted:
    """Return the rows of a table by what they are; none is lost."""
    items: list[Row] = []
    summaries: list[Summary] = []
    prose: list[Cell] = []
    left: list[tuple[Cell, str]] = []
    for row in table.rows:
        first = next(iter(row.cells.values()))
        if _counts_columns(row):
            left.append((first, "numbers of the columns"))
        elif summary := _summary(table, row):
            summaries.append(summary)
        elif _is_item(table, row):
            items.append(row)
        elif any(cell.value is None for cell in row.cells.values()):
            prose += row.cells.values()
        else:
            left.append((first, "numbers without an item"))
    return Sorted(tuple(items), tuple(summaries), tuple(prose), tuple(left))


def _counts_columns(row: Row) -> bool:
    """True for a row 1, 2, 3, … under the headings."""
    texts = [cell.text.strip("()") for cell in row.cells.values()]
    if len(texts) < 4 or not all(text.isdigit() and len(text) < 4 for text in texts):
        return False
    return [int(text) for text in texts] == list(range(int(texts[0]), int(texts[0]) + len(texts)))


def _summary(table: Table, row: Row) -> Summary | None:
    if any(table.cell(row, role) for role in _SINGLE) or not _few_texts(row):
        return None
    for cell in row.cells.values():
        if cell.value is None and (kind := meaning("summaries", phrase(cell.text)) or _marked(cell.text)):
            return Summary(kind, row, cell)
    return None


def _few_texts(row: Row) -> bool:
    """True when a row holds a caption and hardly more: no item has so few words."""
    return sum(cell.value is None and any(char.isalpha() for char in cell.text) for cell in row.cells.values()) <= 2


def _marked(text: str) -> str | None:
    words = fold(text)
    if words.startswith("大写") or ("in words" in words and len(words) < 300):
        return "words"
    return "subtotal" if words.rstrip().endswith((">", "＞")) else None


def _is_item(table: Table, row: Row) -> bool:
    """True when a row names something and says how many or at what price."""
    named = any(table.cell(row, role) for role in _NAMES)
    measured = any(_measures(cell, role) for role in _MEASURES if (cell := table.cell(row, role)))
    if named and measured:
        return True
    if _only_price(table):
        return named or measured
    texts = [role for role in ("part", "line", "description", "unit", "basis", "vendor") if table.cell(row, role)]
    return bool(table.cell(row, "quote_id")) or ("part" in texts and "description" in texts and "line" in texts)


def _measures(cell: Cell, role: str) -> bool:
    """True for a price cell that holds anything, and a quantity that holds a digit."""
    return "quantity" not in role or any(char.isdigit() for char in cell.text)


def _only_price(table: Table) -> bool:
    """True for a table of two columns, a name and a price: a blank price is then a line with an unknown price."""
    return len(table.columns) == 2 and any(column.role in PRICES for column in table.columns)
