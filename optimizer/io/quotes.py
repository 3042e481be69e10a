"""Find the quote files a scenario names, read them, keep the highest revision of each quote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from optimizer.errors import InputError, Problem, did_you_mean
from optimizer.io.document import Document
from optimizer.io.overrides import with_sets
from optimizer.io.validate import checked, validated
from optimizer.io.yaml_reader import read_yaml_file
from optimizer.schema.quote import Quote
from optimizer.schema.scenario import Scenario


@dataclass(frozen=True, slots=True)
class QuoteBook:
    """Quotes read, and the files they came from.

    Attributes:
        quotes: Quote id -> quote of the highest revision, ordered by id.
        records: Quote id -> the record it was read from.
        files: Every file read, superseded revisions included.
    """

    quotes: Mapping[str, Quote]
    records: Mapping[str, Document]
    files: tuple[Document, ...]


def find_quote_files(scenario: Scenario, document: Document, folders: Sequence[Path]) -> tuple[Path, ...]:
    """Return the files behind ``quotes:``; the first of the folders that has an entry counts.

    Args:
        scenario: Names files and folders; a folder stands for every ``*.yaml`` in it, sorted.
        document: The scenario file, for messages.
        folders: Where to look, in order.

    Raises:
        InputError: With every entry that names nothing, or an empty folder.
    """
    files: dict[Path, Path] = {}
    problems: list[Problem] = []
    for position, entry in enumerate(scenario.quotes):
        found = next((folder / entry for folder in folders if (folder / entry).exists()), None)
        some = sorted(found.glob("*.yaml")) if found and found.is_dir() else [found] if found else []
        files |= {file.resolve(): file for file in some if file.resolve() not in files}
        if not some:
            said = f'no file or folder "{entry}"' if found is None else f'no *.yaml file in the folder "{entry}"'
            looked = "" if found else f"Looked in {', '.join(str(folder) for folder in dict.fromkeys(folders))}"
            problems.append(document.problem(("quotes", position), said, looked))
    if problems:
        raise InputError(problems)
    return tuple(files.values())


def read_quotes(documents: Iterable[Document]) -> QuoteBook:
    """Return the quotes in some files: each holds one quote, or a list of quotes.

    Raises:
        InputError: With every problem of every file, and every pair of equal id and revision.
    """
    files = tuple(documents)
    read = [(part, *checked(Quote, part)) for document in files for part in _parts(document)]
    problems = [problem for _, _, wrong in read for problem in wrong]
    latest: dict[str, tuple[Quote, Document]] = {}
    seen: dict[tuple[str, int], Document] = {}
    for record, quote, _ in read:
        if quote is None:
            continue
        problems += _clashes(quote, record, seen, latest)
        seen[quote.quote, quote.revision] = record
        if quote.quote not in latest or quote.revision > latest[quote.quote][0].revision:
            latest[quote.quote] = quote, record
    if problems:
        raise InputError(problems)
    ordered = sorted(latest.items())
    return QuoteBook({name: q for name, (q, _) in ordered}, {name: record for name, (_, record) in ordered}, files)


def read_quote_files(paths: Iterable[Path]) -> tuple[Document, ...]:
    """Return the documents of some files; InputError with the problems of all of them."""
    documents: list[Document] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            documents.append(read_yaml_file(path))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return tuple(documents)


def _parts(document: Document) -> Iterator[Document]:
    if isinstance(document.data, list):
        yield from (document.part(position) for position in range(len(document.data)))
    else:
        yield document


def _clashes(
    quote: Quote,
    record: Document,
    seen: Mapping[tuple[str, int], Document],
    latest: Mapping[str, tuple[Quote, Document]],
) -> Iterator[Problem]:
    if other := seen.get((quote.quote, quote.revision)):
        found = f'"{quote.quote}" revision {quote.revision} is also in {other.at(())}'
        yield record.problem(("quote",), found, "Expected each revision once", "Raise the revision or remove one")
    elif quote.quote in latest and latest[quote.quote][0].vendor != quote.vendor:
        other_quote, other = latest[quote.quote]
        found = f'"{quote.quote}" is also a quote of {other_quote.vendor} in {other.at(())}'
        yield record.problem(("quote",), found, "Expected one vendor per quote id", "Rename one of them")


def is_quote_set(text: str) -> bool:
    """Return whether a ``--set`` argument changes a quote (``quotes.ID.KEY=VALUE``), not the scenario."""
    first, _, rest = text.partition("=")[0].partition(".")
    return first.strip() == "quotes" and "." in rest and not rest.partition(".")[0].isdecimal()


def with_quote_sets(book: QuoteBook, sets: Iterable[str]) -> QuoteBook:
    """Return the quotes with every ``quotes.ID.KEY=VALUE`` applied in order.

    Raises:
        InputError: No such quote, or a change that the quote refuses.
    """
    for text in sets:
        name, rest = _quote_named(text.strip().removeprefix("quotes."), book, text)
        record = with_sets(book.records[name], [rest], Quote)
        quote = validated(Quote, record)
        book = replace(book, quotes={**book.quotes, name: quote}, records={**book.records, name: record})
    return book


def _quote_named(text: str, book: QuoteBook, whole: str) -> tuple[str, str]:
    """Return the quote a change is about, and the change of it."""
    found = max((name for name in book.quotes if text.startswith(f"{name}.")), key=len, default=None)
    if found is None:
        name = text.partition(".")[0]
        expected = f"Expected one of {', '.join(book.quotes)}"
        raise InputError(
            [Problem(f"--set {whole}", f'no quote "{name}"', expected, did_you_mean(name, [*book.quotes]))]
        )
    return found, text.removeprefix(f"{found}.")
