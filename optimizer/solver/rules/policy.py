"""House rules on vendors."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal

from optimizer.solver.variables import Builder, Order, Term


def _by_vendor(builder: Builder) -> dict[str, list[Order]]:
    groups: dict[str, list[Order]] = defaultdict(list)
    for order in builder.orders:
        groups[order.option.quote.vendor].append(order)
    return dict(groups)


def vendors(builder: Builder) -> None:
    """At most ``policy.vendors.max`` vendors have an award."""
    most = builder.frame.scenario.policy.vendors.max
    groups = _by_vendor(builder)
    if most is None or most >= len(groups):
        return
    used = []
    for vendor, orders in groups.items():
        index = builder.model.boolean(f"vendor {vendor}")
        used.append((index, 1))
        for order in orders:
            builder.model.add("vendors", vendor, [(index, 1), (order.index, -1)], lower=0)
    builder.model.add("vendors", "number", used, upper=most)


def second_source(builder: Builder) -> None:
    """For each vendor: accelerators awarded to the others >= share x all accelerators awarded."""
    share = Decimal(builder.frame.scenario.policy.vendors.second_source_share)
    if not share:
        return
    top, bottom = share.as_integer_ratio()
    for vendor in _by_vendor(builder):
        terms: list[Term] = []
        for order in builder.orders:
            weight = bottom - top if order.option.quote.vendor != vendor else -top
            terms += order.units(weight * order.option.platform.accelerators_per_unit)
        builder.model.add("second_source", vendor, terms, lower=0)
