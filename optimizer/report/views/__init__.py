"""A report as asked for: language, currency, what is withheld."""

from __future__ import annotations

from dataclasses import dataclass, replace

from optimizer.report.document import Document, Text, phrase
from optimizer.report.language import Language
from optimizer.report.memo import document as document_of
from optimizer.report.source import Source
from optimizer.report.views.currency import Conversion, conversion, converted
from optimizer.report.views.prices import without_prices
from optimizer.report.views.vendors import without_vendors


@dataclass(frozen=True, slots=True)
class Report:
    """What every format is written from.

    Attributes:
        source: The plan with its inputs; without vendors when they are withheld.
        document: Memo and details; converted, without prices when they are withheld.
        language: Words, numbers and dates.
        conversion: Currency amounts are shown in; None = each in its own.
        priced: Whether prices may be shown.
    """

    source: Source
    document: Document
    language: Language
    conversion: Conversion | None
    priced: bool


def report_of(
    source: Source, language: Language, currency: str | None = None, *, prices: bool = True, vendors: bool = True
) -> Report:
    """Return a report of a plan as asked for.

    Args:
        source: The plan with its inputs.
        language: Words, numbers and dates.
        currency: Currency every figure is converted to; None = as in the plan.
        prices: False withholds every amount of money.
        vendors: False gives vendors, quotes, offers, regions and files pseudonyms.

    Raises:
        InputError: the plan states no rate for the currency, or what to withhold cannot be known.
    """
    currencies = _currencies(source)
    to = conversion(source, currency) if currency else None
    shown = without_vendors(source) if not vendors else source
    document = document_of(shown)
    if not vendors:
        document = replace(document, warnings=(*document.warnings, Text(phrase("view.vendors"), "warning")))
    if to is not None:
        document = converted(document, to)
    if not prices:
        document = without_prices(document, currencies)
    return Report(shown, document, language, to, prices)


def _currencies(source: Source) -> frozenset[str]:
    """Return the code of every currency the plan or its inputs name."""
    own = {source.currency} if source.currency else set()
    if source.loaded is None:
        return frozenset(own)
    fx = source.loaded.scenario.fx
    quoted = {quote.currency for quote in source.loaded.quotes.values()}
    return frozenset(own | quoted | ({fx.base, *fx.rates} if fx else set()))
