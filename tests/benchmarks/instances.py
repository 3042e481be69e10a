"""Seeded random but realistic decisions: many platforms, quotes with tiers and minima, runs that share power and money.

Everything is invented in the proportions of real quotes: newer platforms are faster, dearer, later and draw more; larger
orders are cheaper; rentals cost more per hour and start sooner. Limits are scaled to what an economical plan would use,
so that ``looseness`` above 1 leaves room and below 1 binds. No files are read or written.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from optimizer.cost.frame import Frame
from optimizer.schema.platform import Platform
from optimizer.schema.quote import Quote
from optimizer.schema.scenario import Scenario

Data = dict[str, Any]

TODAY = dt.date(2026, 11, 30)
QUOTES_PER_PLATFORM = 8
RENTALS = 2
TIERS = (1, 4, 12, 32)
"""Multiples of the smallest order at which the price falls."""


@dataclass(frozen=True)
class Size:
    """How large an instance is.

    Attributes:
        workloads: Runs.
        platforms: Platforms, each with eight quotes of which two are rentals.
        modes: Node counts per platform and run.
        looseness: Power, racks and budgets as a multiple of what an economical plan takes; None = no shared limits.
    """

    workloads: int = 3
    platforms: int = 12
    modes: int = 200
    looseness: float | None = 2.0


@dataclass(frozen=True)
class _Card:
    """A platform with what makes it good or bad."""

    id: str
    speed: float
    """Work of one node per day."""
    price: float
    """USD of one node."""
    kw: float
    ready_weeks: int
    facts: Data


def instance(seed: int, size: Size = Size()) -> Frame:
    """Return the decision problem of a seed."""
    r = Random(seed)  # noqa: S311 - reproducible instances, no secrets
    cards = [_card(r, number, size.platforms) for number in range(size.platforms)]
    works = {f"w{number}": _work(r, number) for number in range(size.workloads)}
    quotes = [quote for card in cards for quote in _quotes(r, card)]
    scenario = _scenario(r, cards, works, size)
    return Frame(
        Scenario.model_validate(scenario),
        {card.id: Platform.model_validate(card.facts) for card in cards},
        {quote["quote"]: Quote.model_validate(quote) for quote in quotes},
    )


def _card(r: Random, number: int, of: int) -> _Card:
    """Later platforms are faster by up to 4, dearer by up to 5, later by up to half a year."""
    generation = number / max(of - 1, 1)
    speed = (1 + 3 * generation) * r.uniform(0.85, 1.15)
    price = 200_000 * (1 + 4 * generation) * r.uniform(0.8, 1.2)
    kw = round((8 + 16 * generation) * r.uniform(0.9, 1.1), 1)
    facts = {
        "id": f"p{number}",
        "vendor": "Invented",
        "accelerators_per_node": 8,
        "acquisition": ["purchase", "reserved", "on_demand"],
        "node_power_kw": {"provisioned": kw, "training": round(0.8 * kw, 1), "idle": round(0.3 * kw, 1)},
        "space": {"rack_units": 8, "cooling": ["air"]},
    }
    return _Card(f"p{number}", speed, price, kw, round(6 + 20 * generation), facts)


def _quotes(r: Random, card: _Card) -> Iterator[Data]:
    for number in range(QUOTES_PER_PLATFORM):
        name = f"{card.id}-q{number}"
        offer = _rental(r, card, number) if number < RENTALS else _purchase(r, card)
        yield {
            "quote": name,
            "vendor": f"V{r.randrange(9)}",
            "kind": "binding",
            "valid_until": "2027-06-30",
            "currency": "USD",
            "payment": [{"at": "order", "share": 0.3}, {"at": "delivery", "share": 0.7}],
            "offers": {"node": offer},
        }


def _tiers(r: Random, price: float, least: int) -> Data:
    prices = [price * factor for factor in (1, r.uniform(0.95, 0.98), r.uniform(0.91, 0.94), r.uniform(0.86, 0.9))]
    return {"all_units": {least * step: round(cost, 2) for step, cost in zip(TIERS, prices, strict=True)}}


def _purchase(r: Random, card: _Card) -> Data:
    least, weeks = r.choice([1, 2, 4, 8]), card.ready_weeks + r.randint(0, 14)
    return {
        "type": "purchase",
        "platform": card.id,
        "per": "node",
        "price": _tiers(r, card.price * r.uniform(0.93, 1.12), least),
        "units": {"min": least, "max": least * r.choice([16, 40, 64])},
        "lead_weeks": [weeks - 2, weeks],
        "acceptance_days": r.choice([7, 14, 21]),
    }


def _rental(r: Random, card: _Card, number: int) -> Data:
    hourly = card.price / 10_000 * r.uniform(0.9, 1.4)
    terms: Data = {"type": "on_demand"} if number else {"type": "reserved", "term_months": r.choice([12, 18, 24])}
    return terms | {
        "platform": card.id,
        "region": f"r{number}",
        "per": "node_hour",
        "price": _tiers(r, hourly * (1.5 if number else 1), 2),
        "units": {"min": 2, "max": 64},
        "lead_weeks": [1, r.randint(2, 6)],
    }


def _work(r: Random, number: int) -> float:
    """Return node-days of the slowest platform."""
    return r.uniform(3_000, 12_000) * (0.7 if number % 3 == 2 else 1)


def _days(work: float, card: _Card, nodes: int) -> int:
    """A tenth is lost with each doubling beyond one node."""
    return max(1, round(work / card.speed / nodes**0.86))


def _modes(work: float, card: _Card, count: int) -> list[Data]:
    """Return node counts that each end a whole day earlier, at most so many."""
    found: list[Data] = []
    for nodes in range(4, 4 + 3 * count):
        days = _days(work, card, nodes)
        if days <= 400 and (not found or days < found[-1]["days"]) and len(found) < count:
            found.append({"platform": card.id, "nodes": nodes, "days": days, "source": "invented"})
    return found


def _scenario(r: Random, cards: list[_Card], works: dict[str, float], size: Size) -> Data:
    names = list(works)
    workloads: Data = {}
    for position, (name, work) in enumerate(works.items()):
        release = TODAY + dt.timedelta(days=r.choice([30, 60, 90, 150]))
        workloads[name] = {
            "modes": [mode for card in cards for mode in _modes(work, card, size.modes)],
            "release": release,
            "deadline": release + dt.timedelta(days=r.randint(260, 420) + 60 * (position == 1)),
            "after": names[:1] if position == 1 else [],
        }
    return {
        "name": "random",
        "today": TODAY,
        "horizon_months": 36,
        "currency": "USD",
        "quotes": ["none"],
        "workloads": workloads,
        "sites": {"hall": _site(cards, works, size.looseness)},
        "finance": {"discount_rate": 0.08, "residual": {"months": 36, "share": 0.3}},
        "costs": [{"name": "network", "per": "accelerator", "amount": 3000, "every": "once", "types": ["purchase"]}],
        **_budget(cards, works, size.looseness),
    }


def _economical(cards: list[_Card], work: float) -> tuple[_Card, int]:
    """Return the cheapest card to own and its nodes for a run of half a year."""
    needs = [(card, round((work / card.speed / 180) ** (1 / 0.86))) for card in cards]
    return min(needs, key=lambda need: need[0].price * need[1])


def _site(cards: list[_Card], works: dict[str, float], looseness: float | None) -> Data:
    """Four power steps that rise to the limit within ten months; racks of 40 kW for all of it."""
    site: Data = {"electricity": {"per_kwh": 0.09}, "colocation": {"per_kw_month": 150}}
    if looseness is None:
        return site
    full = looseness * max(card.kw * nodes for card, nodes in (_economical(cards, work) for work in works.values()))
    full *= max(1.0, 0.6 * len(works))
    shares = (("2026-12-01", 0.35), ("2027-04-01", 0.6), ("2027-07-01", 0.8), ("2027-10-01", 1.0))
    site["power"] = [{"from": day, "kw": round(share * full)} for day, share in shares]
    site["zones"] = {"air": {"racks": max(4, round(full / 24)), "kw_per_rack": 48, "cooling": "air"}}
    return site


def _budget(cards: list[_Card], works: dict[str, float], looseness: float | None) -> Data:
    if looseness is None:
        return {}
    spend = [1.35 * card.price * nodes for card, nodes in (_economical(cards, work) for work in works.values())]
    total = looseness * (max(spend) + 0.5 * (sum(spend) - max(spend)))
    years = {"2026": 0.35 * total, "2027": 0.85 * total}
    return {
        "budget": {"total": round(total), "by_fiscal_year": {year: round(amount) for year, amount in years.items()}}
    }
