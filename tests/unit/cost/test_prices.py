"""Price of a unit: basis, tax, currency, tiers of both kinds, lots."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from optimizer.cost.frame import Frame
from optimizer.cost.option import award_pieces, fill_lots, possible_pieces, unit_prices
from tests.unit.cost.world import frame, hourly, lines, option, platform, priced, purchase, quote

LADDER = {1: 452_000, 16: 437_500, 64: 421_900}


def paid(price: Any, units: int, **terms: Any) -> Decimal:
    """Return what an order of boxes costs."""
    world = frame(quote(purchase(price, **terms)))
    return sum((piece.unit_price * count for piece, count in award_pieces(option(world), units, world)), Decimal(0))


@pytest.mark.parametrize(("per", "price"), [("accelerator", 800), ("node", 100), ("unit", 100), ("rack", 100)])
def test_a_price_is_multiplied_by_what_one_unit_holds(per: str, price: int) -> None:
    world = frame(quote(purchase(100, per=per)))
    assert unit_prices(option(world), world) == ((1, price),)


@pytest.mark.parametrize(("per", "price"), [("accelerator", 7200), ("node", 1800), ("rack", 100)])
def test_a_rack_unit_holds_all_its_nodes(per: str, price: int) -> None:
    rack = platform(accelerators_per_node=4, nodes_per_rack=18, purchase_unit="rack")
    world = frame(quote(purchase(100, per=per)), platforms=[rack])
    assert unit_prices(option(world), world) == ((1, price),)


def test_an_hourly_price_per_accelerator_is_for_all_of_a_unit() -> None:
    world = frame(quote(hourly(2.5, per="accelerator_hour")))
    assert unit_prices(option(world), world) == ((1, 20),)


def test_a_network_card_priced_by_itself_is_the_difference_of_two_nodes() -> None:
    """A node at 457,798 with its cards and 443,278 without: 57,224.75 per accelerator, 1,815 per card."""
    card = {"item": "network card", "per": "accelerator", "price": 1815}
    world = frame(quote({"with": purchase(57_224.75, per="accelerator"), "without": purchase(443_278, lines=[card])}))
    assert lines(priced(world, [(option(world, key=("q", "with")), 1)])) == {"hardware": 457_798}
    assert sum(lines(priced(world, [(option(world, key=("q", "without")), 1)])).values()) == 457_798


def test_prices_below_a_cent_are_exact_until_the_sum() -> None:
    """2,400 ft at 2,150.00 per 1,000 ft: 5,160.00."""
    world = frame(quote(purchase(1, lines=[{"item": "fibre", "per": "node", "price": 2.15}])))
    assert lines(priced(world, [(option(world), 2400)]))["line:fibre"] == Decimal("5160.00")


def test_tax_inside_a_price_is_taken_out() -> None:
    """3,390,000 including 13 %: 3,000,000 net."""
    world = frame(quote(purchase(3_390_000), tax={"included": True, "rate": 0.13}))
    assert lines(priced(world, [(option(world), 1)])) == {"hardware": 3_000_000}


def test_tax_that_cannot_be_recovered_is_a_line_of_its_own_whether_inside_the_price_or_not() -> None:
    inside = {"included": True, "rate": 0.13, "recoverable": False}
    on_top = {"included": False, "rate": 0.13, "recoverable": False}
    for price, tax in ((3_390_000, inside), (3_000_000, on_top)):
        world = frame(quote(purchase(price), tax=tax))
        assert lines(priced(world, [(option(world), 1)])) == {"hardware": 3_000_000, "tax": 390_000}


def test_a_price_in_another_currency_with_tax_inside() -> None:
    """CNY 3,180,000 including 13 % at 0.139 USD: USD 391,168.14."""
    world = frame(
        quote(purchase(3_180_000), currency="CNY", tax={"included": True, "rate": 0.13}),
        fx={"date": "2026-11-27", "base": "USD", "rates": {"CNY": 0.139}},
    )
    assert lines(priced(world, [(option(world), 1)])) == {"hardware": Decimal("391168.14")}


def test_one_price_of_a_quote_may_be_in_another_currency_than_the_quote() -> None:
    world = frame(
        quote(purchase("1000 EUR", lines=[{"item": "freight", "per": "node", "price": 50}])),
        fx={"date": "2026-11-27", "base": "USD", "rates": {"EUR": 1.08}},
    )
    assert lines(priced(world, [(option(world), 1)])) == {"hardware": 1080, "line:freight": 50}


@pytest.mark.parametrize(("units", "price"), [(63, 100), (64, 90), (255, 90), (256, 80), (257, 80)])
def test_the_first_quantity_of_a_break_already_has_its_price(units: int, price: int) -> None:
    assert paid({"all_units": {1: 100, 64: 90, 256: 80}}, units) == units * price


def test_nine_units_at_100_with_ten_per_cent_from_five() -> None:
    """All units: 9 x 90 = 810. Incremental: 4 x 100 + 5 x 90 = 850."""
    assert paid({"all_units": {1: 100, 5: 90}}, 9) == 810
    assert paid({"incremental": {1: 100, 5: 90}}, 9) == 850


def test_four_units_do_not_reach_the_break_at_five() -> None:
    assert paid({"all_units": {1: 100, 5: 90}}, 4) == 400
    assert paid({"incremental": {1: 100, 5: 90}}, 4) == 400


def test_an_all_units_ladder_can_make_more_units_cheaper() -> None:
    """64 x 421,900 = 27,001,600 is less than 62 x 437,500 = 27,125,000, and more than 61 x 437,500 = 26,687,500."""
    assert paid({"all_units": LADDER}, 64) == 27_001_600
    assert paid({"all_units": LADDER}, 62) == 27_125_000
    assert paid({"all_units": LADDER}, 61) == 26_687_500


def test_each_unit_of_an_incremental_ladder_costs_its_own_break() -> None:
    """15 x 452,000 + 47 x 437,500 = 27,342,500."""
    assert paid({"incremental": {1: 452_000, 16: 437_500}}, 62) == 27_342_500


def test_the_order_in_which_breaks_are_written_does_not_matter() -> None:
    assert paid({"all_units": {64: 421_900, 1: 452_000, 16: 437_500}}, 64) == 27_001_600


def test_possible_prices_name_the_orders_they_hold_for() -> None:
    world = frame(quote(purchase({"all_units": LADDER}, units={"max": 100})))
    found = [(piece.tier, piece.first, piece.last) for piece in possible_pieces(option(world), world)]
    assert found == [(1, 1, 15), (16, 16, 63), (64, 64, 100)]


def test_a_plain_price_has_no_tier() -> None:
    world = frame(quote(purchase(100, units={"max": 7})))
    (piece,) = possible_pieces(option(world), world)
    assert (piece.tier, piece.first, piece.last) == (None, 1, 7)


LOTS = [(64, "2027-04-01"), (16, "2027-05-01"), (None, "2027-06-01")]


@pytest.mark.parametrize(
    ("units", "filled"), [(40, [40]), (64, [64]), (70, [64, 6]), (80, [64, 16]), (200, [64, 16, 120])]
)
def test_earlier_lots_fill_first(units: int, filled: list[int]) -> None:
    world = frame(quote(purchase()))
    assert [count for _, count in fill_lots(option(world, lots=LOTS), units)] == filled


def test_all_lots_of_an_order_have_the_price_of_the_whole_order() -> None:
    world = frame(quote(purchase({"all_units": LADDER})))
    pieces = award_pieces(option(world, lots=LOTS), 70, world)
    assert [(piece.lot.delivery.isoformat(), piece.unit_price, count) for piece, count in pieces] == [
        ("2027-04-01", 421_900, 64),
        ("2027-05-01", 421_900, 6),
    ]


def test_every_price_and_every_lot_is_a_possible_piece() -> None:
    world: Frame = frame(quote(purchase({"all_units": LADDER})))
    found = [(p.tier, p.lot.delivery.month) for p in possible_pieces(option(world, lots=LOTS), world)]
    assert found == [(tier, month) for tier in LADDER for month in (4, 5, 6)]
