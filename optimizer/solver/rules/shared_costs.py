"""Bookings of the scenario's ``costs`` entries: counted with tables, once per cluster or platform, per run."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from optimizer.cost.after import After
from optimizer.cost.charge import Charge, Factor
from optimizer.cost.entries import COUNTED, counted_charge, matches, pieces_per_unit, run_charge, shared_charge, table
from optimizer.cost.frame import Frame
from optimizer.cost.items import energy_charge, hall_charge
from optimizer.cost.option import Option
from optimizer.schema.scenario import CostEntry, Site
from optimizer.solver.linear import INFINITY
from optimizer.solver.variables import Builder, Order, PieceVar, Term


def _matching(builder: Builder, entry: CostEntry) -> list[Order]:
    return [order for order in builder.orders if matches(entry, order.option.offer, order.option.platform)]


def counted(builder: Builder) -> None:
    """Book counted entries on units; a table splits units by the row that holds at the total count."""
    for entry in builder.frame.scenario.costs:
        if entry.per in COUNTED:
            orders = _matching(builder, entry)
            parts = [
                (order, var, after, part)
                for order in orders
                for var in order.pieces
                for after, part in builder.by_after(var)
            ]
            rows = _rows(builder, entry, parts)
            for (_, var, after, _part), per_row in zip(parts, rows, strict=True):
                for amount, index in per_row:
                    charge = counted_charge(entry, amount, var.piece, after, builder.frame)
                    builder.ledger.book(index, [charge] if charge else [])


def _rows(
    builder: Builder, entry: CostEntry, parts: Sequence[tuple[Order, PieceVar, After, int]]
) -> list[list[tuple[Factor, int]]]:
    """Return, per part, the variables of its units by amount; count stays within the row that is chosen."""
    rows = table(entry, builder.frame)
    if len(rows) == 1:
        return [[(rows[0][1], part)] for *_, part in parts]
    found: list[list[tuple[Factor, int]]] = [[] for _ in parts]
    switches: list[Term] = []
    for number, (first, amount) in enumerate(rows):
        last = rows[number + 1][0] - 1 if number + 1 < len(rows) else None
        used = builder.model.boolean(f"{entry.name} {first}+")
        switches.append((used, 1))
        count: list[Term] = []
        for position, (order, var, _, part) in enumerate(parts):
            index = builder.model.integer(f"{builder.model.names[part]}|{entry.name} {first}+", 0, var.upper)
            found[position].append((amount, index))
            count.append((index, pieces_per_unit(entry, order.option)))
        builder.model.add("counted_costs", f"{entry.name} {first}+ least", [*count, (used, -first)], lower=0)
        most = builder.model.magnitude(count) if last is None else last
        builder.model.add("counted_costs", f"{entry.name} {first}+ most", [*count, (used, -most)], upper=0)
    builder.model.add("counted_costs", entry.name, switches, upper=1)
    for (*_, part), per_row in zip(parts, found, strict=True):
        sums = [(part, -1), *((index, 1) for _, index in per_row)]
        builder.model.add("counted_costs", builder.model.names[part], sums, 0, 0)
    return found


@dataclass(frozen=True, slots=True)
class Span:
    """A cost shared by orders that runs from their first delivery to their last day.

    Attributes:
        name: Name in the model.
        orders: Orders that share it.
        last_day: Last day of an order under an after-run situation.
        charges: Charges between two days at an amount.
        rows: (first count, amount) of its table.
        count: Terms of the count the table is read at.
    """

    name: str
    orders: tuple[Order, ...]
    last_day: Callable[[Option, After], dt.date]
    charges: Callable[[Factor, dt.date, dt.date], list[Charge]]
    rows: tuple[tuple[int, Factor], ...]
    count: tuple[Term, ...]


def shared(builder: Builder) -> None:
    """Book cluster and platform entries: from the first delivery to the last day of the awards that match.

    With F(t) the money from the earliest possible day to t, the cost of first … last is F(last) - F(first - 1):
    one Boolean per possible first and last day is enough.
    """
    for span in _spans(builder):
        _book_span(builder, span)


def _spans(builder: Builder) -> Iterable[Span]:
    for entry in builder.frame.scenario.costs:
        if entry.per not in ("cluster", "platform"):
            continue
        for platform, orders in _by_platform(entry, _matching(builder, entry)).items():
            yield _entry_span(builder, entry, platform, orders)
            yield from _power_spans(builder, entry, platform, orders)


def _by_platform(entry: CostEntry, orders: Sequence[Order]) -> dict[str, list[Order]]:
    groups: dict[str, list[Order]] = defaultdict(list)
    for order in orders:
        groups[order.option.platform.id if entry.per == "platform" else ""].append(order)
    return dict(groups)


def _entry_span(builder: Builder, entry: CostEntry, platform: str, orders: Sequence[Order]) -> Span:
    frame = builder.frame
    count = tuple(t for order in orders for t in order.units(pieces_per_unit(entry, order.option)))

    def charges(amount: Factor, first: dt.date, last: dt.date) -> list[Charge]:
        idle = After("idle", frame.last_day)
        charge = shared_charge(entry, amount, [(orders[0].option, first, last)], idle, frame)
        return [charge] if charge else []

    def last_day(option: Option, after: After) -> dt.date:
        return min(option.last_day(frame), after.last_shared_day(frame))

    return Span(f"{entry.name} {platform}", tuple(orders), last_day, charges, table(entry, frame), count)


def _power_spans(builder: Builder, entry: CostEntry, platform: str, orders: Sequence[Order]) -> Iterable[Span]:
    """Hall cost and energy of the entry's ``kw``, once at each site."""
    frame = builder.frame
    if not entry.kw:
        return
    for name in sorted({order.option.site for order in orders if order.option.site}):
        own = tuple(order for order in orders if order.option.site == name)
        site = frame.site(name)
        one = ((1, Factor("power", entry.kw, "kW", f"scenario costs, {entry.name}")),)
        hall = partial(_hall, site, frame)
        energy = partial(_energy, site, frame, f"draw of {entry.name}")
        label = f"{entry.name} {platform} {name}"
        yield Span(f"{label} hall", own, lambda o, a: a.last_day_of_costs(o, frame), hall, one, ())
        yield Span(f"{label} energy", own, lambda o, a: a.last_day_of_energy(o, frame), energy, one, ())


def _hall(site: Site, frame: Frame, kw: Factor, first: dt.date, last: dt.date) -> list[Charge]:
    return list(hall_charge(site, kw.value, first, last, frame))


def _energy(site: Site, frame: Frame, name: str, kw: Factor, first: dt.date, last: dt.date) -> list[Charge]:
    return list(energy_charge(site, kw.value, name, first, last, frame))


def _book_span(builder: Builder, span: Span) -> None:
    firsts = _firsts(builder, span)
    lasts = _lasts(builder, span)
    rows = _span_rows(builder, span)
    earliest = min(firsts)
    for (first_count, amount), used in rows:
        starts = _per_row(builder, span, firsts, used, first_count, "first")
        stops = _per_row(builder, span, lasts, used, first_count, "last")
        for day, index in starts.items():
            if day > earliest:
                builder.ledger.book(index, _before(span, amount, earliest, day), -1)
            once = span.charges(amount, day, day - dt.timedelta(1))
            builder.ledger.book(index, once)
        for day, index in stops.items():
            builder.ledger.book(index, _recurring(span, amount, earliest, day))


def _recurring(span: Span, amount: Factor, first: dt.date, last: dt.date) -> list[Charge]:
    """Charges between two days that are not paid once."""
    once = span.charges(amount, first, first - dt.timedelta(1))
    return [] if once else span.charges(amount, first, last)


def _before(span: Span, amount: Factor, earliest: dt.date, day: dt.date) -> list[Charge]:
    return _recurring(span, amount, earliest, day - dt.timedelta(1))


def _firsts(builder: Builder, span: Span) -> dict[dt.date, int]:
    """Booleans of the first day: no later than any order taken, and some order taken starts then."""
    days = sorted({order.option.lots[0].delivery for order in span.orders})
    found = {day: builder.model.boolean(f"{span.name} from {day}") for day in days}
    for order in span.orders:
        reached = [(found[day], 1) for day in days if day <= order.option.lots[0].delivery]
        builder.model.add("shared_costs", f"{span.name} first", [*reached, (order.index, -1)], lower=0)
    for day, index in found.items():
        own = [(o.index, -1) for o in span.orders if o.option.lots[0].delivery == day]
        builder.model.add("shared_costs", f"{span.name} from {day}", [(index, 1), *own], upper=0)
    builder.model.add("shared_costs", f"{span.name} one first", [(i, 1) for i in found.values()], upper=1)
    return found


def _lasts(builder: Builder, span: Span) -> dict[dt.date, int]:
    """Booleans of the last day: no earlier than the last day of any order taken."""
    needs = [need for order in span.orders for need in _last_needs(builder, span, order)]
    days = sorted({day for _, day, _ in needs})
    found = {day: builder.model.boolean(f"{span.name} until {day}") for day in days}
    for terms, day, slack in needs:
        reached = [(found[other], 1) for other in days if other >= day]
        builder.model.add("shared_costs", f"{span.name} last", [*reached, *terms], lower=-slack)
    builder.model.add("shared_costs", f"{span.name} one last", [(i, 1) for i in found.values()], upper=1)
    return found


def _last_needs(builder: Builder, span: Span, order: Order) -> Iterable[tuple[list[Term], dt.date, int]]:
    """Yield (terms, day, slack): sum of lasts at or after day + terms >= -slack."""
    if order.option.is_hired:
        for var in order.pieces:
            if var.profile is not None:
                after = After(builder.frame.scenario.after_run.policy, var.profile.run.end)
                day = span.last_day(var.piece.option, after)
                yield [(order.index, -1), (builder.chosen[var.profile], -1)], day, 1
        return
    pool = builder.run_pool(order.option)
    situations = builder.afters(pool)
    if situations and not situations[0].matters:
        yield [(order.index, -1)], span.last_day(order.option, situations[0]), 0
        return
    ends = builder.ends(pool)
    for after in situations:
        for index in ends[after.last_run]:
            yield [(order.index, -1), (index, -1)], span.last_day(order.option, after), 1


def _span_rows(builder: Builder, span: Span) -> list[tuple[tuple[int, Factor], int | None]]:
    """Return the rows of the table with the Boolean that says which holds (None: only one)."""
    if len(span.rows) == 1:
        return [(span.rows[0], None)]
    found: list[tuple[tuple[int, Factor], int | None]] = []
    for number, (first, amount) in enumerate(span.rows):
        last = span.rows[number + 1][0] - 1 if number + 1 < len(span.rows) else INFINITY
        used = builder.model.boolean(f"{span.name} {first}+")
        most = builder.model.magnitude(span.count)
        if last < most:
            terms = [*span.count, (used, most - last)]
            builder.model.add("shared_costs", f"{span.name} {first}+ most", terms, upper=most)
        builder.model.add("shared_costs", f"{span.name} {first}+ least", [*span.count, (used, -first)], lower=0)
        found.append(((first, amount), used))
    switches = [(used, 1) for _, used in found if used is not None]
    builder.model.add("shared_costs", f"{span.name} row", switches, upper=1)
    for order in span.orders:
        builder.model.add("shared_costs", f"{span.name} a row", [*switches, (order.index, -1)], lower=0)
    return found


def _per_row(
    builder: Builder, span: Span, days: dict[dt.date, int], used: int | None, first: int, what: str
) -> dict[dt.date, int]:
    """Return the day Booleans of one row of a table: 1 when both the day and the row hold."""
    if used is None:
        return days
    found = {}
    for day, index in days.items():
        both = builder.model.boolean(f"{span.name} {what} {day} {first}+")
        builder.model.add("shared_costs", builder.model.names[both], [(both, 1), (index, -1), (used, -1)], lower=-1)
        builder.model.add("shared_costs", builder.model.names[both], [(both, 1), (index, -1)], upper=0)
        builder.model.add("shared_costs", builder.model.names[both], [(both, 1), (used, -1)], upper=0)
        found[day] = both
    return found


def per_run(builder: Builder) -> None:
    """Book ``run`` entries on a Boolean per pool, start and row of the table.

    It is 1 when a run starts there then, a matching order is taken there and the row holds.
    """
    for entry in builder.frame.scenario.costs:
        orders = _matching(builder, entry)
        if entry.per == "run" and orders:
            for (_, amount), used in _span_rows(builder, _entry_span(builder, entry, "", orders)):
                _book_runs(builder, entry, amount, [] if used is None else [used], orders)


def _book_runs(builder: Builder, entry: CostEntry, amount: Factor, row: list[int], orders: Sequence[Order]) -> None:
    for pool in builder.problem.pools:
        own = [order for order in orders if order.option.pool == pool.name]
        groups: dict[tuple[str, dt.date], list[int]] = defaultdict(list)
        for profile, index in builder.profiles_in(pool):
            groups[profile.workload, profile.run.start].append(index)
        for (_, start), profiles in groups.items() if own else ():
            paid = builder.model.boolean(f"{entry.name} {pool.name} {start}")
            builder.ledger.book(paid, [run_charge(entry, amount, start)])
            for order in own:
                terms = [(paid, 1), (order.index, -1), *((index, -1) for index in [*profiles, *row])]
                builder.model.add("run_costs", builder.model.names[paid], terms, lower=-1 - len(row))
