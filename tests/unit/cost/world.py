"""A small invented world for every test of the decision side: platforms, quotes, scenarios and concrete choices.

The platform ``box`` has 8 accelerators and takes 10 kW (8 while training, 2 idle); the site ``hall`` has free energy
and no limits; the run ``train`` takes 2 boxes for 30 days. Every test changes what it is about and nothing else.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from optimizer.cost.after import After, Policy
from optimizer.cost.choice import Choice, Run, Taken
from optimizer.cost.frame import Frame
from optimizer.cost.option import Lot, Option
from optimizer.cost.plan_cost import Priced, price
from optimizer.results import Candidate
from optimizer.schema.platform import Platform
from optimizer.schema.quote import LeaseOffer, Quote, ReservedOffer
from optimizer.schema.scenario import Scenario
from optimizer.units import add_months, round_money

Data = dict[str, Any]


def day(text: str) -> dt.date:
    """Return a day as tests write it."""
    return dt.date.fromisoformat(text)


def platform(name: str = "box", **changes: Any) -> Platform:
    """Return a platform that differs from the box in the given facts."""
    facts: Data = {
        "id": name,
        "vendor": "Invented",
        "accelerators_per_node": 8,
        "acquisition": ["purchase", "lease", "reserved", "on_demand"],
        "node_power_kw": {"provisioned": 10, "training": 8, "idle": 2},
        "space": {"rack_units": 8, "cooling": ["air"]},
    }
    return Platform.model_validate(facts | changes)


def purchase(price: Any = 100_000, **terms: Any) -> Data:
    """Return a purchase offer: boxes from stock, priced per node."""
    return {"type": "purchase", "platform": "box", "per": "node", "price": price, "lead_weeks": "stock"} | terms


def lease(price_per_month: Any, term_months: int, **terms: Any) -> Data:
    """Return a lease offer: boxes from stock, priced per node and month."""
    rent = {"price_per_month": price_per_month, "term_months": term_months}
    return {"type": "lease", "platform": "box", "per": "node", "lead_weeks": "stock"} | rent | terms


def reserved(price: Any, term_months: int, **terms: Any) -> Data:
    """Return a reserved offer in region ``eu``, priced per node and hour."""
    rent = {"price": price, "term_months": term_months}
    return {"type": "reserved", "platform": "box", "per": "node_hour", "region": "eu"} | rent | terms


def hourly(price: Any, **terms: Any) -> Data:
    """Return an on-demand offer in region ``eu``, priced per node and hour."""
    return {"type": "on_demand", "platform": "box", "per": "node_hour", "region": "eu", "price": price} | terms


def block(price: Any, *rows: tuple[int, int], **terms: Any) -> Data:
    """Return a capacity block in region ``eu``, priced per node and hour; rows are (longest, step) in days."""
    days = [{"to": to, "step": step} for to, step in rows]
    base = {"type": "block", "platform": "box", "per": "node_hour", "region": "eu", "price": price, "days": days}
    return base | terms


def dedicated(price: Any, *modes: tuple[int, int], **terms: Any) -> Data:
    """Return a dedicated system in region ``eu``; modes are (units, days) of the run ``train``."""
    rows = [{"workload": "train", "units": units, "days": days, "source": "vendor claim"} for units, days in modes]
    base = {"type": "dedicated", "platform": "wafer", "per": "run", "region": "eu", "price": price, "modes": rows}
    return base | terms


def wafer(**changes: Any) -> Platform:
    """Return a platform that the engine cannot time: one accelerator, no facts but its power."""
    facts = {"accelerators_per_node": 1, "acquisition": ["purchase", "dedicated"], "purchase_unit": "system"}
    return platform("wafer", **(facts | changes))


def quote(offers: Mapping[str, Data] | Data, name: str = "q", **terms: Any) -> Quote:
    """Return a quote of named offers, or of one offer named ``node``."""
    named = {"node": offers} if "type" in offers else dict(offers)
    facts: Data = {
        "quote": name,
        "vendor": "Acme",
        "kind": "binding",
        "valid_until": "2027-12-31",
        "currency": "USD",
        "offers": named,
    }
    return Quote.model_validate(facts | terms)


def stated(nodes: int, days: int, platform: str = "box") -> Data:
    """Return a known mode of a workload."""
    return {"platform": platform, "nodes": nodes, "days": days, "source": "pilot"}


def workload(*modes: Data, **terms: Any) -> dict[str, Data]:
    """Return the workload ``train`` with known modes (without any: 2 boxes for 30 days)."""
    return {"train": {"modes": list(modes or [stated(2, 30)])} | terms}


def site(**changes: Any) -> Data:
    """Return a site with free energy and the given limits and prices."""
    return {"electricity": {"per_kwh": 0}} | changes


def frame(*quotes: Quote, platforms: Iterable[Platform] = (), **changes: Any) -> Frame:
    """Return a scenario over quotes; asked on 2027-01-01 for 12 months in USD unless changed."""
    facts: Data = {
        "name": "small",
        "today": "2027-01-01",
        "horizon_months": 12,
        "currency": "USD",
        "workloads": workload(),
        "sites": {"hall": site()},
        "quotes": ["quotes"],
    }
    cards = list(platforms) or [platform()]
    return Frame(
        Scenario.model_validate(facts | changes), {card.id: card for card in cards}, {q.quote: q for q in quotes}
    )


def option(
    world: Frame,
    delivery: str = "2027-01-01",
    *,
    key: tuple[str, str] = ("q", "node"),
    ready: str | None = None,
    lots: Iterable[tuple[int | None, str]] = (),
    end: str | None = None,
    at: str = "hall",
) -> Option:
    """Return an offer of the world at a site (or its region) from a day on; ``lots`` are (units, delivery).

    A term's end follows from its months; ``end`` is the last day of hourly capacity.
    """
    offered = world.quotes[key[0]]
    offer = offered.offers[key[1]]
    region = getattr(offer, "region", None)
    first = day(delivery)
    parts = tuple(Lot(units, day(when), day(when)) for units, when in lots) or (
        Lot(None, first, day(ready or delivery)),
    )
    last = day(end) if end else None
    if isinstance(offer, LeaseOffer | ReservedOffer):
        last = add_months(first, offer.term_months) - dt.timedelta(1)
    place = f"{offered.vendor}/{region}" if region else at
    where = None if region else at
    return Option(offered, key[1], offer, world.platforms[offer.platform], place, where, parts, last)


def candidate(nodes: int, days: int, card: Platform, name: str = "train") -> Candidate:
    """Return a stated mode as the pipeline carries it."""
    return Candidate(
        name, card.id, nodes, nodes * card.accelerators_per_node, days,
        layout=None, step_time_s=None, tokens_per_s_per_accelerator=None, mfu=None, memory_gb=None,
        memory_limit_gb=None, goodput=None, evidence="target_workload", low_days=None, high_days=None,
        effective_flop_per_accelerator_day=None, source="pilot",
    )  # fmt: skip


def run(world: Frame, start: str = "2027-01-01", nodes: int = 2, days: int = 30, at: Option | None = None) -> Run:
    """Return a run of boxes in the hall, or where an option is."""
    card = at.platform if at else world.platforms["box"]
    place, where = (at.place, at.site) if at else ("hall", "hall")
    return Run(candidate(nodes, days, card), card, place, where, day(start))


def priced(world: Frame, taken: Iterable[tuple[Option, int]], *runs: Run, policy: Policy | None = None) -> Priced:
    """Return the price of awards (option, units) and runs; without a run, the standard one from today."""
    choice = Choice(tuple(Taken(*award) for award in taken), runs or (run(world),))
    return price(choice, After(policy or world.scenario.after_run.policy, choice.last_run), world)


def lines(found: Priced) -> dict[str, Decimal]:
    """Return cost lines by item, rounded to cents, without those that are zero."""
    sums: dict[str, Decimal] = {}
    for charge in found.charges:
        sums[charge.item] = sums.get(charge.item, Decimal(0)) + charge.amount
    return {item: round_money(amount, "USD") for item, amount in sums.items() if amount}


def cash(found: Priced, item: str) -> dict[str, Decimal]:
    """Return what is paid of an item by day, ascending, rounded to cents."""
    days: dict[str, Decimal] = {}
    for charge in found.charges:
        if charge.item == item:
            for when, share in charge.cash:
                days[when.isoformat()] = days.get(when.isoformat(), Decimal(0)) + charge.amount * share
    return {when: round_money(amount, "USD") for when, amount in sorted(days.items())}
