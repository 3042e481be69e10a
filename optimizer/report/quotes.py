"""What an import understood, on the console and as Markdown: takes results, computes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from optimizer.report.console import table
from optimizer.report.text import UNKNOWN, number
from optimizer.schema.base import Money
from optimizer.schema.price import PriceState, TieredPrice
from optimizer.schema.quote import Quote
from optimizer.schema.quote_record import LineRecord

if TYPE_CHECKING:
    from optimizer.analysis.levelling import LevelledOffer, Levelling
    from optimizer.io.importing.run import Import, QuoteState

SHOWN_LINES = 40
"""Lines of a quote that a terminal shows; Markdown and JSON hold all of them."""

_LINE_HEADS = ("line", "part, description", ">quantity", ">unit price", ">extended", ">printed", "status", "cell")
_MARKDOWN_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_{}[]<>|#"})


def import_screen(result: Import) -> RenderableType:
    """Return what was understood, quote by quote, then what was left out and the open questions."""
    parts: list[RenderableType] = []
    for quote, state in zip(result.quotes, result.states):
        parts += _quote_screen(quote, state)
    parts += _section(
        "Left out", ("cell", "text", "why"), ((item.location, item.text, item.why) for item in result.ignored)
    )
    parts += _section(
        "Warnings", ("code", "place", ""), ((item.code, item.location, item.message) for item in result.warnings)
    )
    for who, title in (("vendor", "Ask the vendor"), ("buyer", "Open questions: answer them in the mapping")):
        rows = [
            (question.location, question.question, " | ".join(question.options) or question.key or "")
            for question in result.questions
            if question.to == who
        ]
        parts += _section(title, ("place", "question", "answers"), rows)
    return Group(*parts)


def quotes_screen(quotes: Sequence[Quote], states: Sequence[QuoteState]) -> RenderableType:
    """Return some quotes with their lines."""
    return Group(*(part for quote, state in zip(quotes, states) for part in _quote_screen(quote, state)))


def import_markdown(result: Import) -> str:
    """Return the same as Markdown, with every line and the cell of every value."""
    blocks = ["# What was understood"]
    for quote, state in zip(result.quotes, result.states):
        blocks += [f"## {_plain(_headline(quote))}", _plain(_state_text(state)), _facts_markdown(quote)]
        rows = [(*_line_row(line, quote), _cells(line)) for line in quote.lines]
        blocks.append(_markdown_table([*(head.strip(">") for head in _LINE_HEADS), "cells"], rows))
        blocks.append(_markdown_table(("total", "printed", "computed", "cell"), _total_rows(quote)))
    blocks.append(
        "## Left out\n\n"
        + _markdown_table(("cell", "text", "why"), [(i.location, i.text, i.why) for i in result.ignored])
    )
    blocks.append(
        "## Warnings\n\n"
        + _markdown_table(("code", "place", "message"), [(w.code, w.location, w.message) for w in result.warnings])
    )
    rows = [(q.to, q.location, q.question, " | ".join(q.options), q.key or "") for q in result.questions]
    blocks.append(
        "## Open questions\n\n" + _markdown_table(("to", "place", "question", "answers", "mapping key"), rows)
    )
    return "\n\n".join(block for block in blocks if block) + "\n"


def levelling_screen(result: Levelling) -> RenderableType:
    """Return offers on one basis, cheapest first, with what each lacks."""
    head = (
        f"{result.platform} · {number(result.units)} units · per node, without tax, in {result.currency}"
        f" · supported for {result.horizon_months} months"
    )
    items = sorted({item.item for row in result.rows for item in row.items})
    rows = [
        (
            row.vendor, row.quote, row.offer,
            *(_sum_of(row, item) for item in items),
            number(row.per_node),
            "; ".join(row.missing),
        )
        for row in result.rows
    ]  # fmt: skip
    heads = ("vendor", "quote", "offer", *(f">{item}" for item in items), ">per node", "missing")
    notes = [Text(note, style="yellow") for note in result.notes]
    return Group(Text(head, style="bold"), table(heads, rows, indent=2), *notes)


def _sum_of(row: LevelledOffer, item: str) -> str:
    amounts = [part.per_node for part in row.items if part.item == item]
    return number(sum(amounts, Decimal(0))) if amounts else ""


def _quote_screen(quote: Quote, state: QuoteState) -> list[RenderableType]:
    lines = [_line_row(line, quote) for line in quote.lines[:SHOWN_LINES]]
    parts: list[RenderableType] = [Text(f"\n{_headline(quote)}", style="bold"), Text(f"  {_state_text(state)}")]
    parts += [Text(f"  {name}: {text}") for name, text in _facts(quote)]
    if lines:
        parts.append(table(_LINE_HEADS, lines, indent=2))
    if len(quote.lines) > SHOWN_LINES:
        parts.append(Text(f"  … and {len(quote.lines) - SHOWN_LINES:,} more lines", style="dim"))
    if quote.totals:
        parts.append(table(("total", ">printed", ">computed", "cell"), _total_rows(quote), indent=2))
    return parts


def _headline(quote: Quote) -> str:
    return f"{quote.quote} revision {quote.revision} · {quote.vendor} · {quote.kind} · {quote.currency}"


def _state_text(state: QuoteState) -> str:
    if state.days_left is None:
        return f"{state.state.replace('_', ' ')} ({state.file})"
    left = f"{state.days_left} days left" if state.days_left >= 0 else f"ended {-state.days_left} days ago"
    return f"{state.state.replace('_', ' ')} until {state.valid_until}, {left} ({state.file})"


def _facts(quote: Quote) -> list[tuple[str, str]]:
    rate = f" at {100 * quote.tax.rate:f} %" if quote.tax.rate else ""
    due = ", ".join(
        f"{100 * part.share:f} % at {part.at}"
        + (f" + {part.plus_days} days" if part.plus_days else "")
        + (f" + {part.plus_months} months" if part.plus_months else "")
        for part in quote.payment
    )
    facts = [("tax", ("included" if quote.tax.included else "not included") + rate), ("payment", due)]
    facts += [("delivery", quote.delivery)] if quote.delivery else []
    offers = ", ".join(f"{name} ({offer.type.value} {offer.platform})" for name, offer in quote.offers.items())
    return [*facts, ("offers", offers or "none: no line is matched to a platform")]


def _facts_markdown(quote: Quote) -> str:
    facts = [*_facts(quote), *quote.terms.items()]
    return "\n".join(f"- {_plain(name)}: {_plain(text)}" for name, text in facts)


def _line_row(line: LineRecord, quote: Quote) -> tuple[str, ...]:
    words = " · ".join(text for text in (line.part, line.description) if text)
    per = f" / {number(line.price_per)}" if line.price_per != 1 else ""
    status = line.status.value + (f" ({line.reason})" if line.reason else "")
    status += f": {' | '.join(line.readings)}" if line.readings else ""
    return (
        line.id,
        words[:70],
        number(line.quantity) if line.quantity is not None else "",
        f"{_price(line.price)}{per}",
        number(line.computed) if line.computed is not None else UNKNOWN,
        number(line.printed) if line.printed is not None else "",
        status,
        line.cell or "",
    )


def _price(price: Money | TieredPrice | PriceState) -> str:
    if isinstance(price, Money):
        return f"{number(price.amount)} {price.currency}" if price.currency else number(price.amount)
    if isinstance(price, TieredPrice):
        return ", ".join(f"{first}+ {number(each.amount)}" for first, each in price.breaks.items())
    return UNKNOWN if not price.is_zero else "0"


def _total_rows(quote: Quote) -> list[tuple[str, ...]]:
    return [
        (
            total.name,
            number(total.printed) if total.printed is not None else "not printed",
            number(total.computed)
            if total.computed is not None
            else f"unknown: {total.unpriced} lines without a price",
            total.cell or "",
        )
        for total in quote.totals
    ]


def _cells(line: LineRecord) -> str:
    return ", ".join(f"{key} {place}" for key, place in line.cells.items())


def _section(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[RenderableType]:
    found = list(rows)
    shown: list[RenderableType] = [Text(f"\n{title} ({len(found)})", style="bold"), table(heads, found[:100], indent=2)]
    return shown if found else []


def _plain(text: str) -> str:
    """Return text that Markdown and HTML show as it is."""
    return text.translate(_MARKDOWN_SPECIAL)


def _markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [heads, ["---"] * len(heads), *([_plain(text) for text in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
