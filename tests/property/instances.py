"""Random small decision problems: every kind of offer, limit and cost the model knows, small enough to enumerate.

An instance is plain data, so that laws can change it: scale its prices, loosen its limits, turn its order round.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from optimizer.cost.frame import Frame
from optimizer.schema.platform import Platform
from optimizer.schema.quote import Quote
from optimizer.schema.scenario import Scenario

Data = dict[str, Any]


@dataclass(frozen=True)
class Instance:
    """A scenario with its platforms and quotes, as files would state them."""

    scenario: Data
    platforms: tuple[Data, ...]
    quotes: tuple[Data, ...]

    def frame(self) -> Frame:
        """Return it as schema types."""
        return Frame(
            Scenario.model_validate(self.scenario),
            {facts["id"]: Platform.model_validate(facts) for facts in self.platforms},
            {facts["quote"]: Quote.model_validate(facts) for facts in self.quotes},
        )

    def changed(self, change: Callable[[Instance], None]) -> Instance:
        """Return a copy that a function has changed."""
        found = copy.deepcopy(self)
        change(found)
        return found


def instance(seed: int) -> Instance:
    """Return the instance of a seed."""
    r = Random(seed)  # noqa: S311 - reproducible instances, no secrets
    platforms = tuple(_platform(r, f"p{number}") for number in range(2))
    quotes = tuple(_quote(r, f"q{number}") for number in range(r.randint(1, 2)))
    scenario = _scenario(r)
    _budget(r, scenario)
    return Instance(scenario, platforms, quotes)


def _maybe(r: Random, chance: float, **facts: Any) -> Data:
    return facts if r.random() < chance else {}


def _platform(r: Random, name: str) -> Data:
    racks = r.random() < 0.2
    unit = {"purchase_unit": "rack", "nodes_per_rack": 2} if racks else {}
    space = (
        {"racks": r.choice([1, 2]), "cooling": ["air"]}
        if racks
        else {"rack_units": r.choice([8, 10]), "cooling": ["air"]}
    )
    power = {"provisioned": r.choice([5, 10.2]), "training": r.choice([None, 8]), "idle": r.choice([None, 3])}
    return {
        "id": name,
        "vendor": "Invented",
        "accelerators_per_node": r.choice([1, 8]),
        "acquisition": ["purchase", "lease", "reserved", "on_demand"],
        "node_power_kw": power,
        "space": space,
        **unit,
        **_maybe(r, 0.1, available_from="2027-02-15"),
    }


def _tiers(r: Random, base: float, most: int) -> Any:
    """Return one price, or falling breaks of either kind."""
    kind = r.random()
    if kind < 0.4:
        return base
    firsts = sorted(r.sample(range(2, most + 1), min(most - 1, r.randint(1, 2))))
    breaks, price = {1: base}, base
    for first in firsts:
        price *= r.choice([0.8, 0.9, 0.95])
        breaks[first] = round(price, 3)
    return {"all_units" if kind < 0.75 else "incremental": breaks}


def _quote(r: Random, name: str) -> Data:
    halves = [{"at": "delivery", "share": 0.5}, {"at": "acceptance", "plus_days": 30, "share": 0.5}]
    thirds = [{"at": "order", "share": 0.3}, {"at": "delivery", "share": 0.7}]
    offers = (_purchase, _purchase, _lease, _reserved, _hourly)
    return {
        "quote": name,
        "vendor": f"V{name}",
        "kind": "binding",
        "valid_until": "2027-12-31",
        "currency": r.choice(["USD", "USD", "EUR"]),
        "tax": r.choice([{}, {"rate": 0.13, "recoverable": False}, {"rate": 0.13, "included": True}]),
        "payment": r.choice([halves, thirds]),
        "offers": {f"o{number}": r.choice(offers)(r) for number in range(r.randint(1, 2))},
    }


def _base(r: Random) -> int:
    """Return a unit price: thousands, or hundreds of millions so that model coefficients pass 2^31 by far."""
    return r.randint(100, 900) * 10 ** r.choice([3, 3, 3, 6])


def _offer(r: Random, kind: str) -> tuple[Data, int]:
    """Return what every offer has, and its largest order."""
    most = r.randint(2, 5)
    units = {"min": r.choice([1, 1, 2]), "step": r.choice([1, 1, 2]), "max": most}
    extras = _maybe(r, 0.4, lines=[{"item": "s", "per": r.choice(["node", "order"]), "price": r.randint(1, 30) * 1000}])
    fabric = _maybe(r, 0.3, fabric_max_units=r.randint(1, 4))
    wait = {"acceptance_days": r.choice([0, 7])}
    return {"type": kind, "platform": r.choice(["p0", "p1"]), "units": units} | extras | fabric | wait, most


def _purchase(r: Random) -> Data:
    facts, most = _offer(r, "purchase")
    price = _tiers(r, _base(r), most)
    lots = [{"units": 1, "weeks": r.randint(1, 6)}, {"units": "rest", "weeks": r.randint(7, 22)}]
    plain = not isinstance(price, dict) or "all_units" in price
    timing = {"lead_weeks": [1, r.randint(2, 20)]} | (_maybe(r, 0.3, lots=lots) if plain else {})
    where = _maybe(r, 0.2, sites=["hall"]) | _maybe(r, 0.2, duty={"rate": 0.1})
    return facts | {"per": r.choice(["node", "accelerator", "unit"]), "price": price} | timing | where


def _lease(r: Random) -> Data:
    facts, most = _offer(r, "lease")
    terms = {"price_per_month": _tiers(r, _base(r) / 20, most), "term_months": r.choice([3, 8, 14])}
    return facts | {"per": r.choice(["node", "unit"]), "lead_weeks": [1, r.randint(2, 12)]} | terms


def _rental(r: Random, kind: str) -> Data:
    facts, most = _offer(r, kind)
    price = _tiers(r, round(_base(r) / 15_000, 3), most)
    window = _maybe(r, 0.3, start=["2027-01-15", "2027-03-20"]) | _maybe(r, 0.2, lead_weeks=[1, 3])
    return facts | {"region": "eu", "per": r.choice(["node_hour", "accelerator_hour"]), "price": price} | window


def _reserved(r: Random) -> Data:
    terms = {"take_or_pay": r.choice([1, 0.5, 0.05]), "prepay": r.choice([0, 0.25])}
    return _rental(r, "reserved") | {"term_months": r.choice([2, 6, 14])} | terms


def _hourly(r: Random) -> Data:
    return _rental(r, "on_demand")


def _scenario(r: Random) -> Data:
    modes = [
        {"platform": r.choice(["p0", "p1"]), "nodes": r.randint(1, 4), "days": r.randint(20, 200), "source": "invented"}
        for _ in range(r.randint(2, 4))
    ]
    window = {"release": "2027-01-10", "deadline": r.choice(["2027-07-31", "2027-11-29"])}
    vendors = {"max": r.choice([None, None, 1]), "second_source_share": r.choice([0, 0, 0, 0.3])}
    sites = {"hall": _site(r)} | ({"annex": _site(r)} if r.random() < 0.15 else {})
    return {
        "name": "random",
        "today": "2026-11-30",
        "horizon_months": r.choice([12, 24]),
        "currency": "USD",
        "quotes": ["quotes"],
        "objective": r.choice(["cost", "cost", "cost", "time", "capacity"]),
        "fx": {"date": "2026-11-27", "base": "USD", "rates": {"EUR": 1.08}},
        "workloads": {"w": {"modes": modes} | window | _maybe(r, 0.2, deadline_margin_days=14)},
        "sites": sites,
        "fiscal_year_start": r.choice([1, 4]),
        "finance": {"discount_rate": r.choice([0, 0.08]), "residual": r.choice([None, {"share": 0.3}])},
        "after_run": _after_run(r),
        "costs": r.sample(COSTS, r.randint(0, 4)),
        "policy": {"vendors": vendors, "contingency": r.choice([0, 0.05])},
        **_maybe(r, 0.2, owned=[{"platform": "p0", "nodes": r.randint(1, 2), "site": "hall"}]),
        **_maybe(r, 0.2, duty={"rate": 0.25}),
        **_maybe(r, 0.2, earliest_order="2026-12-10"),
    }


def _site(r: Random) -> Data:
    rising = [
        {"from": r.choice(["2026-11-30", "2026-12-20"]), "kw": r.choice([15, 30, 60])},
        {"from": "2027-03-01", "kw": r.choice([30, 60, 100])},
    ]
    zones = {
        "a": {"racks": r.randint(1, 3), "kw_per_rack": r.choice([12, 25, 45]), "cooling": "air"},
        "b": {"racks": 1, "kw_per_rack": 25, "cooling": "air"},
    }
    return {
        "power": r.choice([None, rising]),
        "zones": r.choice([None, zones]),
        "electricity": {"per_kwh": 0.1},
        "colocation": r.choice([None, {"per_kw_month": 150}]),
    }


def _after_run(r: Random) -> Data:
    cap, value = r.choice([2, 8, 16]), r.choice([0.5, 3, 30])
    use = {"max_accelerators": cap, "value_per_accelerator_hour": value, "utilisation": 0.7, "decline_per_year": 0.1}
    return r.choice([{"policy": "idle"}, {"policy": "off"}, {"policy": "sell"}, {"policy": "use"} | use])


COSTS: tuple[Data, ...] = (
    {"name": "net", "per": "accelerator", "amount": {1: 4000, 9: 2500}, "every": "once", "types": ["purchase", "lease"], "kw": 0.1},
    {"name": "optics", "per": "unit", "amount": {1: 90_000, 3: 10_000, 5: 12_000}, "every": "once"},
    {"name": "staff", "per": "cluster", "amount": 900_000, "every": "year"},
    {"name": "licence", "per": "node", "amount": 300, "every": "month", "platforms": ["p0"]},
    {"name": "storage", "per": "cluster", "amount": {1: 100_000, 9: 200_000}, "every": "once", "types": ["purchase"], "kw": 2},
    {"name": "care", "per": "cluster", "amount": {1: 5000, 9: 3000}, "every": "month"},
    {"name": "port", "per": "platform", "amount": 50_000, "every": "once", "platforms": ["p1"], "delay_days": 20},
    {"name": "tools", "per": "platform", "amount": {1: 9000, 9: "20000 EUR"}, "every": "year", "kw": 1},
    {"name": "setup", "per": "run", "amount": {1: 400_000, 17: 10_000}, "every": "once"},
    {"name": "audit", "per": "run", "amount": 10_000, "every": "once", "types": ["purchase", "reserved"]},
)  # fmt: skip
"""Costs entries of every basis, with and without tables; some tables fall, so that more units may cost less."""


def _budget(r: Random, scenario: Data) -> None:
    """Give a budget near a plausible cost; always when capacity is bought."""
    if scenario["objective"] != "capacity" and r.random() > 0.35:
        return
    label = "2027" if scenario["fiscal_year_start"] == 1 else "2026/27"
    scenario["budget"] = {"total": r.choice([1e6, 2e6, 5e6, 1e9, 3e9])}
    if r.random() < 0.4:
        scenario["budget"]["by_fiscal_year"] = {label: r.choice([1e6, 3e6, 2e9])}


def several(seed: int) -> Instance:
    """Return an instance with two or three runs, in one pool or in different ones, some of which follow others."""
    r = Random(seed)  # noqa: S311 - reproducible instances, no secrets
    one = instance(seed)
    names = ["w", "x", "y"][: r.choice([2, 2, 2, 3])]
    one.scenario["workloads"] = {name: _run_of_several(r, names[:position]) for position, name in enumerate(names)}
    for record in one.quotes:
        for offer in record["offers"].values():
            most = 4 if len(names) == 2 else 3
            offer["units"] = {"min": 1, "step": r.choice([1, 1, 2]), "max": most}
            offer["platform"] = r.choice(["p0", "p0", "p0", "p1"])
            if offer.get("fabric_max_units") == 1:
                del offer["fabric_max_units"]
            if offer["type"] == "on_demand" and r.random() < 0.5:
                offer |= {"type": "block", "days": [{"to": 14, "step": 1}, {"to": r.choice([63, 126]), "step": 7}]}
    if one.scenario["objective"] != "capacity" and r.random() < 0.7:
        one.scenario.pop("budget", None)
    return one


def _run_of_several(r: Random, before: list[str]) -> Data:
    modes = [
        {
            "platform": r.choice(["p0", "p0", "p0", "p1"]),
            "nodes": r.choice([1, 1, 2, 3]),
            "days": r.randint(20, 150),
            "source": "invented",
        }
        for _ in range(r.choice([1, 2, 2]))
    ]
    order = {"after": [r.choice(before)]} if before and r.random() < 0.5 else {}
    deadline = _maybe(r, 0.5, deadline=r.choice(["2027-07-31", "2027-11-20"]))
    return {"modes": modes, "release": r.choice(["2027-01-10", "2027-01-10", "2027-03-01"])} | deadline | order
