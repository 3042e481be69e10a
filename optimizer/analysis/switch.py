"""What would make a platform, vendor or quote win: its price, or its delivery."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from typing import Any

from pydantic import ConfigDict

from optimizer.cost.choice import Choice, Taken
from optimizer.cost.frame import Frame
from optimizer.results import Figure, Number, Result
from optimizer.schema.base import Money
from optimizer.schema.price import Price, TieredPrice
from optimizer.schema.quote import Offer, RegionOffer, SiteOffer
from optimizer.solver.assemble import priced

SHARE_DIGITS = Decimal("0.0001")
"""A winning price is stated as a share of the quoted one, rounded down to this."""

MOST_STEPS = 6
"""Most solves spent on one switch price; each finds a better plan at the last price, so few are ever needed."""

OfferKey = tuple[str, str]
BestIn = Callable[[Frame], Choice | None]
"""The best plan that takes the option asked about, in a changed scenario."""


class WinIf(Result):
    """One change that would make an option win, or possible."""

    what: str
    """What changes."""
    from_: Figure
    """Its value today."""
    to: Figure
    """The value from which on the option wins."""
    unit: str
    """Unit of both."""
    set: str | None = None
    """The ``--set`` argument to paste; None where no single setting says it."""
    alone: bool = True
    """Whether this change alone is enough; else all listed changes together are."""
    then: Number | None = None
    """Of an option that becomes possible: how much worse the objective then is than that of the plan."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=lambda name: name.rstrip("_"), populate_by_name=True
    )


@dataclass(frozen=True)
class Forced:
    """An option that is not in the plan, with the best plan that takes it.

    Attributes:
        offers: Its offers.
        choice: The best plan that takes one of them.
        frame: The scenario.
        target: Net present value at which it wins.
        best_in: Finds that plan in a changed scenario.
    """

    offers: frozenset[OfferKey]
    choice: Choice
    frame: Frame
    target: Decimal
    best_in: BestIn

    def changed(self, change: Callable[[Offer], Mapping[str, Any]]) -> Frame:
        """Return the scenario with the offers changed."""
        quotes = dict(self.frame.quotes)
        for quote, name in self.offers:
            own = quotes[quote]
            offers = {**own.offers, name: own.offers[name].model_copy(update=change(own.offers[name]))}
            quotes[quote] = own.model_copy(update={"offers": offers})
        return Frame(self.frame.scenario, self.frame.platforms, quotes)

    def wins(self, frame: Frame) -> bool:
        """Return whether its best plan in a changed scenario is as good as the plan."""
        choice = self.best_in(frame)
        return choice is not None and priced(choice, frame).npv <= self.target


def winning_price(forced: Forced) -> WinIf | None:
    """Return the share of today's prices at which the option would win, exact to a hundredth of a per cent.

    The cost of one plan is a line in the price; where it meets the target the best plan is looked for again (the
    parametric method of Eisner and Severance), until no better one is found there. None when no price above zero helps.
    """
    choice: Choice | None = forced.choice
    best = Decimal(0)
    for _ in range(MOST_STEPS):
        crossing = _crossing(choice, forced) if choice else None
        if crossing is None or crossing <= best:
            break
        best = crossing
        choice = forced.best_in(forced.changed(lambda offer: {"price": scaled(offer.price, best)}))  # noqa: B023
    to = best.quantize(SHARE_DIGITS, rounding=ROUND_FLOOR)
    return WinIf(what="price", from_=Decimal(1), to=to, unit="share of the quoted price") if to > 0 else None


def _crossing(choice: Choice, forced: Forced) -> Decimal | None:
    """Return the share of the prices at which a plan costs the target; None when prices do not matter to it."""
    half = Decimal("0.5")
    at_one, at_half = (priced(_at(choice, forced, share), forced.frame).npv for share in (Decimal(1), half))
    slope = (at_one - at_half) / half
    return None if slope <= 0 else 1 - (at_one - forced.target) / slope


def _at(choice: Choice, forced: Forced, share: Decimal) -> Choice:
    """Return a choice with the offers asked about at a share of their quoted prices."""
    return Choice(tuple(_award_at(taken, forced, share) for taken in choice.taken), choice.runs)


def _award_at(taken: Taken, forced: Forced, share: Decimal) -> Taken:
    quote, name = taken.option.offer_key
    if (quote, name) not in forced.offers:
        return taken
    offer = forced.frame.quotes[quote].offers[name]
    offer = offer.model_copy(update={"price": scaled(offer.price, share)})
    return replace(taken, option=replace(taken.option, offer=offer))


def scaled(price: Price, share: Decimal) -> Price:
    """Return a price times a share; a state stays what it is."""
    if isinstance(price, Money):
        return price.model_copy(update={"amount": price.amount * share})
    if not isinstance(price, TieredPrice):
        return price
    kind = "all_units" if price.all_units is not None else "incremental"
    rows = {first: money.model_copy(update={"amount": money.amount * share}) for first, money in price.breaks.items()}
    return price.model_copy(update={kind: rows})


def winning_delivery(forced: Forced) -> WinIf | None:
    """Return how many weeks earlier the option would have to be delivered to win; None when that does not help."""
    quotes = forced.frame.quotes
    late = max((_late_weeks(quotes[quote].offers[name]) for quote, name in forced.offers), default=0)

    def wins(weeks: int) -> bool:
        return forced.wins(forced.changed(lambda offer: earlier(offer, weeks)))

    if not late or not wins(late):
        return None
    low, high = 1, late
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if wins(middle) else (middle + 1, high)
    return WinIf(what="delivery", from_=Decimal(0), to=Decimal(high), unit="weeks earlier")


def _late_weeks(offer: Offer) -> int:
    lots = [lot.weeks or 0 for lot in offer.lots] if isinstance(offer, SiteOffer) else []
    lead = offer.lead_weeks if isinstance(offer, SiteOffer | RegionOffer) else None
    weeks: list[int] = [0, *lots, *(lead if isinstance(lead, tuple) else ())]
    return max(weeks)


def earlier(offer: Offer, weeks: int) -> dict[str, Any]:
    """Return the changes of an offer that is delivered some weeks earlier, at once at the earliest."""
    changes: dict[str, Any] = {}
    if isinstance(offer, SiteOffer | RegionOffer) and isinstance(offer.lead_weeks, tuple):
        changes["lead_weeks"] = tuple(max(0, week - weeks) for week in offer.lead_weeks)
    if isinstance(offer, SiteOffer) and offer.lots:
        changes["lots"] = tuple(
            lot if lot.weeks is None else lot.model_copy(update={"weeks": max(0, lot.weeks - weeks)})
            for lot in offer.lots
        )
    return changes
