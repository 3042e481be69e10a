"""Each award by itself: quantity, validity, policy, place, dates, and the numbers it states."""

from __future__ import annotations

import datetime as dt
from collections import Counter

from optimizer.schema.quote import (
    BlockOffer,
    DedicatedOffer,
    LeaseOffer,
    OnDemandOffer,
    Quote,
    RegionOffer,
    ReservedOffer,
    TieredPrice,
)
from optimizer.solver.check.case import Case, Holding, order_day
from optimizer.solver.check.cash import total
from optimizer.solver.check.deliveries import delivery_breaches
from optimizer.solver.check.facts import Breach, Breaches, holds, same, same_money
from optimizer.solver.check.payments import award_payments
from optimizer.solver.check.prices import price_currencies, quoted_unit_price, tier
from optimizer.units import add_months


def award_breaches(case: Case) -> Breaches:
    """Yield the breaches of every award, and of signed units that are missing."""
    for holding in case.holdings:
        yield from _number_breaches(case, holding)
        yield from _quantity_breaches(holding)
        yield from _place_breaches(case, holding)
        yield from delivery_breaches(holding.label, holding.award, holding.offer, holding.platform, case.scenario)
        yield from _contract_breaches(case, holding)
        if not _fixed(case, holding):
            yield from _need_breaches(case, holding)
            yield from _validity_breaches(case, holding)
            yield from _policy_breaches(case, holding)
    yield from _signed_breaches(case)


def _fixed(case: Case, holding: Holding) -> bool:
    """Return whether the award is signed already: then validity and policy are not checked."""
    signed = {(fixed.quote, fixed.offer) for fixed in case.scenario.fix}
    return (holding.award.quote, holding.award.offer) in signed


def _need_breaches(case: Case, holding: Holding) -> Breaches:
    """Yield a breach for an award in a pool without a run; only the objective capacity wants one."""
    wanted = case.scenario.objective == "capacity" or holding.pool in {run.pool for run in case.runs}
    yield from holds(wanted, "pool", holding.label, f"an award in {holding.pool}", "no run in that pool")
    if isinstance(holding.offer, DedicatedOffer):
        stated = ", ".join(f"{mode.workload} on {mode.units} units in {mode.days} days" for mode in holding.offer.modes)
        taken = any(case.system(run) is holding for run in case.runs)
        yield from holds(taken, "mode", holding.label, f"{holding.award.units} units for no run", stated)


def _signed_breaches(case: Case) -> Breaches:
    """Signatures of one offer add up."""
    signed: Counter[tuple[str, str]] = Counter()
    awarded: Counter[tuple[str, str]] = Counter()
    for fixed in case.scenario.fix:
        signed[fixed.quote, fixed.offer] += fixed.units
    for holding in case.holdings:
        awarded[holding.award.quote, holding.award.offer] += holding.award.units
    for offer, units in signed.items():
        enough = awarded[offer] >= units
        found, wanted = f"{awarded[offer]} units", f"{units} units signed already"
        yield from holds(enough, "minimum_order", "/".join(offer), found, wanted)


def _number_breaches(case: Case, holding: Holding) -> Breaches:
    award, where = holding.award, holding.label
    yield from same("nodes", where, award.nodes, holding.nodes(award.units))
    yield from same("accelerators", where, award.accelerators, holding.pieces("accelerator", award.units))
    yield from same("tier", where, award.tier, tier(holding))
    yield from same("order_date", where, award.order_date, order_day(case.scenario))
    if award.currency in price_currencies(holding, case.facts):
        price = quoted_unit_price(holding, case.facts, award.currency)
        yield from same_money("unit_price", where, award.unit_price, price, award.currency)
    else:
        yield Breach("currency", where, award.currency, " or ".join(sorted(price_currencies(holding, case.facts))))
    tax = holding.quote.tax
    if award.tax_included is not None:  # plans of earlier versions do not state it
        yield from same("tax_included", where, award.tax_included, tax.rate if tax.included else None)
    cost = total(award_payments(case, holding))
    yield from same_money("cost", where, award.cost, cost, case.currency)


def _quantity_breaches(holding: Holding) -> Breaches:
    units, allowed, where = holding.award.units, holding.offer.units, holding.label
    enough = units >= allowed.min and units % allowed.step == 0
    text = f"at least {allowed.min} in steps of {allowed.step}"
    yield from holds(enough, "minimum_order", where, f"{units} units", text)
    yield from holds(
        allowed.max is None or units <= allowed.max, "supply", where, f"{units} units", f"at most {allowed.max}"
    )
    price = holding.offer.price
    if isinstance(price, TieredPrice):
        first = min(price.breaks)
        yield from holds(units >= first, "minimum_order", where, f"{units} units", f"a price from {first} units on")


def _place_breaches(case: Case, holding: Holding) -> Breaches:
    place, offer = holding.award.place, holding.offer
    if isinstance(offer, RegionOffer):
        yield from same("region", holding.label, place, f"{holding.quote.vendor}/{offer.region}")
        return
    allowed = sorted(case.scenario.sites if offer.sites is None else set(offer.sites) & set(case.scenario.sites))
    yield from holds(place in allowed, "region", holding.label, place, f"one of {allowed}")


def _contract_breaches(case: Case, holding: Holding) -> Breaches:
    award, offer = holding.award, holding.offer
    if isinstance(offer, LeaseOffer | ReservedOffer):
        end = add_months(award.delivery_date, offer.term_months) - dt.timedelta(days=1)
        yield from same("contract_end", holding.label, award.contract_end, end)
    elif isinstance(offer, BlockOffer | OnDemandOffer | DedicatedOffer):
        setup = dt.timedelta(days=holding.setup_days)
        runs = [(run.start - setup, run.end) for run in case.runs if holding.joins(run)]
        served = [(first, _hired_until(offer, first, last)) for first, last in runs]
        days = (award.delivery_date, award.contract_end)
        text = " or ".join(f"{first} to {last}" for first, last in served) or "no run in its pool"
        yield from holds(days in served, "contract_end", holding.label, f"{days[0]} to {days[1]}", text)


def _hired_until(offer: BlockOffer | OnDemandOffer | DedicatedOffer, first: dt.date, last: dt.date) -> dt.date | None:
    """Return the last day paid for a run: its own, or that of the shortest block that reaches it; None without one."""
    if not isinstance(offer, BlockOffer):
        return last
    wanted = (last - first).days + 1
    fitting = [days for row in offer.days for days in range(row.step, row.to + 1, row.step) if days >= wanted]
    return first + dt.timedelta(days=min(fitting) - 1) if fitting else None


def _validity_breaches(case: Case, holding: Holding) -> Breaches:
    policy, quote, day = case.scenario.policy, holding.quote, order_day(case.scenario)
    if quote.valid_until is not None and quote.valid_until < day and not policy.allow_expired_quotes:
        yield Breach("expired", holding.label, f"ordered on {day}", f"valid until {quote.valid_until}")
    if _budgetary(quote) and not policy.allow_budgetary_quotes:
        yield Breach("policy", holding.label, f"a {quote.kind} quote", "only dated, firm quotes")


def _budgetary(quote: Quote) -> bool:
    return quote.kind in ("budgetary", "list") or quote.valid_until is None


def _policy_breaches(case: Case, holding: Holding) -> Breaches:
    policy, platform, where = case.scenario.policy, holding.platform, holding.label
    yield from holds(
        policy.platforms.permits(platform.id), "policy", where, platform.id, "a platform the policy allows"
    )
    yield from holds(
        policy.vendors.permits(holding.quote.vendor), "policy", where, holding.quote.vendor, "an allowed vendor"
    )
    excluded = platform.licence_excludes_datacentre and not policy.allow_excluded_licence
    yield from holds(not excluded, "licence", where, platform.id, "a licence for data centres")
    yield from holds(platform.ineligible is None, "specification", where, platform.id, platform.ineligible)
