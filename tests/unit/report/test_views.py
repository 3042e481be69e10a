"""Other currencies, and documents without prices or vendors: what must not be told is nowhere, in any format."""

from __future__ import annotations

import csv
import re
import zipfile
from dataclasses import replace
from decimal import Decimal
from html import unescape
from io import BytesIO, StringIO

import pytest
from committee import committee, html_tables

from optimizer.errors import InputError
from optimizer.report.html import page
from optimizer.report.language import CODES, Language
from optimizer.report.markdown import markdown
from optimizer.report.orders import orders_csv, payments_csv
from optimizer.report.source import Source
from optimizer.report.views import Report, report_of
from optimizer.report.workbook import workbook
from optimizer.schema.base import Money
from optimizer.schema.price import TieredPrice
from optimizer.units import round_money

USD_PER_EUR, USD_PER_CNY = Decimal("1.0837"), Decimal("0.1391")
"""Rates of the committee's scenario."""


def texts(report: Report) -> dict[str, str]:
    """Return everything a reader can find in each format."""
    book = zipfile.ZipFile(BytesIO(workbook(report)))
    return {
        "html": unescape(page(report.document, report.language)),
        "md": markdown(report.document, report.language).replace("\\", ""),
        "orders": orders_csv(report),
        "payments": payments_csv(report),
        "xlsx": unescape("\n".join(book.read(name).decode() for name in book.namelist() if "theme" not in name)),
    }


def amounts(source: Source) -> set[Decimal]:
    """Return every amount of the plan and its quotes that is long enough to be told from a count."""
    cost, loaded = source.plan.cost, source.loaded
    assert cost is not None
    assert loaded is not None
    found = {cost.total, cost.npv, *cost.by_fiscal_year.values(), *(line.amount for line in cost.lines)}
    found |= {award.cost for award in source.plan.awards} | {award.unit_price for award in source.plan.awards}
    found |= {limit.used for limit in source.plan.limits if limit.unit == "EUR" and limit.used is not None}
    found |= {after.total for after in cost.after_run if after.total is not None}
    for quote in loaded.quotes.values():
        for offer in quote.offers.values():
            rows = offer.price.breaks.values() if isinstance(offer.price, TieredPrice) else [offer.price]
            found |= {price.amount for price in rows if isinstance(price, Money)}
            found |= {line.price.amount for line in offer.lines if isinstance(line.price, Money)}
    for entry in loaded.scenario.costs:
        rows = [entry.amount] if isinstance(entry.amount, Money) else list(entry.amount.values())
        found |= {money.amount for money in rows}
    return {amount for amount in found if abs(amount) >= 1000 or amount != amount.to_integral_value()}


def written(amount: Decimal) -> set[str]:
    """Return the ways in which an amount may be written."""
    short = [
        f"{abs(amount).normalize():f}",
        f"{abs(amount):.2f}",
        f"{abs(amount):,.2f}",
        f"{abs(amount).normalize():,f}",
    ]
    millions = [f"{abs(amount) / 10**6:,.1f} M", f"{abs(amount) / 10**3:,.1f} k", f"{abs(amount) / 10**4:,.1f}万"]
    return {*short, *(text for text in millions if not text.startswith("0.0"))}


_NUMBER = re.compile(r"(?<![\d.,])\d[\d,]*(?:\.\d+)?(?: [kM]\b|万)?")


def numbers(text: str) -> set[str]:
    """Return every number in a text, as written."""
    return set(_NUMBER.findall(text))


@pytest.mark.parametrize("code", CODES)
def test_without_prices_no_amount_is_told(code: str) -> None:
    source = committee()
    open_texts = texts(report_of(source, Language(code)))  # type: ignore[arg-type]
    closed = texts(report_of(source, Language(code), prices=False))  # type: ignore[arg-type]
    words = {word for amount in amounts(source) for word in written(amount)}
    assert len(words & numbers("\n".join(open_texts.values()))) > 50
    assert {name: words & numbers(text) for name, text in closed.items()} == {name: set() for name in closed}
    assert "h100-sxm" in closed["html"]
    assert "2027-03-23" in closed["orders"]


@pytest.mark.parametrize("hostile", [False, True])
def test_without_vendors_no_name_is_told(hostile: bool) -> None:
    source = committee(hostile)
    assert source.loaded is not None
    names = {quote.vendor for quote in source.loaded.quotes.values()}
    names |= {*source.loaded.quotes, "acme", "huaxin", "lessor", "fwq", "eu-1", "acme.xlsx", "wafer", "tokyo"}
    names |= {file.sha256 for file in source.plan.provenance.inputs if not file.path.startswith("models/")}
    files = {file.path.rpartition("/")[2] for file in source.plan.provenance.inputs if "/quotes/" in file.path}
    assert len(files) == 5
    open_texts = texts(report_of(source, Language()))
    closed = texts(report_of(source, Language(), vendors=False))
    assert all(any(name in text for text in open_texts.values()) for name in {*source.loaded.quotes, "fwq"})
    told = {
        (format_, name) for format_, text in closed.items() for name in names | files if name.lower() in text.lower()
    }
    assert told == set()
    assert "Vendor A" in closed["orders"]


def test_pseudonyms_are_the_same_each_time_and_change_no_number() -> None:
    first, again = (report_of(committee(), Language(), vendors=False) for _ in range(2))
    assert first.document == again.document
    assert first.source.plan.cost == committee().plan.cost.model_copy(update={"lines": first.source.plan.cost.lines})  # type: ignore[union-attr]
    named = [award.vendor for award in committee().plan.awards]
    assert len({award.vendor for award in first.source.plan.awards}) == len(set(named))


def test_the_order_tells_no_vendor() -> None:
    """What was listed by name is listed by pseudonym, in every document, with its own figures."""
    report = report_of(committee(), Language(), vendors=False)
    plan, before = report.source.plan, committee().plan
    quotes = [award.quote for award in plan.awards]
    assert quotes == sorted(quotes)
    assert len(set(quotes)) == 5
    assert sorted(award.cost for award in plan.awards) == sorted(award.cost for award in before.awards)
    assert plan.cost is not None
    assert before.cost is not None
    assert report.source.loaded is not None
    assert list(report.source.loaded.quotes) == sorted(report.source.loaded.quotes)
    for position, award in enumerate(plan.awards):
        own = [line.amount for line in plan.cost.lines if line.award == position]
        (old,) = (at for at, each in enumerate(before.awards) if (each.cost, each.units) == (award.cost, award.units))
        assert own == [line.amount for line in before.cost.lines if line.award == old]
    tables = html_tables(page(report.document, report.language))
    for name, column in (("awards", 1), ("lots", 1), ("understood-table", 0), ("quotes-used", 0), ("conditions", 1)):
        named = [row[column] for row in tables[name][1:] if row[column]]
        assert named == sorted(named), name
    files = [row[0] for row in tables["inputs"][1:] if row[0].startswith("quotes/")]
    assert files == sorted(files)
    assert len(files) == 5


def test_both_may_be_withheld() -> None:
    closed = texts(report_of(committee(), Language(), prices=False, vendors=False))
    assert f"{int(committee().plan.cost.total):,}" not in "".join(closed.values())  # type: ignore[union-attr]
    assert "acme" not in "".join(closed.values()).lower()


def test_every_figure_in_another_currency() -> None:
    source = committee()
    plan, report = source.plan, report_of(source, Language(), "CNY")
    cost = plan.cost
    assert cost is not None
    rate = USD_PER_EUR / USD_PER_CNY
    table = html_tables(page(report.document, report.language))
    assert table["awards"][0][6] == "Amount (CNY)"
    assert [row[6] for row in table["awards"][1:-1]] == [
        f"{round_money(a.cost * rate, 'CNY'):,.2f}" for a in plan.awards
    ]
    assert table["options"][1][2] == f"{round_money(cost.total * rate, 'CNY'):,.2f}"
    text = markdown(report.document, report.language)
    label = "1 EUR = 7.79079798706 CNY"
    assert f"Every amount is converted from EUR to CNY at the plan's rate of 2026-11-27: {label}" in text
    stated = re.sub(r"\(quoted [^()]*\)", "", text.replace(label, ""))
    assert not re.search(r"\d (EUR|USD|JPY)\b", stated)


def test_rates_of_quotes_are_their_own() -> None:
    report = report_of(committee(), Language(), "USD")
    rows = csv.DictReader(StringIO(orders_csv(report).removeprefix("\ufeff")))
    prices = ("unit_price", "currency", "quoted_price", "quoted_currency")
    priced = {row["quote"]: [row[key] for key in prices] for row in rows if row["unit_price"]}
    assert priced["cloud-7"] == ["3.455", "USD", "3.455", "USD"]
    assert priced["lessor-3"] == [f"{Decimal('7123.45') * USD_PER_EUR:.4f}", "USD", "7123.45", "EUR"]


def test_the_workbook_shows_the_converted_total_and_its_rate() -> None:
    import openpyxl

    source = committee()
    assert source.plan.cost is not None
    book = openpyxl.load_workbook(BytesIO(workbook(report_of(source, Language(), "JPY"))), data_only=True)
    rate = USD_PER_EUR / Decimal("0.00643")
    totals = [row[1] for row in book["Totals"].iter_rows(min_row=5, max_row=6, values_only=True)]
    assert totals == [
        float(round_money(value * rate, "JPY")) for value in (source.plan.cost.total, source.plan.cost.npv)
    ]


def test_a_currency_without_a_rate_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"no rate for GBP.*CNY, EUR, JPY, USD"):
        report_of(committee(), Language(), "GBP")


def test_vendors_of_unreadable_inputs_cannot_be_withheld() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        report_of(replace(committee(), loaded=None, unread="a key of another version"), Language(), vendors=False)
