"""What an import of a vendor's sheet keeps beside the offers: every line with its cell, totals, warnings."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from pydantic import Field

from optimizer.schema.base import Exact, Frozen, Id, NonNegative, OfferType, Share
from optimizer.schema.price import LinePrice, Lot, Price, PriceState, Units

Text = Annotated[str, Field(min_length=1)]
"""Text that is not empty; unknown text is null."""

Per = Literal[
    "accelerator", "superchip", "node", "rack", "unit", "order",
    "accelerator_hour", "node_hour", "rack_hour", "accelerator_month", "node_month", "rack_month", "unit_month",
]  # fmt: skip
"""What a price multiplies."""

Role = Literal[
    "hardware", "network", "optics", "storage", "software", "support", "service", "freight", "discount", "tax"
]
"""What a line is for."""


class SheetWarning(Frozen):
    """Something an import assumed, noticed or could not use."""

    code: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    """What kind it is; the codes are listed in optimizer/io/importing/README.md."""
    location: str
    """Cell, or sheet and row."""
    message: str
    """What was found and what was made of it."""


class TotalRecord(Frozen):
    """A total as printed and as recomputed from the lines."""

    name: Literal["list", "subtotal", "discount", "freight", "net", "tax", "gross", "total"]
    """Which total; ``total`` is the sum asked for, with freight and discounts."""
    printed: Exact | None = None
    """As printed; null when the sheet prints none."""
    computed: Exact | None = None
    """As recomputed; null when a line in it has no price."""
    unpriced: int = Field(default=0, ge=0)
    """Lines without a price that belong into it."""
    cell: str | None = None
    """Cell of the printed total."""


class CapacityTerms(Frozen):
    """Terms of rented capacity."""

    type: OfferType
    """Reserved, block, on demand or lease."""
    accelerators: int | None = Field(default=None, ge=1)
    """Accelerators that one priced unit has, when the sheet says so."""
    term_months: int | None = Field(default=None, ge=1)
    """Length of the contract."""
    hours_per_month: NonNegative | None = None
    """Hours charged per month."""
    take_or_pay: Share | None = None
    """Share paid whether used or not."""
    prepay: Share | None = None
    """Share paid at order."""
    start: tuple[dt.date, dt.date] | None = None
    """First and last possible first day; null = not stated."""
    days: tuple[tuple[int, int], ...] = ()
    """Allowed block lengths: (longest, step) in days."""
    region: Text | None = None
    """Provider's region."""
    block_max_units: int | None = Field(default=None, ge=1)
    """Largest number of priced units in one block."""
    texts: dict[str, Text] = Field(default_factory=dict)
    """As printed: sla, credits, termination, commitment, start, prepay, notes."""


class LineRecord(Frozen):
    """One line of a vendor's sheet.

    Amounts are as printed, in the quote's currency unless written with a code, and per ``price_per`` units.
    """

    id: Text
    """Line number or row, unique in its quote."""
    offer: Text | None = None
    """Name of the offer it belongs to."""
    parent: Text | None = None
    """Id of the line it is a part of."""
    role: Role | None = None
    """What it is for."""
    platform: Id | None = None
    """Platform id, when it is compute and the platform is known."""
    part: Text | None = None
    """Part number, as printed."""
    description: Text | None = None
    """Description."""
    note: Text | None = None
    """Remarks and additional description."""
    category: Text | None = None
    """Category."""
    supplier: Text | None = None
    """Manufacturer."""
    quantity: Exact | None = None
    """Quantity quoted; null = not stated."""
    unit: Text | None = None
    """Unit of measure, as printed."""
    units: Units | None = None
    """Allowed quantities when the sheet states them, in priced units."""
    price: Price = Field(default=None, validate_default=True)
    """Unit price, quantity breaks, or a state."""
    price_per: NonNegative = Field(default=1, validate_default=True)
    """Quantity that one price is for: 1, 100, 1,000."""
    per: Per | None = None
    """What one price multiplies; null = not stated."""
    accelerators: int | None = Field(default=None, ge=1)
    """Accelerators of one priced unit, when the sheet says so."""
    list_price: LinePrice | None = None
    """List price."""
    discount: Share | None = None
    """Discount on the list price."""
    status: PriceState = PriceState.PRICED
    """What the price cell says."""
    low: Exact | None = None
    """Lower end of a range; the figure of an estimate or lower bound."""
    high: Exact | None = None
    """Upper end of a range."""
    readings: tuple[Text, ...] = ()
    """Readings of an ambiguous price."""
    reason: Text | None = None
    """Why it is free, included, ambiguous."""
    printed: Exact | None = None
    """Extended price as printed."""
    computed: Exact | None = None
    """Extended price as recomputed, without tax where prices exclude it."""
    tax_rate: Share | None = None
    """Tax rate of this line."""
    net: Exact | None = None
    """Unit price without tax, rounded to the minor unit, when the printed one includes it."""
    gross: Exact | None = None
    """Extended price with tax, recomputed."""
    months: int | None = Field(default=None, ge=1)
    """Months of service in the price."""
    availability: Text | None = None
    """Lead time or stock, as printed."""
    lead_days: tuple[int, int] | None = None
    """Earliest and latest delivery in days after order."""
    lots: tuple[Lot, ...] = ()
    """Staged delivery in units."""
    lot_shares: tuple[tuple[Share, dt.date], ...] = ()
    """Staged delivery in shares of the order: (share, first day of its delivery)."""
    power_w: NonNegative | None = None
    """Watts of one unit."""
    weight_kg: NonNegative | None = None
    """Kilograms of one unit."""
    rack_units: NonNegative | None = None
    """Rack units of one unit."""
    capacity: CapacityTerms | None = None
    """Terms of rented capacity."""
    text: Text | None = None
    """The price cell as printed, when it is more than a number."""
    cell: Text | None = None
    """Cell of the price, or of the first value of the line."""
    cells: dict[str, Text] = Field(default_factory=dict)
    """Cell of each value, by key."""
