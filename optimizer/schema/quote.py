"""What the market offers: quotes with their offers, prices, quantities and terms."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from optimizer.schema.base import CurrencyCode, Frozen, Id, NonNegative, OfferType, Share
from optimizer.schema.price import LinePrice, Lot, Price, PriceState, TieredPrice, Units
from optimizer.schema.quote_record import LineRecord, SheetWarning, Text, TotalRecord

__all__ = ["Lot", "PriceState", "TieredPrice", "Units"]  # defined with what imports record, used with quotes


class QuoteLine(Frozen):
    """A priced extra of an offer: support, freight, optics, licence."""

    item: str
    """Name of the cost line."""
    per: Literal["accelerator", "node", "rack", "unit", "order"]
    """What the price multiplies; ``unit`` is the purchase unit, ``order`` the whole award."""
    price: LinePrice
    """Amount for all its months, or a state."""
    months: int | None = Field(default=None, ge=1)
    """Months covered by the price; null = once, no end."""
    optional: bool = False
    """True: never in the base total."""
    status: str | None = None
    """Record key of an import."""
    printed: str | None = None
    """Record key of an import: the value as printed."""
    computed: str | None = None
    """Record key of an import: the value as recomputed."""
    cell: str | None = None
    """Record key of an import: source cell."""


class Milestone(Frozen):
    """A part of the payment and when it falls due."""

    at: Literal["order", "delivery", "acceptance"]
    """Event."""
    share: Share
    """Share of the hardware and line prices."""
    plus_days: int = Field(default=0, ge=0)
    """Days after the event."""
    plus_months: int = Field(default=0, ge=0)
    """Months after the event."""


class Tax(Frozen):
    """Sales or value added tax of a quote."""

    included: bool = False
    """True: prices include it."""
    rate: Share = Field(default=0, validate_default=True)
    """Rate on the net price."""
    recoverable: bool = True
    """True: paid back, hence left out everywhere."""


class Duty(Frozen):
    """Import duty on purchased hardware."""

    rate: NonNegative
    """Rate on the customs value (the net hardware price)."""


LeadWeeks = Annotated[
    tuple[int, int] | Literal["stock"],
    BeforeValidator(lambda value: (value, value) if isinstance(value, int) and not isinstance(value, bool) else value),
]


class BaseOffer(Frozen):
    """What every offer has."""

    platform: Id
    """Platform id."""
    price: Price
    """Amount, tiers or a state; in the quote's currency unless written with a code."""
    units: Units = Units()
    """Allowed quantities."""
    acceptance_days: int = Field(default=0, ge=0)
    """Bring-up after delivery until training can start."""
    fabric_max_units: int | None = Field(default=None, ge=1)
    """Most units on one network fabric; blank = no limit."""
    lines: tuple[QuoteLine, ...] = ()
    """Priced extras."""
    note: str | None = None
    """Source or remark."""


class SiteOffer(BaseOffer):
    """An offer delivered to one of our sites."""

    lead_weeks: LeadWeeks | None = None
    """Earliest and latest delivery after order; plans use the late end; ``stock`` = at once."""
    lots: tuple[Lot, ...] = ()
    """Staged delivery; counts instead of lead_weeks."""
    sites: tuple[str, ...] | None = None
    """Our sites it can go to; null = any."""
    duty: Duty | None = None
    """Overrides the scenario's duty."""

    @model_validator(mode="after")
    def _lead(self) -> SiteOffer:
        if any(lot.units == "rest" for lot in self.lots[:-1]):
            raise ValueError("only the last lot may be the rest")
        if isinstance(self.lead_weeks, tuple) and self.lead_weeks[0] > self.lead_weeks[1]:
            raise ValueError(f"lead_weeks {list(self.lead_weeks)}: the first is later than the second")
        if isinstance(self.lead_weeks, tuple) and self.lead_weeks[0] < 0:
            raise ValueError("lead_weeks below zero")
        return self


class PurchaseOffer(SiteOffer):
    """Hardware bought."""

    type: Literal[OfferType.PURCHASE] = OfferType.PURCHASE
    per: Literal["accelerator", "node", "rack", "unit"]
    """What one price buys."""


class LeaseOffer(SiteOffer):
    """Hardware leased, delivered to one of our sites, paid monthly in advance."""

    type: Literal[OfferType.LEASE] = OfferType.LEASE
    per: Literal["accelerator", "node", "rack", "unit"]
    """What one monthly price leases."""
    price: Price = Field(alias="price_per_month")
    """Price per month."""
    term_months: int = Field(ge=1)
    """Length of the lease."""


class RegionOffer(BaseOffer):
    """Capacity in a provider's region."""

    region: str
    """Provider's region."""
    start: tuple[dt.date, dt.date] | None = None
    """First and last possible first day; null = any day from the order date."""
    lead_weeks: LeadWeeks | None = None
    """Earliest and latest start after order; null = at once."""

    @model_validator(mode="after")
    def _window(self) -> RegionOffer:
        if self.start and self.start[0] > self.start[1]:
            raise ValueError("start: the first day is after the last")
        return self


class RentalOffer(RegionOffer):
    """Capacity rented by the hour, whatever the commitment."""

    per: Literal["accelerator_hour", "node_hour", "rack_hour"]
    """What one price rents for one hour."""


class ReservedOffer(RentalOffer):
    """A fixed term with take-or-pay."""

    type: Literal[OfferType.RESERVED] = OfferType.RESERVED
    term_months: int = Field(ge=1)
    """Length of the contract."""
    hours_per_month: NonNegative = Field(default=730, validate_default=True)
    """Hours charged per month: price only, never dates."""
    take_or_pay: Share = Field(default=1, validate_default=True)
    """Share of the hours paid whether used or not."""
    prepay: Share = Field(default=0, validate_default=True)
    """Share paid at order."""


class BlockLength(Frozen):
    """Allowed lengths of a capacity block: multiples of ``step`` up to ``to``."""

    to: int = Field(ge=1)
    """Longest length of this row, days."""
    step: int = Field(ge=1)
    """Lengths are multiples of this, days."""


class BlockOffer(RentalOffer):
    """Capacity for a fixed number of days, paid in full at the start."""

    type: Literal[OfferType.BLOCK] = OfferType.BLOCK
    days: tuple[BlockLength, ...] = Field(min_length=1)
    """Allowed lengths."""


class OnDemandOffer(RentalOffer):
    """Capacity by the hour."""

    type: Literal[OfferType.ON_DEMAND] = OfferType.ON_DEMAND


class DedicatedMode(Frozen):
    """Stated performance of a dedicated system for one workload."""

    workload: str
    """Workload name."""
    units: int = Field(ge=1)
    """Units used."""
    days: int = Field(ge=1)
    """Days the run takes."""
    source: str
    """Who says so."""


class DedicatedOffer(RegionOffer):
    """A system or cloud dedicated to a run, with stated performance, paid once per run."""

    type: Literal[OfferType.DEDICATED] = OfferType.DEDICATED
    per: Literal["run"]
    """Price of a run, whichever of the modes it takes."""
    modes: tuple[DedicatedMode, ...] = Field(min_length=1)
    """Stated performance."""

    @model_validator(mode="after")
    def _whole_systems(self) -> DedicatedOffer:
        if isinstance(self.price, TieredPrice):
            raise ValueError("price: a run has one price; give each size an offer of its own")
        allowed = self.units
        for mode in self.modes:
            above = allowed.max is not None and mode.units > allowed.max
            if mode.units < allowed.min or mode.units % allowed.step or above:
                raise ValueError(f"modes: {mode.units} units are none of the quantities in units")
        return self


Offer = Annotated[
    PurchaseOffer | LeaseOffer | ReservedOffer | BlockOffer | OnDemandOffer | DedicatedOffer,
    Field(discriminator="type"),
]


class QuoteSource(Frozen):
    """Where the quote came from."""

    file: str | None = None
    """Original file."""
    sha256: str | None = None
    """Checksum of the original file."""
    url: str | None = None
    """Address of a published price."""
    note: str | None = None
    """Says so when the quote is an invented example."""


class Quote(Frozen):
    """One vendor's quote."""

    quote: str = Field(min_length=1)
    """Id, unique among the scenario's quotes."""
    revision: int = Field(default=1, ge=0)
    """Highest revision counts."""
    vendor: str = Field(min_length=1)
    """Vendor."""
    kind: Literal["binding", "budgetary", "list", "contract"]
    """How firm it is."""
    issued: dt.date | None = None
    """Issue date."""
    valid_until: dt.date | None = None
    """Last valid day; null = unknown."""
    currency: CurrencyCode
    """Currency of its amounts."""
    tax: Tax = Tax()
    """Tax."""
    delivery: str | None = None
    """Delivery terms."""
    payment: tuple[Milestone, ...] = (Milestone(at="delivery", share=1),)
    """Milestones of purchases; default all at delivery."""
    source: QuoteSource | None = None
    """Origin."""
    offers: dict[str, Offer] = Field(default_factory=dict)
    """Offers by name; may be empty when the quote has lines, a record that nothing can be planned with yet."""
    supersedes: str | None = None
    """Record key of an import: the quote or revision this one replaces."""
    terms: dict[str, Text] = Field(default_factory=dict)
    """Record key of an import: terms as printed, by name: payment, incoterm, place, validity, warranty, deposit,
    cancellation, penalty, acceptance, buy_back, lease_terms, tax, lead_time."""
    lines: tuple[LineRecord, ...] = ()
    """Record key of an import: every line of the sheet, also those that became part of an offer."""
    totals: tuple[TotalRecord, ...] = ()
    """Record key of an import: totals as printed and as recomputed."""
    warnings: tuple[SheetWarning, ...] = ()
    """Record key of an import: what was assumed or looks wrong, by code."""

    @model_validator(mode="after")
    def _adds_up(self) -> Quote:
        if not self.offers and not self.lines:
            raise ValueError("offers: needs at least one offer")
        total = sum(milestone.share for milestone in self.payment)
        if total != 1:
            raise ValueError(f"payment shares add up to {total}, not 1")
        if self.issued and self.valid_until and self.valid_until < self.issued:
            raise ValueError(f"valid_until {self.valid_until} is before issued {self.issued}")
        return self
