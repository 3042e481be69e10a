"""Scenario with one limit lifted: how "removing this limit alone" is meant for every relaxable limit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

from optimizer.cost.frame import Frame
from optimizer.results import LimitName
from optimizer.schema.base import EvidenceLevel
from optimizer.schema.platform import Platform
from optimizer.schema.quote import BlockLength, BlockOffer, Offer, Quote, Units
from optimizer.schema.scenario import Budget, PowerStep, Scenario, Site
from optimizer.schema.scenario import Choice as Names


class Lever(NamedTuple):
    """A limit that can be lifted.

    Attributes:
        name: The limit.
        part: The fiscal year or workload it is stated for; None = wherever the scenario states it.
    """

    name: LimitName
    part: str | None = None

    def covers(self, part: str) -> bool:
        """Return whether lifting it lifts what is stated for a year or workload."""
        return self.part in (None, part)


def _scenario(frame: Frame, **changes: Any) -> Frame:
    return Frame(frame.scenario.model_copy(update=changes), frame.platforms, frame.quotes)


def _policy(frame: Frame, **changes: Any) -> Frame:
    return _scenario(frame, policy=frame.scenario.policy.model_copy(update=changes))


def _vendors(frame: Frame, **changes: Any) -> Frame:
    return _policy(frame, vendors=frame.scenario.policy.vendors.model_copy(update=changes))


def _budget(frame: Frame, **changes: Any) -> Frame:
    budget: Budget = frame.scenario.budget
    return _scenario(frame, budget=budget.model_copy(update=changes))


def _years(frame: Frame, lever: Lever) -> Frame:
    stated = frame.scenario.budget.by_fiscal_year
    return _budget(frame, by_fiscal_year={year: money for year, money in stated.items() if not lever.covers(year)})


def _deadline(frame: Frame, lever: Lever) -> Frame:
    changes = {"deadline": None, "deadline_margin_days": 0}
    stated = frame.scenario.workloads.items()
    workloads = {name: work.model_copy(update=changes) if lever.covers(name) else work for name, work in stated}
    return _scenario(frame, workloads=workloads)


def _offers(frame: Frame, change: Callable[[Offer], Mapping[str, Any]]) -> Frame:
    def changed(quote: Quote) -> Quote:
        offers = {name: offer.model_copy(update=change(offer)) for name, offer in quote.offers.items()}
        return quote.model_copy(update={"offers": offers})

    quotes = {name: changed(quote) for name, quote in frame.quotes.items()}
    return Frame(frame.scenario, frame.platforms, quotes)


def _supply(frame: Frame) -> Frame:
    return _offers(frame, lambda offer: {"units": Units(min=offer.units.min, step=offer.units.step, max=None)})


def _power(frame: Frame) -> Frame:
    """Ample power from today on that still rises on the days it did, so that the same postponements are offered."""
    today = frame.today

    def ample(site: Site) -> Site:
        if site.power is None:
            return site
        days = sorted({today, *(step.from_ for step in site.power)})
        steps = (PowerStep.model_validate({"from": day, "kw": AMPLE_KW + rank}) for rank, day in enumerate(days))
        return site.model_copy(update={"power": tuple(steps)})

    sites = {name: ample(site) for name, site in frame.scenario.sites.items()}
    return _scenario(frame, sites=sites)


def _fabric(frame: Frame) -> Frame:
    return _offers(frame, lambda offer: {"fabric_max_units": None})


def _block_length(frame: Frame) -> Frame:
    return _offers(frame, _any_length)


def _any_length(offer: Offer) -> Mapping[str, Any]:
    return {"days": (BlockLength(to=LONG_BLOCK_DAYS, step=1),)} if isinstance(offer, BlockOffer) else {}


def _zones(frame: Frame, **changes: Any) -> Frame:
    def lifted(scenario: Scenario) -> dict[str, Any]:
        return {
            name: site.model_copy(
                update={"zones": {zone: facts.model_copy(update=changes) for zone, facts in site.zones.items()}}
            )
            if site.zones
            else site
            for name, site in scenario.sites.items()
        }

    return _scenario(frame, sites=lifted(frame.scenario))


def _evidence(frame: Frame) -> Frame:
    """A datasheet is enough: every platform that can be predicted has one."""
    workloads = {
        name: work.model_copy(update={"minimum_evidence": None}) for name, work in frame.scenario.workloads.items()
    }
    return _policy(_scenario(frame, workloads=workloads), minimum_evidence=EvidenceLevel.DATASHEET)


def _house_rules(frame: Frame) -> Frame:
    vendors = {"allow": None, "deny": ()}
    return _vendors(_policy(frame, platforms=Names(), allow_budgetary_quotes=True), **vendors)


def _cooling(frame: Frame) -> Frame:
    """Every zone cools what stands in it: each platform takes any class."""
    classes = tuple(sorted({cooling for card in frame.platforms.values() for cooling in card.space.cooling or ()}))
    offered = {zone.cooling for site in frame.scenario.sites.values() for zone in (site.zones or {}).values()}

    def cooled(card: Platform) -> Platform:
        known = {*classes, *offered} if card.space.cooling else ()
        return card.model_copy(update={"space": card.space.model_copy(update={"cooling": tuple(sorted(known))})})

    return Frame(frame.scenario, {name: cooled(card) for name, card in frame.platforms.items()}, frame.quotes)


def _whole(lift: Callable[[Frame], Frame]) -> Callable[[Frame, Lever], Frame]:
    """Return a lift that has no parts."""
    return lambda frame, _: lift(frame)


LONG_BLOCK_DAYS = 36_500
"""Longest capacity block when its length is lifted."""

AMPLE_KW = 10**7
"""IT power of a site whose power is lifted, kW: ten gigawatts."""

PLENTY_OF_RACKS = 10**5
"""Rack positions of a zone whose number is lifted."""

RELAXATIONS: dict[LimitName, Callable[[Frame, Lever], Frame]] = {
    "policy": _whole(_house_rules),
    "evidence": _whole(_evidence),
    "cooling": _whole(_cooling),
    "rack_power": _whole(partial(_zones, kw_per_rack=Decimal(AMPLE_KW))),
    "budget": _whole(partial(_budget, total=None)),
    "budget_year": _years,
    "deadline": _deadline,
    "power": _whole(_power),
    "racks": _whole(partial(_zones, racks=PLENTY_OF_RACKS)),
    "supply": _whole(_supply),
    "fabric": _whole(_fabric),
    "block_length": _whole(_block_length),
    "vendors": _whole(partial(_vendors, max=None)),
    "second_source": _whole(partial(_vendors, second_source_share=0)),
    "expired": _whole(partial(_policy, allow_expired_quotes=True)),
}
"""Relaxable limits with the scenario in which each is lifted, in the order conflicts are shrunk."""


PARTED: dict[LimitName, Callable[[Frame], Collection[str]]] = {
    "budget_year": lambda frame: frame.scenario.budget.by_fiscal_year,
    "deadline": lambda frame: frame.scenario.workloads,
}
"""Limits that are lifted part by part, with the parts a scenario has."""


def levers(frame: Frame) -> tuple[Lever, ...]:
    """Return every relaxable limit that a scenario states, each fiscal year and each deadline by itself.

    A limit whose lifting leaves the scenario as it is is not stated.
    """
    found = (lever for name in RELAXATIONS for lever in _parts(name, frame))
    return tuple(lever for lever in found if _differs(lifted(frame, [lever]), frame))


def _parts(name: LimitName, frame: Frame) -> Iterator[Lever]:
    yield from (Lever(name, part) for part in PARTED[name](frame)) if name in PARTED else [Lever(name)]


def _differs(a: Frame, b: Frame) -> bool:
    return a.scenario != b.scenario or a.quotes != b.quotes or a.platforms != b.platforms


def lifted(frame: Frame, limits: Collection[Lever]) -> Frame:
    """Return a scenario with some limits lifted."""
    order = list(RELAXATIONS)
    for lever in sorted(limits, key=lambda own: order.index(own.name)):
        frame = RELAXATIONS[lever.name](frame, lever)
    return frame
