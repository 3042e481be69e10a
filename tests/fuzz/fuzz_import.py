"""Coverage-guided fuzzing of the parsers of quotes; not part of the suite, since it runs as long as it is let.

    pip install atheris
    python tests/fuzz/fuzz_import.py -max_total_time=120 -max_len=400 -timeout=5

A crash or an input that takes longer than the timeout is written to the current folder.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

with atheris.instrument_imports(include=["optimizer.io"]):
    from optimizer.errors import InputError
    from optimizer.io.importing.assemble import read_quotes_of
    from optimizer.io.importing.cells import Book
    from optimizer.io.importing.dates import read_date, read_span
    from optimizer.io.importing.delimited import decoded, read_delimited
    from optimizer.io.importing.formulas import Formulas
    from optimizer.io.importing.mapping import Mapping
    from optimizer.io.importing.money import read_price
    from optimizer.io.importing.terms import read_lead, read_lots, read_payment, valid_until
    from optimizer.io.importing.words import amount_in_words

HEAD = "Line,Part number,Description,Qty,Unit price,Ext price\n"


def table(content: bytes) -> None:
    """Import bytes as the rows of a table."""
    try:
        text, _ = decoded(content, "fuzz")
        sheet, _ = read_delimited(HEAD + text, "fuzz")
        read_quotes_of(Book("fuzz.csv", "0" * 64, (sheet,)), Mapping(), {})
    except InputError:
        return


def words(content: bytes) -> None:
    """Read bytes as a price, a date, terms and a formula."""
    text = content.decode("utf-8", "replace")
    for mark in ("", ".", ","):
        read_price(text, mark)
    for read in _READERS:
        read(text)
    valid_until(text, dt.date(2026, 11, 30), None, "")
    Formulas({("A", 1, 1): f"={text}"}, {}, frozenset()).value(("A", 1, 1))


_READERS: tuple[Callable[[str], object], ...] = (
    read_date, read_span, read_lead, read_lots, read_payment, amount_in_words,
)  # fmt: skip


def one(content: bytes) -> None:
    """Entry of the fuzzer: the first byte chooses the target."""
    (table if content[:1] < b"\x40" else words)(content[1:])


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
