"""Import files: read each with the mapping of its vendor, and say what was understood."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from collections.abc import Mapping as Map
from pathlib import Path
from typing import Literal

from optimizer.errors import InputError, Problem
from optimizer.io.importing.assemble import ReadQuote, read_quotes_of
from optimizer.io.importing.files import YAML_SUFFIXES, read_book
from optimizer.io.importing.mapping import Mapping
from optimizer.io.importing.notes import Ignored, Notes, Question
from optimizer.io.importing.records import is_records, read_records
from optimizer.io.quotes import read_quote_files, read_quotes
from optimizer.results import Result
from optimizer.schema.platform import Platform
from optimizer.schema.quote import Quote
from optimizer.schema.quote_record import SheetWarning

State = Literal["valid", "expired", "validity_unknown", "superseded"]


class QuoteState(Result):
    """Whether a quote can still be signed."""

    quote: str
    """Quote id."""
    revision: int
    """Its revision."""
    file: str
    """File it came from."""
    kind: str
    """Binding, budgetary, list or contract."""
    state: State
    """Valid, expired, of unknown validity, or superseded by a higher revision."""
    valid_until: dt.date | None
    """Last valid day."""
    days_left: int | None
    """Days from today to the last valid day; negative when expired."""


class Import(Result):
    """What was understood of some files."""

    quotes: tuple[Quote, ...]
    """Quotes read, all revisions."""
    warnings: tuple[SheetWarning, ...]
    """Everything assumed or doubtful, of files and quotes."""
    questions: tuple[Question, ...]
    """Open questions; one to the buyer means that the import is not finished."""
    ignored: tuple[Ignored, ...]
    """What was left out, and why."""
    states: tuple[QuoteState, ...]
    """State of each quote on the day asked for."""

    @property
    def finished(self) -> bool:
        """True when no question about reading the files is open."""
        return not any(question.to == "buyer" for question in self.questions)


MappingOf = Callable[[str], Mapping]
"""Vendor name -> mapping."""


def import_files(paths: Sequence[Path], mapping_of: MappingOf, platforms: Map[str, Platform], today: dt.date) -> Import:
    """Read files into quotes.

    Args:
        paths: CSV, TSV, XLSX, XLS, ODS or YAML files.
        mapping_of: Gives the mapping of a vendor; called with the file's stem first, then with the vendor it names.
        platforms: Platforms of the library, to recognise hardware by.
        today: Day on which validity is judged.

    Raises:
        InputError: With the problems of all files that cannot be read or hold no table.
    """
    reads: list[tuple[Path, Sequence[ReadQuote], Notes]] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            reads.append((path, *_read(path, mapping_of, platforms)))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return _import(reads, today)


def _read(path: Path, mapping_of: MappingOf, platforms: Map[str, Platform]) -> tuple[Sequence[ReadQuote], Notes]:
    if path.suffix.lower() in YAML_SUFFIXES:
        book = read_quotes(read_quote_files([path]))
        return [ReadQuote(quote, Notes()) for quote in book.quotes.values()], Notes()
    mapping = mapping_of(path.stem)
    book_of_sheets = read_book(path, mapping.encoding)
    if is_records(book_of_sheets):
        return [ReadQuote(quote, Notes()) for quote in read_records(book_of_sheets)], Notes()
    quotes, notes = read_quotes_of(book_of_sheets, mapping, platforms)
    known = next((found for read in quotes if (found := mapping_of(read.quote.vendor)) != Mapping()), mapping)
    if known != mapping:
        book_of_sheets = read_book(path, known.encoding)
        quotes, notes = read_quotes_of(book_of_sheets, known, platforms)
    if not quotes:
        missing = "no table with an item and a price or quantity was found"
        fix = "Name its columns in a mapping (columns: {heading: unit_price, …})"
        raise InputError(
            [Problem(book_of_sheets.name, missing, "Expected headings such as part number, quantity, unit price", fix)]
        )
    return quotes, notes


def _import(reads: Sequence[tuple[Path, Sequence[ReadQuote], Notes]], today: dt.date) -> Import:
    states = [_state(read.quote, path, quotes, today) for path, quotes, _ in reads for read in quotes]
    notes = [part for _, quotes, own in reads for part in (own, *(read.notes for read in quotes))]
    expired = [
        SheetWarning(
            code="expired",
            location=f"{state.file}, {state.quote}",
            message=f"valid until {state.valid_until}, before {today}: used only with policy.allow_expired_quotes",
        )
        for state in states
        if state.state == "expired"
    ]
    return Import(
        quotes=tuple(_with_file_warnings(read.quote, own, len(quotes)) for _, quotes, own in reads for read in quotes),
        warnings=(*(warning for part in notes for warning in part.warnings), *expired),
        questions=tuple(question for part in notes for question in part.questions),
        ignored=tuple(item for part in notes for item in part.ignored),
        states=tuple(states),
    )


def _with_file_warnings(quote: Quote, notes: Notes, quotes: int) -> Quote:
    """Return the quote with what its file as a whole has to say, when the file holds no other quote."""
    return quote.model_copy(update={"warnings": (*notes.warnings, *quote.warnings)}) if quotes == 1 else quote


def _state(quote: Quote, path: Path, siblings: Sequence[ReadQuote], today: dt.date) -> QuoteState:
    last = quote.valid_until
    newest = max(read.quote.revision for read in siblings if read.quote.quote == quote.quote)
    state: State = "validity_unknown" if last is None else "valid" if last >= today else "expired"
    return QuoteState(
        quote=quote.quote,
        revision=quote.revision,
        file=path.name,
        kind=quote.kind,
        state="superseded" if quote.revision < newest else state,
        valid_until=last,
        days_left=None if last is None else (last - today).days,
    )
