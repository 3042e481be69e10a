"""A file of sheets -> quotes: rows are grouped by quote, read, added up and completed with the header."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping as Map
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from optimizer.errors import InputError, Problem
from optimizer.io.importing.breaks import grouped, with_breaks
from optimizer.io.importing.bundles import with_bundles
from optimizer.io.importing.capacity import capacity_of, split_prices
from optimizer.io.importing.cells import Book, Row
from optimizer.io.importing.drafts import Draft, read_draft
from optimizer.io.importing.duplicates import once
from optimizer.io.importing.header import Header, read_header
from optimizer.io.importing.lines import NO_CURRENCY, Terms, to_record, unique_ids
from optimizer.io.importing.mapping import NOT_COMPUTE, Mapping, slug
from optimizer.io.importing.notes import Notes, Question
from optimizer.io.importing.offers import offers_of
from optimizer.io.importing.platforms import looks_like_compute, recognise
from optimizer.io.importing.reader import Reader
from optimizer.io.importing.remarks import quote_remarks
from optimizer.io.importing.rows import Summary
from optimizer.io.importing.sheets import Opened, open_sheets
from optimizer.io.importing.tables import Table
from optimizer.io.importing.totals import check_words, summary_lines, totals_of
from optimizer.schema.platform import Platform
from optimizer.schema.price import PriceState
from optimizer.schema.quote import Quote
from optimizer.schema.quote_record import LineRecord


@dataclass(frozen=True, slots=True)
class ReadQuote:
    """One quote with what its import has to say."""

    quote: Quote
    notes: Notes


Group = tuple[str, str, str]
"""Quote id, vendor and revision a row names; empty where the sheet has no such column."""


def read_quotes_of(book: Book, mapping: Mapping, platforms: Map[str, Platform]) -> tuple[tuple[ReadQuote, ...], Notes]:
    """Return the quotes of a file and the notes of the file as a whole.

    Args:
        book: The file.
        mapping: What is known about its vendor.
        platforms: Platforms of the library, to recognise hardware by its words.
    """
    opened = open_sheets(book, mapping)
    groups = _groups(opened)
    quotes = []
    for group, rows in groups.items():
        summaries = [
            (table, item)
            for table, found in opened.tables
            for item in found.summaries
            if _owns(group, table, item.row, groups)
        ]
        try:
            quotes.append(_quote(opened, group, rows, summaries, platforms, several=len(groups) > 1))
        except ValidationError as error:
            raise InputError(_impossible(book.name, rows[0][1].number, error)) from None
    kept = _latest(quotes, opened.notes)
    _hours(kept, opened.notes)
    return tuple(kept), opened.notes


def _impossible(name: str, row: int, error: ValidationError) -> list[Problem]:
    """Return what is wrong with a quote whose values no record can hold, such as a sum of 1e30."""
    return [
        Problem(f"{name}, quote from row {row}", f"{'.'.join(map(str, item['loc']))}: {item['input']}", item["msg"])
        for item in error.errors(include_url=False)[:10]
    ]


def _groups(opened: Opened) -> dict[Group, list[tuple[Table, Row]]]:
    groups: dict[Group, list[tuple[Table, Row]]] = {}
    for table, found in opened.tables:
        for row in found.items:
            groups.setdefault(_group(table, row), []).append((table, row))
    return groups


def _group(table: Table, row: Row) -> Group:
    cells = [table.cell(row, role) for role in ("quote_id", "vendor", "revision")]
    first, vendor, revision = (cell.text if cell else "" for cell in cells)
    return first, vendor, revision


def _owns(group: Group, table: Table, row: Row, groups: Map[Group, object]) -> bool:
    """True when a summary row belongs to a quote: by its own columns, or because there is only one quote."""
    if len(groups) == 1:
        return True
    revision = table.cell(row, "revision")
    return bool(revision) and revision is not None and revision.text == group[2]


def _quote(
    opened: Opened,
    group: Group,
    rows: Sequence[tuple[Table, Row]],
    summaries: Sequence[tuple[Table, Summary]],
    platforms: Map[str, Platform],
    *,
    several: bool,
) -> ReadQuote:
    notes = Notes()
    reader = Reader(opened.evidence, opened.currency, opened.mapping, notes)
    drafts = [read_draft(table, row, reader) for table, row in rows]
    drafts = [part for draft in once(drafts, notes) for part in split_prices(draft, reader)]
    header = read_header(opened, group, drafts, reader, several=several)
    reader = replace(reader, currency=header.currency or opened.currency)
    terms = Terms(header.currency or NO_CURRENCY, header.tax_included, header.tax_rate)
    lines = _lines(drafts, terms, reader, platforms)
    extra, printed = summary_lines(summaries, reader)
    lines += [*extra, *_freight(opened, lines + list(extra), reader)]
    totals = totals_of(lines, printed, terms, reader)
    check_words(opened.facts.prose, totals, reader)
    quote_remarks(drafts, lines, opened.facts.prose, notes, opened.evidence.scale)
    _ask_currency(header, lines, notes)
    offers = offers_of(lines, platforms, notes)
    if not offers and not any(warning.code == "platform_unknown" for warning in notes.warnings):
        notes.once(
            "no_offer", opened.book.name, "no line is matched to a platform: kept as a record, nothing to plan with"
        )
    data: dict[str, Any] = {
        **header.data(),
        "offers": offers,
        "lines": lines,
        "totals": totals,
        "warnings": notes.warnings,
    }
    return ReadQuote(Quote.model_validate(data), notes)


def _lines(drafts: Sequence[Draft], terms: Terms, reader: Reader, platforms: Map[str, Platform]) -> list[LineRecord]:
    groups = grouped(with_bundles(drafts))
    ids = unique_ids([group[0] for group in groups])
    lines = []
    for line_id, group in zip(ids, groups):
        record = with_breaks(to_record(group[0], line_id, terms, reader), group, reader)
        capacity = capacity_of(group[0], reader)
        platform = _platform(group[0], record, reader, platforms)
        lines.append(record.model_copy(update={"capacity": capacity, "platform": platform}))
    return lines


def _platform(draft: Draft, record: LineRecord, reader: Reader, platforms: Map[str, Platform]) -> str | None:
    """Return the platform of a line: its own column, the mapping, or the only one its words name."""
    stated = draft.text("platform").casefold()
    words = (record.part or "", record.description or "")
    answer = next((found for word in words if word and (found := reader.mapping.platforms.get(word))), None)
    if (stated in platforms or answer) and (stated or answer) != NOT_COMPUTE:
        return stated if stated in platforms else answer
    if answer == NOT_COMPUTE or record.role not in (None, "hardware"):
        return None
    text = " ".join(filter(None, (record.description, record.part, draft.text("more_description"))))
    found = recognise(text, platforms)
    if found:
        reader.notes.warn("platform_recognised", draft.place, f'{draft.name}: "{text[:60]}" is read as {found}')
        return found
    if stated or looks_like_compute(f"{text} {draft.basis.words} {draft.text('unit')}"):
        name = record.part or record.description or record.id
        said = f'{draft.name}: "{(stated or text)[:60]}" is matched to no platform, so it is no offer yet; add it to the mapping'
        reader.notes.warn("platform_unknown", draft.place, said)
        reader.notes.questions.append(
            Question(
                to="vendor",
                code="platform_unknown",
                location=draft.place,
                question=f"{draft.name}: which hardware is it?",
                key=f"platforms.{name}",
            )
        )
    return None


def _freight(opened: Opened, lines: Sequence[LineRecord], reader: Reader) -> list[LineRecord]:
    """Return a freight charge of the header as a line, when no row of a table gives it."""
    fact = opened.facts.first("freight")
    if fact is None or any(line.role == "freight" for line in lines) or len(opened.tables) == 0:
        return []
    read = reader.price(fact.cell if fact.cell.number is not None else replace(fact.cell, text=fact.text))
    if read.amount is None or read.state is not PriceState.PRICED:
        return []
    return [
        LineRecord(id="freight", role="freight", description="freight", quantity=Decimal(1), per="order",
                   price={"amount": read.amount}, computed=read.amount, cell=fact.cell.place, cells={"price": fact.cell.place})
    ]  # fmt: skip


def _ask_currency(header: Header, lines: Sequence[LineRecord], notes: Notes) -> None:
    """Ask for the currency when amounts stand there without one."""
    bare = [line for line in lines if line.computed or line.low or not isinstance(line.price, PriceState)]
    unknown = [line for line in bare if not header.currency and _bare(line)]
    if unknown:
        place = unknown[0].cell or unknown[0].id
        notes.ask("currency_unknown", place, f"{len(unknown)} amounts name no currency; which is it?", "currency")


def _bare(line: LineRecord) -> bool:
    return getattr(line.price, "currency", None) is None and not isinstance(line.price, PriceState)


def _latest(quotes: list[ReadQuote], notes: Notes) -> list[ReadQuote]:
    """Return the quotes; of several revisions of one the highest, the others noted and kept out of the plan."""
    highest: dict[str, int] = {}
    for read in quotes:
        highest[read.quote.quote] = max(highest.get(read.quote.quote, -1), read.quote.revision)
    for read in quotes:
        if read.quote.revision < highest[read.quote.quote]:
            said = f"revision {read.quote.revision} of {read.quote.quote} is superseded by {highest[read.quote.quote]}"
            place = read.quote.lines[0].cell or "" if read.quote.lines else ""
            notes.warn("superseded_revision", place or read.quote.quote, said)
            read.notes.questions.clear()
    return quotes


def _hours(quotes: Sequence[ReadQuote], notes: Notes) -> None:
    """Note when quotes of one file count different hours per month: monthly sums are then not comparable."""
    found = {
        line.capacity.hours_per_month
        for read in quotes
        for line in read.quote.lines
        if line.capacity and line.capacity.hours_per_month
    }
    if len(found) > 1:
        said = " and ".join(f"{number:f}" for number in sorted(found))
        notes.warn(
            "hours_conventions_mixed",
            quotes[0].quote.lines[0].cell or "",
            f"{said} hours per month are both in use: compare per hour",
        )


def file_stem(name: str) -> str:
    """Return an id from a file name."""
    return slug(Path(name).stem)


__all__ = ["Group", "ReadQuote", "dt", "file_stem", "read_quotes_of"]
