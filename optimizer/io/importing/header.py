"""The header of a quote: id, vendor, dates, currency, tax, payment, delivery, from columns, labels and small print."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from optimizer.io.importing.dates import read_date
from optimizer.io.importing.drafts import Draft
from optimizer.io.importing.facts import Fact, incoterm_in, percents_in, tax_in
from optimizer.io.importing.lines import NO_CURRENCY
from optimizer.io.importing.mapping import slug
from optimizer.io.importing.numbers import plain, unscaled
from optimizer.io.importing.reader import Reader
from optimizer.io.importing.sheets import Opened
from optimizer.io.importing.terms import read_payment, valid_until
from optimizer.io.importing.vocabulary import currency_of, fold, mentions
from optimizer.schema.quote import Milestone, QuoteSource, Tax

_KINDS = (
    ("budgetary", r"budgetary|\brom\b|rough order|indicative|estimate only|non-?binding|预算|unverbindlich"),
    ("contract", r"\bcontract price|framework agreement|合同价"),
    ("list", r"price ?list|list prices|catalog(ue)? prices|价目表|preisliste"),
)
_NET_DAYS = re.compile(r"\bnet ?\d{1,3}( days)?\b(?! ?%)")
_KEPT = (
    "payment", "warranty", "deposit", "cancellation", "penalty", "acceptance", "buy_back", "lease_terms", "valid_until",
    "incoterm",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Header:
    """Header of a quote, in the terms of the quote schema."""

    quote: str
    vendor: str
    currency: str
    kind: str
    tax_included: bool
    tax_rate: Decimal | None
    source: QuoteSource
    revision: int = 1
    supersedes: str | None = None
    issued: dt.date | None = None
    valid_until: dt.date | None = None
    recoverable: bool = True
    delivery: str | None = None
    payment: tuple[Milestone, ...] = ()
    terms: dict[str, str] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """Return the keys of the quote schema."""
        tax = Tax(included=self.tax_included, rate=self.tax_rate or Decimal(0), recoverable=self.recoverable)
        data: dict[str, Any] = {
            "quote": self.quote, "revision": self.revision, "supersedes": self.supersedes, "vendor": self.vendor,
            "kind": self.kind, "issued": self.issued, "valid_until": self.valid_until,
            "currency": self.currency or NO_CURRENCY, "tax": tax, "delivery": self.delivery, "terms": self.terms,
            "source": self.source,
        }  # fmt: skip
        return {**data, "payment": self.payment} if self.payment else data


def read_header(
    opened: Opened, group: tuple[str, str, str], drafts: Sequence[Draft], reader: Reader, *, several: bool
) -> Header:
    """Return the header of one quote of a file."""
    head = _Head(opened, group, drafts, reader)
    vendor = head.vendor()
    issued = head.issued()
    included, rate = head.tax()
    until = head.valid(issued)
    payment = head.payment()
    delivery, terms = head.delivery(), head.terms()
    return Header(
        quote=head.quote_id(vendor, several=several),
        vendor=vendor,
        currency=head.currency(),
        kind=head.kind(),
        tax_included=included,
        tax_rate=rate,
        source=QuoteSource(file=Path(opened.book.name).name, sha256=opened.book.sha256),
        revision=head.revision(),
        supersedes=opened.facts.text("supersedes") or None,
        issued=issued if until is None or issued is None or issued <= until else None,
        valid_until=until,
        recoverable=head.recoverable(),
        delivery=delivery or None,
        payment=payment,
        terms=terms,
    )


class _Head:
    """Finds each fact of one quote: in its own columns first, then in labels, then in the small print."""

    def __init__(self, opened: Opened, group: tuple[str, str, str], drafts: Sequence[Draft], reader: Reader) -> None:
        self.opened, self.group, self.drafts, self.reader = opened, group, drafts, reader
        self.facts, self.notes, self.mapping = opened.facts, reader.notes, reader.mapping

    def _column(self, role: str) -> tuple[str, str]:
        """Return the first text of a column and its cell."""
        found = next((draft.cells[role] for draft in self.drafts if role in draft.cells), None)
        return (found.text, found.place) if found else ("", "")

    def _said(self, role: str) -> tuple[str, str]:
        """Return text and cell of a column or label."""
        text, place = self._column(role)
        fact = self.facts.first(role)
        return (text, place) if text else (fact.text, fact.cell.place) if fact else ("", "")

    def vendor(self) -> str:
        """Return the vendor; the title of the sheet or the file name when nothing names it."""
        if self.group[1] or self.mapping.vendor:
            return self.group[1] or self.mapping.vendor or ""
        if label := self.facts.text("vendor"):
            return label.strip(" :")
        suppliers = {draft.text("supplier") for draft in self.drafts} - {""}
        title = _title(self.opened)
        if title:
            return title
        if len(suppliers) == 1 and all(draft.text("supplier") for draft in self.drafts):
            return suppliers.pop()
        name = Path(self.opened.book.name).stem
        self.notes.warn("vendor_from_file_name", self.opened.book.name, f'no vendor is named; "{name}" is used')
        return name

    def quote_id(self, vendor: str, *, several: bool) -> str:
        if self.group[0]:
            return self.group[0]
        label = self.facts.text("quote")
        stem = slug(Path(self.opened.book.name).stem)
        if several and self.group[1]:
            return f"{stem}-{slug(vendor)}"
        return label.split()[0] if label else stem

    def revision(self) -> int:
        text = self.group[2] or self.facts.text("revision")
        number = re.search(r"\d+", plain(text))
        if number:
            return int(number[0][:6])
        letter = re.fullmatch(r"(?:rev\.? ?)?([a-z])", plain(text))
        return ord(letter[1]) - 96 if letter else 1

    def issued(self) -> dt.date | None:
        cell = next((draft.cells["issued"] for draft in self.drafts if "issued" in draft.cells), None)
        return self.reader.date_of(cell) if cell else self._date(self.facts.first("issued"))

    def _date(self, fact: Fact | None) -> dt.date | None:
        if fact is None:
            return None
        if fact.cell.text == fact.text:
            return self.reader.date_of(fact.cell)
        return self.reader.date(fact.text, fact.cell.place)

    def valid(self, issued: dt.date | None) -> dt.date | None:
        """Return the last valid day; words that cannot be dated are noted, and the vendor is asked."""
        cell = next((draft.cells["valid_until"] for draft in self.drafts if "valid_until" in draft.cells), None)
        fact = self.facts.first("valid_until")
        if cell is not None and not isinstance(cell.value, str) and cell.value is not None:
            return self.reader.date_of(cell)
        text, place = (cell.text, cell.place) if cell else (fact.text, fact.cell.place) if fact else ("", "")
        if fact and not cell and fact.cell.value is not None:
            return self.reader.date_of(fact.cell)
        opening = self._date(self.facts.first("opening"))
        until, code = valid_until(text, issued, opening, self.reader.evidence.order)
        if until is not None or not text:
            self.reader.date(text, place) if text else None
            return self._in_order(issued, until, place)
        found = self.reader.date(text, place)
        said = {
            "validity_relative": "cannot be dated without the day it counts from",
            "validity_unread": "is not understood",
        }
        if found is None and code in said and not read_date(text).options:
            self.notes.warn(code, place, f'validity "{text}" {said[code]}; read as unknown')
        if found is None and code != "impossible_date":
            self.notes.ask_vendor("validity_unknown", place, "until which day is the quote valid?")
        return self._in_order(issued, found, place)

    def _in_order(self, issued: dt.date | None, until: dt.date | None, place: str) -> dt.date | None:
        if issued and until and until < issued:
            self.notes.warn(
                "valid_before_issued",
                place,
                f"valid until {until}, before the issue date {issued}; issue date left out",
            )
        return until

    def currency(self) -> str:
        """Return the currency of the quote: its column, the file's, or the only one its prices name."""
        code = currency_of(fold(self._column("currency")[0]))
        if code and code not in ("$", "¥"):
            return code
        if self.opened.currency:
            return self.opened.currency
        named = {
            draft.price.currency
            for draft in self.drafts
            if draft.price.amount is not None or draft.price.low is not None
        }
        return named.pop() if len(named) == 1 else ""

    def tax(self) -> tuple[bool, Decimal | None]:
        """Return whether prices include tax, and the rate; an assumption is noted."""
        if self.mapping.tax:
            return self.mapping.tax.included, self.mapping.tax.rate
        rates = [draft.tax_rate for draft in self.drafts if draft.tax_rate is not None]
        self._mixed(rates)
        main = max(rates, key=rates.count) if rates else self._label_rate()
        stated = self._stated_tax()
        if stated is None:
            self.notes.once(
                "tax_not_stated",
                self.drafts[0].place,
                "the sheet does not say whether prices include tax; read as without",
            )
            return False, main
        if stated and main is None:
            main = self._rate_in_words()
            if main is None:
                self.notes.ask(
                    "tax_rate_unknown", self.drafts[0].place, "prices include tax, but at which rate?", "tax"
                )
        if not stated and main is None:
            self._unused_rates()
        return stated, main

    def _mixed(self, rates: Sequence[Decimal]) -> None:
        if len(set(rates)) > 1:
            said = ", ".join(f"{unscaled(100 * rate):f} %" for rate in sorted(set(rates)))
            place = next(draft.place_of("tax_rate") for draft in self.drafts if draft.tax_rate is not None)
            self.notes.warn("mixed_tax_rates", place, f"lines are taxed at {said}; each keeps its own")

    def _label_rate(self) -> Decimal | None:
        fact = self.facts.first("tax_rate")
        return (
            self.reader.share(fact.cell)
            if fact and fact.cell.text == fact.text
            else _percent(fact.text if fact else "")
        )

    def _stated_tax(self) -> bool | None:
        label = plain(self.facts.text("tax_included"))
        if label in ("yes", "true", "是"):
            return True
        if label in ("no", "false", "否"):
            return False
        own = next((draft.tax_included for draft in self.drafts if draft.tax_included is not None), None)
        if own is not None:
            return own
        return next((said for cell in self.facts.prose if (said := tax_in(cell.text)) is not None), None)

    def _rate_in_words(self) -> Decimal | None:
        texts = [draft.text("basis") for draft in self.drafts] + [cell.text for cell in self.facts.prose]
        found = {_percent(text) for text in texts if tax_in(text)} - {None}
        return found.pop() if len(found) == 1 else None

    def _unused_rates(self) -> None:
        for cell in self.facts.prose:
            if percents_in(cell.text) and re.search(r"tax|vat|excise|税", plain(cell.text)):
                said = f'rates in "{cell.text[:80]}" are not applied: the prices exclude tax and no line names a rate'
                self.notes.once("tax_rate_not_used", cell.place, said)

    def recoverable(self) -> bool:
        if self.mapping.tax:
            return self.mapping.tax.recoverable
        return plain(self.facts.text("tax_recoverable")) not in ("no", "false", "否")

    def payment(self) -> tuple[Milestone, ...]:
        text, place = self._said("payment")
        if not text:
            text, place = self._net_days()
        if not text and all((draft.basis.per or "").endswith(("_hour", "_month")) for draft in self.drafts):
            return ()
        if not text:
            self.notes.ask_vendor("payment_unknown", self.drafts[0].place, "when is which share of the price due?")
            return ()
        found = read_payment(text)
        said = {
            "payment_events_assumed": "is read as order, delivery, acceptance; it names no events",
            "payment_unread": "is not understood; all is taken as due at order, the dearest reading",
        }
        if found.code:
            self.notes.warn(found.code, place, f'payment "{text[:60]}" {said[found.code]}')
        return found.milestones

    def _net_days(self) -> tuple[str, str]:
        """Return ``net 30`` from the small print when no label gives payment terms."""
        found = (
            (match[0], cell.place) for cell in self.facts.prose if (match := _NET_DAYS.search(plain(cell.text[:500])))
        )
        return next(found, ("", ""))

    def _incoterm(self) -> tuple[str, str]:
        """Return the delivery term and its place, from its column or label, else from the small print."""
        texts = (self._said("incoterm")[0], *(cell.text for cell in self.facts.prose))
        return next((found for text in texts if (found := incoterm_in(text))[0]), ("", ""))

    def delivery(self) -> str:
        return " ".join(self._incoterm()).strip() or self._said("incoterm")[0]

    def terms(self) -> dict[str, str]:
        found = {key: text for key in _KEPT if (text := self._said(key)[0])}
        if len({draft.text("warranty") for draft in self.drafts}) > 1:
            found.pop("warranty", None)  # each line keeps its own
        if "valid_until" in found:
            found["validity"] = found.pop("valid_until")
        term, where = self._incoterm()
        tax = next((cell.text for cell in self.facts.prose if tax_in(cell.text) is not None), "")
        named = {"incoterm": term, "place": where, "tax": tax[:200]}
        return {**found, **{key: text for key, text in named.items() if text}}

    def kind(self) -> str:
        """Return how firm the quote is: stated, or by its words; otherwise binding when it has a validity."""
        if self.mapping.kind:
            return self.mapping.kind
        words = plain(" ".join([self.facts.text("kind"), *(cell.text[:300] for cell in self.facts.prose)])[:20_000])
        stated = next(
            (
                kind
                for kind in ("binding", "budgetary", "list", "contract")
                if plain(self.facts.text("kind")).startswith(kind)
            ),
            None,
        )
        found = stated or next((kind for kind, pattern in _KINDS if re.search(pattern, words)), None)
        if found:
            return found
        has_validity = bool(self._said("valid_until")[0])
        kind = "binding" if has_validity else "budgetary"
        why = "it states a validity" if has_validity else "it states no validity"
        self.notes.warn(
            "kind_assumed", self.drafts[0].place, f"the sheet does not say how firm it is; read as {kind}, since {why}"
        )
        return kind


def _percent(text: str) -> Decimal | None:
    found = percents_in(text)
    return Decimal(found[0]) / 100 if len(found) == 1 else None


def _title(opened: Opened) -> str:
    """Return the text in the first rows of the first sheet that reads like a name, when no label names the vendor."""
    first = opened.book.sheets[0]
    start = min((table.header for table, _ in opened.tables if table.sheet == first.name), default=10)
    for row in first.rows[:5]:
        for cell in row.cells.values():
            words = cell.text
            plain_name = 3 < len(words) <= 60 and not re.search(r"[:：#\d]", words) and cell.value is None
            if row.number < start and plain_name and not mentions("roles", plain(words)):
                return words
    return ""
