"""A document without prices: every amount of money is withheld, totals too.

With the units beside it a total gives the price of a single award away, and a table of several gives them all; so
does a price in a command or an assumption. What stays: who delivers what, when and where, layouts, power, dates.
"""

from __future__ import annotations

import re
from dataclasses import replace

from optimizer.report.document import Bars, Block, Cell, Curves, Document, Section, Text, Value, phrase, term
from optimizer.report.views.values import Rewriting

_KINDS = ("money", "amount", "price", "quoted")
_DIGITS = re.compile(r"\d")
_MONEY_KEYS = re.compile(r"budget|price|amount|per_kwh|per_kw_month|value_per|quotes\.|costs|fx\.|rates|finance|duty")
"""Keys of a scenario or quote whose value is money, or gives money away."""

WITHHELD = term("word.withheld")
"""What stands in the place of an amount."""


def without_prices(document: Document, currencies: frozenset[str]) -> Document:
    """Return a document in which no amount can be read or worked out.

    Args:
        document: The document.
        currencies: Codes of every currency that occurs in the plan.
    """
    coded = re.compile(rf"\b({'|'.join(sorted(currencies))})\b") if currencies else re.compile(r"(?!)")

    def tells(text: str) -> bool:
        return bool(_DIGITS.search(text)) and bool(coded.search(text) or _MONEY_KEYS.search(text))

    def value(found: Value) -> Cell:
        if found.kind in _KINDS or coded.search(found.unit):
            return WITHHELD
        return WITHHELD if isinstance(found.value, str) and tells(found.value) else found

    def command(text: str) -> str:
        return re.sub(r" --set (?:'[^']*'|\S+)", "", text) if tells(text) else text

    rewriting = Rewriting(value, lambda unit: "" if unit in currencies else unit, command)
    kept = replace(document, memo=_sections(document.memo), details=_sections(document.details))
    notice = Text(phrase("view.prices"), "warning")
    rewritten = rewriting.of(kept)
    return replace(rewritten, currency=None, warnings=(*rewritten.warnings, notice))


def _sections(sections: tuple[Section, ...]) -> tuple[Section, ...]:
    return tuple(
        replace(section, blocks=tuple(block for block in section.blocks if not _draws_money(block)))
        for section in sections
    )


def _draws_money(block: Block) -> bool:
    """Return whether a drawing has amounts on an axis: its shape alone would tell them."""
    if isinstance(block, Bars):
        ends = [end for bar in block.bars for span in bar.spans for end in (span.start, span.end)]
        return any(end.kind in _KINDS for end in ends)
    if isinstance(block, Curves):
        return any(value.kind in _KINDS for series in block.series for point in series.points for value in point)
    return False
