"""What the fleet is worth after the last run: residual value, sale, use. Income is negative cash."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Literal

from optimizer.schema.quote import BlockOffer, DedicatedOffer, OnDemandOffer, PurchaseOffer
from optimizer.solver.check.case import ONE_DAY, Case
from optimizer.solver.check.payments import Payment
from optimizer.solver.check.prices import net_total
from optimizer.units import month_end, months_between

Policy = Literal["idle", "off", "sell", "use"]
POLICIES: tuple[Policy, ...] = ("idle", "off", "sell", "use")
"""Every plan is priced under each of them."""

RESIDUAL, VALUE = "residual", "after_run_value"
INCOME = (RESIDUAL, VALUE)
"""Items that no budget counts."""


def residual_payments(case: Case, sale: dt.date) -> Iterator[Payment]:
    """Yield the residual of purchased hardware: net price x share ^ (age in months / months).

    Args:
        case: The plan with its facts.
        sale: Day of receipt; a lot delivered later is sold on its delivery at its full price.
    """
    residual = case.scenario.finance.residual
    for holding in case.holdings if residual else ():
        if residual is None or not isinstance(holding.offer, PurchaseOffer):
            continue
        share = residual.platforms.get(holding.platform.id, residual.share)
        price = net_total(holding, case.facts) / holding.award.units
        for lot in holding.deliveries:
            day = max(sale, lot.day)
            left = _power(share, months_between(lot.day, day) / residual.months)
            yield Payment(day, RESIDUAL, -price * lot.units * left)


def _power(share: Decimal, exponent: Decimal) -> Decimal:
    """Return share ^ exponent, with 0 ^ 0 = 1: new hardware has its full price whatever its residual."""
    return Decimal(1) if exponent == 0 else share**exponent


def use_payments(case: Case) -> Iterator[Payment] | None:
    """Return the value of the fleet's use from the day after the last run to the horizon; None without a cap or value.

    On day t: min(max_accelerators, accelerators ready on t) x value x 24 h x utilisation x (1 - decline) ^ full years.
    """
    after = case.scenario.after_run
    if after.max_accelerators is None or after.value_per_accelerator_hour is None:
        return None
    daily = 24 * after.utilisation * case.facts.money(after.value_per_accelerator_hour, case.currency)
    return _use(case, daily, after.max_accelerators, 1 - after.decline_per_year)


def _use(case: Case, daily: Decimal, most: int, kept: Decimal) -> Iterator[Payment]:
    start = case.runs_end + ONE_DAY
    fleet = list(_fleet(case))
    totals: dict[dt.date, Decimal] = {}
    for offset in range((case.horizon - start).days):
        day = start + dt.timedelta(days=offset)
        used = min(most, sum(count for count, first, last in fleet if first <= day <= last))
        years = int(months_between(start, day)) // 12
        end = month_end(day)
        totals[end] = totals.get(end, Decimal(0)) + used * daily * _power(kept, Decimal(years))
    return (Payment(end, VALUE, -total) for end, total in totals.items())


def _fleet(case: Case) -> Iterator[tuple[int, dt.date, dt.date]]:
    """Yield (accelerators, first, last day) of what can be used: owned, purchased, leased and reserved, once ready."""
    for owned in case.scenario.owned:
        platform = case.facts.platforms[owned.platform]
        yield owned.nodes * platform.accelerators_per_node, case.scenario.today, case.last_day
    for holding in case.holdings:
        if not isinstance(holding.offer, BlockOffer | OnDemandOffer | DedicatedOffer):
            for lot in holding.deliveries:
                yield holding.pieces("accelerator", lot.units), holding.ready(lot), case.last(holding)
