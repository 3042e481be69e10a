"""Lines whose platform is known -> offers that can be planned with; the other lines become their extras."""

from __future__ import annotations

from collections.abc import Mapping as Map
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from optimizer.io.importing.mapping import slug
from optimizer.io.importing.notes import Notes
from optimizer.io.importing.numbers import unscaled
from optimizer.schema.base import Money, OfferType
from optimizer.schema.platform import Platform
from optimizer.schema.price import Lot, PriceState, TieredPrice, Units
from optimizer.schema.quote_record import CapacityTerms, LineRecord

_EXTRAS = ("support", "freight", "service", "software", "network", "optics", "storage", "hardware")
_RENTED = (OfferType.RESERVED, OfferType.BLOCK, OfferType.ON_DEMAND)
_PRICED = {"accelerator": "accelerator", "node": "node", "rack": "rack"}
_RENTAL_PER = {"accelerator_hour", "node_hour", "rack_hour"}


def offers_of(lines: Sequence[LineRecord], platforms: Map[str, Platform], notes: Notes) -> dict[str, dict[str, Any]]:
    """Return the offers of a quote by name, as plain data of the quote schema."""
    compute = [line for line in lines if line.platform and line.status is not PriceState.NO_BID]
    extras = [line for line in lines if not line.platform and line.role in _EXTRAS]
    offers: dict[str, dict[str, Any]] = {}
    for line in compute:
        offer = _offer(line, platforms[line.platform or ""], notes)
        if offer is None:
            continue
        own = [extra for extra in extras if _belongs(extra, line, compute)]
        if offer["type"] in ("purchase", "lease") and own:
            offer["lines"] = [found for extra in own if (found := _extra(extra, line, notes))]
        offers[_name(line, offers)] = offer
    return offers


def _name(line: LineRecord, taken: Map[str, object]) -> str:
    wanted = slug(line.offer or line.part or line.description or line.id)
    return wanted if wanted not in taken else f"{wanted}-{slug(line.id)}"


def _belongs(extra: LineRecord, line: LineRecord, compute: Sequence[LineRecord]) -> bool:
    """True when an extra is part of an offer: named so, a child of its line, or the offer is the only one."""
    if extra.offer or extra.parent:
        return extra.offer == line.offer if extra.offer else extra.parent == line.id
    return len(compute) == 1


def _offer(line: LineRecord, platform: Platform, notes: Notes) -> dict[str, Any] | None:
    place = line.cell or line.id
    line = _hourly(_by_accelerator(line))
    per = _per(line, platform)
    if per is None:
        notes.ask(
            "basis_unknown",
            place,
            f"line {line.id}: is the price per accelerator, node or rack?",
            f"basis.{line.part or line.description or line.id}",
        )
        return None
    kind = line.capacity.type if line.capacity else OfferType.PURCHASE
    units = _units(line, per, platform, notes)
    offer: dict[str, Any] = {"type": kind.value, "platform": platform.id}
    if kind in _RENTED and line.capacity:
        if per not in _RENTAL_PER or not _rental(offer, line.capacity, platform, notes, place):
            notes.warn(
                "rental_incomplete", place, f"line {line.id}: what the sheet says is not enough for a {kind} offer"
            )
            return None
    elif kind is OfferType.LEASE and line.capacity:
        if line.capacity.term_months is None:
            notes.warn("rental_incomplete", place, f"line {line.id}: a lease without a term")
            return None
        offer["term_months"] = line.capacity.term_months
    offer["per"] = per.removesuffix("_month")
    offer["price_per_month" if kind is OfferType.LEASE else "price"] = _price(line, per, platform)
    offer["units"] = units
    if kind in (OfferType.PURCHASE, OfferType.LEASE):
        offer |= _delivery(line, notes)
    offer["note"] = f"line {line.id}" + (f", {line.description}" if line.description else "")
    return {key: value for key, value in offer.items() if value is not None}


def _by_accelerator(line: LineRecord) -> LineRecord:
    """Return a line priced per superchip as one per accelerator, when the sheet says how many a superchip has."""
    if line.per != "superchip" or not line.accelerators:
        return line
    units = line.units
    if units is not None:
        each, most = line.accelerators, units.max
        units = Units(min=units.min * each, step=units.step * each, max=None if most is None else most * each)
    return line.model_copy(
        update={"price": _divided(line.price, line.accelerators), "per": "accelerator", "units": units}
    )


def _hourly(line: LineRecord) -> LineRecord:
    """Return a reservation priced per month as one per hour, by its own hours per month; others unchanged."""
    terms = line.capacity
    monthly = (line.per or "").endswith("_month") and line.per != "unit_month"
    if terms is None or terms.type is not OfferType.RESERVED or not monthly or not terms.hours_per_month:
        return line
    per = (line.per or "").replace("_month", "_hour")
    return line.model_copy(update={"price": _divided(line.price, terms.hours_per_month), "per": per})


def _divided(price: Money | TieredPrice | PriceState, by: Decimal | int) -> Money | TieredPrice | PriceState:
    """Return a price divided; 12 digits behind the point keep every sum of a plan exact to the minor unit."""
    if isinstance(price, Money):
        return price.model_copy(update={"amount": unscaled(round(price.amount / by, 12))})
    if not isinstance(price, TieredPrice):
        return price
    kind = "all_units" if price.all_units else "incremental"
    return TieredPrice.model_validate({kind: {first: _divided(each, by) for first, each in price.breaks.items()}})


def _per(line: LineRecord, platform: Platform) -> str | None:
    """Return what the price multiplies; ``each`` is the purchase unit when the line is not a bare accelerator."""
    if line.per in ("unit", None) and line.capacity is None:
        node_like = line.capacity is None and platform.accelerators_per_node > 1
        return "unit" if node_like else "accelerator"
    return None if line.per in ("order", "superchip", "unit_month", None) else line.per


def _accelerators(per: str, platform: Platform) -> int:
    if per.startswith("accelerator"):
        return 1
    return platform.accelerators_per_node if per.startswith("node") else platform.accelerators_per_unit


def _price(line: LineRecord, per: str, platform: Platform) -> Any:
    """Return the price as data; break quantities in priced units become purchase units."""
    if not isinstance(line.price, TieredPrice):
        return _money(line.price)
    ratio = platform.accelerators_per_unit // _accelerators(per, platform) or 1
    kind = "all_units" if line.price.all_units else "incremental"
    return {kind: {max(1, -(-first // ratio)): _money(price) for first, price in line.price.breaks.items()}}


def _money(price: Money | TieredPrice | PriceState) -> Any:
    if isinstance(price, Money):
        return price.amount if price.currency is None else f"{price.amount:f} {price.currency}"
    return price.value if isinstance(price, PriceState) else None


def _units(line: LineRecord, per: str, platform: Platform, notes: Notes) -> dict[str, int] | None:
    """Return the allowed quantities in purchase units; part units are rounded to what can be ordered."""
    if line.units is None:
        return None
    ratio = max(1, platform.accelerators_per_unit // _accelerators(per, platform))
    units: Units = line.units
    if units.min % ratio or units.step % ratio:
        said = f"line {line.id}: quantities in {per} are rounded up to whole units of {ratio}"
        notes.warn("units_rounded", line.cell or line.id, said) if units.min > 1 or units.step > 1 else None
    found = {"min": max(1, -(-units.min // ratio)), "step": max(1, -(-units.step // ratio))}
    if units.max is not None:
        found["max"] = units.max // ratio
    return found


def _delivery(line: LineRecord, notes: Notes) -> dict[str, Any]:
    if line.lots:
        return {"lots": [_lot(lot) for lot in _open_ended(line.lots)]}
    if line.lot_shares:
        last = max(day for _, day in line.lot_shares)
        return {"lots": [{"units": "rest", "date": last}]}
    if line.lead_days is None:
        notes.ask_vendor(
            "lead_time_unknown", line.cell or line.id, f"line {line.id}: when after the order is it delivered?"
        )
        return {}
    low, high = line.lead_days
    if high == 0:
        return {"lead_weeks": "stock"}
    if low % 7 == 0 and high % 7 == 0:
        return {"lead_weeks": [low // 7, high // 7]}
    return {"lots": [{"units": "rest", "days": high}]}


def _open_ended(lots: tuple[Lot, ...]) -> tuple[Lot, ...]:
    return (*lots[:-1], lots[-1].model_copy(update={"units": "rest"}))


def _lot(lot: Lot) -> dict[str, Any]:
    return {key: value for key, value in lot.model_dump().items() if value is not None}


def _rental(offer: dict[str, Any], terms: CapacityTerms, platform: Platform, notes: Notes, place: str) -> bool:
    """Put the rental terms into an offer; False when a needed one is not stated."""
    if terms.accelerators and terms.accelerators != platform.accelerators_per_node:
        said = f"{terms.accelerators} accelerators per node, but {platform.id} has {platform.accelerators_per_node}"
        notes.warn("accelerators_differ", place, said)
    if not terms.region:
        notes.once("region_unknown", place, 'no region is stated; "unknown" is written: replace it')
    offer["region"] = terms.region or "unknown"
    offer["start"] = list(terms.start) if terms.start else None
    if terms.type is OfferType.BLOCK:
        offer["days"] = [{"to": longest, "step": step} for longest, step in terms.days]
        offer["fabric_max_units"] = terms.block_max_units
        return bool(terms.days)
    if terms.type is OfferType.RESERVED:
        offer |= {"term_months": terms.term_months, "hours_per_month": terms.hours_per_month}
        offer |= {"take_or_pay": terms.take_or_pay, "prepay": terms.prepay}
        return terms.term_months is not None
    return True


def _extra(extra: LineRecord, line: LineRecord, notes: Notes) -> dict[str, Any] | None:
    """Return an extra as a line of an offer: per unit when its quantity is a multiple of the units, else per order."""
    if extra.status is PriceState.NO_BID or (
        extra.status is PriceState.MISSING and not extra.quantity and not extra.part
    ):
        return None
    per, price = _extra_price(extra, line, notes)
    record = {
        "item": extra.description or extra.part or extra.role or extra.id,
        "per": per,
        "price": price,
        "months": extra.months,
        "optional": True if extra.status in (PriceState.OPTION, PriceState.ALTERNATE) else None,
        "status": extra.status.value,
        "printed": None if extra.printed is None else f"{extra.printed:f}",
        "computed": None if extra.computed is None else f"{extra.computed:f}",
        "cell": extra.cell,
    }
    return {key: value for key, value in record.items() if value is not None}


def _extra_price(extra: LineRecord, line: LineRecord, notes: Notes) -> tuple[str, Any]:
    if extra.per in ("accelerator", "node", "rack", "order") and (extra.per == "order" or extra.quantity is None):
        return extra.per, _money(extra.price)
    if not isinstance(extra.price, Money) or not extra.quantity:
        return "unit" if extra.per != "order" else "order", _money(extra.price)
    unit = extra.price.amount / extra.price_per
    ratio = extra.quantity / line.quantity if line.quantity else None
    if ratio is not None and ratio == int(ratio):
        if ratio != 1:
            said = f"line {extra.id}: {ratio:f} per unit of line {line.id}, by their quantities"
            notes.warn("extra_per_unit", extra.cell or extra.id, said)
        return _PRICED.get(line.per or "", "unit"), _amount(unit * ratio, extra.price.currency)
    said = f"line {extra.id}: its quantity does not follow line {line.id}; its whole price is charged once per order"
    notes.warn("extra_per_order", extra.cell or extra.id, said)
    return "order", _amount(unit * extra.quantity, extra.price.currency)


def _amount(amount: Decimal, currency: str | None) -> Any:
    return amount if currency is None else f"{amount:f} {currency}"
