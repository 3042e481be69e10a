"""A scenario with its quotes, library and the origin of every value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from optimizer.io.document import Document
from optimizer.io.library import Library
from optimizer.results import AssumptionUsed, InputFile
from optimizer.schema.quote import Offer, Quote
from optimizer.schema.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Loaded:
    """Everything read for one scenario.

    Attributes:
        scenario: The scenario, ``--set`` applied; its name is the file name when it has none.
        quotes: Quote id -> quote of the highest revision, in the order of the ids.
        files: Every file read for it, with checksum and content; ``--set`` arguments are one more entry.
        assumptions: Keys left at their default, with the value used.
        library: Platforms and architectures the scenario draws on.
        document: The scenario file.
        quote_documents: Quote id -> the record it was read from.
    """

    scenario: Scenario
    quotes: Mapping[str, Quote]
    files: tuple[InputFile, ...]
    assumptions: tuple[AssumptionUsed, ...]
    library: Library
    document: Document
    quote_documents: Mapping[str, Document]

    def offers(self) -> Iterator[tuple[str, str, Offer]]:
        """Yield quote id, offer name and offer, in a fixed order."""
        for quote_id, quote in self.quotes.items():
            for name, offer in sorted(quote.offers.items()):
                yield quote_id, name, offer
