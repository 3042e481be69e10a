"""The eight shared files read as expected.json says: every value, total, status and warning."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from optimizer.io.importing.mapping import Mapping
from optimizer.io.importing.run import Import
from optimizer.schema.base import Money
from optimizer.schema.price import PriceState, TieredPrice
from optimizer.schema.quote import Quote
from optimizer.schema.quote_record import LineRecord

Importer = Callable[..., Import]
STATUS = {
    "unknown": "on_request", "no_charge": "free", "zero_with_note": "free", "price": "priced",
    "included_in_line_1": "included", "ambiguous_currency": "ambiguous", "ambiguous_decimal": "ambiguous",
    "alternatives": "ambiguous", "inferred_decimal_comma": "priced", "spreadsheet_error": "malformed",
    "not_applicable": "no_bid",
}  # fmt: skip


def codes(result: Import) -> set[str]:
    return {warning.code for warning in result.warnings}


def by_id(quote: Quote) -> dict[str, LineRecord]:
    return {line.id: line for line in quote.lines}


def amount(line: LineRecord) -> Decimal:
    assert isinstance(line.price, Money)
    return line.price.amount


def quote_of(result: Import, name: str) -> Quote:
    return next(quote for quote in result.quotes if quote.quote == name)


def test_q01_prices_per_unit(imported: Importer, expected: dict[str, Any]) -> None:
    result, want = imported("q01_distributor_per_unit.csv"), expected["q01_distributor_per_unit.csv"]
    (quote,) = result.quotes
    lines = by_id(quote)
    assert len(lines) == len(want["lines"]) == 9
    for item in want["lines"]:
        line = lines[item["item"]]
        assert line.status == item.get("status", "priced")
        if item["extended"] is None:
            assert line.computed is None
            continue
        assert line.part == item["part"]
        assert line.quantity == Decimal(item["qty"])
        assert amount(line) == Decimal(item["unit_price"])
        assert line.price_per == Decimal(item["price_per"])
        assert line.computed == Decimal(item["extended"])
    assert quote.currency == want["currency"]
    assert not quote.tax.included
    assert quote.totals[-1].computed == Decimal(want["total"])
    assert lines["300"].cells["price"] == lines["300"].cell == "F4"
    assert codes(result) >= {
        "not_a_multiple",
        "no_bid",
        "part_priced_twice",
        "no_description",
        "caption_without_number",
    }
    assert sum(warning.code == "no_bid" for warning in result.warnings) == 2
    assert result.finished


def test_q03_formulas_without_values(imported: Importer, expected: dict[str, Any]) -> None:
    result, want = imported("q03_formula_no_cache.xlsx"), expected["q03_formula_no_cache.xlsx"]
    (quote,) = result.quotes
    lines, totals = by_id(quote), {total.name: total for total in quote.totals}
    assert str(quote.issued) == want["quote_date"]
    assert str(quote.valid_until) == want["valid_until"]
    assert totals["subtotal"].computed == totals["subtotal"].printed == Decimal(want["subtotal_net"])
    assert totals["list"].computed == totals["list"].printed == Decimal(want["subtotal_list"])
    assert lines["freight"].computed == Decimal(want["freight"])
    assert totals["total"].computed == Decimal(want["total"])
    assert max(line.lead_days[1] for line in quote.lines if line.lead_days) == want["lead_time_days_max"]
    assert (quote.tax.included, quote.tax.rate) == (False, 0)
    assert lines["6"].months == 12 * want["support"]["years"]
    assert lines["6"].computed == Decimal(want["support"]["extended"])
    assert lines["5"].description == "3Y NBD SUPPORT"
    assert [lines[name].status for name in ("2", "4", "5")] == ["included"] * 3
    assert all((line.cell or "").startswith(f"{want['sheet']}!") for line in quote.lines)
    assert lines["1"].cell == f"{want['sheet']}!G{want['header_row'] + 1}"
    assert codes(result) >= {
        "formula_computed", "date_order_inferred", "zero_price_included", "tax_rate_not_used", "more_decimals",
    }  # fmt: skip
    assert result.finished


def test_q06_chinese_bid(imported: Importer, expected: dict[str, Any]) -> None:
    result, want = imported("q06_zh_bid_table.xlsx"), expected["q06_zh_bid_table.xlsx"]
    (quote,) = result.quotes
    lines, totals = by_id(quote), {total.name: total for total in quote.totals}
    for item in want["lines"]:
        line = lines[str(item["no"])]
        assert line.status == STATUS.get(item.get("status", ""), item.get("status", "priced"))
        assert line.gross == Decimal(item["gross_cny"])
        if "qty" in item:
            assert line.quantity == Decimal(item["qty"])
            assert amount(line) == Decimal(item["unit_net_cny"])
            assert line.tax_rate == Decimal(item["tax_pct"]) / 100
    assert quote.currency == want["currency"]
    assert totals["total"].computed == Decimal(want["net_total_cny"])
    assert totals["tax"].computed == Decimal(want["tax_total_cny"])
    assert totals["gross"].computed == totals["gross"].printed == Decimal(want["gross_total_cny"])
    assert str(quote.valid_until) == want["valid_until"]
    events = [
        (f"{part.at}+{part.plus_months} months" if part.plus_months else part.at, int(100 * part.share))
        for part in quote.payment
    ]
    assert events == [(part["event"], part["pct"]) for part in want["payment"]]
    assert [(lot.units, lot.days) for lot in lines["1"].lots] == [
        (lot["qty"], lot["days_after_contract"]) for lot in want["delivery_line_1"]
    ]
    assert lines["2"].category == "算力"
    assert codes(result) >= {
        "yen_sign_by_clue", "sheet_unit", "unit_differs", "full_width_digits", "merged_cell", "mixed_tax_rates",
    }  # fmt: skip
    assert "words_differ" not in codes(result)
    assert result.finished


def cost(price: Any, units: int) -> Decimal:
    assert isinstance(price, TieredPrice)
    reached = [each.amount for first, each in price.breaks.items() if first <= units]
    return units * reached[-1]


def test_q09_quantity_breaks(imported: Importer, expected: dict[str, Any]) -> None:
    result, want = imported("q09_quantity_breaks_staged.csv"), expected["q09_quantity_breaks_staged.csv"]
    line = {name: quote_of(result, name).lines[0] for name in want}
    assert {str(n): str(cost(line["Q-2291"].price, int(n))) for n in want["Q-2291"]["cost"]} == want["Q-2291"]["cost"]
    cheapest = {
        str(need): min(range(need, 81), key=lambda units: cost(line["Q-2291"].price, units)) for need in (61, 62, 63)
    }
    assert cheapest == want["Q-2291"]["cheapest_order_for_need"]
    ordered = dt.date(2026, 12, 15)
    arrival = [str(ordered + dt.timedelta(days=days)) for days in line["Q-2291"].lead_days or ()]
    assert arrival == want["Q-2291"]["arrival_if_po_2026-12-15"]
    assert str(quote_of(result, "Q-2292").valid_until) == want["Q-2292"]["valid_until"]
    assert cost(line["Q-2292"].price, 10) == 10 * Decimal(468000)
    assert cost(line["Q-2292"].price, 11) == 11 * Decimal(455000)
    rack = line["Q-2293"]
    assert rack.units is not None
    assert rack.units.step == want["Q-2293"]["gpu_step"]
    assert amount(rack) * rack.units.step == Decimal(want["Q-2293"]["rack_price"])
    assert [{"pct": int(100 * share), "from": str(day)} for share, day in rack.lot_shares] == want["Q-2293"][
        "deliveries"
    ]
    gross = line["Q-2294"]
    assert gross.units is not None
    assert amount(gross) == Decimal(want["Q-2294"]["unit_gross_cny"])
    assert gross.net == Decimal(want["Q-2294"]["unit_net_cny"])
    assert (gross.units.min, gross.units.step) == (want["Q-2294"]["min_order"], want["Q-2294"]["multiple"])
    states = {state.quote: state.state for state in result.states}
    assert (states["Q-2295"] == "expired") is want["Q-2295"]["expired_on_2026-11-30"]
    assert line["Q-2296"].lead_days == (7 * want["Q-2296"]["lead_weeks_contractual"],) * 2
    assert quote_of(result, "Q-2296").valid_until is want["Q-2296"]["valid_until"] is None
    assert codes(result) >= {
        "breaks_all_units_assumed", "breaks_overlap", "share_lots", "moq_conflict", "expired",
        "lead_time_not_contractual", "validity_relative",
    }  # fmt: skip
    assert result.finished


def test_q10_cloud_capacity(imported: Importer, expected: dict[str, Any]) -> None:
    mapping = Mapping(platforms={"B-class GPU": "b200-hgx", "T-class chip": "tpu7x"})
    result, want = imported("q10_cloud_capacity.csv", mapping), expected["q10_cloud_capacity.csv"]
    lines = {line.id: line for quote in result.quotes for line in quote.lines}
    terms = {name: line.capacity for name, line in lines.items()}
    a, b, d = lines["A"], lines["B"], lines["D"]
    assert terms["A"] is not None
    assert terms["B"] is not None
    assert terms["D"] is not None
    assert amount(a) == Decimal(want["A"]["per_gpu_hour"])
    commitment = 1024 * amount(a) * (terms["A"].hours_per_month or 0) * (terms["A"].term_months or 0)
    assert commitment == Decimal(want["A"]["commitment_1024_gpu_36_months"])
    assert commitment * (terms["A"].prepay or 0) == Decimal(want["A"]["prepay"])
    assert amount(b) / (terms["B"].accelerators or 0) == Decimal(want["B"]["per_gpu_hour"])
    assert {day: allowed(terms["B"].days, int(day)) for day in want["B"]["allowed_days"]} == want["B"]["allowed_days"]
    assert b.units is not None
    assert (b.units.max or 0) * (terms["B"].accelerators or 0) == want["B"]["max_gpus"]
    assert terms["B"].block_max_units == 64
    assert terms["B"].start is None
    tiers = {
        name: amount(lines[f"C {words}"])
        for name, words in (("on_demand", "on demand"), ("1y", "1 yr"), ("3y", "3 yr"))
    }
    assert tiers == {name: Decimal(price) for name, price in want["C"]["tiers"].items()}
    assert terms["C 3 yr"] is not None
    assert terms["C 3 yr"].start is want["C"]["start"] is None
    assert terms["C 3 yr"].term_months == 36
    assert amount(d) / (terms["D"].accelerators or 0) == Decimal(want["D"]["per_gpu_hour"])
    monthly = 128 * amount(d) * (terms["D"].hours_per_month or 0)
    assert monthly == Decimal(want["D"]["monthly_128_nodes"])
    assert monthly * (terms["D"].take_or_pay or 0) == Decimal(want["D"]["minimum_monthly_128_nodes_80pct"])
    assert [str(day) for day in terms["D"].start or ()] == want["D"]["start_window"]
    assert codes(result) >= {"block_limit", "start_window_relative", "price_unknown_above", "hours_conventions_mixed"}
    offers = {offer.type for quote in result.quotes for offer in quote.offers.values()}
    assert offers == {"reserved", "block", "on_demand"}


def allowed(days: tuple[tuple[int, int], ...], need: int) -> int | None:
    lengths = [n for longest, step in days for n in range(step, longest + 1, step) if n >= need]
    return min(lengths, default=None)


def test_q11_words_in_place_of_prices(imported: Importer, expected: dict[str, Any]) -> None:
    result, want = imported("q11_price_words.csv"), expected["q11_price_words.csv"]
    (quote,) = result.quotes
    lines = by_id(quote)
    assert set(lines) == set(want)
    for name, item in want.items():
        line = lines[name]
        assert line.status == STATUS.get(item["status"], item["status"]), name
        if line.status == "priced":
            assert isinstance(line.price, Money)
            assert line.price.amount == Decimal(item["amount"])
            assert line.price.currency == item["currency"], name
        if "low" in item:
            assert (line.low, line.high) == (Decimal(item["low"]), Decimal(item["high"]))
        if line.status in ("estimate", "lower_bound"):
            assert line.low == Decimal(item["amount"])
        if line.status in ("free", "included"):
            assert line.computed == 0
    assert list(lines["18"].readings) == want["18"]["candidates"]
    assert [reading.split()[1] for reading in lines["11"].readings] == want["11"]["candidates"]
    assert {Decimal(reading.split()[0]) for reading in lines["11"].readings} == {Decimal(want["11"]["amount"])}
    assert {reading.split()[1]: reading.split()[0] for reading in lines["19"].readings} == want["19"]["options"]
    assert not result.finished
    asked = {question.location for question in result.questions if question.to == "buyer"}
    assert asked >= {"B8", "B12", "B19", "B20", "B22", "B25"}
    assert quote.currency == "XXX"
    assert quote.totals[-1].computed is None


def test_q13_revisions_and_wrong_sums(imported: Importer, expected: dict[str, Any]) -> None:
    result, want = imported("q13_revisions_arith_error.csv"), expected["q13_revisions_arith_error.csv"]
    states = {state.revision: state.state for state in result.states}
    assert states == {0: "superseded", 1: "valid"}
    quote = next(quote for quote in result.quotes if quote.revision == want["use_revision"])
    totals, lines = {total.name: total for total in quote.totals}, by_id(quote)
    assert quote.currency == want["currency"]
    assert totals["subtotal"].computed == Decimal(want["gross_before_discount"])
    assert lines["discount"].discount == Decimal(want["discount_pct"]) / 100
    assert lines["discount"].computed == -Decimal(want["discount"])
    assert totals["total"].computed == totals["total"].printed == Decimal(want["total"])
    assert all(
        Decimal(want["card_total_not_the_price"]) not in (total.printed, total.computed) for total in quote.totals
    )
    assert any("credit card" in item.text for item in result.ignored)
    assert str(quote.valid_until) == want["valid_until"]
    assert not quote.tax.included
    assert "Duty and tax extra" in quote.terms["tax"]
    assert (lines["2"].printed, lines["2"].computed) == (Decimal(118000), Decimal(118200))
    assert codes(result) >= {
        "extended_mismatch", "ratio_note_broken", "superseded_revision", "brackets_negative", "dollar_assumed_usd",
    }  # fmt: skip
    assert result.finished


def test_q17_two_sheets(imported: Importer, expected: dict[str, Any]) -> None:
    result, want = imported("q17_same_items_on_two_sheets.xlsx"), expected["q17_same_items_on_two_sheets.xlsx"]
    (quote,) = result.quotes
    lines, totals = by_id(quote), {total.name: total for total in quote.totals}
    assert len(quote.lines) == len(want["lines"])
    for item in want["lines"]:
        line = lines[str(item["line"])]
        assert line.quantity == Decimal(item["qty"])
        assert amount(line) == Decimal(item["unit_price"])
        assert line.months == item.get("months")
    assert (str(quote.issued), str(quote.valid_until)) == (want["quote_date"], want["valid_until"])
    assert totals["total"].computed == totals["total"].printed == Decimal(want["total"])
    assert totals["total"].computed != Decimal(want["wrong_total_if_both_sheets_are_added"])
    assert totals["list"].computed == Decimal(want["list_total"])
    assert quote.currency == want["currency"]
    assert quote.terms["incoterm"] == "EXW (Incoterms 2010)"
    (part,) = quote.payment
    assert (part.at, part.plus_days) == ("delivery", 30)
    assert codes(result) >= {
        "duplicate_sheet", "summary_contradicts_line", "tax_unknown", "freight_unknown", "stock_code",
        "metadata_sheet", "two_digit_year",
    }  # fmt: skip
    assert result.finished


def test_every_state_of_the_enum_is_documented() -> None:
    assert PriceState.__doc__ is not None
    assert all(state.value in PriceState.__doc__ or state.is_zero for state in PriceState)


@pytest.mark.parametrize("name", ["q01_distributor_per_unit.csv", "q06_zh_bid_table.xlsx", "q11_price_words.csv"])
def test_every_line_names_the_cell_of_its_price(imported: Importer, name: str) -> None:
    result = imported(name)
    assert all(line.cell and line.cells for quote in result.quotes for line in quote.lines)
