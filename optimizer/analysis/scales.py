"""Changes of one number of a scenario, as functions of a factor: prices of a quote or platform, value after the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeVar

from optimizer.cost.frame import Frame
from optimizer.cost.option import Option
from optimizer.errors import InputError, Problem, did_you_mean
from optimizer.schema.base import Money
from optimizer.schema.quote import Offer, Quote, QuoteLine, TieredPrice

Knob = Callable[[Decimal], Frame]
"""Returns the scenario with one number multiplied by a factor; factor 1 changes nothing."""

_Price = TypeVar("_Price")


def times(price: _Price, factor: Decimal) -> _Price:
    """Return a price multiplied by a factor; a state that is no number stays as it is."""
    if isinstance(price, Money):
        return price.model_copy(update={"amount": price.amount * factor})
    if isinstance(price, TieredPrice):
        kinds = {"all_units": price.all_units, "incremental": price.incremental}
        scaled = {
            name: breaks and {first: times(money, factor) for first, money in breaks.items()}
            for name, breaks in kinds.items()
        }
        return price.model_copy(update=scaled)
    return price


def scaled_offer(offer: Offer, factor: Decimal) -> Offer:
    """Return an offer with its price and the prices of its lines multiplied by a factor."""
    lines = tuple(_scaled_line(line, factor) for line in offer.lines)
    return offer.model_copy(update={"price": times(offer.price, factor), "lines": lines})


def _scaled_line(line: QuoteLine, factor: Decimal) -> QuoteLine:
    return line.model_copy(update={"price": times(line.price, factor)})


def with_prices(frame: Frame, factor_of: Callable[[Quote, Offer], Decimal | None]) -> Frame:
    """Return a scenario whose offers cost a multiple; None leaves an offer alone."""

    def changed(quote: Quote) -> Quote:
        factors = {name: factor_of(quote, offer) for name, offer in quote.offers.items()}
        if all(factor in (None, 1) for factor in factors.values()):
            return quote
        offers = {name: scaled_offer(offer, factors[name] or Decimal(1)) for name, offer in quote.offers.items()}
        return quote.model_copy(update={"offers": offers})

    return replace(frame, quotes={name: changed(quote) for name, quote in frame.quotes.items()})


@dataclass(frozen=True, eq=False)
class Grouping:
    """Offers in groups whose prices move together.

    Attributes:
        frame: The scenario at the prices of today.
        group_of: Returns the group of an offer; None: its price stays.
    """

    frame: Frame
    group_of: Callable[[Quote, Offer], str | None]

    def of(self, option: Option) -> str | None:
        """Return the group of an option."""
        return self.group_of(option.quote, option.offer)

    def at(self, factors: Mapping[str, Decimal]) -> Frame:
        """Return the scenario with the prices of some groups multiplied."""
        return with_prices(self.frame, lambda quote, offer: factors.get(self.group_of(quote, offer) or ""))

    def knob(self) -> Knob:
        """Return what scales all of its groups together."""
        return lambda factor: with_prices(
            self.frame, lambda quote, offer: None if self.group_of(quote, offer) is None else _positive(factor)
        )


SCALED = "scaled"
"""Name of the group when there is only one."""


def by_quote(frame: Frame) -> Grouping:
    """Return the offers of each quote as a group of its own."""
    return Grouping(frame, lambda quote, _: quote.quote)


def one_quote(frame: Frame, name: str) -> Grouping:
    """Return the offers of one quote as the only group.

    Raises:
        InputError: no quote of that id.
    """
    if name not in frame.quotes:
        raise _unknown("--quote", name, sorted(frame.quotes), "quote")
    return Grouping(frame, lambda quote, _: SCALED if quote.quote == name else None)


def one_platform(frame: Frame, name: str) -> Grouping:
    """Return all offers of a platform as the only group.

    Raises:
        InputError: no platform of that id, or no offer for it.
    """
    offered = sorted({offer.platform for quote in frame.quotes.values() for offer in quote.offers.values()})
    if name not in offered:
        raise _unknown("--platform", name, offered, "platform with an offer")
    return Grouping(frame, lambda _, offer: SCALED if offer.platform == name else None)


def quote_factors(frame: Frame, factors: Mapping[str, Decimal]) -> Frame:
    """Return a scenario with the prices of some quotes multiplied, each by its own factor."""
    return with_prices(frame, lambda quote, _: factors.get(quote.quote))


def quote_knob(frame: Frame, name: str) -> Knob:
    """Return what scales every price of a quote.

    Raises:
        InputError: no quote of that id.
    """
    return one_quote(frame, name).knob()


def value_knob(frame: Frame) -> Knob:
    """Return what scales the value of an accelerator-hour after the run.

    Raises:
        InputError: the scenario states no such value, or another policy.
    """
    after = frame.scenario.after_run
    if after.policy != "use" or after.value_per_accelerator_hour is None:
        found = f"after_run.policy {after.policy}"
        raise InputError([Problem("after_run", found, "Only the policy use has a value", "Set after_run.policy=use")])

    def at(factor: Decimal) -> Frame:
        changed = after.model_copy(
            update={"value_per_accelerator_hour": times(after.value_per_accelerator_hour, factor)}
        )
        return replace(frame, scenario=frame.scenario.model_copy(update={"after_run": changed}))

    return at


def _positive(factor: Decimal) -> Decimal:
    """Return a factor at or above the smallest there is: a price of exactly zero is no price to any reader."""
    return max(factor, Decimal("1e-9"))


def _unknown(option: str, name: str, known: list[str], what: str) -> InputError:
    expected = f"Expected a {what}: one of {', '.join(known[:30])}"
    return InputError([Problem(option, f'nothing named "{name}"', expected, did_you_mean(name, known))])
