"""A small integer linear program that any solver backend can read, and that dumps to text.

Rules add rows to it; CP-SAT and HiGHS are two readers of the same rows. All coefficients are Python integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

INFINITY = 1 << 60
"""Stands for no bound; above every bound a model may state."""

Terms = Mapping[int, int]
"""Variable index -> coefficient."""


@dataclass(frozen=True, slots=True)
class Row:
    """``lower <= sum(coefficient x variable) <= upper``.

    Attributes:
        rule: Name of the rule that added it.
        name: What it is about.
    """

    rule: str
    name: str
    terms: tuple[tuple[int, int], ...]
    lower: int
    upper: int


@dataclass(slots=True)
class LinearModel:
    """Variables with bounds, rows and an objective to minimise; all are integers but those of relaxations."""

    names: list[str] = field(default_factory=list)
    lower: list[int] = field(default_factory=list)
    upper: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    objective: dict[int, int] = field(default_factory=dict)
    continuous: set[int] = field(default_factory=set)

    def integer(self, name: str, lower: int, upper: int) -> int:
        """Add an integer variable and return its index."""
        self.names.append(name)
        self.lower.append(lower)
        self.upper.append(upper)
        return len(self.names) - 1

    def boolean(self, name: str) -> int:
        """Add a 0/1 variable and return its index."""
        return self.integer(name, 0, 1)

    def number(self, name: str, lower: int, upper: int) -> int:
        """Add a variable that need not be whole (of relaxations, where a whole one would be as valid)."""
        self.continuous.add(self.integer(name, lower, upper))
        return len(self.names) - 1

    def add(
        self,
        rule: str,
        name: str,
        terms: Iterable[tuple[int, int]],
        lower: int = -INFINITY,
        upper: int = INFINITY,
    ) -> None:
        """Add a row; terms of the same variable are summed."""
        merged: dict[int, int] = {}
        for variable, coefficient in terms:
            merged[variable] = merged.get(variable, 0) + coefficient
        kept = tuple((variable, coefficient) for variable, coefficient in merged.items() if coefficient)
        self.rows.append(Row(rule, name, kept, lower, upper))

    def magnitude(self, terms: Iterable[tuple[int, int]]) -> int:
        """Return the largest absolute value a sum can reach."""
        return sum(abs(c) * max(abs(self.lower[v]), abs(self.upper[v])) for v, c in terms)

    def value(self, terms: Terms, values: list[int]) -> int:
        """Return a sum at given variable values."""
        return sum(coefficient * values[variable] for variable, coefficient in terms.items())

    def dump(self, rule: str | None = None) -> str:
        """Return the rows (of one rule) as text, for golden tests and the curious."""
        return "\n".join(self._row_text(row) for row in self.rows if rule in (None, row.rule))

    def _row_text(self, row: Row) -> str:
        body = " ".join(f"{coefficient:+d} {self.names[variable]}" for variable, coefficient in row.terms)
        low = f"{row.lower} <= " if row.lower > -INFINITY else ""
        high = f" <= {row.upper}" if row.upper < INFINITY else ""
        return f"{row.rule} [{row.name}]: {low}{body}{high}"
