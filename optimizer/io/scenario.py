"""Read a scenario with everything it refers to, and refuse what does not fit together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from optimizer.errors import InputError
from optimizer.io.assumptions import assumptions
from optimizer.io.consistency import contradictions
from optimizer.io.document import Document
from optimizer.io.json_text import record_text
from optimizer.io.library import Library, is_library_file
from optimizer.io.loaded import Loaded
from optimizer.io.overrides import with_sets
from optimizer.io.quotes import (
    QuoteBook,
    find_quote_files,
    is_quote_set,
    read_quote_files,
    read_quotes,
    with_quote_sets,
)
from optimizer.io.references import named_platforms, unknown_names
from optimizer.io.unsupported import unsupported
from optimizer.io.validate import validated
from optimizer.io.yaml_reader import read_yaml, read_yaml_file
from optimizer.results import InputFile
from optimizer.schema.scenario import Scenario

SETS = "--set"
"""Name under which a plan carries the ``--set`` arguments it was made with."""


def load_scenario(path: str | Path | Scenario, sets: Sequence[str] = (), library: Library | None = None) -> Loaded:
    """Read a scenario file, its quotes and what it uses of the library.

    Args:
        path: The scenario file; or a scenario object, whose quotes are looked up from the current folder.
        sets: ``KEY=VALUE`` arguments of ``--set``; ``quotes.ID.KEY=VALUE`` changes a quote.
        library: Platforms and architectures; default the shipped ones.

    Quotes are looked up in the scenario's folder, its parent, then the library's folders, last one first.

    Raises:
        InputError: With every problem of the scenario file; else of all quote files; else of how they fit together.
    """
    if isinstance(path, Scenario):
        written = read_yaml(record_text(path), path.name or "scenario")
        path = Path(written.name)
    else:
        path = Path(path)
        written = read_yaml_file(path)
    library = library or Library.shipped()
    document = with_sets(written, _own(sets), Scenario)
    scenario = validated(Scenario, document)
    folders = (path.parent, path.resolve().parent.parent, *reversed(library.roots))
    files = find_quote_files(scenario, document, folders)
    return _loaded(scenario, document, read_quotes(read_quote_files(files)), sets, library)


def reload_scenario(inputs: Iterable[InputFile], library: Library | None = None) -> Loaded:
    """Read a scenario again from the contents a plan carries: the scenario first, then quotes and library files.

    Facts the plan was made from are read as they were then; ``library`` supplies the rest.

    Raises:
        InputError: As :func:`load_scenario`.
    """
    files = list(inputs)
    sets = [line for file in files if file.path == SETS for line in file.content.splitlines()]
    documents = [read_yaml(file.content, file.path) for file in files if file.path != SETS]
    document = with_sets(documents[0], _own(sets), Scenario)
    facts = [other for other in documents[1:] if is_library_file(other.name)]
    quotes = [other for other in documents[1:] if not is_library_file(other.name)]
    scenario = validated(Scenario, document)
    return _loaded(scenario, document, read_quotes(quotes), sets, (library or Library.shipped()).pin(facts))


def changed(loaded: Loaded, sets: Sequence[str]) -> Loaded:
    """Return a loaded scenario with further ``KEY=VALUE`` changes.

    Raises:
        InputError: As :func:`load_scenario`.
    """
    document = with_sets(loaded.document, _own(sets), Scenario)
    book = QuoteBook(loaded.quotes, loaded.quote_documents, ())
    scenario = validated(Scenario, document) if _own(sets) else loaded.scenario
    return _loaded(scenario, document, book, sets, loaded.library)


def _own(sets: Sequence[str]) -> list[str]:
    """Return the changes of the scenario itself: those that are not about a quote."""
    return [text for text in sets if not is_quote_set(text)]


def _loaded(scenario: Scenario, document: Document, book: QuoteBook, sets: Sequence[str], library: Library) -> Loaded:
    book = with_quote_sets(book, filter(is_quote_set, sets))
    loaded = Loaded(scenario, book.quotes, (), (), library, document, book.records)
    problems = (*unknown_names(loaded), *contradictions(loaded), *unsupported(loaded))
    if problems:
        raise InputError(problems)
    raw = {name: (quote, book.records[name].data) for name, quote in book.quotes.items()}
    used = tuple(assumptions(scenario, document.data, raw))
    named = scenario.model_copy(update={"name": scenario.name or Path(document.name).stem})
    return Loaded(named, book.quotes, _files(loaded, book, sets), used, library, document, book.records)


def _files(loaded: Loaded, book: QuoteBook, sets: Sequence[str]) -> tuple[InputFile, ...]:
    """Return every file behind an answer: scenario, --set, quotes, platforms, architectures."""
    architectures = {workload.architecture for workload in loaded.scenario.workloads.values() if workload.architecture}
    library = loaded.library.inputs(named_platforms(loaded), architectures)
    given = (loaded.document.input_file(), *(document.input_file() for document in book.files))
    return (*given, *library, *([_sets_file(sets)] if sets else []))


def _sets_file(sets: Sequence[str]) -> InputFile:
    content = "\n".join(sets)
    return InputFile(path=SETS, sha256=hashlib.sha256(content.encode()).hexdigest(), content=content)
