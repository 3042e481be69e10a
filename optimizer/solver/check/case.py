"""The plan joined with the facts it names: holdings with their lots, owned nodes, runs and dates.

Everything after this module works on a ``Case``; nothing in it is judged here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from optimizer.results import Award, Plan, WorkloadPlan
from optimizer.schema.base import OfferType
from optimizer.schema.platform import Platform
from optimizer.schema.quote import BlockOffer, DedicatedOffer, Offer, OnDemandOffer, PurchaseOffer, Quote
from optimizer.schema.scenario import CostEntry, Scenario
from optimizer.solver.check.facts import Facts
from optimizer.units import add_months

ONE_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Delivery:
    """A lot of an award: ``units`` delivered on ``day``."""

    units: int
    day: dt.date


@dataclass(frozen=True, slots=True)
class Holding:
    """An award with what it refers to, and the days on which its lots arrive.

    Attributes:
        position: Index in ``plan.awards``.
        award: The award as stated.
        quote: Its quote.
        offer: Its offer.
        platform: Its platform.
        deliveries: Its lots, in the order of the offer.
        setup_days: Days from delivery to ready: acceptance plus the delays of matching ``costs`` entries.
    """

    position: int
    award: Award
    quote: Quote
    offer: Offer
    platform: Platform
    deliveries: tuple[Delivery, ...]
    setup_days: int

    @property
    def label(self) -> str:
        """Name in breaches: ``quote/offer``."""
        return f"{self.award.quote}/{self.award.offer}"

    @property
    def pool(self) -> str:
        """``platform@place``."""
        return f"{self.award.platform}@{self.award.place}"

    @property
    def hired(self) -> bool:
        """Whether it is rented for one run."""
        return isinstance(self.offer, BlockOffer | OnDemandOffer | DedicatedOffer)

    def joins(self, run: WorkloadPlan) -> bool:
        """Return whether its nodes are in the pool of a run, and not hired for another one."""
        return self.pool == run.pool and (not self.hired or self.award.workload in (None, run.name))

    @property
    def first_day(self) -> dt.date:
        """Day of the first delivery."""
        return min(delivery.day for delivery in self.deliveries)

    def ready(self, delivery: Delivery) -> dt.date:
        """Return the first day a lot can train."""
        return delivery.day + dt.timedelta(days=self.setup_days)

    def nodes(self, units: int) -> int:
        """Return the nodes of some units."""
        return units * self.platform.nodes_per_unit

    def pieces(self, per: str, units: int) -> int:
        """Return the accelerators, nodes or purchase units (also ``rack``) of some units."""
        return units * {"accelerator": self.platform.accelerators_per_unit, "node": self.platform.nodes_per_unit}.get(
            per, 1
        )


@dataclass(frozen=True, slots=True)
class Case:
    """A plan with its facts and one reading of its delivery dates."""

    plan: Plan
    facts: Facts
    holdings: tuple[Holding, ...]

    @property
    def scenario(self) -> Scenario:
        """The question."""
        return self.facts.scenario

    @property
    def currency(self) -> str:
        """Currency of the answer."""
        return self.scenario.currency

    @property
    def horizon(self) -> dt.date:
        """First day that is not counted."""
        return add_months(self.scenario.today, self.scenario.horizon_months)

    @property
    def last_day(self) -> dt.date:
        """Last counted day."""
        return self.horizon - ONE_DAY

    @property
    def runs(self) -> tuple[WorkloadPlan, ...]:
        """Runs by name order of the plan."""
        return tuple(self.plan.workloads.values())

    @property
    def runs_end(self) -> dt.date:
        """Last day of the last run."""
        return max(run.end for run in self.runs)

    def last(self, holding: Holding) -> dt.date:
        """Return the last counted day of a holding: contract end or the day before the horizon."""
        end = holding.award.contract_end
        return self.last_day if end is None or isinstance(holding.offer, PurchaseOffer) else min(end, self.last_day)

    def at_sites(self) -> Iterator[Holding]:
        """Yield the holdings that stand at a site of ours."""
        return (holding for holding in self.holdings if holding.award.place in self.scenario.sites)

    def matching(self, entry: CostEntry) -> list[Holding]:
        """Return the holdings a ``costs`` entry applies to."""
        return [holding for holding in self.holdings if matches(entry, holding.offer)]

    def covers(self, holding: Holding, delivery: Delivery, run: WorkloadPlan) -> bool:
        """Return whether a lot of a holding counts for a run: same pool, ready by its start, in contract to its end."""
        if not holding.joins(run) or holding.ready(delivery) > run.start:
            return False
        system = self.system(run)
        if system is not None or isinstance(holding.offer, DedicatedOffer):
            return system is holding
        end = holding.award.contract_end
        if isinstance(holding.offer, OnDemandOffer):
            return end == run.end
        return isinstance(holding.offer, PurchaseOffer) or (end is not None and end >= run.end)

    def system(self, run: WorkloadPlan) -> Holding | None:
        """Return the dedicated system a run takes: one that states its days on its nodes, taken for its days."""
        return next((holding for holding in self.holdings if self._is_system(holding, run)), None)

    def _is_system(self, holding: Holding, run: WorkloadPlan) -> bool:
        award, offer = holding.award, holding.offer
        if not isinstance(offer, DedicatedOffer) or holding.pool != run.pool or run.layout is not None:
            return False
        stated = {(mode.workload, mode.units, mode.days) for mode in offer.modes}
        dates = (award.delivery_date + dt.timedelta(days=holding.setup_days), award.contract_end)
        return (run.name, award.units, run.days) in stated and (run.start, run.end) == dates


def matches(entry: CostEntry, offer: Offer) -> bool:
    """Return whether a ``costs`` entry applies to awards of an offer, by type and platform."""
    of_type = entry.types is None or OfferType(offer.type) in entry.types
    return of_type and (entry.platforms is None or offer.platform in entry.platforms)


def order_day(scenario: Scenario) -> dt.date:
    """Return the order date of every award: ``earliest_order``, else ``today``."""
    return scenario.earliest_order or scenario.today


def exact(value: float) -> Decimal:
    """Return a physical figure as the Decimal it was written as."""
    return Decimal(str(value))
