"""A plan without its vendors: names, quote ids, offers, regions and file names become pseudonyms everywhere.

The pseudonyms are the same in every document of a plan. Their order follows from the checksums of the plan's inputs,
which the documents withhold with the contents: who knows the names but not the files cannot tell which is which. Lists
that were in the order of the names are put in the order of the pseudonyms.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from optimizer.analysis.kept import analyses_of
from optimizer.errors import InputError, Problem
from optimizer.io.json_text import record_text
from optimizer.io.library import is_library_file
from optimizer.io.loaded import Loaded
from optimizer.io.scenario import reload_scenario
from optimizer.report.source import Source
from optimizer.results import Award, InputFile, Plan
from optimizer.schema.quote import DedicatedMode, DedicatedOffer, Offer, Quote
from optimizer.schema.scenario import Scenario, StatedMode

_Mode = TypeVar("_Mode", DedicatedMode, StatedMode)
_LETTERS = 26
_UNLISTED = re.compile(r"default, for (.+) and (\d+) more")
"""The first few of many, by name: which they are would tell."""

_CLOSED = frozenset(
    {
        "format",
        "status",
        "kind",
        "type",
        "policy",
        "limit",
        "unit",
        "currency",
        "precision",
        "recompute",
        "evidence",
        "platform",
        "architecture",
    }
)
"""Keys of a plan whose values are words of closed lists or ids of the library: no vendor has a say in them."""


def without_vendors(source: Source) -> Source:
    """Return a plan whose vendors cannot be told.

    Raises:
        InputError: this version cannot read the plan's inputs, so that it does not know every name to replace.
    """
    if source.loaded is None:
        fix = "Write the plan again with this version"
        raise InputError([Problem("--redact vendors", "the inputs of the plan cannot be read", source.unread, fix)])
    names = Pseudonyms(source.loaded, _salt(source.plan.provenance.inputs))
    inputs = names.files(source.plan.provenance.inputs)
    data = names.replaced(
        source.plan.model_dump(mode="python", by_alias=True, exclude={"awards": True, "provenance": {"inputs"}})
    )
    data["workloads"] = list(data["workloads"].values())
    data["awards"], places = names.awards(source.plan.awards)
    if data["cost"] is not None:
        data["cost"]["lines"] = _by_award(data["cost"]["lines"], places)
    data["provenance"]["inputs"] = inputs
    for used in data["provenance"]["assumptions"]:
        used["source"] = _UNLISTED.sub(_counted, used["source"])
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


def _counted(found: re.Match[str]) -> str:
    return f"default, for {found[1].count(', ') + 1 + int(found[2])} places"


def _by_award(lines: list[dict[str, Any]], places: Sequence[int]) -> list[dict[str, Any]]:
    """Return cost lines in the order of the new places of their awards; those of no award come last."""
    moved = [line | {"award": None if line["award"] is None else places[line["award"]]} for line in lines]
    return sorted(moved, key=lambda line: len(places) if line["award"] is None else line["award"])


def _salt(inputs: tuple[InputFile, ...]) -> str:
    return "".join(file.sha256 for file in inputs)


class Pseudonyms:
    """What stands for every name of a plan's vendors."""

    def __init__(self, loaded: Loaded, salt: str) -> None:
        """Name vendors Vendor A, B, …, their quotes quote-a, quote-a-2, …, offers offer-1, …, regions region-1, …."""
        self._loaded = loaded
        vendors = sorted({quote.vendor for quote in loaded.quotes.values()}, key=lambda name: _order(salt, name))
        letters = {vendor: _letter(at) for at, vendor in enumerate(vendors)}
        self._table: dict[str, str] = {vendor: f"Vendor {letter}" for vendor, letter in letters.items()}
        self._offers: dict[tuple[str, str], str] = {}
        self._regions: dict[tuple[str, str], str] = {}
        counts = dict.fromkeys(letters.values(), 0)
        for quote in sorted(loaded.quotes.values(), key=lambda quote: _order(salt, quote.quote)):
            letter = letters[quote.vendor]
            counts[letter] += 1
            self._name(quote, f"quote-{letter.lower()}" + (f"-{counts[letter]}" if counts[letter] > 1 else ""))
        self._pattern = _pattern(self._table)
        self._known: dict[str, str] = {}

    def _name(self, quote: Quote, name: str) -> None:
        """Name a quote, its file, its offers and their regions, in the forms in which plans mention them."""
        self._table[quote.quote] = name
        self._table.setdefault(self._loaded.quote_documents[quote.quote].name, f"quotes/{name}.yaml")
        for at, (offer, terms) in enumerate(quote.offers.items(), start=1):
            self._offers[quote.quote, offer] = f"offer-{at}"
            for form in ("{}/{}", "{} / {}", "quote {}, offer {}", "quotes.{}.offers.{}"):
                self._table[form.format(quote.quote, offer)] = form.format(name, f"offer-{at}")
            region = getattr(terms, "region", None)
            if region is not None:
                known = sum(vendor == quote.vendor for vendor, _ in self._regions)
                new = self._regions.setdefault((quote.vendor, region), f"region-{known + 1}")
                self._table[f"{quote.vendor}/{region}"] = f"{self._table[quote.vendor]}/{new}"

    def text(self, text: str) -> str:
        """Return text with every name replaced, the longest first."""
        if text not in self._known:  # plans repeat few texts many times
            self._known[text] = self._pattern.sub(lambda match: self._table[match[0]], text)
        return self._known[text]

    def replaced(self, data: Any) -> Any:
        """Return data of a plan with every text replaced but words of closed lists; keys included."""
        if isinstance(data, str):
            return self.text(data)
        if isinstance(data, Mapping):
            closed = _CLOSED | ({"name"} if "available" in data else set())
            return {self.text(key): value if key in closed else self.replaced(value) for key, value in data.items()}
        if isinstance(data, (list, tuple)):
            return _reordered(data, [self.replaced(item) for item in data])
        return data

    def awards(self, awards: Sequence[Award]) -> tuple[list[dict[str, Any]], list[int]]:
        """Return the data of awards in the order of their pseudonyms, and the new place of each."""
        data = [
            self.replaced(each.model_dump(mode="python", by_alias=True))
            | {"offer": self._offers[each.quote, each.offer]}
            for each in awards
        ]
        order = sorted(range(len(data)), key=lambda at: (*_known_by(data[at]), data[at]["offer"]))
        places = {old: new for new, old in enumerate(order)}
        return [data[at] for at in order], [places[at] for at in range(len(data))]

    def files(self, files: Iterable[InputFile]) -> tuple[InputFile, ...]:
        """Return the inputs that still count: the scenario, quotes in the order of their pseudonyms, the library's."""
        scenario = self.text(self._loaded.document.name)

        def place(file: InputFile) -> tuple[int, str]:
            if file.path == scenario:
                return 0, ""
            return (2, "") if is_library_file(file.path) else (1, file.path)

        return tuple(sorted((kept for file in files if (kept := self.file(file))), key=place))

    def file(self, file: InputFile) -> InputFile | None:
        """Return an input without names, comments and checksum; None for one that no longer counts; the library's as they are."""
        loaded = self._loaded
        if is_library_file(file.path):
            return file
        if file.path == loaded.document.name:
            return InputFile(path=self.text(file.path), sha256="", content=record_text(self._scenario(loaded.scenario)))
        own = [quote for name, quote in loaded.quotes.items() if loaded.quote_documents[name].name == file.path]
        if not own:
            return None  # a revision that a later one replaced, or --set, whose changes the scenario and quotes hold
        content = f"[{', '.join(record_text(self._quote(quote)) for quote in own)}]"
        return InputFile(path=self.text(file.path), sha256="", content=content)

    def _scenario(self, scenario: Scenario) -> Scenario:
        vendors = scenario.policy.vendors
        lists = {
            "allow": None if vendors.allow is None else tuple(map(self.text, vendors.allow)),
            "deny": tuple(map(self.text, vendors.deny)),
        }
        fixed = tuple(
            each.model_copy(update={"quote": self.text(each.quote), "offer": self._offers[each.quote, each.offer]})
            for each in scenario.fix
        )
        policy = scenario.policy.model_copy(update={"vendors": vendors.model_copy(update=lists)})
        workloads = {
            name: work.model_copy(update={"modes": self._modes(work.modes)})
            for name, work in scenario.workloads.items()
        }
        named = {"name": self.text(scenario.name or ""), "quotes": ("quotes",), "workloads": workloads}
        return scenario.model_copy(update={"fix": fixed, "policy": policy, **named})

    def _quote(self, quote: Quote) -> Quote:
        offers = {
            self._offers[quote.quote, name]: self._offer(quote.vendor, offer) for name, offer in quote.offers.items()
        }
        kept: dict[str, object] = {
            "quote": self.text(quote.quote),
            "vendor": self._table[quote.vendor],
            "offers": offers,
        }
        kept |= {"delivery": self.text(quote.delivery) if quote.delivery else None}
        told: dict[str, object] = {"source": None, "supersedes": None, "terms": {}}
        return quote.model_copy(update=kept | told | dict.fromkeys(("lines", "totals", "warnings"), ()))

    def _offer(self, vendor: str, offer: Offer) -> Offer:
        printed = dict.fromkeys(("status", "printed", "computed"))
        lines = tuple(line.model_copy(update={"item": self.text(line.item), **printed}) for line in offer.lines)
        region = getattr(offer, "region", None)
        place = {"region": self._regions[vendor, region]} if region is not None else {}
        stated = {"modes": self._modes(offer.modes)} if isinstance(offer, DedicatedOffer) else {}
        return offer.model_copy(update={"note": None, "lines": lines, **place, **stated})

    def _modes(self, modes: tuple[_Mode, ...]) -> tuple[_Mode, ...]:
        return tuple(mode.model_copy(update={"source": self.text(mode.source)}) for mode in modes)


def _reordered(old: Sequence[Any], new: list[Any]) -> list[Any]:
    """Return a list whose items that name a vendor are in the order of the pseudonyms, at the places of such items."""
    places = [at for at, (before, item) in enumerate(zip(old, new, strict=True)) if _names_a_vendor(before, item)]
    ordered = sorted((new[at] for at in places), key=_known_by)
    for at, item in zip(places, ordered, strict=True):
        new[at] = item
    return new


def _names_a_vendor(before: Any, item: Any) -> bool:
    if isinstance(item, Mapping):
        return bool(item.get("quote") or item.get("vendor"))
    return isinstance(item, str) and item != before


def _known_by(item: Any) -> tuple[str, str]:
    """Return what an item is put in order by: the text itself, or vendor and quote."""
    return (item, "") if isinstance(item, str) else (item.get("vendor") or "", item.get("quote") or "")


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
