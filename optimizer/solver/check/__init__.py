"""The independent checker: recomputes every limit and every number of a plan in exact decimals.

It reads the scenario, platforms, architectures, quotes and the finished plan only, and shares no code with the engine,
the cost model or the solver (a lint rule holds it). A plan without a breach is *verified*. Step times are the engine's;
here they are only held against the plan's days, memory and band.
"""

from __future__ import annotations

from decimal import localcontext
from itertools import islice, product

from optimizer.results import Award, Plan
from optimizer.schema.quote import Offer
from optimizer.solver.check.awards import award_breaches
from optimizer.solver.check.case import Case, Delivery, Holding, matches
from optimizer.solver.check.cash import cash
from optimizer.solver.check.deliveries import readings
from optimizer.solver.check.facts import Breach, Facts
from optimizer.solver.check.limits import limit_breaches
from optimizer.solver.check.policy import budget_breaches, policy_breaches
from optimizer.solver.check.runs import run_breaches
from optimizer.solver.check.site import site_breaches
from optimizer.solver.check.structure import structure_breaches
from optimizer.solver.check.supply import supply_breaches
from optimizer.solver.check.totals import total_breaches
from optimizer.units import MONEY_DIGITS

__all__ = ["Breach", "Facts", "case_of", "check"]

MOST_READINGS = 256
"""Most combinations of lot deliveries tried before the nearest one is reported."""


def check(plan: Plan, facts: Facts) -> tuple[Breach, ...]:
    """Return what does not hold in a plan; empty when it is verified.

    The plan states the delivery of an award's last lot only. When its lots can be read in several ways, the reading
    with the fewest breaches counts.

    Args:
        plan: A plan as solved (exact amounts) or as read from its file (amounts rounded to the minor unit).
        facts: What it was made from.

    Raises:
        InputError: An exchange rate is missing.
    """
    if plan.status in ("infeasible", "unknown") and not plan.workloads:
        return ()
    with localcontext() as context:
        context.prec = MONEY_DIGITS
        broken = tuple(structure_breaches(plan, facts))
        if broken:
            return broken
        found: tuple[Breach, ...] | None = None
        for case in _cases(plan, facts):
            breaches = _breaches(case)
            if not breaches:
                return ()
            found = breaches if found is None or len(breaches) < len(found) else found
        return found or ()


def case_of(plan: Plan, facts: Facts) -> Case:
    """Return a plan that holds joined with its facts, for those who show what the checker counts."""
    return next(_cases(plan, facts))


def _cases(plan: Plan, facts: Facts) -> islice[Case]:
    lots = [_readings(award, facts) for award in plan.awards]
    return islice((Case(plan, facts, _holdings(plan, facts, chosen)) for chosen in product(*lots)), MOST_READINGS)


def _readings(award: Award, facts: Facts) -> list[tuple[Delivery, ...]]:
    """Return the readings of an award; when its date agrees with none, all units on the stated day."""
    offer = _offer(award, facts)
    agreeing = readings(award, offer, facts.platforms[award.platform], facts.scenario)
    return agreeing or [(Delivery(award.units, award.delivery_date),)]


def _holdings(plan: Plan, facts: Facts, chosen: tuple[tuple[Delivery, ...], ...]) -> tuple[Holding, ...]:
    holdings = []
    for position, (award, lots) in enumerate(zip(plan.awards, chosen, strict=True)):
        offer = _offer(award, facts)
        delays = sum(entry.delay_days for entry in facts.scenario.costs if matches(entry, offer))
        platform = facts.platforms[award.platform]
        quote, setup = facts.quotes[award.quote], offer.acceptance_days + delays
        holdings.append(Holding(position, award, quote, offer, platform, lots, setup))
    return tuple(holdings)


def _offer(award: Award, facts: Facts) -> Offer:
    return facts.quotes[award.quote].offers[award.offer]


def _breaches(case: Case) -> tuple[Breach, ...]:
    cost = case.plan.cost
    payments = cash(case, case.scenario.after_run.policy)
    if cost is None or payments is None:
        return (Breach("cost", "", "nothing to recompute", "a priced plan"),)
    return (
        *run_breaches(case),
        *award_breaches(case),
        *supply_breaches(case),
        *site_breaches(case),
        *policy_breaches(case),
        *budget_breaches(case, payments),
        *total_breaches(case, cost, payments),
        *limit_breaches(case, payments),
    )
