"""Facts of the header and the small print: who, when, which currency, tax, payment, delivery."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from optimizer.io.importing.cells import Cell, Row
from optimizer.io.importing.numbers import plain
from optimizer.io.importing.vocabulary import meaning, phrase

_SEGMENT = re.compile(r"\s{2,}|[;；。\n]|\.\s+(?=[A-Z])|　+")
_LABELLED = re.compile(r"([^:：]{2,40})[:：]\s*(.+)")
_QUOTE_NUMBER = re.compile(
    r"(?:quote|quotation|offer|bid|proposal|angebot)s?\s*(?:#|no\.?|nr\.?|number)\s*[:：]?\s*([A-Za-z0-9][\w./-]*)",
    re.IGNORECASE,
)
_INSIDE = re.compile(r"[(（]([^()（）]*)[)）]")
_TERMS = re.compile(
    r"\b(EXW|FCA|FAS|FOB|CFR|CIF|CPT|CIP|DAP|DPU|DDP|DDU|DAT)\b(?:\s+([\w][\w -]{1,40}?))?(?=[,;.()]|\s*$|\s+[Ii]ncoterms)"
)
_INCOTERMS_YEAR = re.compile(r"incoterms\S*\s+(20[012]0)", re.IGNORECASE)
_TAX_OUT = re.compile(
    r"(tax|vat|gst|duty|duties)[^.;]{0,30}\b(extra|excluded|not included|exclusive|additional)|excl\w*\.?\s*(of )?(tax|vat|gst)|plus (tax|vat)|net of (tax|vat)|不含税|未税|zzgl|hors tax|\bht\b|tax extra|without (tax|vat)"
)
_TAX_IN = re.compile(
    r"(tax|vat|gst)[^.;]{0,20}\b(included|inclusive)|incl\w*\.?\s*(of )?(\d+(?:\.\d+)? ?% ?)?(tax|vat|gst)|(?<!不)含税|inkl\w*\.? ?(\d+ ?% ?)?mwst|\bttc\b"
)
_PERCENT = re.compile(r"(\d{0,2}(?:\.\d+)?) ?%")


@dataclass(frozen=True, slots=True)
class Fact:
    """One labelled value of the header."""

    key: str
    text: str
    cell: Cell


@dataclass
class Facts:
    """Labelled values and free text of a file, in order.

    Attributes:
        found: Every labelled value.
        prose: Every text cell outside the items.
    """

    found: list[Fact] = field(default_factory=list)
    prose: list[Cell] = field(default_factory=list)

    def first(self, key: str) -> Fact | None:
        """Return the first value of a key."""
        return next((fact for fact in self.found if fact.key == key), None)

    def text(self, key: str) -> str:
        """Return the first value of a key as text; empty when there is none."""
        fact = self.first(key)
        return fact.text if fact else ""


def read_facts(rows: Iterable[Row], cells: Iterable[Cell]) -> Facts:
    """Return the facts in rows outside tables, and in text cells of rows inside them that are no items."""
    facts = Facts()
    for row in rows:
        _row(facts, list(row.cells.values()))
    for cell in cells:
        _row(facts, [cell])
    return facts


def _row(facts: Facts, cells: list[Cell]) -> None:
    """Read one row: labels with their value in the same cell, or in the cell to the right."""
    taken = False
    for cell, following in zip(cells, [*cells[1:], None]):
        if taken:
            taken = False
            continue
        if cell.value is not None:
            continue
        key = meaning("labels", phrase(cell.text))
        if key is None:
            facts.prose.append(cell)
        if key and following is not None and not _LABELLED.fullmatch(cell.text):
            facts.found.append(Fact(key, following.text, following))
            taken = True
        else:
            facts.found += _labelled(cell)


def _labelled(cell: Cell) -> Iterator[Fact]:
    if match := _QUOTE_NUMBER.search(cell.text[:200]):
        yield Fact("quote", match[1], cell)
    inner = _INSIDE.findall(cell.text[:1000])
    for segment in [*_SEGMENT.split(cell.text[:4000]), *inner]:
        match = _LABELLED.fullmatch(segment.strip())
        key = meaning("labels", phrase(match[1])) if match else None
        if match and key and not (key == "quote" and _QUOTE_NUMBER.search(segment)):
            yield Fact(key, match[2].strip().rstrip(" .。"), cell)


def incoterm_in(text: str) -> tuple[str, str]:
    """Return (term with edition, place) of the first delivery term in a text; empty when there is none.

    >>> incoterm_in("FCA Rotterdam"), incoterm_in("Terms: net 30, EXW seller, Incoterms 2010 (invented)")
    (('FCA', 'Rotterdam'), ('EXW (Incoterms 2010)', 'seller'))
    """
    match = _TERMS.search(text[:1000])
    if not match:
        return "", ""
    year = _INCOTERMS_YEAR.search(text[:1000])
    return f"{match[1]} (Incoterms {year[1]})" if year else match[1], (match[2] or "").strip()


def tax_in(text: str) -> bool | None:
    """Return True when a text says prices include tax, False when not, None when it says neither."""
    words = plain(text[:1000])
    if _TAX_OUT.search(words):
        return False
    return True if _TAX_IN.search(words) else None


def percents_in(text: str) -> tuple[str, ...]:
    """Return every percentage in a text, as digits."""
    return tuple(number for number in _PERCENT.findall(plain(text[:1000])) if number)
