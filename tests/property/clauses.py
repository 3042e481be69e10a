"""Random instances with the clauses that ``instances`` has not: dedicated systems, blocks, terms past the horizon.

Each is the random instance of a seed with terms added, so that everything there is met together with them.
"""

from __future__ import annotations

from random import Random

from tests.property.instances import Data, Instance, instance

FISCAL_STARTS = (1, 4, 7, 10)


def clauses(seed: int) -> Instance:
    """Return the instance of a seed with clauses added."""
    return instance(seed).changed(lambda one: _add(Random(seed), one))  # noqa: S311 - reproducible, no secrets


def _add(r: Random, one: Instance) -> None:
    offers = one.quotes[0]["offers"]
    for name, made in (("wafer", _dedicated), ("block", _block), ("long", _long_term), ("late", _long_lease)):
        if r.random() < 0.45 and len(offers) < 3:
            offers[name] = made(r)
    scenario = one.scenario
    _fiscal_years(r, scenario)
    scenario["policy"]["contingency"] = r.choice([0, 0.03, 0.1])
    if r.random() < 0.4:
        scenario["costs"].append(_migration(r))
    if r.random() < 0.25:
        first = next(iter(one.quotes[0]["offers"]))
        units = one.quotes[0]["offers"][first].get("units", {})
        step, least = units.get("step", 1), units.get("min", 1)
        signed = -(-least // step) * step
        if "modes" not in one.quotes[0]["offers"][first] and signed <= units.get("max", 9):
            scenario["fix"] = [{"quote": one.quotes[0]["quote"], "offer": first, "units": signed}]


def _fiscal_years(r: Random, scenario: Data) -> None:
    """Any month may start the year; a budget keeps a label of it."""
    start = r.choice(FISCAL_STARTS)
    scenario["fiscal_year_start"] = start
    years = scenario.get("budget", {}).pop("by_fiscal_year", None)
    if years or r.random() < 0.3:
        label = "2027" if start == 1 else "2026/27"
        scenario.setdefault("budget", {})["by_fiscal_year"] = {label: r.choice([5e5, 2e6, 1e9])}


def _dedicated(r: Random) -> Data:
    sizes = sorted(r.sample(range(1, 5), r.randint(1, 2)))
    modes = [{"workload": "w", "units": size, "days": r.randint(15, 150), "source": "invented"} for size in sizes]
    lines = [{"item": "data", "per": r.choice(["node", "order", "unit"]), "price": r.randint(1, 30) * 1000}]
    return {
        "type": "dedicated",
        "platform": r.choice(["p0", "p1"]),
        "region": "eu",
        "per": "run",
        "price": r.randint(1, 40) * 10 ** r.choice([4, 5, 7]),
        "modes": modes,
        "lead_weeks": r.choice(["stock", [1, r.randint(1, 12)]]),
        "acceptance_days": r.choice([0, 9]),
        "lines": r.choice([[], lines]),
        "start": r.choice([None, None, ["2027-02-01", "2027-05-01"]]),
    }


def _block(r: Random) -> Data:
    rows = [{"to": r.choice([14, 28]), "step": 7}, {"to": r.choice([60, 210]), "step": 30}]
    return _rented(r, "block") | {"days": rows}


def _long_term(r: Random) -> Data:
    """A commitment that ends after a horizon of 12 or 24 months."""
    return _rented(r, "reserved") | {"term_months": r.choice([18, 30]), "prepay": r.choice([0, 0.4])}


def _rented(r: Random, kind: str) -> Data:
    price = round(r.randint(100, 900) / 30, 3)
    units = {"min": 1, "max": r.randint(2, 4)}
    base = {"type": kind, "platform": r.choice(["p0", "p1"]), "region": "eu", "per": "node_hour"}
    return base | {"price": price, "units": units}


def _long_lease(r: Random) -> Data:
    base = {"type": "lease", "platform": r.choice(["p0", "p1"]), "per": "node", "lead_weeks": [1, r.randint(2, 9)]}
    return base | {"price_per_month": r.randint(2, 30) * 1000, "term_months": r.choice([15, 26]), "units": {"max": 4}}


def _migration(r: Random) -> Data:
    """An effort in money and days for one platform."""
    terms = {"amount": r.randint(1, 9) * 50_000, "every": "once", "delay_days": r.choice([14, 45])}
    return {"name": "migration", "per": "platform", "platforms": [r.choice(["p0", "p1"])]} | terms
