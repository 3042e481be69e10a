"""Numbers, prices, dates and terms, each with the reading a careful person would give."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal

import pytest

from optimizer.io.importing.breaks import Tier, continuous
from optimizer.io.importing.dates import from_serial, order_of_dates, read_date, read_span
from optimizer.io.importing.delimited import decoded, read_delimited
from optimizer.io.importing.facts import incoterm_in, tax_in
from optimizer.io.importing.formulas import Formulas
from optimizer.io.importing.mapping import Mapping, read_mapping
from optimizer.io.importing.money import read_price
from optimizer.io.importing.notes import Notes
from optimizer.io.importing.numbers import decimal_mark, readings
from optimizer.io.importing.platforms import recognise
from optimizer.io.importing.run import Import
from optimizer.io.importing.terms import read_lead, read_lots, read_payment
from optimizer.io.importing.words import amount_in_words
from optimizer.io.library import Library
from optimizer.schema.base import Money

Sheet = Callable[..., Import]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,234.56", ["1234.56"]),
        ("1.234,56", ["1234.56"]),
        ("1'234.56", ["1234.56"]),
        ("1 234,56", ["1234.56"]),
        ("1\u202f234,56", ["1234.56"]),
        ("12,34,567", ["1234567"]),
        ("1 234", ["1234"]),
        ("1.234,--", ["1234"]),
        ("150,-", ["150"]),
        ("１２３．４５", ["123.45"]),
        ("5,5", ["5.5"]),
        ("0,123", ["0.123"]),
        ("1,234", ["1.234", "1234"]),
        ("1.234", ["1.234", "1234"]),
        ("3.18E+06", ["3180000"]),
        ("1 ,", []),
        ("1,2345.00", []),
        ("1,23,4", []),
        ("1.2.3", []),
        ("--", []),
    ],
)
def test_readings_of_a_number(text: str, values: list[str]) -> None:
    assert sorted(reading.value for reading in readings(text)) == sorted(map(Decimal, values))


def test_a_file_has_one_style_or_none() -> None:
    assert decimal_mark(["1,234", "12.50", "7"]) == "."
    assert decimal_mark(["1,234", "7"]) == ""
    assert decimal_mark(["12,50", "12.50"]) == ""
    assert decimal_mark(["12.50"] * 60 + ["12,50"]) == "."


@pytest.mark.parametrize(
    ("text", "state", "amount", "currency"),
    [
        ("USD 12.50", "priced", "12.50", "USD"),
        ("12.50 €", "priced", "12.50", "EUR"),
        ("RMB 260万", "priced", "2600000", "CNY"),
        ("5.2 crore INR", "priced", "52000000", "INR"),
        ("EUR 2.6 Mio.", "priced", "2600000", "EUR"),
        ("NT$ 30.50", "priced", "30.50", "TWD"),
        ("(25.50)", "priced", "-25.50", ""),
        ("25.50-", "priced", "-25.50", ""),
        ("-25.50", "priced", "-25.50", ""),
        ("$443,278", "priced", "443278", "$"),
        ("$1.234", "ambiguous", None, "$"),
        ("面议", "on_request", None, ""),
        ("Price on application", "on_request", None, ""),
        ("Included in line 1", "included", "0", ""),
        ("F.O.C.", "free", "0", ""),
        ("No bid", "no_bid", None, ""),
        ("[REDACTED]", "redacted", None, ""),
        ("optional", "option", None, ""),
        ("#DIV/0!", "malformed", None, ""),
        ("twelve", "malformed", None, ""),
        ("12 kg", "malformed", None, ""),
        ("3 x 4", "malformed", None, ""),
        ("约 300 万元", "estimate", "3000000", "CNY"),
        ("ab 12.50 EUR", "lower_bound", "12.50", "EUR"),
        ("500+", "lower_bound", "500", ""),
    ],
)
def test_price_cells(text: str, state: str, amount: str | None, currency: str) -> None:
    price = read_price(text)
    assert (price.state, price.currency) == (state, currency)
    assert price.amount == (None if amount is None else Decimal(amount))


def test_a_basis_stays_with_its_price() -> None:
    price = read_price("$31.40 per node-hour (8 GPU)")
    assert (price.amount, price.basis, price.currency) == (Decimal("31.40"), "node-hour (8 gpu)", "$")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("17-NOV-26", "2026-11-17"),
        ("November 2, 2026", "2026-11-02"),
        ("2. März 2027", "2027-03-02"),
        ("2026年12月15日", "2026-12-15"),
        ("31.12.2026", "2026-12-31"),
        ("31/12/2026", "2026-12-31"),
        ("12/31/2026", "2026-12-31"),
        ("2027-W07", "2027-02-15"),
        ("2027-W15", "2027-04-12"),
        ("KW 7/2027", "2027-02-15"),
        ("2026-11-30T23:30:00+13:00", "2026-11-30"),
    ],
)
def test_dates(text: str, day: str) -> None:
    assert str(read_date(text).first) == day


def test_a_day_and_month_that_could_be_either_give_both() -> None:
    assert [str(day) for day in read_date("11/9/2026").options] == ["2026-11-09", "2026-09-11"]
    assert order_of_dates(["11/9/2026", "31/12/2026"]) == "day_first"
    assert order_of_dates(["11/9/2026"]) == ""
    assert order_of_dates(["13/1/2026", "1/13/2026"]) == ""


def test_days_that_do_not_exist_are_told() -> None:
    assert read_date("9/31/2026").impossible
    assert read_date("2026-02-30").impossible
    assert read_date("2026-W54").impossible


def test_a_day_number_of_a_spreadsheet_is_a_date() -> None:
    assert from_serial(Decimal(46356)) == dt.date(2026, 11, 30)  # 1899-12-30 + 46356 days
    assert from_serial(Decimal(12)) is None


def test_lengths_of_time() -> None:
    assert read_lead("16-20 wks ARO").days == (112, 140)  # type: ignore[union-attr]
    assert read_lead("ex stock").days == (0, 0)  # type: ignore[union-attr]
    assert read_span("30 working days").high_days == 42  # type: ignore[union-attr]  # 30 x 7 / 5
    assert read_span("三年NBD").months == 36  # type: ignore[union-attr]
    assert read_lead("soon") is None


def test_lots_in_two_languages() -> None:
    chinese = read_lots("首批8台：合同签订后60日历日；余24台：120日历日")
    english = read_lots("64 units in 16 weeks; rest in 24 weeks")
    assert [(lot.units, lot.days) for lot in chinese] == [(8, 60), (24, 120)]
    assert [(lot.units, lot.days) for lot in english] == [(64, 112), ("rest", 168)]
    assert read_lots("16 weeks") == ()


@pytest.mark.parametrize(
    ("text", "parts", "code"),
    [
        ("30/60/10", [("order", "0.3", 0), ("delivery", "0.6", 0), ("acceptance", "0.1", 0)], "payment_events_assumed"),
        ("3-6-1", [("order", "0.3", 0), ("delivery", "0.6", 0), ("acceptance", "0.1", 0)], "payment_events_assumed"),
        ("net 45", [("delivery", "1", 45)], ""),
        ("50% deposit, balance on shipment", [("order", "0.5", 0), ("delivery", "0.5", 0)], ""),
        ("30% at order, 60% at delivery, 10% 30 days after acceptance", [("order", "0.3", 0), ("delivery", "0.6", 0), ("acceptance", "0.1", 30)], ""),
        ("100% prepayment", [("order", "1", 0)], ""),
        ("20/30/25/20/5", [("order", "1", 0)], "payment_unread"),
        ("as usual", [("order", "1", 0)], "payment_unread"),
    ],
)  # fmt: skip
def test_payment_terms(text: str, parts: list[tuple[str, str, int]], code: str) -> None:
    found = read_payment(text)
    assert [(part.at, part.share, part.plus_days) for part in found.milestones] == [
        (at, Decimal(s), d) for at, s, d in parts
    ]
    assert found.code == code


def test_tax_and_delivery_in_the_small_print() -> None:
    assert tax_in("Duty and tax extra.") is False
    assert tax_in("单价（不含税）") is False
    assert tax_in("per node 含税13%") is True
    assert tax_in("All prices incl. 19 % VAT") is True
    assert tax_in("net 30") is None
    assert incoterm_in("Delivery DDP Shanghai, insured") == ("DDP", "Shanghai")


def test_amounts_in_words() -> None:
    assert amount_in_words("大写：壹亿叁仟叁佰伍拾叁万陆仟柒佰元整") == 133_536_700
    assert amount_in_words("人民币叁拾万零伍佰元伍角整") == Decimal("300500.5")
    assert amount_in_words("two million three hundred thousand and five") == 2_300_005
    assert amount_in_words("no amount here") is None


def test_breaks_are_made_continuous_by_the_dearer_price() -> None:
    notes = Notes()
    gap = [Tier(1, 10, Decimal(100), "A1"), Tier(20, None, Decimal(90), "A2")]
    rising = [Tier(1, 10, Decimal(90), "A1"), Tier(10, None, Decimal(100), "A2")]
    equal = [Tier(1, None, Decimal(90), "A1"), Tier(1, None, Decimal(100), "A2")]
    assert continuous(gap, notes) == {1: 100, 20: 90}
    assert continuous(rising, notes) == {1: 90, 10: 100}
    assert continuous(equal, notes) == {1: 100}
    assert [warning.code for warning in notes.warnings] == ["breaks_gap", "breaks_overlap", "breaks_equal"]


def test_formulas_as_spreadsheets_count_them() -> None:
    texts = {
        "C1": "=A1*B1",
        "C2": "=SUM(A1:A3)-10%",
        "C3": "=ROUND(A1/3,2)",
        "C4": "=IF(A1,1,2)",
        "C5": "='My Sheet'!A1+1",
    }
    numbers = {
        ("S", 1, 1): Decimal(7),
        ("S", 1, 2): Decimal("1.5"),
        ("S", 2, 1): Decimal(3),
        ("My Sheet", 1, 1): Decimal(40),
    }
    formulas = Formulas(
        {("S", int(name[1]), 3): text for name, text in texts.items()}, numbers, frozenset({("S", 3, 1)})
    )
    values = [formulas.value(("S", row, 3)) for row in range(1, 6)]
    assert values == [Decimal("10.5"), Decimal("9.9"), Decimal("2.33"), None, Decimal(41)]


@pytest.mark.parametrize(
    ("text", "platform"),
    [
        ("HGX B200 8-GPU server", "b200-hgx"),
        ("8xB200 node", "b200-hgx"),
        ("h200-sxm", "h200-sxm"),
        ("GB200 NVL72 rack", "gb200-nvl72"),
        ("MI355X 8-OAM", "mi355x"),
        ("H100 SXM5 80GB", "h100-sxm"),
        ("H100 node", None),
        ("B200 or H200 node", None),
        ("1.3 MW CDU", None),
        ("8-GPU node", None),
    ],
)
def test_platforms_by_their_words(text: str, platform: str | None) -> None:
    assert recognise(text, Library.at().platforms) == platform


def test_encodings_and_delimiters() -> None:
    assert decoded("Müller €".encode("cp1252"), "a")[1] == "cp1252"
    assert decoded("数量 单价".encode("gb18030"), "a")[1] == "gb18030"
    assert decoded("ラック".encode("cp932"), "a")[1] == "cp932"
    assert decoded("Qty".encode("utf-16"), "a") == ("Qty", "utf-16")
    assert decoded("Qté;Prix".encode(), "a")[1] == "utf-8"
    assert read_delimited("a;b;c\n1,5;2;3\n", "a")[1] == ";"
    assert read_delimited("a\tb\n1\t2\n", "a")[1] == "\t"
    assert read_delimited("sep=|\na|b\n", "a")[1] == "|"


def test_a_mapping_refuses_unknown_keys(tmp_path: object) -> None:
    from pathlib import Path

    from optimizer.errors import InputError

    path = Path(str(tmp_path)) / "m.yaml"
    path.write_text("vendor: A\ncurency: USD\n", encoding="utf-8")
    with pytest.raises(InputError, match=r'unknown key "curency".*Did you mean "currency"'):
        read_mapping(path)


def test_a_column_named_in_the_mapping(sheet: Sheet) -> None:
    mapping = Mapping(columns={"Was kostet es": "unit_price"}, currency="EUR")
    (quote,) = sheet("Artikelnummer;Menge;Was kostet es\nA-1;2;3,50\n", mapping).quotes
    assert quote.lines[0].computed == 7


def test_decimal_comma_among_numbers_is_never_125(sheet: Sheet) -> None:
    lines = sheet('Currency: EUR\nPart number,Qty,Unit price\nA-1,1,12.5\nA-2,1,"12,5"\nA-3,1,"12,5"\n').quotes[0].lines
    assert [line.price.amount for line in lines] == [Decimal("12.5")] * 3  # type: ignore[union-attr]


def test_a_yen_sign_by_place_and_without(sheet: Sheet) -> None:
    body = "Line,Part number,Qty,Unit price\n1,A-1,2,¥1500.50\n"
    assert sheet(f"Ships from Shanghai\n{body}").quotes[0].currency == "CNY"
    assert sheet(f"Ships from Osaka\n{body}").quotes[0].currency == "JPY"
    asked = [question for question in sheet(body).questions if question.to == "buyer"]
    assert [(question.code, question.location) for question in asked] == [("ambiguous_currency", "D2")]
    assert sheet(body, Mapping(currency="CNY")).finished


def test_revisions_in_letters_and_numbers(sheet: Sheet) -> None:
    body = "Currency: USD\nPart number,Qty,Unit price\nA-1,1,12.50\n"
    assert sheet(f"Revision: C\n{body}").quotes[0].revision == 3
    assert sheet(f"Revision: 12\n{body}").quotes[0].revision == 12


def test_prices_per_superchip_are_divided_when_their_accelerators_are_stated(sheet: Sheet) -> None:
    body = "Quote No: S-1\nCurrency: USD\nValid until: 2027-01-31\nPart number,Description,Qty,Unit price,Price basis,Lead time\n"
    stated = sheet(f"{body}GB,GB200 NVL72 capacity,36,77000.50,per superchip (2 GPU),16 weeks\n")
    (offer,) = stated.quotes[0].offers.values()
    assert (offer.per, offer.price) == ("accelerator", Money(amount=Decimal("38500.25")))
    assert stated.quotes[0].lines[0].per == "superchip"
    asked = sheet(f"{body}GB,GB200 NVL72 capacity,36,77000.50,per superchip,16 weeks\n")
    assert [question.code for question in asked.questions if question.to == "buyer"] == ["basis_unknown"]
    assert not asked.quotes[0].offers


def test_reservations_per_month_become_hourly_by_their_own_hours(sheet: Sheet) -> None:
    head = "Vendor,Offer,Type,Description,Unit price,Price basis,Commitment,Region,Hours per {}\n"
    row = "Cloud (invented),r,reserved,H200 SXM,{},per GPU-month,12 months,eu-1,{}\n"
    monthly = sheet("Currency: USD\n" + head.format("month") + row.format("1800.00", 720)).quotes[0]
    yearly = sheet("Currency: USD\n" + head.format("year") + row.format("1825.00", 8760)).quotes[0]
    assert [(offer.per, offer.price) for offer in (monthly.offers["r"], yearly.offers["r"])] == [
        ("accelerator_hour", Money(amount=Decimal("2.5"))),
        ("accelerator_hour", Money(amount=Decimal("2.5"))),
    ]
    assert monthly.lines[0].price == Money(amount=1800)
    assert [quote.offers["r"].hours_per_month for quote in (monthly, yearly)] == [720, 730]  # type: ignore[union-attr]


def test_incremental_breaks_that_start_late_use_the_first_price_before(sheet: Sheet) -> None:
    body = "Currency: USD\nPart number,Description,Min qty,Unit price,Notes\nA-1,Blade,8,90.50,incremental\nA-1,Blade,16,80.50,incremental\n"
    result = sheet(body)
    price = result.quotes[0].lines[0].price
    assert {first: each.amount for first, each in price.breaks.items()} == {1: Decimal("90.50"), 16: Decimal("80.50")}  # type: ignore[union-attr]
    assert any(warning.code == "breaks_start_late" for warning in result.warnings)
