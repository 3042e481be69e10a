"""Nearly optimal plans: within the share, each different, with what it gives up and gains."""

from __future__ import annotations

from pathlib import Path

from optimizer.analysis.alternatives import Alternatives, alternatives
from optimizer.results import Conflict
from tests.unit.analysis.files import OPTIONS, loaded
from tests.unit.cost.world import frame, platform, purchase, quote, stated, workload

WORLD = frame(
    quote(purchase(100)),
    quote(purchase(102), "best", vendor="Best"),
    quote(purchase(105, platform="crate"), "crates", vendor="Crates"),
    quote(purchase(190, platform="crate"), "dear", vendor="Dear"),
    platforms=[platform(), platform("crate")],
    workloads=workload(stated(2, 30), stated(2, 20, "crate")),
)


def found(folder: Path, within: float) -> list[tuple[int, str, tuple[str, ...]]]:
    result = alternatives(loaded(WORLD, folder), within, options=OPTIONS)
    assert isinstance(result, Alternatives)
    return [(int(plan.total), plan.platform, plan.vendors) for plan in result.plans]


def test_the_best_alone_when_nothing_may_be_worse(tmp_path: Path) -> None:
    assert found(tmp_path, 0) == [(200, "box", ("Acme",))]


def test_plans_within_the_share_by_cost_without_duplicates(tmp_path: Path) -> None:
    assert found(tmp_path, 0.03) == [
        (200, "box", ("Acme",)), (202, "box", ("Acme", "Best")), (204, "box", ("Best",)),
    ]  # fmt: skip
    assert found(tmp_path, 0.05) == [*found(tmp_path, 0.03), (210, "crate", ("Crates",))]


def test_what_a_plan_gives_up_and_gains(tmp_path: Path) -> None:
    result = alternatives(loaded(WORLD, tmp_path), 0.05, options=OPTIONS)
    assert isinstance(result, Alternatives)
    best, last = result.plans[0], result.plans[-1]
    assert (best.gives_up, best.gains) == ((), ())
    assert last.gives_up == ("10.00 USD more present value", "10.00 USD more cash in the first year")
    assert last.gains == ("10 days earlier", "buys from Crates")


def test_an_infeasible_scenario_has_a_conflict_instead(tmp_path: Path) -> None:
    world = frame(quote(purchase(100)), budget={"total": 10})
    result = alternatives(loaded(world, tmp_path), 0.05, options=OPTIONS)
    assert isinstance(result, Conflict)
    assert [limit.name for limit in result.limits] == ["budget"]
