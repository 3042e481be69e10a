"""What a purchase costs: milestones, lines, lots, duty, tax, residual."""

from __future__ import annotations

from decimal import Decimal

import pytest

from optimizer.cost.items import is_invoiced
from tests.unit.cost.world import cash, frame, lines, option, platform, priced, purchase, quote, run

THIRDS = [
    {"at": "order", "share": 0.3},
    {"at": "delivery", "share": 0.6},
    {"at": "acceptance", "plus_days": 30, "share": 0.1},
]


def test_without_milestones_all_is_paid_on_delivery() -> None:
    world = frame(quote(purchase(100_000)))
    assert cash(priced(world, [(option(world, "2027-03-10"), 4)]), "hardware") == {"2027-03-10": 400_000}


def test_milestones_fall_on_order_delivery_and_acceptance() -> None:
    """4 x 100,000, ordered 01-15, delivered 03-10, ready 03-31, the last tenth 30 days after: 04-30."""
    world = frame(quote(purchase(100_000), payment=THIRDS), earliest_order="2027-01-15")
    found = priced(world, [(option(world, "2027-03-10", ready="2027-03-31"), 4)])
    assert cash(found, "hardware") == {"2027-01-15": 120_000, "2027-03-10": 240_000, "2027-04-30": 40_000}


def test_months_of_a_milestone_come_after_its_days_and_keep_to_short_months() -> None:
    """Delivery 01-30 plus 1 day is 01-31, plus 1 month is 02-28."""
    world = frame(quote(purchase(100), payment=[{"at": "delivery", "share": 1, "plus_days": 1, "plus_months": 1}]))
    assert cash(priced(world, [(option(world, "2027-01-30"), 1)]), "hardware") == {"2027-02-28": 100}


def test_lots_are_paid_by_their_own_units_and_days() -> None:
    """7 boxes: 5 on 03-01, 2 on 05-01; 30 % of all at order, 70 % of each lot on its delivery."""
    world = frame(quote(purchase(1000), payment=[{"at": "order", "share": 0.3}, {"at": "delivery", "share": 0.7}]))
    bought = option(world, lots=[(5, "2027-03-01"), (None, "2027-05-01")])
    expected = {"2027-01-01": 2100, "2027-03-01": 3500, "2027-05-01": 1400}
    assert cash(priced(world, [(bought, 7)]), "hardware") == expected


@pytest.mark.parametrize(("per", "amount"), [("accelerator", 960), ("node", 120), ("unit", 120), ("order", 40)])
def test_a_line_multiplies_what_it_names(per: str, amount: int) -> None:
    world = frame(quote(purchase(lines=[{"item": "support", "per": per, "price": 40}])))
    assert lines(priced(world, [(option(world), 3)]))["line:support"] == amount


def test_lines_are_paid_like_the_hardware_and_not_renewed() -> None:
    """12 months of support in a horizon of 36 are paid once, by the milestones."""
    support = {"item": "support", "per": "node", "price": 1000, "months": 12}
    world = frame(quote(purchase(lines=[support]), payment=THIRDS), horizon_months=36)
    found = priced(world, [(option(world, "2027-03-10"), 2)])
    assert cash(found, "line:support") == {"2027-01-01": 600, "2027-03-10": 1200, "2027-04-09": 200}


def test_a_line_per_order_follows_the_first_lot() -> None:
    world = frame(quote(purchase(lines=[{"item": "freight", "per": "order", "price": 500}])))
    bought = option(world, lots=[(5, "2027-03-01"), (None, "2027-05-01")])
    assert cash(priced(world, [(bought, 7)]), "line:freight") == {"2027-03-01": 500}


def test_optional_free_and_included_lines_cost_nothing() -> None:
    extras = [
        {"item": "training", "per": "order", "price": 5000, "optional": True},
        {"item": "racking", "per": "node", "price": "included"},
        {"item": "cables", "per": "node", "price": "free"},
        {"item": "later", "per": "node", "price": "on_request", "optional": True},
    ]
    world = frame(quote(purchase(100, lines=extras)))
    assert lines(priced(world, [(option(world), 1)])) == {"hardware": 100}


def test_duty_and_the_tax_on_it_fall_on_delivery() -> None:
    """Customs value 400,000, duty 25 %, tax 13 % on both: 500,000 when it is recovered, 565,000 when not."""
    for recoverable, expected in ((True, 500_000), (False, 565_000)):
        world = frame(
            quote(purchase(400_000), tax={"rate": 0.13, "recoverable": recoverable}, payment=THIRDS),
            duty={"rate": 0.25},
        )
        found = priced(world, [(option(world, "2027-03-10"), 1)])
        assert found.total == expected
        assert cash(found, "duty") == {"2027-03-10": 100_000}
    # 13 % of 120,000 at order, of 240,000 + 100,000 on delivery, of 40,000 thirty days later
    assert cash(found, "tax") == {"2027-01-01": 15_600, "2027-03-10": 44_200, "2027-04-09": 5200}


def test_duty_is_on_the_hardware_alone() -> None:
    world = frame(quote(purchase(1000, lines=[{"item": "support", "per": "node", "price": 90}])), duty={"rate": 0.1})
    assert lines(priced(world, [(option(world), 1)])) == {"hardware": 1000, "line:support": 90, "duty": 100}


def test_the_duty_of_an_offer_counts_instead_of_the_scenarios() -> None:
    offers = {
        "own": purchase(1000, duty={"rate": 0.02}),
        "none": purchase(1000, duty={"rate": 0}),
        "all": purchase(1000),
    }
    world = frame(quote(offers), duty={"rate": 0.1})
    found = {name: lines(priced(world, [(option(world, key=("q", name)), 1)])).get("duty") for name in offers}
    assert found == {"own": 20, "none": None, "all": 100}


def test_residual_after_the_stated_months_is_the_stated_share() -> None:
    """Delivered on the first day of a horizon of 36 months: 30 % of 457,798 come back on the horizon day."""
    world = frame(quote(purchase(457_798)), horizon_months=36, finance={"residual": {"months": 36, "share": 0.3}})
    found = priced(world, [(option(world), 1)])
    assert cash(found, "residual") == {"2030-01-01": Decimal("-137339.40")}
    # per accelerator-hour of 3 x 8,760 h, and of the 26,304 h with the leap day
    assert round(found.total / 8 / 26_280, 4) == Decimal("1.5243")
    assert round(found.total / 8 / 26_304, 4) == Decimal("1.5229")


def test_a_share_of_30_per_cent_after_three_years_keeps_67_per_cent_each_year() -> None:
    world = frame(quote(purchase(10_000)), finance={"residual": {"months": 36, "share": 0.3}})
    assert lines(priced(world, [(option(world), 1)]))["residual"] == Decimal("-6694.33")


def test_the_age_starts_on_the_delivery_of_each_lot() -> None:
    """Share 0.5 after 1 month; lots of 1 and 2 are 2 and 1 months old on the horizon day: 250 + 2 x 500."""
    world = frame(quote(purchase(1000)), horizon_months=3, finance={"residual": {"months": 1, "share": 0.5}})
    bought = option(world, lots=[(1, "2027-02-01"), (None, "2027-03-01")])
    assert lines(priced(world, [(bought, 3)]))["residual"] == -1250


def test_part_months_of_the_age_count_by_days() -> None:
    """Sold on 02-15: 1 month and 14 of the 28 days of the next step; 0.25 ^ 1.5 = 0.125."""
    world = frame(quote(purchase(1000)), finance={"residual": {"months": 1, "share": 0.25}})
    sold = priced(world, [(option(world), 1)], run(world, "2027-01-01", days=45), policy="sell")
    assert cash(sold, "residual") == {"2027-02-15": -125}


def test_platforms_may_keep_another_share_and_zero_is_no_line() -> None:
    terms = {"months": 12, "share": 0.5, "platforms": {"other": 0.2, "scrap": 0}}
    cards = [platform(), platform("other"), platform("scrap")]
    offers = {card.id: purchase(1000, platform=card.id) for card in cards}
    world = frame(quote(offers), platforms=cards, finance={"residual": terms})
    found = {name: lines(priced(world, [(option(world, key=("q", name)), 1)])).get("residual") for name in offers}
    assert found == {"box": -500, "other": -200, "scrap": None}


def test_residual_is_of_the_net_price_without_lines_duty_and_tax() -> None:
    world = frame(
        quote(
            purchase(1130, lines=[{"item": "support", "per": "node", "price": 90}]),
            tax={"included": True, "rate": 0.13, "recoverable": False},
        ),
        duty={"rate": 0.1},
        finance={"residual": {"months": 12, "share": 0.5}},
    )
    assert lines(priced(world, [(option(world), 1)]))["residual"] == -500


def test_what_the_vendor_is_paid_leaves_out_what_running_costs() -> None:
    world = frame(
        quote(
            purchase(1000, lines=[{"item": "support", "per": "node", "price": 90}]),
            tax={"rate": 0.1, "recoverable": False},
        ),
        sites={"hall": {"electricity": {"per_kwh": 0.1}, "colocation": {"per_kw_month": 10}}},
        duty={"rate": 0.1},
        costs=[{"name": "net", "per": "node", "amount": 7, "every": "once"}],
        finance={"residual": {"share": 0.3}},
        policy={"contingency": 0.1},
    )
    found = priced(world, [(option(world), 1)])
    invoiced = {charge.item for charge in found.charges if is_invoiced(charge)}
    assert invoiced == {"hardware", "line:support", "duty", "tax"}
    assert {charge.item for charge in found.charges} - invoiced == {
        "cost:net", "colocation", "energy", "residual", "contingency",
    }  # fmt: skip
