"""Differences of two sums of money, line by line, that add up to the minor unit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import ROUND_FLOOR, Decimal

from optimizer.cost.choice import Choice
from optimizer.cost.frame import Frame
from optimizer.cost.plan_cost import present_value
from optimizer.results import Number, Result
from optimizer.solver.assemble import priced
from optimizer.units import minor_digits, round_money


class GapLine(Result):
    """One cost line of two plans."""

    item: str
    """Name of the cost line."""
    a: Number
    """Amount in the first plan."""
    b: Number
    """Amount in the second plan."""
    delta: Number
    """Second less first."""


def present_values(choice: Choice, frame: Frame) -> dict[str, Decimal]:
    """Return the present value of each cost line of a choice; they add up to its net present value."""
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for charge in priced(choice, frame).charges:
        sums[charge.item] += present_value(charge, frame)
    return dict(sums)


def apportioned(amounts: Mapping[str, Decimal], currency: str) -> dict[str, Decimal]:
    """Return amounts in whole minor units that add up to their rounded sum (largest remainders are rounded up).

    >>> apportioned({"a": Decimal("0.004"), "b": Decimal("0.004")}, "USD")
    {'a': Decimal('0.01'), 'b': Decimal('0.00')}
    """
    step = Decimal(1).scaleb(-minor_digits(currency))
    floors = {name: amount.quantize(step, rounding=ROUND_FLOOR) for name, amount in amounts.items()}
    total = round_money(sum(amounts.values(), Decimal(0)), currency)
    missing = int((total - sum(floors.values(), Decimal(0))) / step)
    order = sorted(amounts, key=lambda name: floors[name] - amounts[name])
    return {name: floor + (step if name in order[:missing] else 0) for name, floor in floors.items()}


def gap_lines(a: Mapping[str, Decimal], b: Mapping[str, Decimal], currency: str) -> tuple[GapLine, ...]:
    """Return every cost line of two plans, the largest difference first; differences add up to that of the sums."""
    items = dict.fromkeys([*a, *b])
    first = apportioned({item: a.get(item, Decimal(0)) for item in items}, currency)
    second = apportioned({item: b.get(item, Decimal(0)) for item in items}, currency)
    lines = (GapLine(item=i, a=first[i], b=second[i], delta=second[i] - first[i]) for i in items)
    return tuple(sorted(lines, key=lambda line: -abs(line.delta)))


def total_gap(lines: Iterable[GapLine]) -> Decimal:
    """Return the sum of the differences."""
    return sum((line.delta for line in lines), Decimal(0))
