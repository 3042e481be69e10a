"""An option: one offer delivered at one place from one day; and the pieces an award of it is made of."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from math import ceil

from optimizer.cost.charge import WITHOUT_TAX, Factor, power, stated
from optimizer.cost.frame import DAY, Frame
from optimizer.schema.base import Money
from optimizer.schema.platform import Platform
from optimizer.schema.quote import (
    BlockOffer,
    DedicatedOffer,
    LeaseOffer,
    Offer,
    OnDemandOffer,
    PurchaseOffer,
    Quote,
    TieredPrice,
)

UNLIMITED_UNITS = 10**6
"""Stands for no maximum; far above any real order."""


@dataclass(frozen=True, slots=True)
class Lot:
    """Units delivered together.

    Attributes:
        units: Most units of this lot; None = the rest.
        delivery: Delivery day, or first day of a rental.
        ready: First day a run may use it.
    """

    units: int | None
    delivery: dt.date
    ready: dt.date


def pool_name(platform: str, place: str, system: str = "") -> str:
    """Return the name of a pool: ``platform@place``; a dedicated system (``quote/offer``) is a pool of its own."""
    return f"{platform}@{place}#{system}" if system else f"{platform}@{place}"


@dataclass(frozen=True, eq=False)
class Option:
    """One offer at one place, delivered from one day.

    Attributes:
        quote: The quote.
        name: Name of the offer in it.
        offer: The offer.
        platform: Its platform.
        place: Site, or ``vendor/region``.
        site: Our site; None for a rental.
        lots: Deliveries in order (one without lots).
        end: Last day of a lease or reserved contract, of a hire once its run is known; None when bought.
        follows: Offered only for a run that starts, on its ready day, after another run.
    """

    quote: Quote
    name: str
    offer: Offer
    platform: Platform
    place: str
    site: str | None
    lots: tuple[Lot, ...]
    end: dt.date | None
    follows: bool = False

    @property
    def offer_key(self) -> tuple[str, str]:
        """Quote and offer: at most one option of it is awarded."""
        return (self.quote.quote, self.name)

    @property
    def key(self) -> tuple[str, str, str, dt.date]:
        """Sort key, unique among options."""
        return (self.quote.quote, self.name, self.place, self.lots[-1].delivery)

    @cached_property
    def pool(self) -> str:
        """The pool it joins."""
        return pool_name(self.platform.id, self.place, self.system)

    @property
    def system(self) -> str:
        """``quote/offer`` of a dedicated system; empty for capacity that any run may use."""
        return "/".join(self.offer_key) if self.is_dedicated else ""

    @property
    def is_dedicated(self) -> bool:
        """A system for one run, paid by the run."""
        return isinstance(self.offer, DedicatedOffer)

    @property
    def is_purchase(self) -> bool:
        """Bought."""
        return isinstance(self.offer, PurchaseOffer)

    @property
    def is_hired(self) -> bool:
        """Taken for one run: by the hour, as a block of days, or as a dedicated system."""
        return isinstance(self.offer, OnDemandOffer | BlockOffer | DedicatedOffer)

    def hire_end(self, run_end: dt.date) -> dt.date | None:
        """Return the last day of a hire for a run that ends on a day; None when no block is long enough.

        By the hour, and of a dedicated system: that day. A block: the shortest allowed length, a multiple of its row's step up to its ``to``.
        """
        if not isinstance(self.offer, BlockOffer):
            return run_end
        first = self.lots[0].delivery
        needed = (run_end - first).days + 1
        lengths = [
            -(-needed // row.step) * row.step for row in self.offer.days if -(-needed // row.step) * row.step <= row.to
        ]
        return first + (min(lengths) - 1) * DAY if lengths else None

    @property
    def source(self) -> str:
        """Where its price stands."""
        return f"quote {self.quote.quote}, offer {self.name}"

    @cached_property
    def rank_in_unit(self) -> tuple[int, int]:
        """Nodes and accelerators of one purchase unit."""
        return self.platform.nodes_per_unit, self.platform.accelerators_per_unit

    def last_day(self, frame: Frame) -> dt.date:
        """Last day it is there within the horizon."""
        return min(self.end, frame.last_day) if self.end else frame.last_day


@dataclass(frozen=True, eq=False)
class Piece:
    """Units of an option that share price and delivery.

    Attributes:
        option: The option.
        lot: Their delivery.
        unit_price: Net price of one unit (purchase), per month (lease) or per hour (rental), scenario currency.
        quoted: The stated numbers whose product the unit price is.
        tier: First quantity of the price; None without tiers.
        first: The award must have at least this many units for this price (all-units).
        last: Most units of the award at this price (all-units) or in this piece (incremental, lots).
    """

    option: Option
    lot: Lot
    unit_price: Decimal
    quoted: tuple[Factor, ...]
    tier: int | None
    first: int
    last: int


def hired(piece: Piece, end: dt.date) -> Piece:
    """Return a hired piece as rented until a day, which becomes the end of its option."""
    return replace(piece, option=replace(piece.option, end=end))


def shortest_hire(piece: Piece) -> Piece:
    """Return a hired piece as rented for its first day, or for the shortest block; others as they are."""
    end = piece.option.hire_end(piece.lot.delivery) if piece.option.is_hired else None
    return hired(piece, end) if end else piece


def net_amount(money: Money, option: Option, frame: Frame) -> Decimal:
    """Return an amount of a quote without tax, in the scenario's currency."""
    tax = option.quote.tax
    gross = frame.amount(money, option.quote.currency)
    return gross / (1 + tax.rate) if tax.included else gross


def net_stated(name: str, money: Money, unit: str, source: str, option: Option, frame: Frame) -> Factor:
    """Return an amount of a quote as a factor: without tax, in the scenario's currency, with its stated parts."""
    gross = stated(name, money, unit, source, frame, option.quote.currency)
    tax = option.quote.tax
    if not tax.included or not tax.rate:
        return gross
    untaxed = power(WITHOUT_TAX, 1 + tax.rate, Decimal(-1), "share", f"quote {option.quote.quote}, tax")
    return gross._replace(value=net_amount(money, option, frame), parts=(*gross.parts, untaxed))


def unit_prices(option: Option, frame: Frame) -> tuple[tuple[int, Decimal], ...]:
    """Return (first quantity, net price of one purchase unit) ascending; one row without tiers."""
    per = per_unit(option.offer.per, option)
    return tuple((first, net_amount(money, option, frame) * per) for first, money in _price_rows(option).items())


def _price_rows(option: Option) -> dict[int, Money]:
    price = option.offer.price
    return price.breaks if isinstance(price, TieredPrice) else {1: price}  # type: ignore[dict-item]  # states were rejected


def _quoted(option: Option, tier: int | None, money: Money, frame: Frame) -> tuple[Factor, ...]:
    """Return the stated numbers behind a unit price."""
    basis = option.offer.per
    source = option.source if tier is None else f"{option.source}, tier {tier}+"
    monthly = " and month" if isinstance(option.offer, LeaseOffer) else ""
    each = net_stated("unit price", money, f"per {basis.replace('_', '-')}{monthly}", source, option, frame)
    count = per_unit(basis, option)
    piece = basis.removesuffix("_hour")
    counted = (Factor(f"{piece}s per unit", Decimal(count), piece, "platform"),) if count != 1 else ()
    return (*each.parts, *counted)


def per_unit(per: str, option: Option) -> int:
    """Return how many pieces of a price basis one purchase unit holds."""
    nodes, accelerators = option.rank_in_unit
    return {"accelerator": accelerators, "node": nodes}.get(per.removesuffix("_hour"), 1)


def is_incremental(option: Option) -> bool:
    """Return whether each unit costs the price of its own break."""
    price = option.offer.price
    return isinstance(price, TieredPrice) and price.incremental is not None


def maximum(option: Option) -> int:
    """Return the largest order in units; of a dedicated system the largest it states days for."""
    most = option.offer.units.max
    if isinstance(option.offer, DedicatedOffer):
        return max(mode.units for mode in option.offer.modes)
    return UNLIMITED_UNITS if most is None else most


def smallest_order(offer: Offer) -> int:
    """Return the fewest units an offer can be awarded in; of a dedicated system the fewest it states days for."""
    if isinstance(offer, DedicatedOffer):
        return min(mode.units for mode in offer.modes)
    first = min(offer.price.breaks) if isinstance(offer.price, TieredPrice) else 1
    return ceil(max(offer.units.min, first, 1) / offer.units.step) * offer.units.step


def most_nodes(option: Option) -> int:
    """Return the nodes of the largest order."""
    return maximum(option) * option.platform.nodes_per_unit


def possible_pieces(option: Option, frame: Frame) -> tuple[Piece, ...]:
    """Return every (price, lot) an award of the option can contain, in filling order."""
    return tuple(replace(piece, lot=lot) for piece in _price_ranges(option, frame) for lot in option.lots)


def _price_ranges(option: Option, frame: Frame) -> Iterator[Piece]:
    """Yield a piece of the first lot for each unit price, ascending by its first quantity."""
    rows = unit_prices(option, frame)
    tiered = isinstance(option.offer.price, TieredPrice)
    stated_rows = _price_rows(option)
    for index, (first, price) in enumerate(rows):
        last = rows[index + 1][0] - 1 if index + 1 < len(rows) else maximum(option)
        tier = first if tiered else None
        quoted = _quoted(option, tier, stated_rows[first], frame)
        yield Piece(option, option.lots[0], price, quoted, tier, first, min(last, maximum(option)))


def award_pieces(option: Option, units: int, frame: Frame) -> tuple[tuple[Piece, int], ...]:
    """Return the pieces of an award of ``units`` units with the units in each.

    All-units: the whole order at the price of the highest break reached. Incremental: each unit at its own break.
    Lots fill in order.
    """
    ranges = list(_price_ranges(option, frame))
    if is_incremental(option):
        filled = [(piece, min(units, piece.last) - piece.first + 1) for piece in ranges]
        return tuple((piece, count) for piece, count in filled if count > 0)
    reached = max((piece for piece in ranges if piece.first <= units), key=lambda piece: piece.first)
    return tuple((replace(reached, lot=lot), count) for lot, count in fill_lots(option, units))


def fill_lots(option: Option, units: int) -> list[tuple[Lot, int]]:
    """Return the lots of an award with the units in each; earlier lots fill first."""
    filled = []
    for lot in option.lots:
        count = units if lot.units is None else min(units, lot.units)
        units -= count
        if count:
            filled.append((lot, count))
    return filled
