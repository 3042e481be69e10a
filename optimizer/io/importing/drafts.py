"""Rows of a table -> drafts of lines: every value read once, with its cell."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping as Map
from dataclasses import dataclass, field, replace
from decimal import Decimal

from optimizer.io.importing.basis import Basis, read_basis
from optimizer.io.importing.cells import Cell, Row, column_name
from optimizer.io.importing.dates import read_span
from optimizer.io.importing.money import MISSING, Price
from optimizer.io.importing.numbers import plain
from optimizer.io.importing.reader import Reader, text_of
from optimizer.io.importing.tables import Table
from optimizer.io.importing.vocabulary import meaning, mentions, phrase
from optimizer.schema.price import PriceState
from optimizer.units import months_between

_PRICE_ROLES = ("unit_price", "price", "gross_price")
_BREAK = re.compile(
    r"(?:>=|≥|from |ab )?\s*([\d.,' ]*\d)\s*(\+|and (?:above|up|over)|or more|以上)?(?:\s*(?:-|–|to|bis|~)\s*([\d.,' ]*\d))?"
)
_STATE_PREFIX = re.compile(
    r"[\[(]?(option(?:al)?|alternat(?:e|ive))[\])]?\s*[:\-–]|\((optional|alternative|option)\)|^(?:可选|选配)[:：]"
)
_STATE_WORDS = {"option": PriceState.OPTION, "alternat": PriceState.ALTERNATE}
_ROW_STATES = (
    PriceState.NO_BID, PriceState.OPTION, PriceState.ALTERNATE, PriceState.INCLUDED, PriceState.FREE,
    PriceState.ON_REQUEST, PriceState.REDACTED,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Draft:
    """One item row, read.

    Attributes:
        sheet: Its sheet.
        row: Its row number.
        cells: Meaning -> cell.
        price: Unit price; its state is what the price cell, or a word elsewhere in the row, says.
        quantity: Quantity; None when not stated.
        breaks: First and last quantity of a break row; (None, None) when it is none.
        basis: What one price is for.
        list_price: List price.
        printed: Extended price as printed, without tax.
        printed_gross: Extended price with tax as printed.
        tax_rate: Tax rate of the line.
        tax_included: True when the price cell or its heading says that it includes tax, None when they say neither.
        discount: Discount on the list price.
        months: Months of service.
        role: What the line is for.
        extra: Quantities of further quantity columns.
        columns: Meanings of the columns of its table, blank in this row or not.
    """

    sheet: str
    row: int
    cells: Map[str, Cell]
    price: Price
    quantity: Decimal | None
    breaks: tuple[int | None, int | None]
    basis: Basis
    list_price: Price
    printed: Decimal | None
    printed_gross: Decimal | None
    tax_rate: Decimal | None
    tax_included: bool | None
    discount: Decimal | None
    months: int | None
    role: str | None
    extra: tuple[Decimal, ...] = field(default=())
    columns: frozenset[str] = frozenset()

    def text(self, role: str) -> str:
        """Return the text under a meaning; empty when blank."""
        return text_of(self.cells, role)

    @property
    def place(self) -> str:
        """Cell of the price, or of the first value."""
        found = next(
            (self.cells[role] for role in (*_PRICE_ROLES, "extended", "list_price") if role in self.cells), None
        )
        return (found or next(iter(self.cells.values()))).place

    def place_of(self, role: str) -> str:
        """Return the cell under a meaning, or that of the line."""
        return self.cells[role].place if role in self.cells else self.place

    @property
    def name(self) -> str:
        """How messages call the line."""
        line = self.text("line")
        said = self.text("part") or self.text("description")
        return f"line {line}" if line else f'"{said[:40]}"' if said else f"row {self.row}"


def read_draft(table: Table, row: Row, reader: Reader) -> Draft:
    """Read one item row."""
    cells = {column.role: cell for column in reversed(table.columns) if (cell := row.cells.get(column.index))}
    currency = _row_currency(cells)
    price_cell, tags = _price_cell(table, cells)
    price = _stated(reader.price(price_cell, tags, currency), cells, price_cell)
    if price_cell is None and price.state is PriceState.MISSING:
        price = replace(price, note=_blank_place(table, row))
    stated = next(
        (
            reader.mapping.basis[text]
            for role in ("part", "description")
            if (text := text_of(cells, role)) in reader.mapping.basis
        ),
        "",
    )
    basis = read_basis(
        stated or _basis_words(table, cells, price),
        f"{text_of(cells, 'description')} {text_of(cells, 'unit')}",
        reader.leading,
    )
    base = reader.number(cells.get("base_quantity"))
    draft = Draft(
        sheet=table.sheet,
        row=row.number,
        cells=cells,
        price=price,
        quantity=None,
        breaks=(None, None),
        basis=replace(basis, per_quantity=base) if base else basis,
        list_price=reader.price(cells.get("list_price"), _tags(table, "list_price"), currency),
        printed=_extended(table, cells, "extended", reader, currency),
        printed_gross=_extended(table, cells, "extended_gross", reader, currency),
        tax_rate=reader.share(cells.get("tax_rate")),
        tax_included=_tax_included(table, cells, price_cell),
        discount=reader.share(cells.get("discount")),
        months=_months(cells, reader),
        role=_line_role(cells),
        columns=frozenset(column.role for column in table.columns),
    )
    return _with_quantity(draft, table, row, reader)


def _row_currency(cells: Map[str, Cell]) -> str:
    from optimizer.io.importing.vocabulary import currency_of, fold  # noqa: PLC0415

    code = currency_of(fold(text_of(cells, "currency")))
    return code if code and code not in "$¥" else ""


def _price_cell(table: Table, cells: Map[str, Cell]) -> tuple[Cell | None, str]:
    role = next((role for role in _PRICE_ROLES if role in cells), None)
    return (cells[role], _tags(table, role)) if role else (None, "")


def _tags(table: Table, role: str) -> str:
    column = table.column(role)
    return f"{column.tags} {column.heading}" if column and column.tags else ""


def _blank_place(table: Table, row: Row) -> str:
    column = next((found for role in _PRICE_ROLES if (found := table.column(role))), None)
    if column is None:
        return ""
    name = f"{column_name(column.index)}{row.number}"
    return f"{table.sheet}!{name}" if table.sheet else name


def _stated(price: Price, cells: Map[str, Cell], price_cell: Cell | None) -> Price:
    """Return the price with a state that another cell of the row states: ``NO BID`` as part number, ``Option: …``."""
    words = [
        phrase(cell.text)
        for role, cell in cells.items()
        if role in _STATE_CELLS and cell.value is None and (role != "part" or len(cell.text) > _SHORT_CODE)
    ]
    found = next((PriceState(state) for word in words if (state := meaning("states", word)) in set(_ROW_STATES)), None)
    if found is None:
        texts = (plain(text_of(cells, role)) for role in ("description", "category", "note", "offer"))
        match = next((match for text in texts if (match := _STATE_PREFIX.search(text[:200]))), None)
        found = _prefix_state(match) if match else None
    if found is None or (found.is_zero and price.amount):
        return price
    if found in (PriceState.OPTION, PriceState.ALTERNATE):
        return replace(price, state=found) if price.amount is not None else Price(found)
    return Price(found, amount=Decimal(0) if found.is_zero else None, note="stated in the row")


_SHORT_CODE = 4  # NA, N/C and NDA can be part numbers
_STATE_CELLS = ("part", "description", "note", "status", "category", "more_description")


def _prefix_state(match: re.Match[str]) -> PriceState:
    words = next((group for group in match.groups() if group), "option")
    return next((state for word, state in _STATE_WORDS.items() if words.startswith(word)), PriceState.OPTION)


def _basis_words(table: Table, cells: Map[str, Cell], price: Price) -> str:
    """Return the words that say what one price is for: basis column, price cell, unit column, heading."""
    words = text_of(cells, "basis") or price.basis or text_of(cells, "unit")
    if words:
        return words
    column = next((found for role in _PRICE_ROLES if (found := table.column(role))), None)
    heading = plain(column.heading) if column else ""
    if "monthly" in heading:
        return "unit per month"
    return heading.partition("per ")[2] if "per " in heading else ""


def _extended(table: Table, cells: Map[str, Cell], role: str, reader: Reader, currency: str) -> Decimal | None:
    read = reader.price(cells.get(role), _tags(table, role), currency)
    return read.amount if read.state is PriceState.PRICED else None


def _tax_included(table: Table, cells: Map[str, Cell], price_cell: Cell | None) -> bool | None:
    from optimizer.io.importing.facts import tax_in  # noqa: PLC0415

    if "gross_price" in cells and cells["gross_price"] is price_cell:
        return True
    column = next((found for role in _PRICE_ROLES if (found := table.column(role))), None)
    texts = [text_of(cells, "basis"), price_cell.text if price_cell else "", column.heading if column else ""]
    return next((said for text in texts if text and (said := tax_in(text)) is not None), None)


def _months(cells: Map[str, Cell], reader: Reader) -> int | None:
    """Return months of service: a column, the days from service start to end, or words of a support line."""
    number = reader.number(cells.get("months"))
    if number is not None and number >= 1:
        return int(number)
    if "service_start" in cells and "service_end" in cells:
        return _between(reader.date_of(cells["service_start"]), reader.date_of(cells["service_end"]))
    if _line_role(cells) == "support":
        texts = (text_of(cells, role) for role in ("months", "description", "part", "more_description", "note"))
        return next((span.months for text in texts if (span := read_span(text)) and span.months), None)
    return None


def _between(start: dt.date | None, end: dt.date | None) -> int | None:
    """Return whole months from the first to the last day of service, both included."""
    if start is None or end is None or end <= start:
        return None
    return int(months_between(start, end + dt.timedelta(days=1))) or None


def _line_role(cells: Map[str, Cell]) -> str | None:
    """Return the role a column states, or the one whose words the description or category uses."""
    stated = plain(text_of(cells, "role"))
    if stated in _ROLES:
        return stated
    texts = (plain(text_of(cells, role)) for role in ("description", "category"))
    return next((found[0] for text in texts if text and (found := mentions("roles", text[:200]))), None)


_ROLES = ("hardware", "network", "optics", "storage", "software", "support", "service", "freight", "discount", "tax")


def _with_quantity(draft: Draft, table: Table, row: Row, reader: Reader) -> Draft:
    """Return the draft with its quantity: of several columns the one that makes quantity x price = extended."""
    columns = [row.cells[column.index] for column in table.all("quantity") if column.index in row.cells]
    low = draft.cells.get("min_quantity")
    if low is None and columns and not columns[0].number and _is_break(columns[0].text):
        low = columns[0]
    breaks = _breaks(low, draft.cells.get("max_quantity"), reader) if low else (None, None)
    numbers = [] if low in columns else [number for cell in columns if (number := reader.number(cell)) is not None]
    quantity = _fitting(numbers, draft) if numbers else None
    return replace(
        draft, breaks=breaks, quantity=quantity, extra=tuple(number for number in numbers if number != quantity)
    )


def _is_break(text: str) -> bool:
    words = plain(text)
    return bool(re.search(r"\d\s*(\+|-|–|to|bis|~|and|or more|以上)|^(>=|≥|from|ab)", words)) and not words.startswith(
        "-"
    )


def _breaks(low: Cell, high: Cell | None, reader: Reader) -> tuple[int | None, int | None]:
    """Return first and last quantity of ``16``, ``16-63``, ``64+`` or ``>= 64``."""
    if low.number is not None:
        first: Decimal | None = low.number
        match = None
    else:
        match = _BREAK.fullmatch(plain(low.text))
        first = reader.leading(match[1]) if match else None
    last = reader.leading(match[3]) if match and match[3] else reader.number(high)
    return (int(first) if first is not None else None, int(last) if last is not None else None)


def _fitting(numbers: list[Decimal], draft: Draft) -> Decimal:
    printed = draft.printed if draft.printed is not None else draft.printed_gross
    if len(numbers) > 1 and printed is not None and draft.price.amount:
        for number in numbers:
            if abs(number * draft.price.amount / draft.basis.per_quantity - printed) <= Decimal("0.01"):
                return number
    return numbers[0]


__all__ = ["MISSING", "Draft", "read_draft"]
