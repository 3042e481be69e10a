"""Break-even prices that can be checked by hand."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from optimizer.analysis.breakeven import Breakeven, breakeven
from optimizer.analysis.scales import quote_knob
from optimizer.api import SolveOptions, inputs_of
from optimizer.errors import InputError
from optimizer.solver.assemble import priced
from optimizer.solver.planner import Modes, decide, prepare
from tests.unit.analysis.small import small


def found(answer: Breakeven | None) -> Breakeven:
    assert answer is not None
    return answer


def near(value: float) -> object:
    return pytest.approx(Decimal(value), rel=Decimal("1e-6"))


def test_ada_wins_until_her_price_is_bobs(tmp_path: Path) -> None:
    answer = found(breakeven(small(tmp_path), quote="ada"))
    assert (answer.price, answer.currency, answer.unit, answer.offer) == (100_000, "USD", "node", "ada/node")
    assert answer.holds == (25_000, near(120_000))
    (switch,) = answer.switches
    assert (switch.price, switch.factor) == (near(120_000), near(1.2))
    assert (switch.to.platform, switch.to.vendors) == ("h100-sxm", ("Bob",))
    assert switch.verified
    assert answer.proven


def test_bob_must_come_down_to_adas_price(tmp_path: Path) -> None:
    answer = found(breakeven(small(tmp_path), quote="bob"))
    assert answer.holds == (near(100_000), 480_000)
    assert [switch.to.vendors for switch in answer.switches] == [("Bob",)]


def test_prices_say_what_they_are(tmp_path: Path) -> None:
    one, two = (
        found(breakeven(small(tmp_path), **subject)) for subject in ({"quote": "ada"}, {"platform": "h100-sxm"})
    )
    assert (
        one.basis == "unit price of the first tier of ada/node; every price of quote ada moves in the same proportion"
    )
    assert two.basis.endswith("every price of platform h100-sxm moves in the same proportion")
    assert (one.subject, two.subject) == ("quote ada", "platform h100-sxm")


def test_the_curve_bends_where_the_plan_changes(tmp_path: Path) -> None:
    """Ten of Ada's nodes at 25,000 … 120,000, then ten of Bob's at 120,000 each."""
    curve = found(breakeven(small(tmp_path), quote="ada")).curve
    assert [(point.price, point.npv) for point in curve] == [
        (25_000, near(250_000)), (near(120_000), near(1_200_000)), (400_000, near(1_200_000)),
    ]  # fmt: skip


def test_the_curve_is_concave_and_is_what_200_independent_solves_give(tmp_path: Path) -> None:
    """Dear, Ada sells ten nodes; cheaper, twenty, for they earn 1.6 an hour after the run; dearer, Bob sells."""
    use = "{policy: use, max_accelerators: 160, value_per_accelerator_hour: 1.6}"
    loaded = small(tmp_path, f"after_run={use}", hourly=True)
    curve = [(float(point.factor), float(point.npv or 0)) for point in found(breakeven(loaded, quote="ada")).curve]
    slopes = [(later[1] - first[1]) / (later[0] - first[0]) for first, later in pairwise(curve)]
    assert len(slopes) == 3
    assert slopes == sorted(slopes, reverse=True)
    frame, known = inputs_of(loaded), Modes()
    for step in range(200):
        factor = Decimal("0.25") + Decimal("3.75") * step / 199
        at = frame.with_frame(quote_knob(frame.frame, "ada")(factor))
        choice = decide(prepare(at, known), "auto", SolveOptions(workers=1).settings(), unique=False).choice
        assert choice is not None
        own = np.interp(float(factor), *zip(*curve, strict=True))
        assert float(priced(choice, at.frame).npv) == pytest.approx(own, rel=1e-8, abs=0.02)


@pytest.mark.parametrize("solver", ["highs", "enumerate"])
def test_every_solver_finds_the_same_switch(tmp_path: Path, solver: str) -> None:
    loaded = small(tmp_path, "workloads.train.modes=[{platform: h100-sxm, nodes: 10, days: 100, source: x}]")
    options = SolveOptions(solver=solver)  # type: ignore[arg-type]
    answer = found(breakeven(loaded, quote="ada", options=options))
    assert [(switch.price, switch.verified) for switch in answer.switches] == [(near(120_000), True)]


def test_enumeration_refuses_budgets_at_other_prices(tmp_path: Path) -> None:
    options = SolveOptions(solver="enumerate")
    with pytest.raises(InputError, match="--set budget=null"):
        breakeven(small(tmp_path, "budget.total=2e6"), quote="ada", options=options)


def test_one_subject_stands_in_the_answer(tmp_path: Path) -> None:
    keys = set(found(breakeven(small(tmp_path), platform="h100-sxm")).model_dump())
    assert "platform" in keys
    assert not keys & {"quote", "input"}


def test_scaling_every_offer_of_the_only_platform_changes_nothing(tmp_path: Path) -> None:
    answer = found(breakeven(small(tmp_path), platform="h100-sxm"))
    assert (answer.switches, answer.holds) == ((), answer.bounds)


def test_a_budget_ends_the_interval_where_the_plan_can_no_longer_be_paid(tmp_path: Path) -> None:
    """Ten nodes of Ada within 1,100,000: up to 110,000 each; Bob's cost 1,200,000."""
    answer = found(breakeven(small(tmp_path, "budget.total=1.1e6"), quote="ada"))
    (switch,) = answer.switches
    assert switch.price == near(110_000)
    assert (switch.to.platform, switch.to.vendors, switch.plan) == (None, (), None)
    assert switch.verified


def test_the_value_after_the_run_moves_the_number_of_nodes(tmp_path: Path) -> None:
    """More value, more accelerators: the vendor stays, the plan does not."""
    use = "{policy: use, max_accelerators: 160, value_per_accelerator_hour: 1}"
    answer = found(breakeven(small(tmp_path, f"after_run={use}"), after_run=True))
    assert answer.input == "after_run.value_per_accelerator_hour"
    assert answer.switches == ()
    low, high = answer.plan_holds
    assert answer.bounds[0] <= low <= 1 <= high < answer.bounds[1]


def test_without_a_plan_there_is_no_answer(tmp_path: Path) -> None:
    assert breakeven(small(tmp_path, "budget.total=1000"), quote="ada") is None


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        ({"quote": "adda"}, 'nothing named "adda".*Did you mean "ada"'),
        ({"platform": "b200-hgx"}, "platform with an offer"),
        ({}, "not exactly one subject"),
        ({"quote": "ada", "platform": "h100-sxm"}, "not exactly one subject"),
        ({"after_run": True}, "Only the policy use has a value"),
        ({"quote": "ada", "factors": (Decimal(2), Decimal(4))}, "low < 1 < high"),
        ({"quote": "ada", "factors": (Decimal("NaN"), Decimal(4))}, "low < 1 < high"),
    ],
)
def test_bad_questions_are_refused(tmp_path: Path, subject: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        breakeven(small(tmp_path), **subject)  # type: ignore[arg-type]


def test_only_costs_are_compared(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="breakeven compares costs"):
        breakeven(small(tmp_path, "objective=time"), quote="ada")
