"""One small fixed scenario per rule of the decision model, in which the rule has something to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from optimizer.cost.frame import Frame
from optimizer.schema.quote import Quote
from tests.unit.cost.world import (
    dedicated,
    frame,
    hourly,
    lease,
    platform,
    purchase,
    quote,
    reserved,
    site,
    stated,
    wafer,
    workload,
)

RISE = [{"from": "2027-01-01", "kw": 25}, {"from": "2027-03-01", "kw": 65}]
LOTS = [{"units": 2, "date": "2027-02-01"}, {"units": "rest", "date": "2027-04-01"}]
TWO_MODES = workload(stated(2, 60), stated(3, 30))


def one_run() -> Frame:
    """Two modes, two deliveries: three profiles that can be supplied, one of them is run."""
    return frame(quote(purchase(lots=LOTS)), workloads=TWO_MODES)


def one_order() -> Frame:
    """Two price breaks and two deliveries of one offer: four orders, one at most."""
    offer = purchase({"all_units": {1: 100, 3: 90}}, units={"max": 4})
    return frame(quote(offer), sites={"hall": site(power=RISE)})


def quantity() -> Frame:
    """From 3 in steps of 2 to 9, with a break at 6: 4 units at one price, 6 or 8 at the other."""
    offer = purchase({"all_units": {1: 100, 6: 90}}, units={"min": 3, "step": 2, "max": 9})
    return frame(quote(offer), workloads=workload(stated(7, 30)))


def fill() -> Frame:
    """Two lots; incremental breaks of a lease and of rented hours."""
    breaks = {"incremental": {1: 10, 3: 9}}
    offers = {"lots": purchase(lots=LOTS, units={"max": 5}), "lease": lease(breaks, 6, units={"max": 4}), "hours": hourly(breaks, units={"max": 4})}  # fmt: skip
    return frame(quote(offers), workloads=workload(stated(4, 30)))


def signed() -> Frame:
    """Two units of a dearer offer are signed; a run may take more of either."""
    offers = {"signed": purchase(120, units={"max": 4}), "cheap": purchase(100, units={"max": 4})}
    return frame(quote(offers), workloads=TWO_MODES, fix=[{"quote": "q", "offer": "signed", "units": 2}])


def pool_use() -> Frame:
    """An order in the hall needs a run in the hall, one in the region a run there."""
    return frame(quote({"buy": purchase(), "rent": reserved(10, 6)}))


def cover() -> Frame:
    """Lots, a lease that ends, hours for one run, one owned node."""
    offers = {"lots": purchase(lots=LOTS, units={"max": 5}), "lease": lease(10, 3), "hours": hourly(10)}
    return frame(quote(offers), workloads=TWO_MODES, owned=[{"platform": "box", "nodes": 1, "site": "hall"}])


def hours() -> Frame:
    """Hours are rented for the run that is chosen."""
    return frame(quote(hourly(10)), workloads=TWO_MODES)


def dedicated_system() -> Frame:
    """Two sizes of a dedicated system, taken for the days of their run; a box that runs by the hour."""
    offers = {"system": dedicated(900, (4, 60), (8, 30), acceptance_days=10), "hours": hourly(10)}
    return frame(quote(offers), platforms=[platform(), wafer()])


def fabric() -> Frame:
    """Two nodes fit the fabric of one offer, three do not."""
    return frame(quote({"small": purchase(fabric_max_units=2), "large": purchase()}), workloads=TWO_MODES)


def power() -> Frame:
    """Steps, power of the network per accelerator and of the storage once, one owned node."""
    entries = [
        {"name": "network", "per": "accelerator", "amount": 1, "every": "once", "kw": 0.1},
        {"name": "storage", "per": "cluster", "amount": 1, "every": "once", "types": ["purchase"], "kw": 2},
    ]
    owned = [{"platform": "box", "nodes": 1, "site": "hall"}]
    offers = {"buy": purchase(units={"max": 5}), "lease": lease(10, 3, units={"max": 5})}
    return frame(quote(offers), sites={"hall": site(power=RISE)}, costs=entries, owned=owned, workloads=TWO_MODES)


def racks() -> Frame:
    """Boxes in two zones, a rack-scale platform of two positions in one of them, an owned box."""
    wide = platform("wide", purchase_unit="rack", nodes_per_rack=2, space={"racks": 2, "cooling": ["air"]})
    zones = {
        "low": {"racks": 3, "kw_per_rack": 9, "cooling": "air"},
        "high": {"racks": 4, "kw_per_rack": 25, "cooling": "air"},
        "wet": {"racks": 5, "kw_per_rack": 90, "cooling": "liquid"},
    }
    boxes = platform(node_power_kw={"provisioned": 8})
    offers = {"box": purchase(units={"max": 9}), "wide": purchase(platform="wide", units={"max": 9})}
    needs = workload(stated(3, 30), stated(2, 30, "wide"))
    owned = [{"platform": "box", "nodes": 1, "site": "hall"}]
    return frame(
        quote(offers), platforms=[boxes, wide], sites={"hall": site(zones=zones)}, workloads=needs, owned=owned
    )


def vendors() -> Frame:
    """Two of three vendors."""
    return frame(*_three_vendors(), policy={"vendors": {"max": 2}})


def second_source() -> Frame:
    """A quarter of the accelerators outside each vendor."""
    return frame(*_three_vendors(), policy={"vendors": {"second_source_share": 0.25}})


def _three_vendors() -> list[Quote]:
    return [quote(purchase(100), name.lower(), vendor=name) for name in ("A", "B", "C")]


def award_money() -> Frame:
    """Hours beyond take-or-pay; a purchase whose residual depends on the end of the run."""
    offers = {"term": reserved(10, 3, take_or_pay=0.25), "buy": purchase(1000, lines=[{"item": "freight", "per": "order", "price": 70}])}  # fmt: skip
    residual = {"residual": {"months": 12, "share": 0.5}}
    return frame(quote(offers), workloads=TWO_MODES, after_run={"policy": "sell"}, finance=residual)


def run_money() -> Frame:
    """Energy of a run beyond idle draw; hall and idle draw of an owned node until the run ends."""
    return frame(
        quote(purchase(1000)),
        workloads=TWO_MODES,
        after_run={"policy": "sell"},
        owned=[{"platform": "box", "nodes": 1, "site": "hall"}],
        sites={"hall": site(electricity={"per_kwh": 0.1}, colocation={"per_kw_month": 100})},
    )


def counted_costs() -> Frame:
    """A table per accelerator over two offers, and a plain monthly amount per node."""
    entries = [
        {"name": "network", "per": "accelerator", "amount": {1: 50, 24: 40}, "every": "once"},
        {"name": "licence", "per": "node", "amount": 300, "every": "month", "types": ["lease"]},
    ]
    return frame(quote({"buy": purchase(), "lease": lease(10, 6)}), costs=entries)


def shared_costs() -> Frame:
    """Staff from the first delivery to the last day, by a table; storage once with its power."""
    entries = [
        {"name": "staff", "per": "cluster", "amount": {1: 310, 24: 620}, "every": "month"},
        {"name": "storage", "per": "platform", "amount": 5000, "every": "once", "kw": 2},
    ]
    offers = {"buy": purchase(lead_weeks=4), "lease": lease(10, 6)}
    return frame(quote(offers), costs=entries, sites={"hall": site(colocation={"per_kw_month": 100})})


def run_costs() -> Frame:
    """Paid by the run, by a table."""
    setup = {"name": "setup", "per": "run", "amount": {1: 1000, 24: 50}, "every": "once", "types": ["purchase"]}
    return frame(quote({"buy": purchase(), "rent": reserved(10, 3)}), costs=[setup], workloads=TWO_MODES)


def after_run_use() -> Frame:
    """A lease that ends, a later lot, an owned node, under a cap."""
    use = {"policy": "use", "max_accelerators": 24, "value_per_accelerator_hour": 1, "decline_per_year": 0.1}
    offers = {"buy": purchase(lots=LOTS, units={"max": 5}), "lease": lease(10, 6)}
    owned = [{"platform": "box", "nodes": 1, "site": "hall"}]
    return frame(quote(offers), after_run=use, owned=owned, horizon_months=18)


def budget() -> Frame:
    """In all, and in two fiscal years."""
    limits = {"total": 260_000, "by_fiscal_year": {"2026/27": 100_000, "2027/28": "150000 EUR"}}
    thirds = [{"at": "order", "share": 0.3}, {"at": "delivery", "share": 0.7}]
    rates = {"date": "2026-11-27", "base": "USD", "rates": {"EUR": 1.08}}
    offers = {"buy": purchase(lots=LOTS, units={"max": 5}), "lease": lease(20_000, 6)}
    return frame(quote(offers, payment=thirds), budget=limits, fiscal_year_start=4, fx=rates)


def _three_runs(**changes: Any) -> dict[str, Any]:
    """Return a run, one that follows it, and one beside them."""
    first, second, beside = (
        workload(stated(2, 60))["train"],
        workload(stated(1, 30))["train"],
        workload(stated(1, 90))["train"],
    )
    return {"first": first, "second": second | {"after": ["first"]}, "beside": beside | changes}


def last_run() -> Frame:
    """Three runs of hardware that is sold after the last of them: the day counts."""
    return frame(quote(purchase()), workloads=_three_runs(), after_run={"policy": "sell"})


def precedence() -> Frame:
    """The second run starts after the end of the first, in the hall or in the region."""
    return frame(quote({"buy": purchase(), "rent": reserved(10, 6)}), workloads=_three_runs())


def follow() -> Frame:
    """The day after the first run is a start of the second, and of a term reserved for it, only if that run ends then."""
    offers = {"buy": purchase(lots=LOTS), "rent": reserved(10, 3)}
    return frame(quote(offers), workloads=_three_runs())


def share() -> Frame:
    """Lots, a lease that ends, hours for one run each, one owned node: runs at the same time share what counts for them."""
    offers = {"lots": purchase(lots=LOTS, units={"max": 5}), "lease": lease(10, 3)}
    owned = [{"platform": "box", "nodes": 1, "site": "hall"}]
    return frame(quote(offers | {"hours": hourly(10)}), workloads=_three_runs(), owned=owned)


def hired_supply() -> Frame:
    """Three nodes by the hour for two runs that may be at the same time."""
    needs = {"first": workload(stated(2, 60))["train"], "beside": workload(stated(2, 30))["train"]}
    return frame(quote(hourly(10, units={"max": 3})), workloads=needs)


SCENES: dict[str, Callable[[], Frame]] = {
    "one_run": one_run,
    "last_run": last_run,
    "precedence": precedence,
    "follow": follow,
    "one_order": one_order,
    "quantity": quantity,
    "fill": fill,
    "signed": signed,
    "pool_use": pool_use,
    "cover": cover,
    "hourly": hours,
    "share": share,
    "hired_supply": hired_supply,
    "dedicated": dedicated_system,
    "fabric": fabric,
    "power": power,
    "racks": racks,
    "vendors": vendors,
    "second_source": second_source,
    "award_money": award_money,
    "run_money": run_money,
    "counted_costs": counted_costs,
    "shared_costs": shared_costs,
    "run_costs": run_costs,
    "after_run_use": after_run_use,
    "budget": budget,
}
"""Rule name -> scenario."""
