"""Laws of reading and writing quotes: no power of ten is lost, nothing crashes, records come back unchanged."""

from __future__ import annotations

import datetime as dt
import json
import string
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from optimizer.errors import InputError
from optimizer.io.importing.cells import clean
from optimizer.io.importing.dates import read_date, read_span
from optimizer.io.importing.exporting import write_quotes
from optimizer.io.importing.mapping import Mapping
from optimizer.io.importing.money import read_price
from optimizer.io.importing.numbers import decimal_mark, readings
from optimizer.io.importing.run import import_files
from optimizer.io.importing.terms import read_lead, read_lots, read_payment, valid_until
from optimizer.io.importing.words import amount_in_words
from optimizer.schema.price import PriceState
from optimizer.schema.quote import Quote

TODAY = dt.date(2026, 11, 30)

CODES = [
    "NA",
    "None",
    "007",
    "1E5",
    "2026-1",
    "null",
    "true",
    "~",
    "=1+1",
    "+A1",
    "-x",
    "@sum",
    "'a",
    "1.10",
    "yes",
    "{a",
    "[b",
    "# c",
    "a: b",
    "- d",
    "%e",
    "<b>x</b>",
    "\\n",
    "Ünï 中文 ﾊ",
]
texts = st.one_of(
    st.sampled_from(CODES),
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Co", "Cn", "Cf", "Zl", "Zp"]), min_size=1, max_size=30),
).map(clean).filter(bool)  # fmt: skip
amounts = st.decimals(min_value=Decimal("-1e9"), max_value=Decimal("1e15"), places=4).map(
    lambda number: number.normalize() + 0
)
positive = st.decimals(min_value=Decimal("0.01"), max_value=Decimal("1e12"), places=2)
days = st.dates(dt.date(2026, 1, 1), dt.date(2035, 12, 31))
states = st.sampled_from([state.value for state in PriceState if state is not PriceState.PRICED])


def optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), strategy)


money = st.one_of(
    amounts, st.builds(lambda number, code: f"{number:f} {code}", amounts, st.sampled_from(["EUR", "JPY"]))
)
tiers = st.builds(
    lambda first, more: {1: first, **more}, positive, st.dictionaries(st.integers(2, 500), positive, max_size=3)
)
prices = st.one_of(
    money, states, st.builds(lambda kind, table: {kind: table}, st.sampled_from(["all_units", "incremental"]), tiers)
)
lines = st.fixed_dictionaries(
    {"id": texts},
    optional={
        "role": st.sampled_from(["hardware", "support", "freight"]),
        "part": texts,
        "description": texts,
        "note": texts,
        "quantity": amounts,
        "unit": texts,
        "price": prices,
        "price_per": positive,
        "per": st.sampled_from(["node", "accelerator_hour", "order"]),
        "status": st.sampled_from([state.value for state in PriceState]),
        "readings": st.lists(texts, max_size=3),
        "reason": texts,
        "printed": amounts,
        "computed": amounts,
        "months": st.integers(1, 120),
        "units": st.fixed_dictionaries({"min": st.integers(0, 9), "step": st.integers(1, 9)}),
        "lead_days": st.tuples(st.integers(0, 99), st.integers(0, 99)),
        "lots": st.lists(st.fixed_dictionaries({"units": st.integers(1, 99), "days": st.integers(0, 99)}), max_size=2),
        "lot_shares": st.lists(st.tuples(st.decimals(0, 1, places=2), days), max_size=2),
        "capacity": st.fixed_dictionaries(
            {"type": st.sampled_from(["reserved", "block"])},
            optional={
                "prepay": st.decimals(0, 1, places=2),
                "start": st.tuples(days, days),
                "texts": st.dictionaries(texts, texts, max_size=2),
            },
        ),
        "text": texts,
        "cell": texts,
        "cells": st.dictionaries(texts, texts, max_size=3),
    },
)
offers = st.fixed_dictionaries(
    {"type": st.just("purchase"), "platform": st.sampled_from(["b200-hgx", "h200-sxm"]), "per": st.sampled_from(["node", "accelerator"]), "price": prices},
    optional={
        "units": st.fixed_dictionaries({"min": st.integers(1, 9), "max": st.integers(9, 99)}),
        "lead_weeks": st.one_of(st.just("stock"), st.tuples(st.integers(0, 9), st.integers(9, 30))),
        "note": texts,
        "lines": st.lists(st.fixed_dictionaries({"item": texts, "per": st.just("node"), "price": st.one_of(money, states)}, optional={"months": st.integers(1, 60), "printed": texts}), max_size=2),
    },
)  # fmt: skip
quotes = st.builds(
    lambda head, some, others, terms: Quote.model_validate({**head, "lines": some, "offers": others, "terms": terms}),
    st.fixed_dictionaries(
        {"quote": texts, "vendor": texts, "kind": st.sampled_from(["binding", "list"]), "currency": st.sampled_from(["USD", "CNY"])},
        optional={"revision": st.integers(0, 9), "issued": st.just(dt.date(2026, 1, 1)), "valid_until": days, "delivery": texts,
                  "tax": st.fixed_dictionaries({"included": st.booleans(), "rate": st.decimals(0, 1, places=3)}),
                  "totals": st.lists(st.fixed_dictionaries({"name": st.just("total"), "printed": amounts}), max_size=1),
                  "warnings": st.lists(st.fixed_dictionaries({"code": st.just("x_1"), "location": texts, "message": texts}), max_size=2)},
    ),
    st.lists(lines, min_size=1, max_size=4),
    st.dictionaries(st.sampled_from(["node", "007", "null", "a-b"]), offers, max_size=2),
    st.dictionaries(st.sampled_from(["payment", "warranty"]), texts, max_size=2),
)  # fmt: skip


def back(quote: Quote, suffix: str) -> Quote:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"records{suffix}"
        write_quotes(path, [quote], "a comment")
        (read,) = import_files([path], lambda _: Mapping(), {}, TODAY).quotes
        return read


@pytest.mark.parametrize(("suffix", "examples"), [(".yaml", 150), (".csv", 150), (".xlsx", 12)])
def test_records_come_back_unchanged(suffix: str, examples: int) -> None:
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(quotes)
    def law(quote: Quote) -> None:
        assert back(quote, suffix) == quote

    law()


@given(st.decimals(0, Decimal("1e12"), places=2), st.sampled_from([",.", ".,", " ,", "'.", " ."]))
def test_every_grouping_style_keeps_its_value(number: Decimal, style: str) -> None:
    group, mark = style
    text = f"{number:,.2f}".replace(",", "\0").replace(".", mark).replace("\0", group)
    assert [reading.value for reading in readings(text)] == [number]
    assert decimal_mark([text]) == mark


@given(st.integers(1, 999), st.integers(0, 999), st.sampled_from(",."))
def test_three_digits_after_one_mark_are_never_read_alone(whole: int, rest: int, mark: str) -> None:
    found = {reading.value for reading in readings(f"{whole}{mark}{rest:03d}")}
    assert found == {Decimal(1000 * whole + rest), Decimal(f"{whole}.{rest:03d}")}


@given(
    st.integers(1, 10**9),
    st.sampled_from(["¥", "$", "€", ""]),
    st.sampled_from(["k", "M", "万", "亿", "lakh", "crore"]),
)
def test_multipliers_are_exact(number: int, symbol: str, word: str) -> None:
    factor = {"k": 10**3, "M": 10**6, "万": 10**4, "亿": 10**8, "lakh": 10**5, "crore": 10**7}[word]
    assert read_price(f"{symbol}{number} {word}").amount == number * factor


price_like = st.text(
    st.sampled_from(string.digits * 3 + ",.' $€¥元万kM()-+~%/:eE" + "\u00a0\u202f－１２abcdpriNT"), max_size=40
)


@settings(max_examples=400, deadline=2000)
@given(st.one_of(price_like, st.text(max_size=60)), st.sampled_from(["", ".", ","]))
@example("(" * 200, "")
@example("1" + ",111" * 60, "")
@example("9" * 5000, "")
@example("1e999999999", "")
def test_prices_never_crash_and_only_priced_ones_have_an_amount(text: str, mark: str) -> None:
    price = read_price(text, mark)
    if price.amount is not None:
        assert price.amount.is_finite()
        assert price.state in (
            PriceState.PRICED,
            PriceState.ESTIMATE,
            PriceState.LOWER_BOUND,
            PriceState.FREE,
            PriceState.INCLUDED,
        )
    if price.state is PriceState.AMBIGUOUS:
        assert len(price.options) > 1
    if price.state in (PriceState.FREE, PriceState.INCLUDED):
        assert not any(char.isdigit() for char in text) or "in" in text.casefold()


@settings(max_examples=300, deadline=2000)
@given(
    st.one_of(
        st.text(st.sampled_from("0123456789-/.年月日QWqwabcdefgjklmnoprstuvy,%;:个天周"), max_size=50),
        st.text(max_size=80),
    )
)
@example("0000-00-00")
@example("99/99/9999")
@example("2026-W54")
def test_words_of_time_and_payment_never_crash(text: str) -> None:
    assert read_date(text).first is None or read_date(text).first <= (read_date(text).last or dt.date.max)
    for read in (read_span, read_lead, read_lots, amount_in_words):
        read(text)
    assert sum(part.share for part in read_payment(text).milestones) == 1
    valid_until(text, TODAY, None, "")


cells = st.one_of(
    price_like,
    texts,
    st.sampled_from(["Qty", "Price", "Part number", "Description", "Total", "Subtotal", "", "", "12", "3.50"]),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(cells, min_size=1, max_size=6), min_size=1, max_size=12), st.sampled_from(",;\t|"))
def test_any_table_is_imported_or_refused_and_always_writable(rows: list[list[str]], delimiter: str) -> None:
    head = ["Line", "Part number", "Description", "Qty", "Unit price", "Ext price"]
    body = "\n".join(delimiter.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in [head, *rows])
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "a.csv", Path(folder) / "a.yaml"
        path.write_text(body, encoding="utf-8", newline="")
        try:
            result = import_files([path], lambda _: Mapping(), {}, TODAY)
        except InputError:
            return
        write_quotes(out, result.quotes)
        again = import_files([out], lambda _: Mapping(), {}, TODAY)
    assert again.quotes == tuple(sorted(result.quotes, key=lambda quote: quote.quote))
    for quote in result.quotes:
        for line in quote.lines:
            assert line.status.is_zero or line.computed != 0 or line.quantity == 0
            assert json.dumps(line.cells)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=400), st.sampled_from([".csv", ".xlsx", ".xls", ".ods", ".yaml", ".tsv"]))
def test_any_bytes_are_imported_or_refused(content: bytes, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        path.write_bytes(content)
        with pytest.raises(InputError):
            raise_or_read(path)


def raise_or_read(path: Path) -> None:
    """Import a file; a file that can be read after all ends like a refusal, with quotes to look at."""
    result = import_files([path], lambda _: Mapping(), {}, TODAY)
    assert result.quotes
    raise InputError("read")
