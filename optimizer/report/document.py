"""A report as data: sections of sentences, tables and charts whose values keep their kind.

Every renderer (HTML, Markdown, XLSX, console) walks the same document and only formats, so that all print the same
numbers. Words are keys of ``terms.yaml``; names from files stay as they are and are never words.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from optimizer.results import Amount
from optimizer.units import round_money

Kind = Literal[
    "name", "term", "item", "sentence", "cited", "money", "amount", "price", "quoted", "factor", "number", "count",
    "share", "date", "code",
]  # fmt: skip
"""How a value is read.

name: text of a file, shown as it is; term: a key of the terms; item: name of a cost line; sentence: words of a plan,
translated where a pattern is known; cited: the same from a source outside; money: an amount to the minor unit; amount:
the same, shortened for headlines; price: of one piece; quoted: the same as its vendor quotes it, which a conversion
leaves beside the converted one; factor: twelve digits, with its unit, which no conversion touches; number: with a unit;
count: whole; share: a fraction shown in per cent; date; code: a command, path or checksum.
"""

Scalar = Decimal | int | str | dt.date | None


@dataclass(frozen=True, slots=True)
class Value:
    """One figure or word.

    Attributes:
        kind: How it is read.
        value: The exact value; None = unknown.
        unit: ISO currency code of an amount or price; unit of a number; empty otherwise.
        amounts: Amounts of money in the words.
    """

    kind: Kind
    value: Scalar
    unit: str = ""
    amounts: tuple[Amount, ...] = ()


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sentence: a key of the terms whose placeholders are cells."""

    key: str
    args: Mapping[str, Cell] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Several:
    """Cells one after the other: an enumeration, factors of a product, or sentences."""

    items: tuple[Cell, ...]
    between: Literal["comma", "times", "sentence"] = "comma"


BLANK = Value("name", "")
"""Nothing to say: the empty places of a row of totals."""

Cell = Value | Phrase | Several
"""What stands in one place of a table, list or sentence."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        head: Key of its heading.
        figure: Whether it holds figures (aligned right).
        unit: Unit of all its values, shown in the heading instead of beside each; empty when they differ.
    """

    head: str
    figure: bool = False
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        id: Name that stays the same, kebab-case.
        title: Key of its caption.
        columns: Columns.
        rows: Cells, one row each.
        foot: Row of totals; empty when there is none.
        note: What a reader must know about it.
        folded: Whether a page may fold it away behind its caption.
    """

    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    foot: tuple[Cell, ...] = ()
    note: Cell | None = None
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels (keys of the terms) with what is known about each; ``tiles`` are the few figures to see first."""

    rows: tuple[tuple[str, Cell], ...]
    tiles: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; ``lead`` for the sentences that carry the decision, ``warning`` for what may void it."""

    body: Cell
    role: Literal["plain", "lead", "warning"] = "plain"


@dataclass(frozen=True, slots=True)
class Absent:
    """Something that was not computed for this plan, with the command that computes it."""

    what: str
    command: str


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a bar between two values of the axis, with the words that tell it."""

    series: str
    start: Value
    end: Value
    tells: Cell


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of a bar chart: label, spans, and points marked on it."""

    label: Cell
    spans: tuple[Span, ...]
    marks: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Bars:
    """Horizontal bars on one axis: amounts, ranges or days.

    Attributes:
        id: Name that stays the same, kebab-case.
        title: Key of its caption.
        axis: Key of what the axis measures.
        bars: Rows.
        lines: Values of the axis that hold for all rows: a limit, a deadline, the plan.
        from_zero: Whether the axis starts at zero.
    """

    id: str
    title: str
    axis: str
    bars: tuple[Bar, ...]
    lines: tuple[Span, ...] = ()
    from_zero: bool = True


@dataclass(frozen=True, slots=True)
class Series:
    """A line of a chart over dates or numbers; ``steps`` holds each value until the next."""

    name: Cell
    style: Literal["steps", "line", "points"]
    points: tuple[tuple[Value, Value], ...]


@dataclass(frozen=True, slots=True)
class Curves:
    """Lines and points over a horizontal axis; each point keeps its values."""

    id: str
    title: str
    across: str
    up: str
    series: tuple[Series, ...]
    from_zero: bool = False


Block = Table | Facts | Text | Absent | Bars | Curves
"""What a section consists of."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report with its heading (a key of the terms)."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """The decision memo, then what it rests on.

    Attributes:
        name: The scenario.
        today: Day of the answer.
        currency: Currency of its amounts; None when it is not known.
        status: Status of the plan.
        warnings: What may void the report.
        memo: Sections of the decision memo, in the order a committee reads them.
        details: Sections below.
    """

    name: Value
    today: Value
    currency: str | None
    status: str
    warnings: tuple[Text, ...]
    memo: tuple[Section, ...]
    details: tuple[Section, ...] = ()


def name(text: str) -> Value:
    """Return text of a file."""
    return Value("name", text)


def code(text: str) -> Value:
    """Return a command, path or checksum."""
    return Value("code", text)


def term(key: str) -> Value:
    """Return a word by its key."""
    return Value("term", key)


def item(text: str) -> Value:
    """Return the name of a cost line."""
    return Value("item", text)


def sentence(text: str, amounts: tuple[Amount, ...] = ()) -> Value:
    """Return words that the plan holds, with the amounts of money in them."""
    return Value("sentence", text, amounts=amounts)


def cited(text: str) -> Value:
    """Return words of a source outside, which stay in its language and currency."""
    return Value("cited", text)


def money(amount: Decimal | None, currency: str) -> Value:
    """Return an amount, rounded half up to the minor unit."""
    return Value("money", None if amount is None else round_money(amount, currency), currency)


def headline(amount: Decimal | None, currency: str) -> Value:
    """Return an amount shortened to three or four digits."""
    return Value("amount", amount, currency)


def price(amount: Decimal | None, currency: str) -> Value:
    """Return a price of one piece, with its own digits."""
    return Value("price", amount, currency)


def quoted(amount: Decimal | None, currency: str) -> Value:
    """Return a price as its vendor quotes it."""
    return Value("quoted", amount, currency)


def factor(value: Decimal, unit: str) -> Value:
    """Return a factor of a product, with the digits a reader needs to multiply."""
    return Value("factor", value, unit)


def number(value: Decimal | float | None, unit: str = "") -> Value:
    """Return a figure with its unit."""
    return Value("number", None if value is None else Decimal(str(value)), unit)


def measured(value: Decimal | float | None, unit: str, currency: str = "") -> Value:
    """Return a figure by its unit: an amount in the currency of the plan, a share in per cent, else a number."""
    exact = None if value is None else Decimal(str(value))
    if unit and unit == currency:
        return money(exact, currency)
    return share(exact) if unit == "share" else number(exact, unit)


_PETA, _YOTTA = "1e15 FLOP", "× 1e24 FLOP"


def capacity(value: Decimal | None, unit: str) -> Value:
    """Return a value of the objective in a unit people read: compute in 1e24 FLOP, anything else as it is."""
    if value is None or unit != _PETA:
        return number(value, unit)
    return number((value / 10**9).quantize(Decimal("0.01")), _YOTTA)


def count(value: int | None) -> Value:
    """Return a whole number."""
    return Value("count", value)


def share(value: Decimal | float | None) -> Value:
    """Return a fraction."""
    return Value("share", None if value is None else Decimal(str(value)))


def day(value: dt.date | None) -> Value:
    """Return a date."""
    return Value("date", value)


def several(items: Iterable[Cell], between: Literal["comma", "times", "sentence"] = "comma") -> Cell:
    """Return cells one after the other; one cell alone stays itself, no cell is a blank."""
    known = tuple(items)
    if not known:
        return BLANK
    return known[0] if len(known) == 1 else Several(known, between)


def names(texts: Iterable[str]) -> Cell:
    """Return texts of files as an enumeration."""
    return several(name(text) for text in texts)


def phrase(key: str, **args: Cell) -> Phrase:
    """Return a sentence by its key."""
    return Phrase(key, args)
