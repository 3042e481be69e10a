"""Rules inside one offer: how many units, at which price, in which lots."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from optimizer.cost.option import is_incremental
from optimizer.solver.offers import signed_units
from optimizer.solver.problem import Profile
from optimizer.solver.variables import Builder, Order, PieceVar


def one_order(builder: Builder) -> None:
    """An offer is awarded at most once, a hire once for each run: sum of its orders <= 1."""
    groups: dict[tuple[tuple[str, str], str | None], list[Order]] = defaultdict(list)
    for order in builder.orders:
        groups[order.award].append(order)
    for ((quote, offer), workload), orders in groups.items():
        name = f"{quote}/{offer}" + (f" for {workload}" if workload else "")
        builder.model.add("one_order", name, [(order.index, 1) for order in orders], upper=1)


def quantity(builder: Builder) -> None:
    """Least x taken <= units <= most x taken; units = step x whole number."""
    for order in builder.orders:
        name = builder.model.names[order.index]
        builder.model.add("quantity", f"{name} least", [*order.units(), (order.index, -order.least)], lower=0)
        builder.model.add("quantity", f"{name} most", [*order.units(), (order.index, -order.most)], upper=0)
        step = order.option.offer.units.step
        if step > 1:
            steps = builder.model.integer(f"steps {name}", 0, order.most // step)
            builder.model.add("quantity", f"{name} step", [*order.units(), (steps, -step)], 0, 0)


def signed(builder: Builder) -> None:
    """Units signed already: some order of the offer is taken, with at least those units."""
    orders = builder.by_offer()
    for offer, units in signed_units(builder.frame).items():
        own = orders.get(offer, [])
        name = "/".join(offer)
        builder.model.add("signed", f"{name} taken", [(order.index, 1) for order in own], lower=1)
        builder.model.add("signed", f"{name} units", [term for order in own for term in order.units()], lower=units)


def fill(builder: Builder) -> None:
    """Lots fill in order; incremental breaks fill in order: units in the next part only when this one is full."""
    for order in builder.orders:
        groups: dict[Profile | None, list[PieceVar]] = defaultdict(list)
        for var in order.pieces:
            groups[var.profile].append(var)
        for parts in groups.values():
            for before, after in pairwise(parts):
                _in_order(builder, order, before, after)


def _in_order(builder: Builder, order: Order, before: PieceVar, after: PieceVar) -> None:
    model = builder.model
    size = before.piece.lot.units if not is_incremental(order.option) else before.upper
    width = before.upper if size is None else min(size, before.upper)
    full = model.boolean(f"full {model.names[before.index]}")
    model.add("fill", f"{model.names[before.index]} full", [(before.index, 1), (full, -width)], lower=0)
    model.add("fill", f"{model.names[after.index]} after", [(after.index, 1), (full, -after.upper)], upper=0)
