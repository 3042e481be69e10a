"""The uncertain inputs of a scenario: each with its range, and how the scenario looks with it moved."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from optimizer.analysis.scales import Grouping, Knob, one_quote, quote_knob, times, value_knob
from optimizer.analysis.world import World
from optimizer.cost.frame import Frame
from optimizer.schema.quote import Duty, Lot, Offer, Quote, SiteOffer
from optimizer.schema.ranges import Range, Ranges
from optimizer.schema.scenario import Scenario, Site

DAYS_PER_WEEK = 7

SURELY = Decimal("0.001")
"""Quantiles nearer to 0 or 1 are not known of any platform."""

PRICE = Decimal("1e-6")
"""Smallest multiple of a price: at zero or below it is no price."""

POLICY = "after_run.policy"
"""Name of the input that is no number."""

POLICIES = ("idle", "off", "sell", "use")
"""Its values."""


@dataclass(frozen=True, eq=False)
class Uncertain:
    """One uncertain input.

    Attributes:
        name: Its key, as ``--range`` and the results name it.
        base: Value in the scenario.
        low: Low end.
        high: High end.
        unit: Unit of the values.
        note: Where the range comes from.
        apply: Returns a world with the input at a value.
        whole: Whether only whole numbers make sense.
        least: Smallest value that makes sense; None = any.
        most: Largest value that makes sense; None = any.
        move: The same change by a factor, when every plan's cost is linear in it.
    """

    name: str
    base: Decimal
    low: Decimal
    high: Decimal
    unit: str
    note: str
    apply: Callable[[World, Decimal], World]
    whole: bool = False
    least: Decimal | None = Decimal(0)
    most: Decimal | None = None
    move: Grouping | Knob | None = None


def uncertain_inputs(world: World, ranges: Ranges, platforms: Iterable[str]) -> list[Uncertain]:
    """Return every uncertain input that the scenario has.

    Args:
        world: The scenario as it is.
        ranges: How far each kind may move.
        platforms: Platforms with a run; the others cannot matter by their speed.
    """
    scenario = world.frame.scenario
    return [
        *_performance(scenario, ranges.performance, platforms),
        *_after_run(world.frame, ranges.after_run_value),
        *_quotes(world.frame, ranges),
        *_rates(scenario, ranges.fx, world.frame.quotes),
        *_money(scenario, ranges),
        *_workloads(scenario, ranges.extra_compute),
        *_dates(scenario, ranges.order),
        *_sites(scenario, ranges),
    ]


def policies(world: World) -> dict[str, World]:
    """Return the world under every after-run policy that can be planned with: use needs a value and a cap."""
    after = world.frame.scenario.after_run
    usable = after.value_per_accelerator_hour is not None and after.max_accelerators is not None
    return {
        policy: world.with_scenario(after_run=after.model_copy(update={"policy": policy}))
        for policy in POLICIES
        if policy != "use" or usable
    }


def senseless(item: Uncertain) -> Iterator[str]:
    """Yield what is wrong with the range of an input."""
    low, high = item.low, item.high
    if not (low.is_finite() and high.is_finite()):
        yield f"{low} to {high} are not finite numbers"
        return
    if low > high:
        yield f"low {low} is above high {high}"
    if item.least is not None and low < item.least:
        yield f"{low} is not above zero" if item.least == PRICE else f"{low} is below {item.least}"
    if item.most is not None and high > item.most:
        yield f"{high} is above {item.most}"
    if item.whole and any(value != int(value) for value in (low, high)):
        yield f"{low} to {high} are not whole numbers"


def _performance(scenario: Scenario, span: Range, platforms: Iterable[str]) -> Iterator[Uncertain]:
    base = scenario.policy.performance_quantile
    engine = any(workload.architecture for workload in scenario.workloads.values())
    for platform in sorted(platforms) if engine else ():

        def apply(world: World, value: Decimal, name: str = platform) -> World:
            return replace(world, quantiles={**world.quantiles, name: value})

        low, high = span.ends(base)
        yield Uncertain(
            f"performance.{platform}", base, low, high, "quantile of run time", span.origin, apply,
            least=SURELY, most=1 - SURELY,
        )  # fmt: skip


def _after_run(frame: Frame, span: Range) -> Iterator[Uncertain]:
    after = frame.scenario.after_run
    value = after.value_per_accelerator_hour
    if after.policy != "use" or value is None:
        return

    def apply(world: World, amount: Decimal) -> World:
        return world.with_frame(value_knob(world.frame)(amount / value.amount))

    name = "after_run.value_per_accelerator_hour"
    unit = value.currency or frame.scenario.currency
    low, high = span.ends(value.amount)
    yield Uncertain(name, value.amount, low, high, unit, span.origin, apply, move=value_knob(frame))


def price_range(quote: Quote, ranges: Ranges) -> Range:
    """Return how far the prices of a quote may move, by how firm it is."""
    spans: Mapping[str, Range] = {
        "binding": ranges.price_binding,
        "budgetary": ranges.price_budgetary,
        "list": ranges.price_list,
        "contract": ranges.price_contract,
    }
    return spans[quote.kind]


def offered(frame: Frame) -> list[str]:
    """Return the platforms with an offer, or that we have."""
    quoted = {offer.platform for quote in frame.quotes.values() for offer in quote.offers.values()}
    return sorted(quoted | {own.platform for own in frame.scenario.owned})


def _quotes(frame: Frame, ranges: Ranges) -> Iterator[Uncertain]:
    one = Decimal(1)
    for name, quote in frame.quotes.items():

        def price(world: World, factor: Decimal, quote: str = name) -> World:
            return world.with_frame(quote_knob(world.frame, quote)(factor))

        def slip(world: World, weeks: Decimal, quote: str = name) -> World:
            return world.with_frame(delayed(world.frame, {quote: int(weeks)}))

        span = price_range(quote, ranges)
        low, high = span.ends(one)
        yield Uncertain(
            f"price.{name}", one, low, high, "x quoted", span.origin, price, least=PRICE, move=one_quote(frame, name)
        )
        if any(map(slips, quote.offers.values())):
            low, high = ranges.delivery.ends(Decimal(0))
            yield Uncertain(
                f"delivery.{name}",
                Decimal(0),
                low,
                high,
                "week later",
                ranges.delivery.origin,
                slip,
                whole=True,
                least=None,
            )


def slips(offer: Offer) -> bool:
    """Return whether an offer may come late: it is delivered to a site, or its provider states a lead time."""
    return isinstance(offer, SiteOffer) or offer.lead_weeks is not None


def delayed(frame: Frame, weeks: Mapping[str, int]) -> Frame:
    """Return a scenario in which deliveries of some quotes come weeks later (or earlier), never before the order."""

    def changed(quote: Quote) -> Quote:
        slip = weeks.get(quote.quote, 0)
        offers = {name: _later(offer, slip) if slip else offer for name, offer in quote.offers.items()}
        return quote.model_copy(update={"offers": offers})

    return replace(frame, quotes={name: changed(quote) for name, quote in frame.quotes.items()})


def _later(offer: Offer, weeks: int) -> Offer:
    """Return an offer whose delivery, or start after its lead time, comes later."""
    if not slips(offer):
        return offer
    lots = {"lots": tuple(_moved(lot, weeks) for lot in offer.lots)} if isinstance(offer, SiteOffer) else {}
    late = 0 if offer.lead_weeks == "stock" else offer.lead_weeks and offer.lead_weeks[1]
    lead = offer.lead_weeks if late is None else (max(0, late + weeks),) * 2
    return offer.model_copy(update={**lots, "lead_weeks": lead})


def _moved(lot: Lot, weeks: int) -> Lot:
    if lot.date is not None:
        return lot.model_copy(update={"date": lot.date + dt.timedelta(weeks=weeks)})
    days = lot.days if lot.days is not None else (lot.weeks or 0) * DAYS_PER_WEEK
    return lot.model_copy(update={"weeks": None, "days": max(0, days + weeks * DAYS_PER_WEEK)})


def _rates(scenario: Scenario, span: Range, quotes: Mapping[str, Quote]) -> Iterator[Uncertain]:
    fx = scenario.fx
    used = {quote.currency for quote in quotes.values()}
    for code in sorted(used & set(fx.rates)) if fx else ():

        def apply(world: World, rate: Decimal, code: str = code) -> World:
            known = world.frame.scenario.fx
            rates = {**(known.rates if known else {}), code: rate}
            return world.with_scenario(fx=known and known.model_copy(update={"rates": rates}))

        base = fx.rates[code] if fx else Decimal(1)
        low, high = span.ends(base)
        yield Uncertain(f"fx.rates.{code}", base, low, high, "rate", span.origin, apply, least=PRICE)


def _money(scenario: Scenario, ranges: Ranges) -> Iterator[Uncertain]:
    duty = scenario.duty.rate if scenario.duty else Decimal(0)
    yield Uncertain(
        "duty.rate", duty, *ranges.duty.ends(duty), "share", ranges.duty.origin,
        lambda world, rate: world.with_scenario(duty=Duty(rate=rate)),
    )  # fmt: skip
    rate = scenario.finance.discount_rate
    low, high = ranges.discount.ends(rate)
    yield Uncertain(
        "finance.discount_rate", rate, max(Decimal(0), low), high, "per year", ranges.discount.origin, _discount
    )
    residual = scenario.finance.residual
    if residual is not None:
        low, high = ranges.residual.ends(residual.share)
        note = ranges.residual.origin
        most = Decimal(1)
        yield Uncertain(
            "finance.residual.share", residual.share, low, min(most, high), "share", note, _residual, most=most
        )
    failures = scenario.reliability.node_failures_per_1000_days
    low, high = ranges.failures.ends(failures)
    name = "reliability.node_failures_per_1000_days"
    yield Uncertain(name, failures, low, high, "per 1,000 node-days", ranges.failures.origin, _failures)


def _discount(world: World, rate: Decimal) -> World:
    finance = world.frame.scenario.finance.model_copy(update={"discount_rate": rate})
    return world.with_scenario(finance=finance)


def _residual(world: World, share: Decimal) -> World:
    """Return a world with another residual share; those of single platforms move in proportion."""
    finance = world.frame.scenario.finance
    residual = finance.residual
    if residual is None:
        return world
    ratio = share / residual.share if residual.share else Decimal(1)
    platforms = {name: min(Decimal(1), own * ratio) for name, own in residual.platforms.items()}
    changed = residual.model_copy(update={"share": share, "platforms": platforms})
    return world.with_scenario(finance=finance.model_copy(update={"residual": changed}))


def _failures(world: World, rate: Decimal) -> World:
    reliability = world.frame.scenario.reliability
    return world.with_scenario(reliability=reliability.model_copy(update={"node_failures_per_1000_days": rate}))


def _workloads(scenario: Scenario, span: Range) -> Iterator[Uncertain]:
    for name, workload in scenario.workloads.items():
        if workload.extra_compute is None or not workload.architecture:
            continue

        def apply(world: World, share: Decimal, name: str = name) -> World:
            workloads = world.frame.scenario.workloads
            changed = workloads[name].model_copy(update={"extra_compute": share})
            return world.with_scenario(workloads={**workloads, name: changed})

        low, high = span.ends(workload.extra_compute)
        key = f"workloads.{name}.extra_compute"
        yield Uncertain(key, workload.extra_compute, max(Decimal(0), low), high, "share", span.origin, apply)


def _dates(scenario: Scenario, span: Range) -> Iterator[Uncertain]:
    order = scenario.earliest_order or scenario.today

    def apply(world: World, days: Decimal) -> World:
        return world.with_scenario(earliest_order=order + dt.timedelta(int(days)))

    low, high = span.ends(Decimal(0))
    soonest = Decimal((scenario.today - order).days)
    low = max(low, soonest)
    yield Uncertain("earliest_order", Decimal(0), low, high, "day later", span.origin, apply, whole=True, least=soonest)


def _sites(scenario: Scenario, ranges: Ranges) -> Iterator[Uncertain]:
    for name, site in scenario.sites.items():
        if site.colocation:
            yield _site(name, "colocation", ranges.hall, _hall)
        yield _site(name, "electricity", ranges.electricity, _power)


def _site(name: str, part: str, span: Range, change: Callable[[Site, Decimal], Site]) -> Uncertain:
    def apply(world: World, factor: Decimal) -> World:
        sites = world.frame.scenario.sites
        return world.with_scenario(sites={**sites, name: change(sites[name], factor)})

    one = Decimal(1)
    return Uncertain(f"sites.{name}.{part}", one, *span.ends(one), "x stated", span.origin, apply)


def _hall(site: Site, factor: Decimal) -> Site:
    hall = site.colocation
    price = hall and hall.model_copy(update={"per_kw_month": times(hall.per_kw_month, factor)})
    return site.model_copy(update={"colocation": price})


def _power(site: Site, factor: Decimal) -> Site:
    tariff = site.electricity
    periods = tuple(period.model_copy(update={"per_kwh": times(period.per_kwh, factor)}) for period in tariff.periods)
    changed = tariff.model_copy(update={"per_kwh": times(tariff.per_kwh, factor), "periods": periods})
    return site.model_copy(update={"electricity": changed})
