"""Cells -> prices, numbers, shares and dates, with the evidence of the file; what is not sure is asked or noted."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping as Map
from dataclasses import dataclass, replace
from decimal import Decimal

from optimizer.io.importing.cells import Cell
from optimizer.io.importing.dates import from_serial, read_date
from optimizer.io.importing.evidence import Evidence, resolve
from optimizer.io.importing.mapping import Mapping
from optimizer.io.importing.money import MISSING, Price, currencies_in, read_price
from optimizer.io.importing.notes import Notes
from optimizer.io.importing.numbers import choose, plain, readings
from optimizer.io.importing.vocabulary import multiplier
from optimizer.schema.price import PriceState

_NUMBER = re.compile(r"[-+]?\s*([.,]?\d[\d.,' ]*)")
_FACTORS = re.compile(r"(万元|千元|百万元|亿元|万|亿|thousands?|millions?|\bk\b|\bm\b)")


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the cells of one file.

    Attributes:
        evidence: Of the file.
        currency: Currency of amounts that name none; empty when unknown.
        mapping: What is known about the vendor.
        notes: Where to say what was assumed.
    """

    evidence: Evidence
    currency: str
    mapping: Mapping
    notes: Notes

    def answered(self, cell: Cell) -> Cell:
        """Return the cell with the text a person gave instead, if any."""
        answer = self.mapping.cells.get(answer_key(cell))
        return cell if answer is None else Cell(cell.sheet, cell.row, cell.column, answer, origin="answer")

    def price(self, cell: Cell | None, tags: str = "", currency: str = "") -> Price:
        """Return the price in a cell in major units, its currency resolved.

        Args:
            cell: The cell; None when blank.
            tags: Words in the brackets of the heading, e.g. ``usd, excl. vat``.
            currency: Currency of the row's own column, if any.
        """
        if cell is None:
            return MISSING
        cell = self.answered(cell)
        if isinstance(cell.value, dt.date):
            return Price(PriceState.MALFORMED)
        number = cell.number
        read = Price(PriceState.PRICED, number, cell.currency) if number is not None else self._text(cell)
        return self._in_currency(self._scaled(read, tags), cell, tags, currency)

    def _text(self, cell: Cell) -> Price:
        read = read_price(cell.text, "." if cell.origin == "answer" else self.evidence.mark)
        said = {
            "exponent": "written in exponent form; digits may have been lost",
            "decimal_comma": "read with a decimal comma",
            "brackets_negative": "brackets mean negative here",
            "trailing_minus": "a trailing minus means negative here",
        }
        for code in read.codes:
            if code in said:
                self.notes.warn(code, cell.place, f'"{cell.text}": {said[code]}')
        self._note_width(cell)
        return read

    def _note_width(self, cell: Cell) -> None:
        if not cell.text.isascii() and any("\uff10" <= char <= "\uff19" for char in cell.text):
            self.notes.once("full_width_digits", cell.place, "full-width digits are read as plain ones")

    def _scaled(self, read: Price, tags: str) -> Price:
        """Apply the unit of the heading or sheet (万元, thousands) unless the cell names its own."""
        match = _FACTORS.search(tags)
        factor = multiplier(match[1].removesuffix("元").rstrip("s")) if match else None
        factor = factor or self.evidence.scale
        if factor == 1:
            return read
        if read.scaled:
            return read
        return replace(
            read,
            amount=None if read.amount is None else read.amount * factor,
            low=None if read.low is None else read.low * factor,
            high=None if read.high is None else read.high * factor,
        )

    def _in_currency(self, read: Price, cell: Cell, tags: str, currency: str) -> Price:
        named = currencies_in(tags.upper()) | currencies_in(tags)
        default = currency or (next(iter(named - {"$", "¥"})) if len(named - {"$", "¥"}) == 1 else self.currency)
        symbol = read.currency or (next(iter(named)) if len(named) == 1 else "")
        code, reason, candidates = resolve(symbol, self.evidence, default)
        if candidates and read.state is not PriceState.MALFORMED:
            options = tuple(
                f"{read.amount or read.low:f} {code}" for code in candidates if (read.amount or read.low) is not None
            )
            codes = (*read.codes, "ambiguous_currency")
            return replace(read, state=PriceState.AMBIGUOUS, currency="", options=options or candidates, codes=codes)
        if reason:
            self._say(reason, code, symbol, cell)
        return replace(read, currency=code)

    def _say(self, reason: str, code: str, symbol: str, cell: Cell) -> None:
        said = {
            "dollar_assumed_usd": "no dollar is named: $ is read as USD",
            "dollar_by_place": f"$ is read as {code}, the only dollar the file points to",
            "yen_sign_by_clue": f"{symbol} is read as {code} by the language, place or other codes of the file",
        }
        self.notes.once(reason, cell.place, said[reason])

    def number(self, cell: Cell | None) -> Decimal | None:
        """Return a plain number; None when blank or none, or when it has two readings (then asked)."""
        if cell is None:
            return None
        cell = self.answered(cell)
        if cell.value is not None:
            return cell.number
        self._note_width(cell)
        words = plain(cell.text).rstrip("%").strip()
        match = _NUMBER.fullmatch(words)
        mark = "." if cell.origin == "answer" else self.evidence.mark
        found = choose(readings(match[1].strip()), mark) if match else ()
        if len(found) > 1:
            options = [f"{reading.value:f}" for reading in found]
            self.notes.ask(
                "ambiguous_number", cell.place, f'"{cell.text}": which number?', f"cells.{answer_key(cell)}", options
            )
            return None
        return (-found[0].value if words.startswith("-") else found[0].value) if found else None

    def leading(self, text: str) -> Decimal | None:
        """Return the first number in a text; None when there is none or it has two readings."""
        match = re.search(r"\d[\d.,']*\d|\d", plain(text))
        found = choose(readings(match[0]), self.evidence.mark) if match else ()
        return found[0].value if len(found) == 1 else None

    def share(self, cell: Cell | None) -> Decimal | None:
        """Return a share of ``13%``, ``13`` or ``0.13``; None when blank, none, or over 100 %."""
        number = self.number(cell)
        if number is None or cell is None or number < 0:
            return None
        percent = "%" in plain(cell.text) or number > 1
        value = number / 100 if percent else number
        return value if value <= 1 else None

    def date(self, text: str, place: str) -> dt.date | None:
        """Return the date in a text; an impossible one is noted, an ambiguous one asked."""
        when = read_date(text, self.evidence.order)
        if when.impossible:
            self.notes.warn("impossible_date", place, f'"{text}" is no day of the calendar; read as unknown')
        if when.options:
            days = " or ".join(day.isoformat() for day in when.options)
            orders = ("month_first", "day_first")
            self.notes.ask("ambiguous_date", place, f'"{text}" is {days}: which comes first?', "dates", orders)
        if when.first and re.search(r"\D\d{2}$", text.strip()) and str(when.first.year) not in text:
            self.notes.once("two_digit_year", place, f"years of two digits are read as 20..: {text} is {when.first}")
        if when.swapped and self.evidence.order_by == "place":
            order = self.evidence.order.replace("_", " ")
            self.notes.once(
                "date_order_inferred", place, f"dates such as {text} are read {order}, by the place of the vendor"
            )
        return when.first

    def date_of(self, cell: Cell) -> dt.date | None:
        """Return the date of a cell: a real date, a day number, or text."""
        cell = self.answered(cell)
        if isinstance(cell.value, dt.date):
            return cell.value
        if isinstance(cell.value, Decimal):
            return from_serial(cell.value)
        return self.date(cell.text, cell.place)


def answer_key(cell: Cell) -> str:
    """Return the key of an answer about one cell: its place and what it says, so that a changed cell is asked anew."""
    return f"{cell.place} {cell.text[:40]}"


def text_of(cells: Map[str, Cell], role: str) -> str:
    """Return the text under a meaning; empty when blank."""
    return cells[role].text if role in cells else ""
