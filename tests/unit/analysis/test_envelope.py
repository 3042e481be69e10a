"""The parametric method against the least of all lines, point by point."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.analysis.envelope import Piece, envelope
from optimizer.analysis.lines import Line, crossing
from optimizer.cost.choice import Choice

LOW, HIGH = Decimal("0.25"), Decimal(4)
EMPTY = Choice((), ())


def line(fixed: int, slope: int, last: str | None = None) -> Line:
    return Line(EMPTY, Decimal(fixed), Decimal(slope), None if last is None else Decimal(last))


class Lines:
    """An oracle over listed lines that counts how often it is asked."""

    def __init__(self, lines: list[Line]) -> None:
        self.lines, self.asked = lines, 0

    def best(self, factor: Decimal, rows: Decimal) -> Line | None:
        self.asked += 1
        return min(
            (item for item in self.lines if item.affordable(rows)), key=lambda item: item.at(factor), default=None
        )

    def least(self, factor: Decimal) -> Decimal | None:
        return min((item.at(factor) for item in self.lines if item.affordable(factor)), default=None)


def close(value: Decimal) -> Decimal:
    return Decimal("1e-12")


def at(pieces: list[Piece], factor: Decimal) -> Decimal | None:
    own = next(piece for piece in pieces if piece.low <= factor <= piece.high)
    return own.line.at(factor) if own.line else None


def test_two_plans_switch_where_their_lines_meet() -> None:
    """Buying costs 10 + 100 x, renting 130 + 20 x: equal at x = 1.5, where both cost 160."""
    oracle = Lines([line(10, 100), line(130, 20)])
    pieces = envelope(LOW, HIGH, oracle.best, close)
    assert [(piece.low, piece.high) for piece in pieces] == [(LOW, Decimal("1.5")), (Decimal("1.5"), HIGH)]
    assert crossing(*oracle.lines) == Decimal("1.5")
    assert pieces[0].line is oracle.lines[0]
    assert oracle.asked == 3


def test_a_third_plan_below_the_meeting_point_makes_two_switches() -> None:
    """100 x against 60 + 40 x meet at 1, and that against 160 at 2.5; the first and last would meet at 1.6."""
    pieces = envelope(LOW, HIGH, Lines([line(0, 100), line(60, 40), line(160, 0)]).best, close)
    assert [piece.high for piece in pieces] == [Decimal(1), Decimal("2.5"), HIGH]


def test_a_plan_over_budget_gives_way_at_the_factor_it_can_no_longer_be_paid() -> None:
    pieces = envelope(LOW, HIGH, Lines([line(0, 100, last="1.2"), line(500, 1)]).best, close)
    assert [piece.high for piece in pieces] == [Decimal("1.2"), HIGH]
    assert pieces[1].line is not None
    assert pieces[1].line.fixed == 500


def test_beyond_the_last_affordable_plan_there_is_none() -> None:
    pieces = envelope(LOW, HIGH, Lines([line(0, 100, last="2")]).best, close)
    assert [(piece.high, piece.line is None) for piece in pieces] == [(Decimal(2), False), (HIGH, True)]


numbers = st.integers(0, 300)
lasts = st.one_of(st.none(), st.integers(25, 400).map(lambda number: str(Decimal(number) / 100)))


@given(st.lists(st.tuples(numbers, numbers, lasts), min_size=1, max_size=12), st.integers(25, 400))
def test_every_point_is_the_least_of_all_affordable_lines(
    lines: list[tuple[int, int, str | None]], hundredths: int
) -> None:
    oracle = Lines([line(*numbers) for numbers in lines])
    pieces = envelope(LOW, HIGH, oracle.best, close)
    factor = Decimal(hundredths) / 100
    expected = oracle.least(factor)
    own = at(pieces, factor)
    assert own == pytest.approx(expected, abs=Decimal("1e-6")) if expected is not None else own is None
    assert pieces[0].low == LOW
    assert pieces[-1].high == HIGH


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=12))
def test_few_solves_are_enough(lines: list[tuple[int, int]]) -> None:
    """Two at the ends, one at each breakpoint and one for each plan between."""
    oracle = Lines([line(*numbers) for numbers in lines])
    pieces = envelope(LOW, HIGH, oracle.best, close)
    assert oracle.asked <= 2 * len(pieces) + 1
