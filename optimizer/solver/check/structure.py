"""Whether the plan can be read at all: everything it names exists and can be priced.

A breach found here ends the check, because the numbers behind it cannot be recomputed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from optimizer.results import Award, Plan
from optimizer.schema.platform import Platform
from optimizer.schema.quote import (
    BlockOffer,
    DedicatedOffer,
    Offer,
    OnDemandOffer,
    PriceState,
    PurchaseOffer,
    QuoteLine,
    TieredPrice,
)
from optimizer.schema.scenario import Scenario
from optimizer.solver.check.facts import Breach, Breaches, Facts, holds, same


def structure_breaches(plan: Plan, facts: Facts) -> Breaches:
    """Yield a breach for every name that leads nowhere and every price that is no number."""
    scenario = facts.scenario
    if plan.cost is None:
        yield Breach("cost", "", "nothing", "the cost of a plan with runs")
    yield from same("workloads", "", sorted(plan.workloads), sorted(scenario.workloads))
    for name, count in Counter((award.quote, award.offer, award.workload or "") for award in plan.awards).items():
        where = "/".join(filter(None, name))
        most = "at most one award of an offer" + (" for a run" if name[2] else "")
        yield from holds(count == 1, "offer", where, f"{count} awards", most)
    for run in plan.workloads.values():
        if run.platform not in facts.platforms:
            yield Breach("platform", run.name, run.platform, "a known platform")
    for owned in scenario.owned:
        known = owned.platform in facts.platforms and owned.site in scenario.sites
        yield from holds(
            known, "specification", f"{owned.platform}@{owned.site}", "owned nodes", "a known platform and site"
        )
    for award in plan.awards:
        yield from _award_breaches(award, facts, plan)
    for site, platform_id in _site_platforms(plan, scenario):
        if platform_id in facts.platforms:
            yield from _unknown_figures(site, facts.platforms[platform_id], scenario)


def _award_breaches(award: Award, facts: Facts, plan: Plan) -> Breaches:
    where = f"{award.quote}/{award.offer}"
    quote = facts.quotes.get(award.quote)
    offer = quote.offers.get(award.offer) if quote else None
    if quote is None or offer is None:
        yield Breach("offer", where, "an award", "no such offer in the quotes")
        return
    yield from same(f"awards[{where}].vendor", "", award.vendor, quote.vendor)
    yield from same(f"awards[{where}].platform", "", award.platform, offer.platform)
    yield from same(f"awards[{where}].type", "", award.type, str(offer.type))
    if offer.platform not in facts.platforms:
        yield Breach("platform", where, offer.platform, "a known platform")
    else:
        yield from _hire_breaches(where, award, offer, plan)
        yield from _price_breaches(where, offer)
        yield from _contract_breaches(where, award, offer)


def _hire_breaches(where: str, award: Award, offer: Offer, plan: Plan) -> Breaches:
    """Only what is hired names its run. The only run needs no name."""
    if not isinstance(offer, BlockOffer | OnDemandOffer | DedicatedOffer):
        yield from same(f"awards[{where}].workload", "", award.workload, None)
        return
    if award.workload is None and len(plan.workloads) == 1:
        return
    known = award.workload in plan.workloads
    yield from holds(known, "offer", where, f"hired for {award.workload}", "a run of the plan")


def _price_breaches(where: str, offer: Offer) -> Breaches:
    if isinstance(offer.price, PriceState) and not offer.price.is_zero:
        yield Breach("price", where, "an award", f"price {offer.price}")
    tiers = offer.price
    if isinstance(offer, PurchaseOffer) and offer.lots and isinstance(tiers, TieredPrice) and tiers.incremental:
        yield Breach("price", where, "incremental tiers with lots", "a price of each lot")
    for line in offer.lines:
        if _unpriced(line):
            yield Breach("price", where, "an award", f"price {line.price} of line {line.item}")


def _unpriced(line: QuoteLine) -> bool:
    return not line.optional and isinstance(line.price, PriceState) and not line.price.is_zero


def _contract_breaches(where: str, award: Award, offer: Offer) -> Breaches:
    rented = not isinstance(offer, PurchaseOffer)
    expected = "a contract end" if rented else "none for owned hardware"
    yield from holds((award.contract_end is not None) == rented, "contract_end", where, award.contract_end, expected)
    if award.contract_end is not None:
        later = award.contract_end >= award.delivery_date
        yield from holds(later, "contract_end", where, award.contract_end, "a day after delivery")
    yield from holds(award.units >= 1, "minimum_order", where, award.units, "at least one unit")


def _site_platforms(plan: Plan, scenario: Scenario) -> Iterator[tuple[str, str]]:
    pairs = {(award.place, award.platform) for award in plan.awards if award.place in scenario.sites}
    pairs |= {(owned.site, owned.platform) for owned in scenario.owned if owned.site in scenario.sites}
    return iter(sorted(pairs))


def _unknown_figures(site: str, platform: Platform, scenario: Scenario) -> Breaches:
    where = f"{platform.id}@{site}"
    if platform.node_power_kw.provisioned is None:
        yield Breach("specification", where, "hardware at a site of ours", "unknown provisioned power")
    if scenario.sites[site].zones is None:
        return
    space = platform.space
    by_height = platform.purchase_unit != "rack" and (space.units_per_rack_max or space.rack_units)
    if not space.cooling or not (space.racks or by_height):
        yield Breach("specification", where, "hardware in racks of ours", "unknown space or cooling")
