"""The inputs of a plan's cost: each stated number once, in a coloured cell with a name that formulas use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from optimizer.report.language import Language
from optimizer.report.workbook.book import REPORT_RATE, Book, Content, Formula, Style
from optimizer.results import Cost, Factor

RESULTS_OF_THE_PLAN = ("plan", "calendar", "contract term", "platform", "quote prepay")
"""Sources of counts and lengths that follow from the decision: changing them needs another solve."""

DISCOUNT_RATE = "discount_rate"
"""Name of the cell that holds the yearly rate."""

_NAME = re.compile(r"[^A-Za-z0-9]+")
_MOST = 60


@dataclass(frozen=True, slots=True)
class Input:
    """A stated number that cost lines are computed from.

    Attributes:
        cell: Defined name of its cell.
        name: What it is.
        value: The number.
        unit: Its unit.
        source: Where it is stated.
        lines: Cost lines that use it.
    """

    cell: str
    name: str
    value: Decimal
    unit: str
    source: str
    lines: int


Key = tuple[str, str, Decimal, str]


def key_of(factor: Factor) -> Key | None:
    """Return what makes a factor one input; None for results of the plan."""
    if factor.source.startswith(RESULTS_OF_THE_PLAN):
        return None
    return (factor.name, factor.source, _stated(factor), _unit(factor))


def _stated(factor: Factor) -> Decimal:
    return factor.value if factor.base is None else factor.base


def _unit(factor: Factor) -> str:
    """Return the unit of the stated number: of a rate that divides, the other way round."""
    numerator, per, denominator = factor.unit.partition(" per ")
    return f"{denominator} per {numerator}" if per and factor.exponent == -1 else factor.unit


def inputs(cost: Cost) -> dict[Key, Input]:
    """Return every input once, in the order in which lines use them."""
    counts: dict[Key, int] = {}
    for line in cost.lines:
        for key in dict.fromkeys(filter(None, map(key_of, line.factors))):
            counts[key] = counts.get(key, 0) + 1
    names: set[str] = {DISCOUNT_RATE}
    return {key: Input(_unique(key, names), key[0], key[2], key[3], key[1], count) for key, count in counts.items()}


def _unique(key: Key, taken: set[str]) -> str:
    """Return a defined name: letters, digits and underscores, never like a cell, different from all before."""
    words = _NAME.sub("_", f"in_{key[0]}_{key[1]}").strip("_").lower()[:_MOST]
    name, number = words, 2
    while name in taken:
        name, number = f"{words}_{number}", number + 1
    taken.add(name)
    return name


def formula(factor: Factor, known: dict[Key, Input]) -> Content:
    """Return what a cell of a cost line holds: a reference to its input, a power of it, or a plain number."""
    key = key_of(factor)
    if key is None:
        return factor.value
    cell = known[key].cell
    if factor.base is None or factor.exponent is None:
        return Formula(cell, factor.value)
    sign = "-" if factor.value < 0 else ""
    return Formula(f"{sign}({cell}^{factor.exponent:f})", factor.value)


def write(book: Book, known: Iterable[Input], rate: Decimal) -> None:
    """Write the sheet of inputs."""
    t = book.language.text
    page = book.page(t("book.inputs"), (34, 16, 26, 46, 44, 9))
    notes = [t("book.inputs_note"), t("book.inputs_limit")]
    notes += [t("book.inputs_currency", name=REPORT_RATE)] if book.shown != book.currency else []
    page.titled(t("book.inputs"), *notes)
    heads = ("input", "value", "unit", "source", "cell_name", "used_by")
    page.heading([t(f"book.{head}") for head in heads], {1, 5})
    row = page.add(
        (
            t("book.discount_rate"),
            (rate, "input_percent"),
            (t("book.per_year"), "unit"),
            "finance.discount_rate",
            DISCOUNT_RATE,
        )
    )
    book.name(DISCOUNT_RATE, page.cell(row, 1))
    if book.shown != book.currency:
        unit = f"{book.shown} per {book.currency}"
        row = page.add((t("book.report_rate"), (book.rate, "input"), (unit, "unit"), t("book.plan_rates"), REPORT_RATE))
        book.name(REPORT_RATE, page.cell(row, 1))
    for entry in known:
        row = page.add(_row(entry, book.language))
        book.name(entry.cell, page.cell(row, 1))


def _row(entry: Input, language: Language) -> tuple[Content | tuple[Content, Style], ...]:
    words = (language.phrase(entry.name), language.phrase(entry.unit), language.phrase(entry.source))
    return (words[0], (entry.value, "input"), (words[1], "unit"), words[2], entry.cell, (entry.lines, "number"))
