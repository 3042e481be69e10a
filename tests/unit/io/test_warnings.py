from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from optimizer.io.scenario import load_scenario
from optimizer.io.understood import check_scenario
from tests.unit.io.examples import QUOTE, Write


def warned(path: Path, *sets: str) -> list[str]:
    remarks = check_scenario(load_scenario(path, sets)).warnings
    return [f"{remark.location.removeprefix(f'{path.parent}/')}: {remark.found}: {remark.why}" for remark in remarks]


def test_a_clean_scenario_warns_of_its_assumptions_only(write: Write) -> None:
    found = warned(write())
    assert len(found) == 1
    assert found[0].startswith("scenario.yaml:1: ")
    assert "assumptions: Nobody stated them" in found[0]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("2026-11-29", "quotes/acme.yaml:6, valid_until: valid until 2026-11-29: Expired on the order date 2026-11-30"),
        ("2026-11-30", "valid_until: valid until 2026-11-30: Ends 0 days after today"),
        ("2026-12-30", "valid_until: valid until 2026-12-30: Ends 30 days after today"),
        ("null", "valid_until: no validity: Used while policy.allow_budgetary_quotes is true"),
    ],
)
def test_validity(write: Write, change: str, expected: str) -> None:
    assert expected in warned(write(quote={"valid_until: 2027-02-28": f"valid_until: {change}"}))[0]


def test_a_quote_valid_longer_than_a_month_is_no_warning(write: Write) -> None:
    assert "valid until" not in "".join(warned(write(quote={"2027-02-28": "2026-12-31"})))


def test_validity_is_read_on_the_order_date(write: Write) -> None:
    assert "Expired on the order date 2027-03-01" in warned(write(), "earliest_order=2027-03-01")[0]


@pytest.mark.parametrize("kind", ["budgetary", "list"])
def test_quotes_that_bind_nobody(write: Write, kind: str) -> None:
    assert f"kind: a {kind} quote: The vendor is not bound by it" in warned(write(quote={"binding": kind}))[0]


@pytest.mark.parametrize(
    ("day", "expected"),
    [("2026-10-30", "rates of 2026-10-30: 31 days before today"), ("2026-12-01", "After today"), ("2026-10-31", None)],
)
def test_exchange_rates_must_be_of_the_day(write: Write, day: str, expected: str | None) -> None:
    found = "".join(warned(write(extra=f"fx: {{date: {day}, base: USD, rates: {{CNY: 0.139}}}}\n")))
    assert (expected in found) if expected else ("rates of" not in found)


def test_a_price_far_from_the_median_of_its_platform(tmp_path: Path, write: Write) -> None:
    path = write()
    for name, price in (("b", "320e3"), ("c", "800e3")):
        text = QUOTE.replace("acme-1", name).replace("300e3, 16: 290e3", price.replace("e3", "e3")).split("  rent:")[0]
        (tmp_path / "quotes" / f"{name}.yaml").write_text(
            text.replace("vendor: Acme", f"vendor: {name}"), encoding="utf-8"
        )
    found = [line for line in warned(path) if "median" in line]
    # per accelerator 300,000 / 8 = 37,500, 320,000 / 8 = 40,000 and 800,000 / 8 = 100,000 = 2.5 times the median
    assert len(found) == 1
    assert "quotes/c.yaml" in found[0]
    assert "100,000.00 USD per accelerator: 2.50 times the median 40,000.00 USD of 3 offers for h200-sxm" in found[0]


def test_prices_are_compared_net_and_in_one_currency(write: Write) -> None:
    path = write(
        quote={"currency: USD": "currency: CNY\ntax: {included: true, rate: 0.13}", "300e3, 16: 290e3": "3390000"},
        extra="fx: {date: 2026-11-27, base: USD, rates: {CNY: 0.139}}\n",
    )
    node, rent = check_scenario(load_scenario(path)).understood.offers
    assert node.price_per_accelerator == Decimal("52125.00")  # 3,390,000 / 1.13 x 0.139 / 8
    assert rent.price_per_accelerator == Decimal("0.2583")  # 2.1 / 1.13 x 0.139


def test_unknown_prices_and_ineligible_platforms(write: Write) -> None:
    found = warned(write(quote={"price: 2.1": "price: on_request"}))
    assert "offers.rent.price: price on_request: The offer cannot be used without it" in found[0]
    lines = "lead_weeks: [6, 8]\n    lines: [{item: freight, per: order, price: no_bid}, {item: rails, per: node, price: option, optional: true}]"
    found = warned(write(quote={"lead_weeks: [6, 8]": lines}))
    assert [line for line in found if "price" in line] == [found[0]]
    assert "lines[0].price: price no_bid" in found[0]


def test_cover_that_ends_before_the_horizon(write: Write) -> None:
    line = "lead_weeks: [6, 8]\n    lines: [{item: support, per: node, price: 100, months: 12}, {item: care, per: node, price: 1, months: 36}]"
    found = [text for text in warned(write(quote={"lead_weeks: [6, 8]": line})) if "Cover" in text]
    # ordered 2026-11-30, delivered 8 weeks later on 2027-01-25: 12 months end 2028-01-25, 36 months after the horizon
    assert len(found) == 1
    assert "support for 12 months: Cover ends on 2028-01-25, the horizon on 2029-11-29" in found[0]


def test_arithmetic_that_does_not_add_up(write: Write) -> None:
    line = 'lead_weeks: [6, 8]\n    lines: [{item: optics, per: order, price: 100, printed: "100", computed: "110"}]'
    assert "optics printed as 100 USD: Recomputed it is 110 USD" in warned(write(quote={"lead_weeks: [6, 8]": line}))[0]


def test_dates_that_cannot_be(write: Write) -> None:
    found = warned(
        write(
            quote={
                "lead_weeks: [6, 8]": "lots: [{units: rest, date: 2026-11-01}]",
                "term_months: 12": "term_months: 12, start: [2026-10-01, 2026-11-01]",
                "issued: 2026-11-01": "issued: 2026-12-24",
            },
            scenario={"    extra_compute": "    deadline: 2031-01-01\n    extra_compute"},
        )
    )
    text = "\n".join(found)
    assert "lots[0].date: delivery on 2026-11-01: Before the order date 2026-11-30" in text
    assert "offers.rent.start: start by 2026-11-01: Before the order date 2026-11-30" in text
    assert "deadline 2031-01-01: After the horizon, 2029-11-29" in text
    assert "issued 2026-12-24: After the order date" in text


def test_payment_in_full_at_order(write: Write) -> None:
    found = warned(write(quote={"offers:": "payment: [{at: order, share: 1}]\noffers:"}))
    assert "payment: all due at order: No money is held back until delivery" in found[0]


def test_a_policy_that_names_no_vendor_of_the_quotes(write: Write) -> None:
    found = warned(write(extra="policy: {vendors: {deny: [Acmee]}}\n"))
    assert 'policy.vendors.deny[0]: "Acmee": No quote is from this vendor' in found[0]


def test_a_sparse_looking_peak(tmp_path: Path, write: Write) -> None:
    from optimizer.io.library import Library
    from optimizer.io.warnings import remarks

    text = (
        "id: h200-sxm\nvendor: Us\naccelerators_per_node: 8\nacquisition: [purchase, reserved]\n"
        "ineligible: a trial\npeak_dense_tflops: {bf16: 989, fp8: 3958}\n"
    )
    folder = tmp_path / "extra" / "models" / "platforms"
    folder.mkdir(parents=True)
    (folder / "h200-sxm.yaml").write_text(text, encoding="utf-8")
    found = [remark.found for remark in remarks(load_scenario(write(), library=Library.at(tmp_path / "extra")))]
    assert "fp8 3958 TFLOP/s against bf16 989" in found
    assert "not eligible" in found


def test_what_was_understood(write: Write) -> None:
    seen = check_scenario(
        load_scenario(write(), ["workloads.pretrain.deadline=2027-12-31", "workloads.pretrain.deadline_margin_days=21"])
    ).understood
    assert str(seen.horizon_end) == "2029-11-29"
    assert str(seen.workloads[0].last_day) == "2027-12-10"
    node, rent = seen.offers
    assert node.price_per_accelerator == Decimal(37_500)
    assert (str(node.available), node.per) == ("2027-01-25", "once")
    assert (str(rent.available), rent.per, rent.units_max) == ("2026-11-30", "hour", None)


def test_unknown_delivery_is_unknown(write: Write) -> None:
    node = check_scenario(load_scenario(write(quote={"    lead_weeks: [6, 8]\n": ""}))).understood.offers[0]
    assert node.available is None
