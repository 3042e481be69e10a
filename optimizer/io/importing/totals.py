"""Totals: recomputed from the lines and compared with every total the sheet prints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from optimizer.io.importing.cells import Cell
from optimizer.io.importing.facts import percents_in
from optimizer.io.importing.lines import Terms
from optimizer.io.importing.numbers import plain
from optimizer.io.importing.reader import Reader
from optimizer.io.importing.rows import Summary
from optimizer.io.importing.tables import Table
from optimizer.io.importing.vocabulary import mentions
from optimizer.io.importing.words import amount_in_words
from optimizer.schema.base import Money
from optimizer.schema.price import PriceState, TieredPrice
from optimizer.schema.quote_record import LineRecord, TotalRecord
from optimizer.units import minor_digits, round_money

_COUNTED = (PriceState.PRICED, PriceState.INCLUDED, PriceState.FREE)
_LEFT_OUT = (PriceState.OPTION, PriceState.ALTERNATE, PriceState.NO_BID)


@dataclass(frozen=True, slots=True)
class Printed:
    """An amount of a summary row: its kind, value, cell, and the meaning of its column."""

    kind: str
    caption: str
    amount: Decimal
    cell: Cell
    column: str


def summary_lines(
    summaries: Iterable[tuple[Table, Summary]], reader: Reader
) -> tuple[tuple[LineRecord, ...], tuple[Printed, ...]]:
    """Return freight and discount rows as lines, and the other printed totals.

    A caption without a number, and a freight or tax row left blank, are noted: unknown is not zero.
    """
    lines: list[LineRecord] = []
    totals: list[Printed] = []
    for table, summary in summaries:
        found = _amounts(table, summary, reader)
        if not found:
            _blank(summary, reader)
        elif summary.kind in ("freight", "discount"):
            lines += _line(summary, found[-1], reader, taken={line.id for line in lines})
        elif summary.kind == "card":
            reader.notes.leave(found[-1].cell.place, summary.caption.text, "a price for another way to pay")
        elif summary.kind != "words":
            totals += found
    return tuple(lines), tuple(totals)


def _amounts(table: Table, summary: Summary, reader: Reader) -> list[Printed]:
    roles = {column.index: column.role for column in table.columns}
    found = []
    for index, cell in summary.row.cells.items():
        role = roles.get(index, "")
        if cell is summary.caption or role in ("revision", "quantity", "line", "discount", "tax_rate"):
            continue
        read = reader.price(cell) if cell.number is not None or any(char.isdigit() for char in cell.text) else None
        if read and read.amount is not None and "%" not in cell.text:
            found.append(Printed(summary.kind, summary.caption.text, read.amount, cell, role))
    return found


def _blank(summary: Summary, reader: Reader) -> None:
    caption, place = summary.caption.text, summary.caption.place
    if summary.kind in ("tax", "freight"):
        said = f'"{caption}" is left blank: unknown, not zero'
        reader.notes.warn(f"{summary.kind}_unknown", place, said)
        reader.notes.ask_vendor(f"{summary.kind}_unknown", place, f"{caption}: which amount?")
    elif summary.kind in ("total", "subtotal"):
        said = f'"{caption}" stands without a number: the total is computed'
        reader.notes.warn("caption_without_number", place, said)


def _line(summary: Summary, printed: Printed, reader: Reader, taken: set[str]) -> list[LineRecord]:
    amount = printed.amount
    if summary.kind == "discount":
        if amount > 0:
            reader.notes.warn("discount_sign", printed.cell.place, "a discount printed without a minus is subtracted")
        amount = -abs(amount)
    name = summary.kind if summary.kind not in taken else f"{summary.kind} (row {summary.row.number})"
    shares = [part for cell in summary.row.cells.values() for part in percents_in(cell.text)]
    return [
        LineRecord(
            id=name,
            role="discount" if summary.kind == "discount" else "freight",
            description=summary.caption.text.strip(" :>："),
            quantity=Decimal(1),
            per="order",
            price=Money(amount=amount),
            discount=Decimal(shares[0]) / 100 if shares and summary.kind == "discount" else None,
            computed=amount,
            printed=printed.amount,
            text=printed.cell.text if printed.cell.value is None else None,
            cell=printed.cell.place,
            cells={"price": printed.cell.place},
        )
    ]


def totals_of(
    lines: Sequence[LineRecord], printed: Sequence[Printed], terms: Terms, reader: Reader
) -> tuple[TotalRecord, ...]:
    """Return the totals: recomputed and, where the sheet prints one, as printed.

    Options and alternates never count; a line without a price makes the total unknown.
    """
    base = [line for line in lines if line.status not in _LEFT_OUT and line.role != "tax"]
    if not any(line.computed is not None for line in base) or any(isinstance(line.price, TieredPrice) for line in base):
        return ()
    unpriced = sum(line.computed is None for line in base)
    computed = _computed(base, terms, known=not unpriced)
    places: dict[str, Printed] = {}
    for item in printed:
        name = _name_of(item, computed, base, terms)
        if name:
            places.setdefault(name, item)
        _check(item, name, computed, base, terms, reader)
    names = [name for name, value in computed.items() if value is not None or name in places or name == "total"]
    return tuple(
        TotalRecord(
            name=name,
            computed=computed[name],
            printed=places[name].amount if name in places else None,
            cell=places[name].cell.place if name in places else None,
            unpriced=unpriced,
        )
        for name in names
    )


def _computed(base: Sequence[LineRecord], terms: Terms, *, known: bool) -> dict[str, Decimal | None]:
    """Return every total by name; None when it is unknown or does not apply."""
    items = [line for line in base if line.role not in ("freight", "discount")]
    list_values = [_listed(line) for line in items]
    net = sum((line.computed or Decimal(0) for line in base), Decimal(0))
    freight = [line.computed for line in base if line.role == "freight" and line.computed is not None]
    discount = [line.computed for line in base if line.role == "discount" and line.computed is not None]
    taxed = [line.gross for line in base if line.gross is not None]
    gross = sum(taxed, Decimal(0)) if len(taxed) == len([line for line in base if line.computed]) or taxed else None
    return {
        "list": sum((value for value in list_values if value is not None), Decimal(0))
        if any(list_values) and None not in list_values
        else None,
        "subtotal": sum((line.computed or Decimal(0) for line in items), Decimal(0))
        if known and len(items) < len(base)
        else None,
        "discount": sum(discount, Decimal(0)) if discount else None,
        "freight": sum(freight, Decimal(0)) if freight else None,
        "tax": round_money(gross - net, terms.currency) if gross is not None and known else None,
        "gross": gross if known else None,
        "total": round_money(net, terms.currency) if known else None,
    }


def _listed(line: LineRecord) -> Decimal | None:
    if line.status.is_zero:
        return Decimal(0)
    if not isinstance(line.list_price, Money) or line.quantity is None:
        return None
    return line.list_price.amount * line.quantity / line.price_per


def _name_of(item: Printed, computed: dict[str, Decimal | None], base: Sequence[LineRecord], terms: Terms) -> str:
    """Return which total a printed amount is: by its column, its caption, or because it equals one."""
    if item.column == "list_extended":
        return "list" if not plain(item.caption).startswith("list for") else ""
    if item.kind == "tax":
        return "tax"
    words = plain(item.caption)
    if computed["gross"] is not None and (
        re.search(r"(?<!不)含税|incl|gross|ttc|brutto", words) or item.column == "extended_gross"
    ):
        return "gross"
    if item.kind == "total":
        return (
            "gross"
            if _near(item.amount, computed["gross"], terms) and not _near(item.amount, computed["total"], terms)
            else "total"
        )
    equal = next((name for name in ("subtotal", "total") if _near(item.amount, computed[name], terms)), "")
    return "total" if equal == "total" and computed["subtotal"] is None else equal


def _near(amount: Decimal, other: Decimal | None, terms: Terms) -> bool:
    return other is not None and abs(amount - other) <= Decimal(1).scaleb(-minor_digits(terms.currency))


def _check(
    item: Printed,
    name: str,
    computed: dict[str, Decimal | None],
    base: Sequence[LineRecord],
    terms: Terms,
    reader: Reader,
) -> None:
    """Note a printed total that the lines do not give."""
    roles = set(mentions("roles", plain(item.caption))) & {"support", "service", "software"}
    of_role = [
        line for line in base if roles and line.role in ("support", "service", "software") and _alike(line, roles)
    ]
    if item.amount == 0 and of_role:
        amounts = ", ".join(f"{line.computed:,f}" for line in of_role if line.computed)
        said = f'"{item.caption}" prints 0, which contradicts line {of_role[0].id} ({amounts})'
        reader.notes.warn("summary_contradicts_line", item.cell.place, said)
        return
    expected = computed.get(name) if name else None
    if expected is not None and not _near(item.amount, expected, terms):
        said = f'"{item.caption}" prints {item.amount:,f}; the lines add up to {expected:,f}'
        reader.notes.warn("total_mismatch", item.cell.place, said)
    elif not name and item.amount and not _partial(item.amount, base, terms):
        said = f'"{item.caption}" prints {item.amount:,f}, which no sum of lines gives'
        reader.notes.warn("subtotal_unexplained", item.cell.place, said)


def _alike(line: LineRecord, roles: set[str]) -> bool:
    return line.role in roles or (line.role == "support" and bool(roles & {"service", "support"}))


def _partial(amount: Decimal, base: Sequence[LineRecord], terms: Terms) -> bool:
    """True when an amount is the sum of consecutive lines, of one category or of one role."""
    values = [line.computed or Decimal(0) for line in base]
    groups: dict[tuple[str, str | None], Decimal] = {}
    for line, value in zip(base, values):
        for key in (("category", line.category), ("role", line.role)):
            groups[key] = groups.get(key, Decimal(0)) + value
    if any(_near(amount, value, terms) for value in groups.values()):
        return True
    sums = [Decimal(0)]
    for value in values:
        sums.append(sums[-1] + value)
    reached = set(sums)
    return any(end - amount in reached for end in sums)


def check_words(texts: Iterable[Cell], totals: Sequence[TotalRecord], reader: Reader) -> None:
    """Compare an amount in words with the totals; a conflict is noted with both numbers."""
    known = [value for total in totals for value in (total.printed, total.computed) if value is not None]
    for cell in texts:
        if not re.search(r"大写|in words", plain(cell.text)):
            continue
        amount = amount_in_words(cell.text)
        if amount is None or amount in known:
            continue
        figures = ", ".join(f"{value:,f}" for value in dict.fromkeys(known))
        said = f"the amount in words is {amount:,f}; the figures say {figures or 'nothing'}"
        reader.notes.warn("words_differ", cell.place, said)
