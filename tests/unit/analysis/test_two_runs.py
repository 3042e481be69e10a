"""Analyses of two runs, the second after the first: every figure by hand."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pytest

from optimizer.analysis.breakeven import breakeven
from optimizer.analysis.pareto import pareto
from optimizer.analysis.risk import risk
from optimizer.analysis.sensitivity import sensitivity
from optimizer.errors import InputError
from tests.unit.analysis.small import ranges, two_runs


def test_the_front_ends_with_the_last_run(tmp_path: Path) -> None:
    """Ten nodes: 100 days from 02-01 to 05-11, then 8 for 10 days; twenty nodes: 50 days to 03-22, then 10 days."""
    front = pareto(two_runs(tmp_path))
    assert front is not None
    assert front.complete
    assert [(point.finish, point.total) for point in front.points] == [
        (dt.date(2027, 4, 1), 2_000_000),
        (dt.date(2027, 5, 21), 1_000_000),
    ]


def test_adas_price_switches_at_bobs(tmp_path: Path) -> None:
    found = breakeven(two_runs(tmp_path), quote="ada")
    assert found is not None
    (switch,) = found.switches
    assert switch.price == pytest.approx(Decimal(120_000), rel=Decimal("1e-6"))
    assert switch.to.vendors == ("Bob",)
    assert switch.verified
    assert found.proven


def test_a_budget_at_other_prices_is_refused_for_several_runs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="several workloads"):
        breakeven(two_runs(tmp_path, "budget.total=1.3e6"), quote="ada")


def test_prices_and_everything_are_played_through(tmp_path: Path) -> None:
    """Firm prices are worth what they are for one run: ten nodes are bought whatever follows."""
    loaded = two_runs(tmp_path)
    prices = risk(loaded, 40, vary="prices", ranges=ranges(loaded, 0.5, 1.5))
    assert prices is not None
    assert [plan.details.vendors for plan in prices.plans] == [("Ada",), ("Bob",)]
    assert prices.proven
    everything = risk(loaded, 60)
    assert everything is not None
    assert everything.plans[0].details.vendors == ("Ada",)
    assert everything.plans[0].p_deadline == 1


def test_the_tornado_solves_both_runs_again(tmp_path: Path) -> None:
    found = sensitivity(two_runs(tmp_path), ends={"price.ada": (Decimal("0.5"), Decimal("1.5"))})
    assert found is not None
    own = next(row for row in found.rows if row.input == "price.ada")
    assert (own.total_low, own.total_high) == (500_000, 1_200_000)
    (flip,) = own.flips
    assert abs(flip.value - Decimal("1.2")) <= flip.within
