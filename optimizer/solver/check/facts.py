"""What the checker reads, what it reports, and how a stated number is compared with a recomputed one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from optimizer.errors import InputError, Problem
from optimizer.schema.architecture import Architecture
from optimizer.schema.base import Money
from optimizer.schema.platform import Platform
from optimizer.schema.quote import Quote
from optimizer.schema.scenario import Scenario
from optimizer.units import minor_digits

RELATIVE_NOISE = Decimal("1e-12")
"""Relative error of a number that went through a JSON double and a few products."""


@dataclass(frozen=True, slots=True)
class Facts:
    """All a plan is checked against.

    Attributes:
        scenario: The question.
        platforms: Platforms by id.
        architectures: Architectures by id.
        quotes: Quotes by quote id.
    """

    scenario: Scenario
    platforms: Mapping[str, Platform]
    architectures: Mapping[str, Architecture]
    quotes: Mapping[str, Quote]

    def money(self, price: Money, currency: str) -> Decimal:
        """Return an amount in the scenario's currency: amount x rate[from] / rate[to].

        Args:
            price: The amount as written.
            currency: Currency of its file, used when the amount carries no code.

        Raises:
            InputError: The scenario has no rate for one of the two currencies.
        """
        return self.exchange(price.amount, price.currency or currency, self.scenario.currency)

    def exchange(self, amount: Decimal, source: str, target: str) -> Decimal:
        """Return an amount of one currency in another, at the scenario's dated rates (the base has rate 1).

        Raises:
            InputError: The scenario has no rate for one of the two currencies.
        """
        return amount if source == target else amount * self._rate(source) / self._rate(target)

    def _rate(self, currency: str) -> Decimal:
        fx = self.scenario.fx
        if fx is not None and currency == fx.base:
            return Decimal(1)
        if fx is None or currency not in fx.rates:
            raise InputError([Problem("fx.rates", f"no rate for {currency}", "a rate for every currency of a quote")])
        return fx.rates[currency]


@dataclass(frozen=True, slots=True)
class Breach:
    """One limit that does not hold, or one number that does not agree.

    Attributes:
        limit_or_number: Name of the limit (closed list of the plan format) or path of the number.
        where: The award, workload, site, pool or date it is about.
        stated: What the plan says or uses.
        computed: What was recomputed or is allowed.
    """

    limit_or_number: str
    where: str
    stated: str
    computed: str

    def __str__(self) -> str:
        """Return the breach as one sentence."""
        place = f" of {self.where}" if self.where else ""
        return f"{self.limit_or_number}{place}: the plan has {self.stated}, the check finds {self.computed}."


Breaches = Iterator[Breach]
"""Breaches found so far, lazily."""


def same(name: str, where: str, stated: object, computed: object) -> Breaches:
    """Yield a breach unless the two are equal."""
    if stated != computed:
        yield Breach(name, where, str(stated), str(computed))


def holds(condition: bool, name: str, where: str, stated: object, allowed: object) -> Breaches:
    """Yield a breach unless a condition holds."""
    if not condition:
        yield Breach(name, where, str(stated), str(allowed))


def same_money(
    name: str, where: str, stated: Decimal | None, computed: Decimal | None, currency: str, entries: int = 1
) -> Breaches:
    """Yield a breach unless an amount equals the recomputed one after rounding half up to the minor unit.

    Args:
        name: Path of the number.
        where: What it is about.
        stated: The plan's amount, exact or rounded; a sum of ``entries`` separately rounded amounts.
        computed: The exact amount.
        currency: Currency of both.
        entries: Number of stated amounts in the sum, each allowed half a minor unit.
    """
    if stated is None or computed is None:
        yield from same(name, where, stated, computed)
        return
    half = Decimal(max(entries, 1)).scaleb(-minor_digits(currency)) / 2
    if abs(stated - computed) > half + RELATIVE_NOISE * max(abs(computed), Decimal(1)):
        yield Breach(name, where, f"{stated:f} {currency}", f"{computed.normalize():f} {currency}")


def close(name: str, where: str, stated: Decimal | float, computed: Decimal | float, tolerance: float) -> Breaches:
    """Yield a breach unless two physical figures agree within a relative tolerance."""
    if abs(float(stated) - float(computed)) > tolerance * max(abs(float(computed)), 1e-9):
        yield Breach(name, where, f"{float(stated):.9g}", f"{float(computed):.9g}")
