"""At what price the decision changes: every switch, exactly, and the interval in which the decision holds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pydantic import Field

from optimizer.analysis.decisions import Decision, PlanBrief, brief, decision
from optimizer.analysis.envelope import Piece, envelope
from optimizer.analysis.family import ONE, Family
from optimizer.analysis.lines import Line
from optimizer.analysis.optimum import Effort, refuse_other_objectives, single
from optimizer.analysis.scales import Grouping, Knob, one_platform, one_quote, value_knob
from optimizer.analysis.world import stored_modes
from optimizer.api import SolveOptions, inputs_of
from optimizer.cost.frame import Frame
from optimizer.errors import InputError, Problem
from optimizer.io.loaded import Loaded
from optimizer.io.prices import first_price
from optimizer.results import Number, Result
from optimizer.schema.base import Money
from optimizer.solver.planner import Modes

FACTORS = (Decimal("0.25"), Decimal(4))
"""Default bounds of the search: a quarter to four times the price of today."""

NEARBY = Decimal("1e-4")
"""Relative distance at which each switch is confirmed by solving again on both sides."""


class Switch(Result):
    """A price at which the decision changes, coming from the price of today."""

    price: Number
    factor: Number
    """Price / price of today."""
    to: Decision
    """The decision beyond it, seen from the price of today."""
    plan: PlanBrief | None
    """The plan beyond it; None when no plan is possible there."""
    verified: bool
    """Whether solving again 0.01 % before and after it gives the two plans."""


class Vertex(Result):
    """Where the curve of the least present value begins, bends or ends."""

    factor: Number
    price: Number
    npv: Number | None
    """None: no plan is possible there."""


class Breakeven(Result):
    """The answer of ``breakeven``: one subject, its price, where the decision holds, every switch up to the bounds."""

    quote: str | None = Field(default=None, exclude_if=lambda name: name is None)
    platform: str | None = Field(default=None, exclude_if=lambda name: name is None)
    input: str | None = Field(default=None, exclude_if=lambda name: name is None)
    """The key of the scenario, when it is no quote or platform that is scaled."""
    price: Number
    """First tier's unit price of ``offer`` today."""
    basis: str
    """What every price here is, in one sentence."""
    currency: str
    unit: str
    """What the price buys."""
    offer: str | None
    """``quote/offer`` whose price is shown: the one awarded, else the first."""
    decision: Decision
    """The decision at the price of today."""
    holds: tuple[Number, Number]
    """Prices between which platform and vendors stay; equal to a bound where no switch was found up to it."""
    plan_holds: tuple[Number, Number]
    """Prices between which every award and run stays."""
    bounds: tuple[Number, Number]
    """Prices between which switches were looked for."""
    switches: tuple[Switch, ...]
    """Changes of platform or vendors, ascending."""
    curve: tuple[Vertex, ...]
    """The least present value of any plan at any price: straight between neighbours, concave while budgets allow."""
    plans: int
    """Different plans between the bounds."""
    solves: int
    """Models solved."""
    proven: bool
    """Whether every model was solved to proof."""
    wall_s: float

    @property
    def subject(self) -> str:
        """What is scaled, in a few words."""
        return (
            f"quote {self.quote}" if self.quote else f"platform {self.platform}" if self.platform else str(self.input)
        )


@dataclass(frozen=True)
class _Price:
    """A unit price of today."""

    offer: str | None
    amount: Decimal
    currency: str
    unit: str


@dataclass(frozen=True)
class _Subject:
    """What is scaled, and the prices that may be shown for it."""

    names: dict[str, str]
    move: Grouping | Knob
    prices: tuple[_Price, ...]

    def shown(self, line: Line) -> _Price:
        """Return the price of the offer a plan awards; of the first one when it awards none of them."""
        awarded = {"/".join(taken.option.offer_key) for taken in line.choice.taken}
        return next((price for price in self.prices if price.offer in awarded), self.prices[0])


def breakeven(
    loaded: Loaded,
    *,
    quote: str | None = None,
    platform: str | None = None,
    after_run: bool = False,
    factors: tuple[Decimal, Decimal] = FACTORS,
    options: SolveOptions | None = None,
    known: Modes | None = None,
) -> Breakeven | None:
    """Return the prices at which the decision changes when all prices of one subject move together.

    Args:
        loaded: The scenario; its objective must be cost.
        quote: Quote whose prices are scaled; or
        platform: platform whose offers are scaled; or
        after_run: the value of an accelerator-hour after the run is scaled.
        factors: Smallest and largest multiple of today's price to search; they must enclose 1.
        options: How to solve.
        known: Modes computed before; they do not depend on prices.

    Returns:
        None when there is no plan at the prices of today.

    Raises:
        InputError: not exactly one subject, an unknown one, one without a price, bounds that do not enclose 1, or another
            objective than cost.
    """
    options = options or SolveOptions()
    inputs = inputs_of(loaded)
    subject = _subject(inputs.frame, quote, platform, after_run=after_run)
    _check_bounds(factors)
    effort = Effort(options.solver, single(options), time.monotonic())
    family = Family(inputs, subject.move, effort, known or stored_modes())
    refuse_other_objectives(family.problem(ONE), "breakeven")
    base = family.best(ONE, ONE)
    if base is None:
        return None
    pieces = envelope(*factors, family.best, family.close)
    return _answer(subject, base, pieces, family, factors)


def _answer(
    subject: _Subject, base: Line, pieces: Sequence[Piece], family: Family, factors: tuple[Decimal, Decimal]
) -> Breakeven:
    own = decision(base.choice)
    steps = list(switches(pieces))
    shown = subject.shown(base)
    price = shown.amount
    records = tuple(_switch(switch, price, family) for switch in steps)
    effort = family.effort
    return Breakeven(
        **subject.names,
        price=price,
        basis=_basis(subject, shown),
        currency=shown.currency,
        unit=shown.unit,
        offer=shown.offer,
        decision=own,
        holds=_around([step[0] for step in steps], factors, price),
        plan_holds=_around([piece.low for piece in pieces[1:]], factors, price),
        bounds=(factors[0] * price, factors[1] * price),
        switches=records,
        curve=tuple(_curve(pieces, price)),
        plans=len(pieces),
        solves=effort.solves,
        proven=effort.proven,
        wall_s=round(time.monotonic() - effort.started, 3),
    )


def _basis(subject: _Subject, shown: _Price) -> str:
    """Return what the prices of the answer are."""
    if shown.offer is None:
        return "value of one accelerator-hour in the first year after the run"
    whose = " ".join(*subject.names.items())
    return f"unit price of the first tier of {shown.offer}; every price of {whose} moves in the same proportion"


def _curve(pieces: Sequence[Piece], price: Decimal) -> Iterator[Vertex]:
    """Yield the ends of every piece, once where two pieces meet."""
    last: Vertex | None = None
    for piece in pieces:
        for factor in (piece.low, piece.high):
            npv = None if piece.line is None else piece.line.at(factor)
            vertex = Vertex(factor=factor, price=factor * price, npv=npv)
            if last is None or (last.factor, last.npv) != (vertex.factor, vertex.npv):
                yield vertex
            last = vertex


Step = tuple[Decimal, Piece, Piece]
"""A factor with the pieces below and above it."""


def switches(pieces: Sequence[Piece]) -> Iterator[Step]:
    """Yield the factors at which platform or vendors change."""
    for below, above in zip(pieces, pieces[1:], strict=False):
        if decided(below) != decided(above):
            yield below.high, below, above


def decided(piece: Piece) -> Decision:
    """Return the decision on a piece."""
    return decision(piece.line.choice if piece.line else None)


def _around(at: Sequence[Decimal], factors: tuple[Decimal, Decimal], price: Decimal) -> tuple[Decimal, Decimal]:
    """Return the prices of the last change at or below today's and of the first above it."""
    below = max((factor for factor in at if factor <= ONE), default=factors[0])
    above = min((factor for factor in at if factor > ONE), default=factors[1])
    return below * price, above * price


def _switch(step: Step, price: Decimal, family: Family) -> Switch:
    factor, below, above = step
    beyond = above if factor > ONE else below
    return Switch(
        price=factor * price,
        factor=factor,
        to=decided(beyond),
        plan=brief(beyond.line.choice) if beyond.line else None,
        verified=_confirmed(factor * (1 - NEARBY), below, family) and _confirmed(factor * (1 + NEARBY), above, family),
    )


def _confirmed(factor: Decimal, piece: Piece, family: Family) -> bool:
    """Return whether solving again at a factor inside a piece (or beyond it, when it is shorter) finds nothing better."""
    found = family.best(factor, factor)
    if found is None or piece.line is None:
        return found is None and piece.line is None
    if not piece.low <= factor <= piece.high:
        return True
    return abs(found.at(factor) - piece.line.at(factor)) <= family.close(found.at(factor))


def _check_bounds(factors: tuple[Decimal, Decimal]) -> None:
    low, high = factors
    if not (low.is_finite() and high.is_finite() and 0 < low < 1 < high):
        found = f"factors {low} to {high}"
        raise InputError(
            [Problem("breakeven bounds", found, "Expected 0 < low < 1 < high, multiples of today's price")]
        )


def _subject(frame: Frame, quote: str | None, platform: str | None, *, after_run: bool) -> _Subject:
    if (quote is not None) + (platform is not None) + after_run != 1:
        raise InputError([Problem("breakeven", "not exactly one subject", "Give --quote, --platform or --after-run")])
    if after_run:
        move = value_knob(frame)
        value = frame.scenario.after_run.value_per_accelerator_hour or Money(amount=Decimal(0))
        price = _Price(None, value.amount, value.currency or frame.scenario.currency, "accelerator_hour")
        return _Subject({"input": "after_run.value_per_accelerator_hour"}, move, (price,))
    kind, name = ("quote", quote) if quote is not None else ("platform", platform)
    grouping = one_quote(frame, str(name)) if kind == "quote" else one_platform(frame, str(name))
    prices = tuple(_prices(frame, quote, platform))
    if not prices:
        raise InputError([Problem(f"--{kind} {name}", "no offer with a price", "Expected a price to scale")])
    return _Subject({kind: str(name)}, grouping, prices)


def _prices(frame: Frame, quote: str | None, platform: str | None) -> Iterator[_Price]:
    for record in frame.quotes.values():
        for name, offer in record.offers.items():
            price = first_price(offer)
            if price and quote in (None, record.quote) and platform in (None, offer.platform):
                unit = f"{offer.per} and month" if offer.type == "lease" else str(offer.per)
                yield _Price(f"{record.quote}/{name}", price.amount, price.currency or record.currency, unit)
