"""The least of many lines, found exactly with few solves: the parametric method of Eisner and Severance (1976).

With a fixed plan the objective is linear in the factor, so the optimal value over a fixed set of plans is concave and
piecewise linear. If two plans are optimal at the ends of an interval, the first place where a third can be better is
where their lines meet; if none is better there, that is an exact breakpoint.

Budgets make the set of plans shrink as prices rise. The set at the left end contains every later one, so a plan that is
best over it and still affordable is best; where it stops being affordable the sweep starts again with what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from optimizer.analysis.lines import Line, crossing

JUST_BEYOND = Decimal("1e-9")
"""Relative step past the factor at which a plan stops being affordable; models round budgets to less."""

SAME_LINE = Decimal("1e-6")
"""Lines of one plan found twice differ by the last of 28 digits only."""

Best = Callable[[Decimal, Decimal], Line | None]
"""Returns a best line at a factor among the plans affordable at another (lower) factor; None when there is none."""


@dataclass(frozen=True, eq=False)
class Piece:
    """A stretch of factors on which one plan is best; ``line`` None: no plan is affordable."""

    line: Line | None
    low: Decimal
    high: Decimal


def envelope(low: Decimal, high: Decimal, best: Best, close: Callable[[Decimal], Decimal]) -> list[Piece]:
    """Return the best plan of every factor between two, left to right.

    Args:
        low: Smallest factor, above zero.
        high: Largest factor.
        best: Solves at a factor.
        close: Difference below which two values count as equal, by value.
    """
    pieces: list[Piece] = []
    start: Decimal | None = low
    while start is not None:
        found, start = _until_unaffordable(start, high, best, close)
        pieces += found
    return _joined(pieces)


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Join neighbours on which the same plan is best: the recursion cuts a plan where others meet beneath it."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and _same(joined[-1].line, piece.line):
            joined[-1] = Piece(joined[-1].line, joined[-1].low, piece.high)
        else:
            joined.append(piece)
    return joined


def _same(one: Line | None, other: Line | None) -> bool:
    if one is None or other is None:
        return one is other
    return max(abs(one.fixed - other.fixed), abs(one.slope - other.slope)) <= SAME_LINE


def _until_unaffordable(
    low: Decimal, high: Decimal, best: Best, close: Callable[[Decimal], Decimal]
) -> tuple[list[Piece], Decimal | None]:
    """Return the pieces up to the first that is no longer affordable, and where to start again (None at the end)."""
    left, right = best(low, low), best(high, low)
    if left is None or right is None:
        return [Piece(None, low, high)], None
    found: list[Piece] = []
    for piece in _pieces(left, right, low, high, lambda factor: best(factor, low), close):
        last = piece.line.last if piece.line else None
        if last is not None and last < piece.high:
            stop = max(last, piece.low)
            return [*found, Piece(piece.line, piece.low, stop)], stop + JUST_BEYOND * stop
        found.append(piece)
    return found, None


def _pieces(
    left: Line,
    right: Line,
    low: Decimal,
    high: Decimal,
    best: Callable[[Decimal], Line | None],
    close: Callable[[Decimal], Decimal],
) -> Iterator[Piece]:
    """Yield the pieces between two factors whose best lines are known; each solve happens when it is needed."""
    if left.at(high) <= right.at(high) + close(right.at(high)):
        yield Piece(left, low, high)
        return
    if right.at(low) <= left.at(low) + close(left.at(low)):
        yield Piece(right, low, high)
        return
    meet = crossing(left, right)
    middle = best(meet)
    if middle is None or middle.at(meet) >= left.at(meet) - close(left.at(meet)):
        yield Piece(left, low, meet)
        yield Piece(right, meet, high)
        return
    yield from _pieces(left, middle, low, meet, best, close)
    yield from _pieces(middle, right, meet, high, best, close)
