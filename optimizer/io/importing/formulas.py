"""Formulas whose values were never saved: the four operations, sums and rounding over cells and sheets.

Anything else is left unknown: the sheet must then be opened and saved once by a spreadsheet program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, DecimalException

from optimizer.io.importing.cells import column_number

MAX_STEPS = 2_000_000
"""Most cells visited for all formulas of a workbook."""

MAX_DEPTH = 60
"""Deepest nesting of formulas that need each other and of their brackets."""

Address = tuple[str, int, int]
"""Sheet, row, column."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Z]{2,8})\(|"
    r"(?:(?:'(?P<quoted>[^']+)'|(?P<sheet>\w+))!)?\$?(?P<c1>[A-Z]{1,3})\$?(?P<r1>\d{1,7})"
    r"(?::\$?(?P<c2>[A-Z]{1,3})\$?(?P<r2>\d{1,7}))?|(?P<op>[-+*/(),%]))",
    re.ASCII,
)


class CannotCompute(Exception):  # noqa: N818 - an outcome, not an error of the program
    """A formula needs something that is not supported, or a cell that is no number."""


@dataclass
class Formulas:
    """Values of formulas, computed when asked for.

    Attributes:
        texts: Formula text by address, with the leading ``=``.
        numbers: Numbers of the other cells by address; blank cells are absent and count as in spreadsheets (0).
        words: Addresses of text cells, which a sum skips and arithmetic refuses.
    """

    texts: Mapping[Address, str]
    numbers: Mapping[Address, Decimal]
    words: frozenset[Address]
    _known: dict[Address, Decimal | None] = field(default_factory=dict)
    _open: list[Address] = field(default_factory=list)
    steps: int = 0
    depth: int = 0

    def value(self, address: Address) -> Decimal | None:
        """Return the value of a cell; None when its formula cannot be computed here."""
        if address not in self.texts:
            return self.numbers.get(address)
        if address not in self._known:
            if address in self._open:
                raise CannotCompute
            self._open.append(address)
            try:
                self._known[address] = _Parser(self, address[0], self.texts[address]).result()
            except (CannotCompute, DecimalException):
                self._known[address] = None
            finally:
                self._open.pop()
        return self._known[address]

    def operand(self, address: Address, *, summed: bool) -> Decimal:
        """Return a cell as an operand: blanks are zero as in every spreadsheet program, text is skipped in sums only."""
        self.steps += 1
        if self.steps > MAX_STEPS or (address in self.words and not summed):
            raise CannotCompute
        value = self.value(address)
        if value is None and address in self.texts:
            raise CannotCompute
        return value or Decimal(0)


class _Parser:
    """Recursive descent over one formula."""

    def __init__(self, formulas: Formulas, sheet: str, text: str) -> None:
        self.formulas, self.sheet = formulas, sheet
        self.tokens = _tokens(text.removeprefix("="))
        self.position = 0

    def result(self) -> Decimal:
        value = self._sum()
        if self.position < len(self.tokens):
            raise CannotCompute
        return value

    def _peek(self) -> str:
        return (self.tokens[self.position]["op"] or "") if self.position < len(self.tokens) else ""

    def _take(self) -> re.Match[str]:
        if self.position >= len(self.tokens):
            raise CannotCompute
        self.position += 1
        return self.tokens[self.position - 1]

    def _sum(self) -> Decimal:
        self.formulas.depth += 1
        try:
            return self._terms()
        finally:
            self.formulas.depth -= 1

    def _terms(self) -> Decimal:
        if self.formulas.depth > MAX_DEPTH:
            raise CannotCompute
        value = self._product()
        while self._peek() in ("+", "-") and self._peek():
            value = value + self._product() if self._take()["op"] == "+" else value - self._product()
        return value

    def _product(self) -> Decimal:
        value = self._signed()
        while self._peek() in ("*", "/") and self._peek():
            value = value * self._signed() if self._take()["op"] == "*" else value / self._signed()
        return value

    def _signed(self) -> Decimal:
        sign = Decimal(1)
        while self._peek() in ("-", "+") and self._peek():
            sign = -sign if self._take()["op"] == "-" else sign
        value = sign * self._atom()
        while self._peek() == "%":
            self._take()
            value /= 100
        return value

    def _atom(self) -> Decimal:
        token = self._take()
        if token["number"]:
            return Decimal(token["number"])
        if token["name"]:
            return self._call(token["name"])
        if token["c1"] and not token["c2"]:
            return self._cells(token, summed=False)[0]
        if token["op"] == "(":
            value = self._sum()
            self._close()
            return value
        raise CannotCompute

    def _close(self) -> None:
        if self._take()["op"] != ")":
            raise CannotCompute

    def _call(self, name: str) -> Decimal:
        if name not in _FUNCTIONS:
            raise CannotCompute
        values = self._argument()
        while self._peek() == ",":
            self._take()
            values += self._argument()
        self._close()
        return _FUNCTIONS[name](values)

    def _argument(self) -> list[Decimal]:
        token = self.tokens[self.position] if self.position < len(self.tokens) else None
        if token and token["c2"]:
            self.position += 1
            return self._cells(token, summed=True)
        return [self._sum()]

    def _cells(self, token: re.Match[str], *, summed: bool) -> list[Decimal]:
        sheet = token["quoted"] or token["sheet"] or self.sheet
        rows = range(int(token["r1"]), int(token["r2"] or token["r1"]) + 1)
        columns = range(column_number(token["c1"]), column_number(token["c2"] or token["c1"]) + 1)
        if len(rows) * len(columns) > MAX_STEPS:
            raise CannotCompute
        return [self.formulas.operand((sheet, row, column), summed=summed) for row in rows for column in columns]


def _tokens(text: str) -> list[re.Match[str]]:
    tokens: list[re.Match[str]] = []
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if not match or len(tokens) > 1000:
            raise CannotCompute
        tokens.append(match)
        position = match.end()
    return tokens


def _product_of(values: list[Decimal]) -> Decimal:
    result = Decimal(1)
    for value in values:
        result *= value
    return result


def _rounded(values: list[Decimal]) -> Decimal:
    if len(values) != 2 or abs(values[1]) > 12:
        raise CannotCompute
    return values[0].quantize(Decimal(1).scaleb(-int(values[1])), rounding=ROUND_HALF_UP)


_FUNCTIONS: Mapping[str, Callable[[list[Decimal]], Decimal]] = {
    "SUM": lambda values: sum(values, Decimal(0)),
    "PRODUCT": _product_of,
    "ROUND": _rounded,
    "MAX": max,
    "MIN": min,
    "ABS": lambda values: abs(values[0]),
}
