"""Quotes as files: YAML to plan with, CSV and XLSX for other programs; each reads back unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from optimizer.errors import InputError, Problem
from optimizer.io.importing.records import Table, records_table
from optimizer.io.importing.spreadsheet import Page, csv_text, write_xlsx
from optimizer.io.importing.yaml_text import quotes_yaml
from optimizer.schema.base import Money
from optimizer.schema.price import PriceState, TieredPrice
from optimizer.schema.quote import Quote

_LINE_HEADS = (
    "quote",
    "vendor",
    "id",
    "part",
    "description",
    "quantity",
    "price",
    "per",
    "currency",
    "extended",
    "status",
    "cell",
)


def write_quotes(path: Path, quotes: Sequence[Quote], comment: str = "") -> None:
    """Write quotes by the suffix of the file: ``.yaml``, ``.csv`` or ``.xlsx``.

    Raises:
        InputError: Another suffix, or the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        lines = line_table(quotes)
        write_xlsx(
            path,
            [
                Page("Lines", lines, {4: 40}, frozenset((0,))),
                Page("Records", records_table(quotes), {}, frozenset((1,))),
            ],
        )
        return
    texts = {".csv": lambda: csv_text(records_table(quotes)), ".yaml": lambda: quotes_yaml(quotes, comment)}
    make = texts.get(".yaml" if suffix == ".yml" else suffix)
    if make is None:
        raise InputError([Problem(str(path), f'a file that ends in "{suffix}"', "Expected .yaml, .csv or .xlsx")])
    try:
        path.write_text(make(), encoding="utf-8-sig" if suffix == ".csv" else "utf-8", newline="")
    except OSError as error:
        raise InputError([Problem(str(path), f"cannot be written ({error.strerror})", "")]) from None


def line_table(quotes: Sequence[Quote]) -> Table:
    """Return every line of some quotes as rows to read."""
    rows: Table = [list(_LINE_HEADS)]
    for quote in quotes:
        for line in quote.lines:
            amount, code = _price(line.price, quote.currency)
            rows.append(
                [quote.quote, quote.vendor, line.id, line.part, line.description, line.quantity, amount, line.price_per, code,
                 line.computed, line.status.value, line.cell]
            )  # fmt: skip
    return rows


def _price(price: Money | TieredPrice | PriceState, currency: str) -> tuple[Decimal | str | None, str]:
    if isinstance(price, Money):
        return price.amount, price.currency or currency
    if isinstance(price, TieredPrice):
        return "; ".join(f"{first}+: {each.amount:f}" for first, each in price.breaks.items()), currency
    return price.value, ""
