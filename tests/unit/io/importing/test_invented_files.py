"""Small invented files, an oddity or two each, read as their expected.yaml says."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from optimizer.io.importing.mapping import Mapping
from optimizer.io.importing.run import Import
from optimizer.io.yaml_reader import read_yaml_file
from optimizer.schema.base import Money
from optimizer.schema.price import TieredPrice
from optimizer.schema.quote_record import LineRecord

Importer = Callable[..., Import]
FOLDER = Path(__file__).parents[3] / "data" / "quotes" / "invented"
EXPECTED: Any = read_yaml_file(FOLDER / "expected.yaml").data
COMMON = {"tax_not_stated", "kind_assumed", "no_offer"}


def read(line: LineRecord) -> dict[str, Any]:
    """Return a line in the form of expected.yaml."""
    found: dict[str, Any] = {"status": line.status.value}
    if isinstance(line.price, Money):
        found["price"] = line.price.amount
    if isinstance(line.price, TieredPrice):
        kind = "breaks" if line.price.all_units else "incremental"
        found[kind] = {first: price.amount for first, price in line.price.breaks.items()}
    if line.price_per != 1:
        found["per"] = line.price_per
    return found | ({} if line.computed is None else {"computed": line.computed})


def exact(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    return Decimal(str(value)) if isinstance(value, (int, float)) else value


@pytest.mark.parametrize("name", list(EXPECTED))
def test_a_file_is_read_as_expected(imported: Importer, name: str) -> None:
    want, result = EXPECTED[name], imported(FOLDER / name)
    (quote,) = result.quotes
    head = want["quote"]
    assert (quote.vendor, quote.currency) == (head["vendor"], head["currency"])
    assert str(quote.issued) == str(head.get("issued"))
    assert str(quote.valid_until) == str(head.get("valid_until"))
    assert quote.tax.included == ("tax" in head)
    assert not quote.tax.included or quote.tax.rate == Decimal(str(head["tax"]))
    assert {line.id: read(line) for line in quote.lines} == exact(want["lines"])
    totals = {total.name: total.computed for total in quote.totals}
    assert totals.get("total") == exact(want["total"])
    assert {warning.code for warning in result.warnings} - COMMON == set(want["codes"])
    assert [f"{ask.code} {ask.location}" for ask in result.questions if ask.to == "buyer"] == want["asked"]


def test_there_are_enough_files_and_each_is_expected() -> None:
    names = {path.name for path in FOLDER.iterdir() if path.suffix in (".csv", ".tsv")}
    assert names == set(EXPECTED)
    assert len(names) >= 20


def test_codes_that_look_like_something_else_survive(imported: Importer) -> None:
    (quote,) = imported(FOLDER / "09_codes.tsv").quotes
    assert [line.part for line in quote.lines] == ["NA", "None", "007", "1E5", "2026-1"]


def test_an_answer_in_the_mapping_settles_the_cell_and_only_that_one(imported: Importer) -> None:
    answered = imported(FOLDER / "05_ambiguous_thousands.csv", Mapping(cells={"E4 1,234": "1234", "E5 1,234": "9"}))
    assert [read(line)["status"] for line in answered.quotes[0].lines] == ["priced", "ambiguous", "priced"]
    assert answered.quotes[0].lines[0].price == Money(amount=1234)


def test_a_decimal_mark_in_the_mapping_settles_the_file(imported: Importer) -> None:
    comma = imported(FOLDER / "05_ambiguous_thousands.csv", Mapping(decimal="comma")).quotes[0].lines
    point = imported(FOLDER / "05_ambiguous_thousands.csv", Mapping(decimal="point")).quotes[0].lines
    assert [line.price for line in comma] == [Money(amount=Decimal("1.234")), Money(amount=1234), Money(amount=12)]
    assert [line.price for line in point] == [Money(amount=1234), Money(amount=Decimal("1.234")), Money(amount=12)]


def test_the_order_of_dates_in_the_mapping_settles_the_dates(imported: Importer) -> None:
    day = imported(FOLDER / "11_ambiguous_date.csv", Mapping(dates="day_first")).quotes[0]
    month = imported(FOLDER / "11_ambiguous_date.csv", Mapping(dates="month_first")).quotes[0]
    assert (str(day.issued), str(day.valid_until)) == ("2027-02-03", "2027-04-03")
    assert (str(month.issued), str(month.valid_until)) == ("2027-03-02", "2027-03-04")


def test_a_zero_means_what_the_mapping_says(imported: Importer) -> None:
    free = imported(FOLDER / "28_bare_zero.csv", Mapping(zero="free")).quotes[0]
    missing = imported(FOLDER / "28_bare_zero.csv", Mapping(zero="missing")).quotes[0]
    assert (free.lines[0].status, free.totals[-1].computed) == ("free", Decimal("30.50"))
    assert (missing.lines[0].status, missing.totals[-1].computed) == ("missing", None)


def test_lots_and_extras_become_an_offer(imported: Importer) -> None:
    (quote,) = imported(FOLDER / "23_lots.csv").quotes
    offer = quote.offers["hx"]
    assert (offer.type, offer.platform, offer.per) == ("purchase", "b200-hgx", "node")
    assert [(lot.units, lot.days) for lot in offer.lots] == [(64, 112), ("rest", 168)]  # type: ignore[union-attr]
    (cable,) = offer.lines
    assert (cable.item, cable.per, cable.price) == ("Cable set", "node", Money(amount=Decimal("1500.00")))
    assert [(part.at, part.share) for part in quote.payment] == [
        ("order", Decimal("0.3")),
        ("delivery", Decimal("0.7")),
    ]
    assert quote.lines[1].lead_days == (42, 42)  # 30 working days


def test_a_lease_becomes_an_offer(imported: Importer) -> None:
    (quote,) = imported(FOLDER / "26_lease.csv").quotes
    offer = quote.offers["l36"]
    assert (offer.type, offer.platform, offer.per, offer.price) == ("lease", "h200-sxm", "node", Money(amount=14500))
    assert (offer.term_months, offer.lead_weeks) == (36, (8, 10))  # type: ignore[union-attr]


def test_the_same_column_twice_is_asked_with_both_headings(imported: Importer) -> None:
    (ask,) = [ask for ask in imported(FOLDER / "31_two_price_columns.csv").questions if ask.to == "buyer"]
    assert ask.options == ("Unit price", "Net price")
    settled = imported(FOLDER / "31_two_price_columns.csv", Mapping(columns={"Unit price": "ignore"}))
    assert settled.finished
    assert settled.quotes[0].lines[0].price == Money(amount=Decimal("9.50"))
