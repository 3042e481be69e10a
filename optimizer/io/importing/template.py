"""A blank bid sheet for vendors; filled in, it imports without a mapping."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from optimizer.errors import InputError, Problem
from optimizer.io.importing.spreadsheet import Page, csv_text, write_xlsx

BLANK_ROWS = 40
"""Rows to fill in."""

_HEAD = (
    ("Vendor", ""), ("Quote number", ""), ("Revision", ""), ("Quote date", "calendar date, e.g. 2026-11-30"),
    ("Valid until", "last valid day, e.g. 2026-12-31"), ("Currency", "code of three letters, e.g. USD"),
    ("Quote kind", "binding, budgetary, list or contract"), ("Tax included", "yes or no"),
    ("Tax rate", "in per cent, e.g. 13%"), ("Delivery terms", "Incoterm and place, e.g. DAP hall-a"),
    ("Payment terms", "e.g. 30% at order, 60% at delivery, 10% at acceptance"), ("Warranty", ""),
)  # fmt: skip
_COLUMNS = (
    ("Offer", "short name; rows of one offer share it: one row per quantity break, one per support, freight or other extra", 12),
    ("Role", "hardware for the offer itself; support, freight, network, … for extras", 11),
    ("Platform", "id of the hardware, only in rows of role hardware", 20),
    ("Type", "purchase, lease, reserved, block or on_demand", 11),
    ("Part number", "", 18),
    ("Description", "", 36),
    ("Unit price", "a number in full; or included, free, on request, no bid", 14),
    ("Price basis", "what one price buys: per node, per rack, per GPU, per order, per GPU-hour, per node-hour, per node per month", 16),
    ("Quantity from", "first quantity at this price", 13),
    ("Quantity to", "last quantity at this price; blank for no limit", 12),
    ("Minimum order", "", 14),
    ("Steps of", "orders are multiples of this", 9),
    ("Maximum order", "blank for no limit", 14),
    ("Lead time", "e.g. 16-20 weeks, stock; or lots: 64 units in 16 weeks; rest in 24 weeks", 16),
    ("Months of service", "of support or licences", 17),
    ("Commitment", "of rentals: 36 months; or blocks: 1-14 days step 1; to 182 days step 7", 16),
    ("Hours per month", "720 or 730", 15),
    ("Take or pay %", "", 13),
    ("Prepay %", "", 9),
    ("Start date", "date, month or quarter", 11),
    ("Region", "of rentals", 12),
    ("Notes", "", 30),
)  # fmt: skip
_ROLES = ("hardware", "network", "optics", "storage", "software", "support", "service", "freight")
_TYPES = ("purchase", "lease", "reserved", "block", "on_demand")
_BASES = ("per node", "per rack", "per GPU", "per order", "per GPU-hour", "per node-hour", "per node per month")


def template_rows() -> list[list[object]]:
    """Return the rows of the blank sheet: header labels, a blank row, headings."""
    head: list[list[object]] = [[label, None] for label, _ in _HEAD]
    return [*head, [], [heading for heading, _, _ in _COLUMNS]]


def write_template(path: Path, platforms: Iterable[str]) -> None:
    """Write the blank sheet as ``.xlsx`` (with lists to choose from and notes) or ``.csv``.

    Args:
        path: The file.
        platforms: Platform ids to choose from.

    Raises:
        InputError: Another suffix, or the file cannot be written.
    """
    rows = template_rows()
    if path.suffix.lower() == ".xlsx":
        write_xlsx(path, [_page(rows), Page("Platforms", [[name] for name in platforms], {0: 30})])
    elif path.suffix.lower() == ".csv":
        try:
            path.write_text(csv_text(rows), encoding="utf-8-sig", newline="")
        except OSError as error:
            raise InputError([Problem(str(path), f"cannot be written ({error.strerror})", "")]) from None
    else:
        raise InputError([Problem(str(path), f'a file that ends in "{path.suffix}"', "Expected .xlsx or .csv")])


def _page(rows: list[list[object]]) -> Page:
    header = len(rows) - 1
    first, last = header + 1, header + BLANK_ROWS
    position = {heading: column for column, (heading, _, _) in enumerate(_COLUMNS)}
    lists = {
        (position["Role"], first, last): _ROLES,
        (position["Type"], first, last): _TYPES,
        (position["Price basis"], first, last): _BASES,
        (1, 6, 6): ("binding", "budgetary", "list", "contract"),
        (1, 7, 7): ("yes", "no"),
    }
    notes = {(row, 0): note for row, (_, note) in enumerate(_HEAD) if note}
    notes |= {(header, column): note for column, (_, note, _) in enumerate(_COLUMNS) if note}
    widths = {column: width for column, (_, _, width) in enumerate(_COLUMNS)}
    return Page("Bid", rows, widths, frozenset((header,)), lists, notes)
