"""Axes of charts: where values lie between the ends, in per cent, and round values to mark.

Positions across are shares of the width, so that a chart fits a telephone and a page of paper alike while its words
keep their size; no drawing library does that without a script in the page.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import floor, log10

from optimizer.errors import InternalError
from optimizer.report.document import Bars, Curves, Value

_TICKS = 4
"""Marks on an axis at most, besides its ends: as many as a telephone can show."""


def coordinate(value: Value) -> float | None:
    """Return where a value stands on its axis: its number, or the ordinal of its day; None when it is withheld."""
    known = value.value
    if known is None:
        return None
    if isinstance(known, dt.date):
        return float(known.toordinal())
    if isinstance(known, str):
        raise InternalError(f"{known} is no coordinate")
    return float(known)


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis with the kind of its values.

    Attributes:
        low: Coordinate of its start.
        high: Coordinate of its end, above ``low``.
        sample: A value whose kind and unit the marks take.
        ticks: Marked coordinates, ascending.
    """

    low: float
    high: float
    sample: Value
    ticks: tuple[float, ...]

    def percent(self, value: Value | float) -> float:
        """Return the position of a value or coordinate in per cent of the axis."""
        at = coordinate(value) if isinstance(value, Value) else value
        return round(100 * ((self.low if at is None else at) - self.low) / (self.high - self.low), 3)

    def marks(self) -> Iterator[tuple[float, Value]]:
        """Yield position and value of each mark; amounts are shortened."""
        kind = "amount" if self.sample.kind == "money" else self.sample.kind
        for tick in self.ticks:
            if kind == "date":
                yield self.percent(tick), Value("date", dt.date.fromordinal(int(tick)))
            else:
                yield self.percent(tick), Value(kind, Decimal(f"{tick:.10g}"), self.sample.unit)


def axis(values: Iterable[Value], *, from_zero: bool) -> Axis | None:
    """Return an axis that holds all values with some room; None when there are none, or they are withheld."""
    known = [(at, value) for value in values if (at := coordinate(value)) is not None]
    if not known:
        return None
    places = [at for at, _ in known] + ([0.0] if from_zero else [])
    low, high = min(places), max(places)
    room = (high - low or abs(high) or 1.0) * 0.03
    low, high = low - (0 if from_zero and low == 0 else room), high + room
    sample = known[0][1]
    ticks = _date_ticks(low, high) if sample.kind == "date" else _round_ticks(low, high)
    return Axis(low, high, sample, tuple(ticks))


def _round_ticks(low: float, high: float) -> list[float]:
    """Return multiples of 1, 2, 2.5 or 5 times a power of ten."""
    rough = (high - low) / _TICKS
    power = 10.0 ** floor(log10(rough))
    step = next(power * nice for nice in (1, 2, 2.5, 5, 10) if power * nice >= rough)
    first = -floor(-low / step)
    return [step * k for k in range(first, floor(high / step) + 1)]


def _date_ticks(low: float, high: float) -> list[float]:
    """Return first days of months, so many months apart that few are needed."""
    first, last = dt.date.fromordinal(int(low)), dt.date.fromordinal(int(high))
    months = (last.year - first.year) * 12 + last.month - first.month
    step = next((step for step in (1, 2, 3, 6, 12, 24, 60) if months / step <= _TICKS), 120)
    numbers = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
    days = (dt.date(number // 12, number % 12 + 1, 1) for number in numbers if number % step == 0)
    return [float(day.toordinal()) for day in days if low <= day.toordinal() <= high]


def bar_axis(chart: Bars) -> Axis | None:
    """Return the axis of a bar chart."""
    spans = [span for bar in chart.bars for span in (*bar.spans, *bar.marks)]
    return axis(
        [value for span in (*chart.lines, *spans) for value in (span.start, span.end)], from_zero=chart.from_zero
    )


def curve_axes(chart: Curves) -> tuple[Axis, Axis] | None:
    """Return the horizontal and the vertical axis of a chart of curves."""
    points = [point for series in chart.series for point in series.points]
    across = axis([point[0] for point in points], from_zero=False)
    up = axis([point[1] for point in points], from_zero=chart.from_zero)
    return None if across is None or up is None else (across, up)
