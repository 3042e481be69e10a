"""The tornado of the small market."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

from optimizer.analysis.risk import risk
from optimizer.analysis.sensitivity import pair_of, ranges_of, sensitivity
from optimizer.analysis.tornado import Sensitivity, SensitivityRow
from optimizer.api import SolveOptions, load
from optimizer.errors import InputError
from optimizer.io.library import Library
from tests.unit.analysis.small import small

Ends = dict[str, tuple[Decimal, Decimal]]


def answer(found: Sensitivity | None) -> Sensitivity:
    assert found is not None
    return found


def row(found: Sensitivity, name: str) -> SensitivityRow:
    return next(item for item in found.rows if item.input == name)


def ends(**spans: tuple[str, str]) -> Ends:
    return {name.replace("_", "."): (Decimal(low), Decimal(high)) for name, (low, high) in spans.items()}


def test_adas_price_flips_the_decision_at_bobs(tmp_path: Path) -> None:
    """At half price ten nodes cost 500,000; at 1.5 times Bob's 1,200,000 are cheaper."""
    found = answer(sensitivity(small(tmp_path), ends=ends(price_ada=("0.5", "1.5"))))
    own = row(found, "price.ada")
    assert (found.base, own.total_low, own.total_high) == (1_000_000, 500_000, 1_200_000)
    assert (own.decision_low.vendors, own.decision_high.vendors) == (("Ada",), ("Bob",))
    (flip,) = own.flips
    assert (flip.value, flip.within) == (pytest.approx(Decimal("1.2"), rel=Decimal("1e-7")), 0)
    assert flip.to.vendors == ("Bob",)
    assert own.swing == 500_000
    swings = [item.swing for item in found.rows if item.swing is not None]
    assert swings == sorted(swings, reverse=True)


def test_a_late_delivery_flips_at_the_last_week_that_still_works(tmp_path: Path) -> None:
    """Four weeks lead to 01-29; run of 100 days by 05-31 starts by 02-21: three weeks more are ready on 02-19."""
    found = answer(sensitivity(small(tmp_path), ends=ends(delivery_ada=("0", "8"))))
    own = row(found, "delivery.ada")
    (flip,) = own.flips
    assert (flip.value, flip.within, flip.to.vendors) == (4, 1, ("Bob",))


def test_duty_is_paid_on_both_and_flips_nothing(tmp_path: Path) -> None:
    own = row(answer(sensitivity(small(tmp_path))), "duty.rate")
    assert (own.total_low, own.total_high, own.flips) == (1_000_000, 1_250_000, ())


def test_an_end_without_a_plan_is_ranked_first(tmp_path: Path) -> None:
    found = answer(sensitivity(small(tmp_path, "budget.total=1.1e6"), ends=ends(price_ada=("1", "1.5"))))
    own = row(found, "price.ada")
    assert own in found.rows[: sum(item.swing is None for item in found.rows)]
    assert (own.input, own.total_high, own.decision_high.platform, own.swing) == ("price.ada", None, None, None)


def test_two_processes_give_the_same_rows(tmp_path: Path) -> None:
    loaded = small(tmp_path)
    one, two = (answer(sensitivity(loaded, options=SolveOptions(jobs=jobs))) for jobs in (1, 2))
    assert one.model_copy(update={"wall_s": 0}) == two.model_copy(update={"wall_s": 0})


@pytest.mark.parametrize(
    ("name", "low", "high", "words"),
    [
        ("price.adda", "1", "2", 'no such uncertain input.*Did you mean "price.ada"'),
        ("price.ada", "2", "1", "low 2 is above high 1"),
        ("price.ada", "NaN", "1", "finite numbers"),
        ("price.ada", "-1", "1", "not above zero"),
    ],
)
def test_senseless_ranges_are_refused_before_any_solve(
    tmp_path: Path, name: str, low: str, high: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        sensitivity(small(tmp_path), ends={name: (Decimal(low), Decimal(high))})


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    spans = ends(price_ada=("0", "1"), price_bob=("2", "1"), delivery_ada=("0.5", "2"), fx=("1", "2"))
    with pytest.raises(InputError) as caught:
        sensitivity(small(tmp_path, "objective=time"), ends=spans, grid=("price.ada", "price.bo"))
    places = [problem.location for problem in caught.value.problems]
    assert places == [
        "objective",
        "--range fx",
        "--grid",
        "--range price.ada",
        "--range delivery.ada",
        "--range price.bob",
    ]


def test_a_shipped_range_that_allows_a_negative_price_is_refused(tmp_path: Path) -> None:
    shipped = Path("models/ranges.yaml").read_text(encoding="utf-8")
    own = re.sub(
        "price_binding: .*",
        "price_binding: {how: plus, low: -2, high: 1, note: t, assumed: {by: me, date: 2027-01-01}}",
        shipped,
    )
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "ranges.yaml").write_text(own, encoding="utf-8")
    small(tmp_path)
    wrong = load(tmp_path / "small.yaml", Library.at(tmp_path))
    with pytest.raises(InputError, match=r"ranges\.yaml, price\.ada: -1 is not above zero") as caught:
        sensitivity(wrong)
    assert len(caught.value.problems) == 2
    with pytest.raises(InputError, match=r"ranges\.yaml, price\.bob: -1 is not above zero"):
        risk(wrong, 5, vary="prices")


def test_every_policy_after_the_run_is_solved(tmp_path: Path) -> None:
    """Sold on the day after the run at its residual; used at 1 an hour; else the nodes are worth nothing later."""
    use = "{policy: use, max_accelerators: 80, value_per_accelerator_hour: 1}"
    residual = "finance.residual={months: 36, share: 0.3}"
    loaded = small(tmp_path, f"after_run={use}", residual)
    found = answer(sensitivity(loaded))
    own = row(found, "after_run.policy")
    assert [end.value for end in own.options] == ["use", "sell", "idle", "off"]
    assert (own.low, own.high, own.value, own.flips) == (None, None, None, ())
    assert own.unit == "policy, now use"
    assert (own.npv_low, own.npv_high) == (own.options[0].npv, own.options[-1].npv)
    assert own.options[0].npv == pytest.approx(found.base_npv)
    for end in own.options:
        sets = (f"after_run={use}", residual, f"after_run.policy={end.value}")
        assert end.npv == pytest.approx(answer(sensitivity(small(tmp_path, *sets))).base_npv)


def test_without_a_value_use_is_no_policy(tmp_path: Path) -> None:
    own = row(answer(sensitivity(small(tmp_path))), "after_run.policy")
    assert {end.value for end in own.options} == {"idle", "off", "sell"}


def test_ranges_are_written_as_name_and_two_numbers() -> None:
    assert ranges_of(["price.ada=0.9:1.1"]) == {"price.ada": (Decimal("0.9"), Decimal("1.1"))}
    with pytest.raises(InputError, match=r"NAME=LOW:HIGH.*\n.*a second range"):
        ranges_of(["price.ada", "price.bob=1:2", "price.bob=1:3"])


def test_two_prices_moved_together_make_a_grid(tmp_path: Path) -> None:
    """Ada at 0.5 … 1.5 times 100,000, Bob at 0.5 … 1.5 times 120,000, ten nodes of the cheaper one."""
    spans = ends(price_ada=("0.5", "1.5"), price_bob=("0.5", "1.5"))
    grid = answer(sensitivity(small(tmp_path), ends=spans, grid=("price.ada", "price.bob"))).grid
    assert grid is not None
    assert len(grid.cells) == 25
    for cell in grid.cells:
        ada, bob = cell.values[0] * 1_000_000, cell.values[1] * 1_200_000
        assert cell.end.total == min(ada, bob)
        assert cell.end.decision.vendors == (("Ada",) if ada < bob else ("Bob",))


def test_a_grid_needs_two_known_inputs(tmp_path: Path) -> None:
    assert pair_of("a, b") == ("a", "b")
    with pytest.raises(InputError, match="not two different inputs"):
        pair_of("price.ada,price.ada")
    with pytest.raises(InputError, match=r'no such uncertain input: "price\.adda"'):
        sensitivity(small(tmp_path), grid=("price.adda", "price.bob"))
