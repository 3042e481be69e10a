"""Risk of the small market: means, regret and values of information that can be worked out."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from optimizer.analysis.executors import local
from optimizer.analysis.outcomes import Outcomes, information_values, linear_information_values
from optimizer.analysis.reality import Sample, Signed, duration, slipped
from optimizer.analysis.risk import Risk, risk
from optimizer.analysis.sampling import points
from optimizer.analysis.sweep import Sweeping
from optimizer.analysis.uncertain import uncertain_inputs
from optimizer.analysis.world import World
from optimizer.api import SolveOptions, inputs_of, load
from optimizer.cost.choice import Choice
from optimizer.cost.frame import DAY
from optimizer.errors import InputError
from optimizer.io.library import Library
from optimizer.io.loaded import Loaded
from optimizer.solver.planner import Modes, decide, prepare
from optimizer.units import add_months
from tests.unit.analysis.small import ranges, small

NOTHING = Sample({}, {}, {}, {}, 3.0)


def answer(found: Risk | None) -> Risk:
    assert found is not None
    return found


def value(found: Risk, about: str) -> float:
    return float(next(item.value for item in found.information if item.about == about))


def prices(loaded: Loaded, low: float, high: float, **more: object) -> Risk:
    return answer(risk(loaded, 600, vary="prices", ranges=ranges(loaded, low, high), **more))  # type: ignore[arg-type]


def test_firm_prices_are_worth_what_switching_would_save(tmp_path: Path) -> None:
    """Ada 1.0 M x U(0.5, 1.5): above Bob's mean 1.2 M she loses; E[(C - 1.2 M)+] = 0.3^2 / 2 = 0.045 M.

    Bob 1.2 M x U(0.5, 1.5) below her mean 1.0 M, at x < 5/6: 1.2 M x (5/6 - 1/2)^2 / 2 = 0.0667 M.
    """
    found = prices(small(tmp_path), 0.5, 1.5)
    assert value(found, "price.ada") == pytest.approx(45_000, rel=0.05)
    assert value(found, "price.bob") == pytest.approx(66_667, rel=0.05)
    assert [plan.details.vendors for plan in found.plans] == [("Ada",), ("Bob",)]
    assert float(found.plans[0].mean) == pytest.approx(1e6, rel=0.01)
    assert float(found.plans[0].cost.p90) == pytest.approx(1.4e6, rel=0.01)
    assert found.least_mean == found.plans[0].plan


def test_knowing_more_is_worth_nothing_when_the_decision_cannot_change(tmp_path: Path) -> None:
    found = prices(small(tmp_path), 0.95, 1.05)
    assert [item.value for item in found.information] == [0, 0]
    assert [plan.details.vendors for plan in found.plans] == [("Ada",)]
    assert (found.plans[0].regret, found.plans[0].p_best) == (0, 1)


def test_the_best_of_every_sample_is_what_solving_from_nothing_gives(tmp_path: Path) -> None:
    loaded = small(tmp_path, "budget.total=1.3e6")
    own, naive = (prices(loaded, 0.5, 1.5, naive=naive) for naive in (False, True))
    skip = {"wall_s": 0, "solves": 0}
    assert own.model_copy(update=skip) == naive.model_copy(update=skip)
    assert own.plans[0].p_budget == pytest.approx(Decimal("0.8"), abs=Decimal("0.02"))


@pytest.mark.parametrize(("spread", "sets"), [(0.3, ()), (0.6, ("budget.total=1.15e6",)), (0.9, ("horizon_months=8",))])
def test_few_solves_prove_what_one_per_sample_finds(tmp_path: Path, spread: float, sets: tuple[str, ...]) -> None:
    """Three vendors in two pools; budgets that some of the plans break at some prices."""
    loaded = small(tmp_path, *sets, hourly=True)
    spans = ranges(loaded, 1 - spread, 1 + spread)
    own, naive = (
        answer(risk(loaded, 120, vary="prices", ranges=spans, naive=naive)) for naive in (False, True)
    )  # fmt: skip
    skip = {"wall_s": 0, "solves": 0}
    assert own.model_copy(update=skip) == naive.model_copy(update=skip)
    assert own.proven
    if not sets:
        assert own.solves is not None
        assert own.solves < 20


def test_enumeration_finds_the_same_price_samples(tmp_path: Path) -> None:
    loaded = small(tmp_path, "workloads.train.modes=[{platform: h100-sxm, nodes: 2, days: 100, source: x}]")
    own, other = (
        answer(risk(loaded, 10, vary="prices", ranges=ranges(loaded, 0.5, 1.5), options=SolveOptions(solver=name)))
        for name in ("auto", "enumerate")
    )  # type: ignore[arg-type]
    skip = {"wall_s": 0, "solves": 0}
    assert own.model_copy(update=skip) == other.model_copy(update=skip)


@pytest.mark.parametrize("vary", ["prices", "all"])
def test_two_processes_and_a_resumed_run_give_the_same(tmp_path: Path, vary: str) -> None:
    loaded = small(tmp_path)
    store = tmp_path / "results.jsonl"

    def run(jobs: int = 1, store: Path | None = None) -> Risk:
        found = risk(loaded, 120, vary=vary, options=SolveOptions(workers=1), how=Sweeping(local(jobs), store))  # type: ignore[arg-type]
        return answer(found).model_copy(update={"wall_s": 0})

    whole = run()
    assert run(jobs=2, store=store) == whole
    lines = store.read_text(encoding="utf-8").splitlines()
    store.write_text("\n".join(lines[:-1]) + "\n" + lines[-1][:40], encoding="utf-8")
    assert run(store=store) == whole


def test_results_of_another_question_are_refused(tmp_path: Path) -> None:
    store = tmp_path / "results.jsonl"
    risk(small(tmp_path), 10, how=Sweeping(store=store))
    with pytest.raises(InputError, match="results of another question"):
        risk(small(tmp_path, "horizon_months=11"), 10, how=Sweeping(store=store))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"samples": 0}, "1 or more"),
        ({"late_day": Decimal(-1)}, "zero or more"),
        ({"late_day": Decimal("NaN")}, "zero or more"),
        ({"information_costs": {"price.ada": Decimal(-5)}}, "zero or more"),
        ({"information_costs": {"price.adda": Decimal(5)}}, 'no such uncertain input.*Did you mean "price.ada"'),
    ],
)
def test_senseless_options_are_refused(tmp_path: Path, more: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        risk(small(tmp_path), **{"samples": 5, **more})  # type: ignore[arg-type]


def signed(loaded: Loaded, late_day: int | None = None) -> Signed:
    inputs = inputs_of(loaded)
    choice = decide(prepare(inputs, Modes()), "auto", SolveOptions(workers=1).settings()).choice
    assert choice is not None
    durations = {run.candidate.workload: duration(run, inputs) for run in choice.runs}
    return Signed(choice, durations, inputs, None if late_day is None else Decimal(late_day))


def late(weeks: int) -> Sample:
    return Sample({}, {}, {"ada": weeks}, {}, 3.0)


def test_what_is_signed_costs_what_it_was_planned_at_when_nothing_happens(tmp_path: Path) -> None:
    fate = signed(small(tmp_path)).fate(NOTHING)
    assert (fate.npv, fate.in_time, fate.in_budget) == (1_000_000, True, None)


def test_a_late_delivery_makes_the_run_late(tmp_path: Path) -> None:
    """Ready 01-29 + 4 weeks = 02-26; 100 days end 06-05, five days late at 7,000 each."""
    plan = signed(small(tmp_path), late_day=7000)
    assert plan.fate(late(3)).in_time
    fate = plan.fate(late(4))
    assert (fate.npv, fate.in_time) == (1_035_000, False)


def test_what_is_missing_is_rented_where_it_is_offered(tmp_path: Path) -> None:
    """5 days x 10 nodes x 8 accelerators x 24 h x 100 = 960,000; being late at 7,000 a day is cheaper where stated."""
    loaded = small(tmp_path, hourly=True)
    assert signed(loaded).fate(late(4)).npv == 1_960_000
    assert signed(loaded, late_day=7000).fate(late(4)).npv == 1_035_000


def two_runs(loaded: Loaded, after: tuple[str, ...] = ()) -> Signed:
    """Return a signed plan of two runs of 100 and 10 days on the same ten nodes, the second from the day after the first."""
    one = signed(loaded, late_day=1000)
    (run,) = one.choice.runs
    second = replace(run, start=run.end + DAY, candidate=replace(run.candidate, workload="next", days=10))
    scenario = loaded.scenario
    work = scenario.workloads["train"].model_copy(update={"after": after, "deadline": dt.date(2027, 5, 31)})
    workloads = {"next": work, "train": scenario.workloads["train"]}
    changed = scenario.model_copy(update={"workloads": workloads})
    inputs = one.inputs.with_frame(replace(one.inputs.frame, scenario=changed))
    durations = {**one.durations, "next": one.durations["train"]}
    return replace(one, choice=Choice(one.choice.taken, (second, run)), durations=durations, inputs=inputs)


@pytest.mark.parametrize("after", [(), ("train",)])
def test_a_run_waits_for_the_one_before_it(tmp_path: Path, after: tuple[str, ...]) -> None:
    """Planned 02-01 to 05-11 and 05-12 to 05-21; ready two weeks late on 02-12, the first ends on 05-22, the next 06-01.

    The second is one day late at 1,000; ready a week late on 02-05 both are in time.
    """
    plan = two_runs(small(tmp_path), after)
    frame = plan.inputs.frame
    runs = plan._runs(plan.choice, late(2), frame)
    assert [(run.candidate.workload, run.start, run.end) for run in runs] == [
        ("next", dt.date(2027, 5, 23), dt.date(2027, 6, 1)), ("train", dt.date(2027, 2, 12), dt.date(2027, 5, 22)),
    ]  # fmt: skip
    assert (plan.fate(late(2)).npv, plan.fate(late(2)).in_time) == (1_001_000, False)
    assert (plan.fate(late(1)).npv, plan.fate(late(1)).in_time) == (1_000_000, True)


RESERVED = """
quote: cloud
vendor: Cloud
kind: binding
valid_until: 2027-12-31
currency: USD
offers:
  term: {type: reserved, platform: h100-sxm, region: west, per: node_hour, price: 1, term_months: 5, lead_weeks: [3, 4], units: {max: 30}}
"""


def test_a_provider_may_be_late_too(tmp_path: Path) -> None:
    """Ready 01-29 + 2 weeks; the run of 100 days starts on 02-12 instead of 02-01 and ends on 05-22; the term moves along."""
    small(tmp_path)
    for name in ("ada", "bob"):
        (tmp_path / "quotes" / f"{name}.yaml").unlink()
    (tmp_path / "quotes" / "cloud.yaml").write_text(RESERVED, encoding="utf-8")
    plan = signed(load(tmp_path / "small.yaml"))
    sample = replace(NOTHING, weeks={"cloud": 2})
    (run,) = plan._runs(plan.choice, sample, plan.inputs.frame)
    assert (run.start, run.end) == (dt.date(2027, 2, 12), dt.date(2027, 5, 22))
    (award,) = plan.choice.taken
    late = slipped(award.option, sample)
    assert late.lots[0].ready - award.option.lots[0].ready == dt.timedelta(weeks=2)
    assert late.end == add_months(late.lots[0].delivery, 5) - DAY
    names = {item.name for item in uncertain_inputs(World(plan.inputs), Library.shipped().ranges, ["h100-sxm"])}
    assert "delivery.cloud" in names


def test_recourse_counts_in_the_budget(tmp_path: Path) -> None:
    loaded = small(tmp_path, "budget.total=1.01e6")
    assert signed(loaded, late_day=7000).fate(late(4)).in_budget is False
    assert signed(loaded, late_day=1000).fate(late(4)).in_budget is True


def test_regret_and_its_smallest_maximum() -> None:
    """Plan 0 costs 1 or 9, plan 1 always 4: regrets 0, 5 against 3, 0."""
    npv = np.array([[1.0, 4.0], [9.0, 4.0]])
    flags = np.ones((2, 2), dtype=np.bool_)
    outcomes = Outcomes(npv, npv.min(axis=1), flags, None)
    assert outcomes.regret.tolist() == [[0, 3], [5, 0]]
    assert outcomes.min_max_regret() == 1
    assert outcomes.cheapest() == 1


def test_information_is_worth_nothing_to_a_dominated_choice_and_something_to_a_close_one() -> None:
    """C0 = x, C1 = 1/2, x uniform: knowing x is worth E[1/2 - min(x, 1/2)] = 1/8."""
    x, y = points(0, 4000, 2, seed=1).T
    npv = np.stack([x + 0.3 * (y - 0.5), np.full(len(x), 0.5)], axis=1)
    values = information_values(npv, {"x": x})
    assert values["x"] == pytest.approx(0.125, abs=0.01)
    exact = linear_information_values(npv, {"x": x, "y": y}, {"x": np.array([1, 0]), "y": np.array([0.3, 0])})
    assert exact["x"] == pytest.approx(0.125, abs=0.002)
    assert information_values(npv + np.array([0.0, 9.0]), {"x": x, "y": y}) == {"x": 0, "y": 0}


def test_points_are_even_and_follow_from_their_number() -> None:
    spread = points(0, 1000, 30, seed=7)
    assert (spread > 0).all()
    assert (spread < 1).all()
    assert np.abs(spread.mean(axis=0) - 0.5).max() < 0.01
    assert (points(400, 450, 30, seed=7) == spread[400:450]).all()
    assert np.abs(np.corrcoef(spread.T) - np.eye(30)).max() < 0.15


def test_dates_in_the_docstrings_are_right() -> None:
    assert dt.date(2027, 1, 1) + dt.timedelta(weeks=8) + dt.timedelta(99) == dt.date(2027, 6, 5)
