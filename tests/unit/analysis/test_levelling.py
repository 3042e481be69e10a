"""Offers on one basis: hand-computed sums, rates with their date, and what is missing."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from optimizer.analysis.levelling import Basis, level
from optimizer.errors import InputError
from optimizer.io.library import Library
from optimizer.schema.quote import Quote
from optimizer.schema.scenario import Fx

TODAY = dt.date(2026, 11, 30)


def quote(vendor: str, offer: dict[str, Any], **head: Any) -> Quote:
    head = {"currency": "USD", "kind": "binding", **head}
    return Quote.model_validate(
        {
            "quote": vendor.lower(),
            "vendor": vendor,
            "offers": {"node": {"type": "purchase", "platform": "b200-hgx", "per": "node", **offer}},
            **head,
        }
    )


def basis(units: int = 10, fx: Fx | None = None, platform: str = "b200-hgx") -> Basis:
    return Basis(Library.at().platforms[platform], units, "USD", 36, TODAY, fx)


FULL = [
    {"item": "support", "per": "node", "price": 24000, "months": 36},
    {"item": "freight", "per": "order", "price": 5000},
]


def test_a_node_with_everything() -> None:
    (row,) = level([quote("A", {"price": {"all_units": {1: 452000, 8: 440000}}, "lines": FULL})], basis()).rows
    assert {item.item: item.per_node for item in row.items} == {"hardware": 440000, "support": 24000, "freight": 500}
    assert (row.per_node, row.missing) == (464500, ())


def test_incremental_breaks_are_averaged_over_the_order() -> None:
    (row,) = level([quote("A", {"price": {"incremental": {1: 100, 9: 50}}, "lines": FULL})], basis()).rows
    assert row.items[0].per_node == 90  # (8 x 100 + 2 x 50) / 10


def test_tax_and_currency_are_taken_out_at_dated_rates() -> None:
    fx = Fx(date=dt.date(2026, 9, 1), base="USD", rates={"CNY": Decimal("0.139")})
    chinese = quote("C", {"price": 3_180_000}, currency="CNY", tax={"included": True, "rate": 0.13})
    result = level([chinese], basis(fx=fx))
    assert result.rows[0].per_node is not None
    assert round(result.rows[0].per_node, 2) == Decimal("391168.14")
    assert result.notes == ("1 CNY = 0.139 USD, rate of 2026-09-01", "stale exchange rates: 90 days old on 2026-11-30")


def test_a_missing_rate_names_the_pair() -> None:
    with pytest.raises(InputError, match="no rate between EUR and USD"):
        level([quote("E", {"price": 1}, currency="EUR")], basis())


def test_missing_lines_are_listed_not_guessed() -> None:
    short = [
        {"item": "3-year support", "per": "node", "price": 100, "months": 24},
        {"item": "freight", "per": "order", "price": "on_request"},
    ]
    rows = level(
        [
            quote("None", {"price": 90}),
            quote("Short", {"price": 100, "lines": short}),
            quote("Ask", {"price": "on_request", "lines": FULL}),
        ],
        basis(),
    ).rows
    assert {row.vendor: row.missing for row in rows} == {
        "None": ("support", "freight"),
        "Short": ("3-year support: 24 of 36 months", "freight (on request)"),
        "Ask": ("hardware",),
    }
    assert [row.vendor for row in rows] == ["None", "Short", "Ask"]
    assert rows[2].per_node is None


def test_options_never_count() -> None:
    lines = [*FULL, {"item": "glass door", "per": "node", "price": 99, "optional": True}]
    (row,) = level([quote("A", {"price": 1000, "lines": lines})], basis()).rows
    assert row.per_node == 1000 + 24000 + 500


def test_rack_prices_are_shared_by_their_nodes() -> None:
    rack = quote(
        "R",
        {
            "platform": "gb200-nvl72",
            "per": "rack",
            "price": 3_600_000,
            "lines": [{"item": "support", "per": "rack", "price": 180_000, "months": 36}],
        },
    )
    (row,) = level([rack], basis(units=2, platform="gb200-nvl72")).rows
    assert row.per_node == 210_000  # 3,600,000 / 18 + 180,000 / 18


def test_prices_per_accelerator_are_those_of_a_node() -> None:
    (row,) = level([quote("A", {"per": "accelerator", "price": 50_000, "lines": FULL})], basis()).rows
    assert row.items[0].per_node == 400_000


def test_a_platform_nobody_sells_is_refused() -> None:
    with pytest.raises(InputError, match="no quote sells mi355x"):
        level([quote("A", {"price": 1})], basis(platform="mi355x"))
