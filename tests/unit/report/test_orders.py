"""Purchase orders and payments as an ERP reads them."""

from __future__ import annotations

import csv
import datetime as dt
from dataclasses import replace
from decimal import Decimal
from io import StringIO

from committee import committee

from optimizer.cost.charge import BEYOND_COMMITMENT
from optimizer.report.language import Language
from optimizer.report.orders import orders_csv, payments_csv
from optimizer.report.views import report_of


def rows(text: str) -> list[dict[str, str]]:
    assert text.startswith("\ufeff")
    assert "\r\n" in text
    return list(csv.DictReader(StringIO(text.removeprefix("\ufeff"), newline="")))


def test_lots_breaks_extras_duty_and_tax_are_rows_of_their_own() -> None:
    orders = rows(orders_csv(report_of(committee(), Language())))
    keys = ("quote", "item", "quantity", "unit_price", "currency", "price_per")
    seen = [tuple(row[key] for key in keys) for row in orders]
    assert seen == [
        ("acme-2291", "h100-sxm", "5", "247500.125", "USD", "node"),
        ("acme-2291", "support", "5", "21000", "USD", "node"),
        ("acme-2291", "duty", "", "", "USD", ""),
        ("acme-2291", "h100-sxm", "7", "247500.125", "USD", "node"),
        ("acme-2291", "support", "7", "21000", "USD", "node"),
        ("acme-2291", "duty", "", "", "USD", ""),
        ("acme-2291", "freight", "1", "18500", "EUR", "order"),
        ("cloud-7", "b200-hgx", "3", "5.5", "USD", "accelerator-hour"),
        ("cloud-7", "b200-hgx", "3", "3.455", "USD", "accelerator-hour"),
        ("huaxin-88", "h100-sxm", "3", "231500", "CNY", "accelerator"),
        ("huaxin-88", "duty", "", "", "CNY", ""),
        ("huaxin-88", "tax", "", "", "CNY", ""),
        ("huaxin-88", "h100-sxm", "2", "226111.11", "CNY", "accelerator"),
        ("lessor-3", "h100-sxm", "3", "7123.45", "EUR", "node and month"),
        ("lessor-3", "tax", "", "", "EUR", ""),
        ("wafer-5", "cs-3", "4", "98765432", "JPY", "run"),
        ("wafer-5", "tax", "", "", "JPY", ""),
    ]
    assert [row["line"] for row in orders] == [str(at) for at in range(1, 18)]
    assert [row["amount"] for row in orders[:4]] == ["1237500.63", "105000.00", "30937.52", "1732500.88"]
    assert orders[9]["amount"] == f"{3 * 8 * Decimal(231500):.2f}"
    assert orders[15]["amount"] == "98765432"  # once for the run, whatever its units
    assert [orders[3][key] for key in ("order_date", "lot", "delivery_date", "ready_date")] == [
        "2026-12-15", "2", "2027-03-23", "2027-04-06"
    ]  # fmt: skip
    assert orders[0]["payment_terms"] == "30% order; 60% delivery; 10% acceptance +30 days"
    assert (orders[9]["tax_included"], orders[9]["tax_rate"]) == ("yes", "0.13")


def test_rents_have_the_amount_of_their_hours_and_months() -> None:
    orders = rows(orders_csv(report_of(committee(), Language())))
    keys = ("commitment", "priced_quantity", "amount", "cost")
    hourly, reserved, lease = ([row[key] for key in keys] for row in (orders[7], orders[8], orders[13]))
    # 3 units of 8 accelerators for 40 days of 24 h at 5.50 USD
    assert hourly == ["expected use", "23040", "126720.00", "116932.73"]
    # 3 x 8 x 0.9 x 730 h x 36 months at 3.455 USD, prepaid, monthly and beyond the horizon alike
    assert reserved == ["committed", "567648", "1961223.84", "1809747.94"]
    # 3 nodes for 36 months at 7,123.45 EUR
    assert lease == ["committed", "108", "769332.60", "769332.60"]


def test_hours_beyond_a_commitment_are_expected_and_order_no_more_units() -> None:
    source = committee()
    cost = source.plan.cost
    assert cost is not None
    first = next(line for line in cost.lines if line.item == "reserved")
    hours = {"name": BEYOND_COMMITMENT, "value": Decimal(100), "unit": "h"}
    kept = first.factors[:4]  # units, price, rate, accelerators of a unit
    excess = first.model_copy(update={"factors": (*kept, kept[0].model_copy(update=hours))})
    longer = cost.model_copy(update={"lines": (*cost.lines, excess)})
    more = replace(source, plan=source.plan.model_copy(update={"cost": longer}))
    found = [row for row in rows(orders_csv(report_of(more, Language()))) if row["offer"] == "reserved"]
    keys = ("commitment", "quantity", "priced_quantity", "amount")
    assert [[row[key] for key in keys] for row in found] == [
        ["committed", "3", "567648", "1961223.84"],
        ["expected use", "", "2400", "8292.00"],  # 3 x 8 x 100 h at 3.455 USD
    ]


def test_a_tax_that_the_price_includes_is_not_owed_twice() -> None:
    orders = rows(orders_csv(report_of(committee(), Language())))
    tax = {row["quote"]: (row["amount"], row["cost"]) for row in orders if row["item"] == "tax"}
    # 13 % on the duty alone: 7 % of (5,556,000 + 3,617,777.76) / 1.13 CNY; the tax on the price is in the price
    assert tax["huaxin-88"][0] == f"{Decimal('9173777.76') / Decimal('1.13') * Decimal('0.07') * Decimal('0.13'):.2f}"
    assert tax["wafer-5"] == ("0", "53273.86")
    assert tax["lessor-3"][0] == f"{Decimal('769332.60') * Decimal('0.19'):.2f}"


def test_payments_follow_the_milestones() -> None:
    paid = rows(payments_csv(report_of(committee(), Language())))
    acme = [row for row in paid if row["quote"] == "acme-2291" and row["item"] == "hardware"]
    rate = 1 / Decimal("1.0837")
    five, seven = (count * Decimal("247500.125") * rate for count in (5, 7))
    expected = {
        "2026-12-15": (five + seven) * Decimal("0.3"),
        "2027-02-23": five * Decimal("0.6"),
        "2027-03-23": seven * Decimal("0.6"),
        "2027-04-08": five * Decimal("0.1"),
        "2027-05-06": seven * Decimal("0.1"),
    }
    assert {row["date"] for row in acme} == set(expected)
    cent = Decimal("0.01")  # rows add up to the cost of the award, so that one may be a cent off its own rounding
    assert all(abs(Decimal(row["amount"]) - expected[row["date"]]) <= cent for row in acme)
    assert {row["fiscal_year"] for row in acme} == {"2026/27", "2027/28"}
    assert [row["date"] for row in paid if row["item"] == "lease"] == [
        f"{2027 + (month + 0) // 12}-{month % 12 + 1:02d}-26" for month in range(29)
    ]


def test_text_that_looks_like_a_formula_is_text() -> None:
    report = report_of(committee(hostile=True), Language())
    for text in (orders_csv(report), payments_csv(report)):
        cells = [cell for row in csv.reader(StringIO(text, newline="")) for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "\t"))]
        assert not [cell for cell in cells if cell.startswith("-") and not _number(cell)]
        assert any(cell.startswith("'=HYPERLINK") for cell in cells)


def _number(cell: str) -> bool:
    return cell.removeprefix("-").replace(".", "", 1).isdigit()


def test_every_date_is_iso() -> None:
    for row in rows(payments_csv(report_of(committee(), Language("zh")))):
        assert dt.date.fromisoformat(row["date"])
