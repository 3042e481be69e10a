"""A plan without its vendors: names, quote ids, offers, regions and file names become pseudonyms everywhere.

The pseudonyms are the same in every document of a plan. Their order follows from the checksums of the plan's inputs,
which the documents withhold with the contents: who knows the names but not the files cannot tell which is which.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from optimizer.analysis.kept import analyses_of
from optimizer.errors import InputError, Problem
from optimizer.io.json_text import record_text
from optimizer.io.library import is_library_file
from optimizer.io.loaded import Loaded
from optimizer.io.quotes import is_quote_set
from optimizer.io.scenario import SETS, reload_scenario
from optimizer.io.yaml_reader import read_yaml
from optimizer.report.source import Source
from optimizer.results import InputFile, Plan
from optimizer.schema.quote import Quote

_LETTERS = 26


def without_vendors(source: Source) -> Source:
    """Return a plan whose vendors cannot be told.

    Raises:
        InputError: this version cannot read the plan's inputs, so that it does not know every name to replace.
    """
    if source.loaded is None:
        fix = "Write the plan again with this version"
        raise InputError([Problem("--redact vendors", "the inputs of the plan cannot be read", source.unread, fix)])
    names = Pseudonyms(source.loaded, _salt(source.plan.provenance.inputs))
    inputs = tuple(kept for file in source.plan.provenance.inputs if (kept := names.file(file, source.loaded)))
    data = names.replaced(source.plan.model_dump(mode="python", by_alias=True, exclude={"provenance": {"inputs"}}))
    data["workloads"] = list(data["workloads"].values())
    data["awards"] = [
        names.award(old.quote, old.offer, new) for old, new in zip(source.plan.awards, data["awards"], strict=True)
    ]
    data["provenance"]["inputs"] = inputs
    plan = Plan.model_validate(data)
    return replace(
        source,
        plan=plan,
        file=names.text(source.file),
        loaded=reload_scenario(inputs, source.loaded.library),
        changed=tuple(map(names.text, source.changed)),
        missing=tuple(map(names.text, source.missing)),
        analyses=analyses_of(plan),
    )


def _salt(inputs: tuple[InputFile, ...]) -> str:
    return "".join(file.sha256 for file in inputs)


class Pseudonyms:
    """What stands for every name of a plan's vendors."""

    def __init__(self, loaded: Loaded, salt: str) -> None:
        """Name vendors Vendor A, B, …, their quotes quote-a, quote-b-2, … and the offers offer-1, offer-2, …."""
        vendors = sorted({quote.vendor for quote in loaded.quotes.values()}, key=lambda name: _order(salt, name))
        letters = {vendor: _letter(at) for at, vendor in enumerate(vendors)}
        self.quotes: dict[str, Quote] = {}
        self.offers: dict[tuple[str, str], str] = {}
        self.files: dict[str, str] = {}
        self.table: dict[str, str] = {vendor: f"Vendor {letter}" for vendor, letter in letters.items()}
        counts: dict[str, int] = {}
        for quote in sorted(loaded.quotes.values(), key=lambda quote: _order(salt, quote.quote)):
            letter = letters[quote.vendor]
            counts[letter] = counts.get(letter, 0) + 1
            self._quote(quote, f"quote-{letter.lower()}" + (f"-{counts[letter]}" if counts[letter] > 1 else ""))
            path = loaded.quote_documents[quote.quote].name
            self.files.setdefault(path, f"quotes/{self.table[quote.quote]}.yaml")
        self.table |= self.files
        self._pattern = _pattern(self.table)

    def _quote(self, quote: Quote, name: str) -> None:
        self.table[quote.quote] = name
        regions: dict[str, str] = {}
        offers = {}
        for at, (offer, terms) in enumerate(quote.offers.items(), start=1):
            new = f"offer-{at}"
            self.offers[quote.quote, offer] = new
            for form in ("{}/{}", "{} / {}", "quote {}, offer {}", "quotes.{}.offers.{}"):
                self.table[form.format(quote.quote, offer)] = form.format(name, new)
            changes: dict[str, object] = {"note": None}
            region = getattr(terms, "region", None)
            if region is not None:
                changes["region"] = regions.setdefault(region, f"region-{len(regions) + 1}")
                self.table[f"{quote.vendor}/{region}"] = f"{self.table[quote.vendor]}/{changes['region']}"
                self.table.setdefault(region, str(changes["region"]))
            lines = tuple(
                line.model_copy(update={"status": None, "printed": None, "computed": None}) for line in terms.lines
            )
            offers[new] = terms.model_copy(update={**changes, "lines": lines})
        kept: dict[str, object] = {"quote": name, "vendor": self.table[quote.vendor], "offers": offers}
        gone: dict[str, object] = {
            "source": None,
            "supersedes": None,
            "terms": {},
            "lines": (),
            "totals": (),
            "warnings": (),
        }
        self.quotes[quote.quote] = quote.model_copy(update=kept | gone)

    def text(self, text: str) -> str:
        """Return text with every name replaced, the longest first."""
        return self._pattern.sub(lambda match: self.table[match[0]], text)

    def replaced(self, data: Any) -> Any:
        """Return data with every text replaced, keys included."""
        if isinstance(data, str):
            return self.text(data)
        if isinstance(data, Mapping):
            return {self.replaced(key): self.replaced(value) for key, value in data.items()}
        if isinstance(data, (list, tuple)):
            return [self.replaced(item) for item in data]
        return data

    def award(self, quote: str, offer: str, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data of an award with the name of its offer replaced."""
        return data | {"offer": self.offers[quote, offer]}

    def file(self, file: InputFile, loaded: Loaded) -> InputFile | None:
        """Return an input without names, comments and checksum; None for what no longer matters; the library's as they are."""
        if is_library_file(file.path):
            return file
        own = [quote for name, quote in self.quotes.items() if loaded.quote_documents[name].name == file.path]
        if own:
            content = f"[{', '.join(self.text(record_text(quote)) for quote in own)}]"
        elif file.path == SETS:
            content = self.text("\n".join(line for line in file.content.splitlines() if not is_quote_set(line)))
        elif file.path == loaded.document.name:
            content = self._scenario(file)
        else:
            return None  # a revision that a later one replaced
        return InputFile(path=self.text(file.path), sha256="", content=content)

    def _scenario(self, file: InputFile) -> str:
        """Return a scenario as JSON, which is YAML: without its comments, its signed offers renamed."""
        data: Any = read_yaml(file.content, file.path).data
        for signed in data.get("fix") or ():
            signed["offer"] = self.offers.get((signed["quote"], signed["offer"]), signed["offer"])
        return json.dumps(self.replaced(data | {"quotes": ["quotes"]}), default=float, ensure_ascii=False)


def _order(salt: str, name: str) -> str:
    return hashlib.sha256(f"{salt}{name}".encode()).hexdigest()


def _letter(at: int) -> str:
    """Return A … Z, AA, AB, …."""
    more, last = divmod(at, _LETTERS)
    return (_letter(more - 1) if more else "") + chr(ord("A") + last)


def _pattern(table: Mapping[str, str]) -> re.Pattern[str]:
    """Return the pattern of every name as a word of its own; in scripts without blanks anywhere."""
    names = sorted(table, key=len, reverse=True)
    return re.compile("|".join(f"{_edge(name[0], '<!')}{re.escape(name)}{_edge(name[-1], '!')}" for name in names))


def _edge(letter: str, look: str) -> str:
    return f"(?{look}[A-Za-z0-9_])" if re.match(r"[A-Za-z0-9_]", letter) else ""
