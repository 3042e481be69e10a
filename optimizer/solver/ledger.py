"""Exact money per variable, and its rows in integers.

Every charge is booked on the variable that switches it. The objective and all budgets are made from the same
bookings, so a cost item cannot be in one and missing from another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal

from optimizer.cost.charge import Charge, with_contingency
from optimizer.cost.frame import Frame
from optimizer.cost.plan_cost import by_fiscal_year, present_value
from optimizer.units import minor_digits

SAFE_MAGNITUDE = 1 << 58
"""Largest sum a row may reach: a quarter of what 64-bit solvers accept, so that no intermediate overflows."""

FINEST_DIGITS = 3
"""Digits kept behind the minor unit: a plan of 1,000 bookings is then exact to a minor unit."""


@dataclass
class Ledger:
    """Bookings by variable, in major units of the scenario's currency.

    Attributes:
        frame: Dates and rates.
        npv: Variable -> present value of its charges.
        outflow: Variable -> what the total budget counts.
        outflow_by_year: Fiscal year -> variable -> what that year's budget counts.
    """

    frame: Frame
    npv: dict[int, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    outflow: dict[int, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    outflow_by_year: dict[str, dict[int, Decimal]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Decimal))
    )

    def book(self, variable: int, charges: Iterable[Charge], sign: int = 1) -> None:
        """Book charges (and the contingency on them) on a variable; ``sign`` -1 takes them off."""
        full = with_contingency(list(charges), self.frame)
        for charge in full:
            self.npv[variable] += sign * present_value(charge, self.frame)
        counted = [charge for charge in full if charge.budget]
        self.outflow[variable] += sign * sum((charge.amount for charge in counted), Decimal(0))
        for year, amount in by_fiscal_year(counted, self.frame).items():
            self.outflow_by_year[year][variable] += sign * amount


def scale_digits(bookings: Iterable[dict[int, Decimal]], upper: list[int], currency: str) -> int:
    """Return the digits behind the major unit that keep every row below ``SAFE_MAGNITUDE``.

    Negative for weak currencies: the model then counts in tens, hundreds … of the major unit.
    """
    sums = [sum((abs(amount) * upper[v] for v, amount in booked.items()), Decimal(0)) for booked in bookings]
    largest = max(sums, default=Decimal(0))
    digits = minor_digits(currency) + FINEST_DIGITS
    while largest.scaleb(digits) >= SAFE_MAGNITUDE:
        digits -= 1
    return digits


def scaled(bookings: dict[int, Decimal], digits: int) -> dict[int, int]:
    """Return bookings as integers of 10^-digits major units, rounded to nearest."""
    return {v: int(amount.scaleb(digits).to_integral_value(ROUND_HALF_EVEN)) for v, amount in bookings.items()}


def scaled_up(bookings: Mapping[int, Decimal], digits: int) -> dict[int, int]:
    """Return bookings as integers rounded up after removing division noise, so that a budget is never overdrawn."""
    noise = Decimal("1e-6")
    return {v: int((amount.scaleb(digits) - noise).to_integral_value(ROUND_CEILING)) for v, amount in bookings.items()}
