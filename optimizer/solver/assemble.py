"""From a choice to the plan that is printed: awards, runs, cost build-up, limits."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal

from optimizer.cost import charge as charges
from optimizer.cost.after import POLICIES, After, Policy
from optimizer.cost.charge import Charge
from optimizer.cost.choice import Choice, Run, Taken
from optimizer.cost.frame import Frame
from optimizer.cost.items import is_invoiced
from optimizer.cost.option import award_pieces, fill_lots, is_incremental, pool_name
from optimizer.cost.plan_cost import Priced, award_charges, price
from optimizer.results import (
    AfterRunCost,
    Award,
    AwardLot,
    Band,
    Candidate,
    CashItem,
    Cost,
    CostLine,
    Factor,
    Payment,
    WorkloadPlan,
)
from optimizer.schema.scenario import Scenario

_NOISE = 1e-7
"""Hundredths of a day that are rounding: a billionth of a day, as the engine counts whole days."""


def priced(choice: Choice, frame: Frame) -> Priced:
    """Return the price of a choice under the scenario's own after-run policy."""
    return price(choice, After(frame.scenario.after_run.policy, choice.last_run), frame)


def band_of(mode: Candidate) -> Band | None:
    """Return the band of a mode as plans state it; None for a stated mode."""
    if mode.low_days is None or mode.high_days is None:
        return None
    low, high = (Decimal(str(round(days, 2))) for days in (mode.low_days, mode.high_days))
    return Band(low_days=low, high_days=high, p50_days=_no_shorter(mode.p50_days), p80_days=_no_shorter(mode.p80_days))


def _no_shorter(days: float | None) -> Decimal | None:
    """Return days to a hundredth, rounded up: dates counted from them are never a day early."""
    return None if days is None else Decimal(math.ceil(days * 100 - _NOISE)) / 100


def workload_plan(run: Run, scenario: Scenario) -> WorkloadPlan:
    """Return the result record of a run."""
    mode = run.candidate
    return WorkloadPlan(
        name=mode.workload,
        architecture=scenario.workloads[mode.workload].architecture,
        platform=mode.platform,
        place=run.place,
        pool=pool_name(run.platform.id, run.place),
        nodes=mode.nodes,
        accelerators=mode.accelerators,
        layout=mode.layout,
        step_time_s=mode.step_time_s,
        tokens_per_s_per_accelerator=mode.tokens_per_s_per_accelerator,
        mfu=mode.mfu,
        memory_gb=mode.memory_gb,
        memory_limit_gb=mode.memory_limit_gb,
        goodput=mode.goodput,
        start=run.start,
        end=run.end,
        days=mode.days,
        evidence=mode.evidence,
        band=band_of(mode),
    )


def award(taken: Taken, choice: Choice, frame: Frame) -> Award:
    """Return the result record of an award."""
    option = taken.option
    nodes, accelerators = option.rank_in_unit
    pieces = award_pieces(option, taken.units, frame)
    net = sum((piece.unit_price * count for piece, count in pieces), Decimal(0))
    tax = option.quote.tax
    quoted = net * (1 + tax.rate) if tax.included else net
    after = After(frame.scenario.after_run.policy, choice.last_run)
    charges = award_charges(taken, choice.runs, after, frame)
    cost = sum((charge.amount for charge in charges if is_invoiced(charge)), Decimal(0))
    return Award(
        quote=option.quote.quote,
        offer=option.name,
        vendor=option.quote.vendor,
        platform=option.platform.id,
        type=option.offer.type.value,
        place=option.place,
        units=taken.units,
        nodes=taken.units * nodes,
        accelerators=taken.units * accelerators,
        unit_price=quoted / taken.units,
        currency=frame.scenario.currency,
        tax_included=tax.rate if tax.included and tax.rate else None,
        tier=pieces[-1][0].first if is_incremental(option) else pieces[0][0].tier,
        order_date=frame.order_date,
        delivery_date=pieces[-1][0].lot.delivery,
        contract_end=option.end,
        lots=tuple(AwardLot(units=units, delivery_date=lot.delivery) for lot, units in fill_lots(option, taken.units)),
        cost=cost,
        workload=taken.workload,
    )


def cost(choice: Choice, frame: Frame) -> tuple[Cost, Priced]:
    """Return the cost record of a choice, and its charges."""
    own = priced(choice, frame)
    schedules = {cash: position for position, cash in enumerate(dict.fromkeys(charge.cash for charge in own.charges))}
    record = Cost(
        currency=frame.scenario.currency,
        total=own.total,
        npv=own.npv,
        after_run=tuple(_after_run(choice, policy, frame) for policy in POLICIES),
        lines=tuple(_line(charge, schedules[charge.cash]) for charge in own.charges),
        by_fiscal_year=own.by_year,
        cash=_cash(own.charges),
        schedules=tuple(tuple(Payment(date=day, share=share) for day, share in cash) for cash in schedules),
        discount_rate=frame.scenario.finance.discount_rate,
        fiscal_year_start=frame.scenario.fiscal_year_start,
    )
    return record, own


def _after_run(choice: Choice, policy: Policy, frame: Frame) -> AfterRunCost:
    terms = frame.scenario.after_run
    if policy == "use" and (terms.max_accelerators is None or terms.value_per_accelerator_hour is None):
        return AfterRunCost(policy="use", total=None, npv=None)
    found = price(choice, After(policy, choice.last_run), frame)
    return AfterRunCost(policy=policy, total=found.total, npv=found.npv)


def _line(charge: Charge, schedule: int) -> CostLine:
    factors = tuple(_factor(part) for factor in charge.factors for part in factor.parts or (factor,))
    return CostLine(
        item=charge.item, amount=charge.amount, factors=factors, award=charge.award, lot=charge.lot, schedule=schedule
    )


def _factor(found: charges.Factor) -> Factor:
    value = Decimal(found.value)
    return Factor(
        name=found.name, value=value, unit=found.unit, source=found.source, base=found.base, exponent=found.exponent
    )


def _cash(charges: Iterable[Charge]) -> tuple[CashItem, ...]:
    days: dict[tuple[object, str], Decimal] = defaultdict(Decimal)
    for charge in charges:
        for day, share in charge.cash:
            days[day, charge.item] += charge.amount * share
    return tuple(CashItem(date=day, amount=amount, item=item) for (day, item), amount in sorted(days.items()) if amount)
