"""Cash by quarter, what is committed, what leaving costs, and what happens after the run."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from decimal import Decimal
from itertools import accumulate

from optimizer.cost.items import BEYOND
from optimizer.report.document import (
    BLANK,
    Absent,
    Bar,
    Bars,
    Block,
    Cell,
    Column,
    Curves,
    Facts,
    Section,
    Series,
    Several,
    Span,
    Table,
    Text,
    day,
    factor,
    item,
    money,
    name,
    names,
    number,
    phrase,
    price,
    sentence,
    share,
    term,
)
from optimizer.report.exact import exact_cash, product
from optimizer.report.sections.signing import SPELLED_OUT
from optimizer.report.source import Source
from optimizer.results import Cost, Factor

Quarter = tuple[int, int]
"""Calendar year and quarter, 1 to 4."""


def cash(source: Source) -> Section:
    """Return cash by quarter with its peak, commitments, the cost of leaving, and obligations past the horizon."""
    cost = source.plan.cost
    if cost is None:
        return Section("cash", "memo.cash", (Text(phrase("memo.no_cost")),))
    blocks: tuple[Block, ...] = (_commitments(source, cost), by_quarter(cost), cash_curve(cost))
    return Section("cash", "memo.cash", blocks)


def _commitments(source: Source, cost: Cost) -> Facts:
    owed = sum((award.cost for award in source.plan.awards), Decimal(0))
    peak, on = peak_outlay(cost)
    beyond = sum((product(line) for line in cost.lines if line.item == BEYOND), Decimal(0))
    past: Cell = phrase("memo.none_past", horizon=day(source.horizon_end))
    return Facts(
        (
            ("memo.committed", money(owed, cost.currency)),
            ("memo.peak", phrase("memo.peak_on", amount=money(peak, cost.currency), on=day(on))),
            ("memo.exit", _exit(source, cost)),
            ("memo.past", money(beyond, cost.currency) if beyond else past),
        )
    )


def peak_outlay(cost: Cost) -> tuple[Decimal, dt.date | None]:
    """Return the most that cash paid exceeds cash received at the end of any day, and the first such day."""
    by_day: dict[dt.date, Decimal] = defaultdict(Decimal)
    for move in exact_cash(cost):
        by_day[move.date] += move.amount
    days = sorted(by_day)
    sums = list(accumulate(by_day[each] for each in days))
    return max(zip(sums, days, strict=True), key=lambda pair: pair[0], default=(Decimal(0), None))


def _exit(source: Source, cost: Cost) -> Cell:
    """Say what selling after the last run leaves, and that cancelling earlier follows the vendors' terms."""
    sold = next((after for after in cost.after_run if after.policy == "sell" and after.total is not None), None)
    terms = {award.vendor: _cancellation(source, award.quote) for award in source.plan.awards}
    silent = [vendor for vendor, text in terms.items() if text is None]
    if sold is None:
        return phrase("memo.exit_unknown")
    amounts = {"total": money(sold.total, cost.currency), "more": money((sold.total or 0) - cost.total, cost.currency)}
    if silent:
        return phrase(
            "memo.exit_silent",
            vendors=names(silent)
            if len(silent) <= SPELLED_OUT
            else phrase("word.vendors", vendors=number(len(silent))),
            **amounts,
        )
    return phrase("memo.exit_terms", **amounts)


def _cancellation(source: Source, quote: str) -> str | None:
    known = source.loaded.quotes.get(quote) if source.loaded else None
    return known.terms.get("cancellation") if known else None


def quarter(on: dt.date) -> Quarter:
    """Return the calendar quarter of a day.

    >>> quarter(dt.date(2027, 3, 31)), quarter(dt.date(2027, 4, 1))
    ((2027, 1), (2027, 2))
    """
    return on.year, (on.month + 2) // 3


def by_quarter(cost: Cost) -> Table:
    """Return what is paid and received in each quarter, and the sum up to its end."""
    paid: dict[Quarter, Decimal] = defaultdict(Decimal)
    received: dict[Quarter, Decimal] = defaultdict(Decimal)
    for move in exact_cash(cost):
        side = paid if move.amount >= 0 else received
        side[quarter(move.date)] += move.amount
    quarters = sorted({*paid, *received})
    sums = accumulate(paid[each] + received[each] for each in quarters)
    rows = tuple(
        (
            _quarter(each),
            *(money(x, cost.currency) for x in (paid[each], received[each], paid[each] + received[each], so_far)),
        )
        for each, so_far in zip(quarters, sums, strict=True)
    )
    out, back = sum(paid.values(), Decimal(0)), sum(received.values(), Decimal(0))
    foot = (term("word.total"), *(money(x, cost.currency) for x in (out, back, out + back)), BLANK)
    heads = ("head.paid", "head.received", "head.net", "head.so_far")
    columns = (Column("head.quarter"), *(Column(head, figure=True, unit=cost.currency) for head in heads))
    return Table("cash-by-quarter", "table.cash_by_quarter", columns, rows, foot)


def _quarter(each: Quarter) -> Cell:
    return phrase("word.quarter", year=name(str(each[0])), quarter=name(str(each[1])))


def cash_curve(cost: Cost) -> Curves:
    """Return the running sum of cash over time: what has been paid less what has come back."""
    moves: dict[dt.date, Decimal] = defaultdict(Decimal)
    for move in exact_cash(cost):
        moves[move.date] += move.amount
    days = sorted(moves)
    sums = accumulate(moves[each] for each in days)
    points = tuple((day(on), money(so_far, cost.currency)) for on, so_far in zip(days, sums, strict=True))
    series = (Series(term("head.so_far"), "steps", points),)
    return Curves("cash-curve", "chart.cash", "axis.date", "axis.paid_so_far", series, from_zero=True)


def by_year(cost: Cost) -> Table:
    """Return the cost by fiscal year."""
    columns = (Column("head.fiscal_year"), Column("head.amount", figure=True, unit=cost.currency))
    rows = tuple((name(year), money(amount, cost.currency)) for year, amount in cost.by_fiscal_year.items())
    return Table(
        "fiscal-years", "table.fiscal_years", columns, rows, (term("word.total"), money(cost.total, cost.currency))
    )


def after_run(source: Source) -> Section:
    """Return what the plan assumes for the time after the run, the plan under the other policies, and the flip point."""
    cost = source.plan.cost
    if cost is None:
        return Section("after", "memo.after", (Text(phrase("memo.no_cost")),))
    return Section("after", "memo.after", (Text(_assumed(source)), _policies(cost), *_flip(source)))


def _assumed(source: Source) -> Cell:
    terms = source.loaded.scenario.after_run if source.loaded else None
    if terms is None:
        return phrase("memo.inputs_unread")
    if terms.policy != "use":
        return phrase("memo.after_policy", policy=term(f"after_run.{terms.policy}"))
    value, currency = terms.value_per_accelerator_hour, source.currency
    return phrase(
        "memo.after_use",
        most=number(terms.max_accelerators),
        value=price(value.amount if value else None, (value.currency if value else None) or currency),
        utilisation=share(terms.utilisation),
        decline=share(terms.decline_per_year),
    )


def _policies(cost: Cost) -> Table:
    heads = ("head.total", "head.npv", "head.total_difference")
    columns = (Column("head.after_run"), *(Column(head, figure=True, unit=cost.currency) for head in heads))
    rows = tuple(
        (
            term(f"after_run.{after.policy}"),
            money(after.total, cost.currency),
            money(after.npv, cost.currency),
            money(None if after.total is None else after.total - cost.total, cost.currency),
        )
        for after in cost.after_run
    )
    return Table("after-run", "table.after_run", columns, rows, note=phrase("note.after_run"))


def _flip(source: Source) -> tuple[Block, ...]:
    """Return the value at which the decision changes, from the break-even analysis or the tornado."""
    found = next((each for each in source.analyses.breakeven if each.input), None)
    terms = source.loaded.scenario.after_run if source.loaded else None
    if found is None:
        usable = terms is None or terms.policy == "use"
        return (Absent("absent.flip", source.command("breakeven", "--after-run")),) if usable else ()
    low, high = (price(edge, found.currency) for edge in found.holds)
    held = phrase("memo.after_holds", price=price(found.price, found.currency), low=low, high=high)
    flips = tuple(
        Text(
            phrase(
                "memo.after_flip",
                price=price(each.price, found.currency),
                to=decided(each.to.platform, each.to.vendors),
            )
        )
        for each in found.switches
    )
    return (Text(held), *flips)


def decided(platform: str | None, vendors: tuple[str, ...]) -> Cell:
    """Return platform and vendors of a decision in one phrase; nothing when no plan is possible."""
    if platform is None:
        return term("word.no_plan")
    if not vendors:
        return phrase("memo.decision_owned", platform=name(platform))
    return phrase("memo.decision", platform=name(platform), vendors=names(vendors))


def build_up(source: Source) -> Section:
    """Return the cost by item, by fiscal year, and line by line with its factors."""
    cost = source.plan.cost
    if cost is None:
        return Section("cost", "part.cost", (Text(phrase("memo.no_cost")),))
    return Section("cost", "part.cost", (*_by_item(cost), by_year(cost), cost_lines(cost)))


def _by_item(cost: Cost) -> tuple[Block, ...]:
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for line in cost.lines:
        sums[line.item] += line.amount
    ranked = sorted(sums.items(), key=lambda pair: -pair[1])
    bars = tuple(Bar(item(key), (_from_zero(amount, cost.currency),)) for key, amount in ranked)
    columns = (Column("head.item"), Column("head.amount", figure=True, unit=cost.currency))
    rows = tuple((item(key), money(amount, cost.currency)) for key, amount in ranked)
    foot = (term("word.total"), money(cost.total, cost.currency))
    return (
        Bars("cost-chart", "chart.cost", "axis.amount", bars),
        Table("cost-items", "table.cost_items", columns, rows, foot),
    )


def _from_zero(amount: Decimal, currency: str) -> Span:
    """Return a bar from zero: what is paid one way, what comes back the other."""
    series = "span.cost" if amount >= 0 else "span.receipt"
    return Span(series, money(Decimal(0), currency), money(amount, currency), money(amount, currency))


def cost_lines(cost: Cost) -> Table:
    """Return every cost line with its factors."""
    columns = (
        Column("head.item"),
        Column("head.factors"),
        Column("head.amount", figure=True, unit=cost.currency),
    )
    rows = tuple((item(line.item), _factors(line.factors), money(line.amount, cost.currency)) for line in cost.lines)
    foot = (term("word.total"), BLANK, money(cost.total, cost.currency))
    return Table("cost-lines", "table.cost_lines", columns, rows, foot, phrase("note.cost_lines"), folded=True)


def _factors(factors: tuple[Factor, ...]) -> Cell:
    """Return the product as it is computed: ``64 unit (units) x 428,600 per unit (unit price)``."""
    known = (phrase("memo.factor", value=factor(each.value, each.unit), name=sentence(each.name)) for each in factors)
    return Several(tuple(known), "times")
