"""google/or-tools issue 3943: assumptions together with an objective name every limit; ours names the two that clash."""

from __future__ import annotations

from optimizer.cost.frame import Frame
from optimizer.solver.backend import Settings
from optimizer.solver.conflict import explain_infeasible
from optimizer.solver.planner import Modes
from tests.unit.cost.world import frame, platform, purchase, quote, site, stated, workload
from tests.unit.solver.deciding import decided, inputs, prepared


def world(**changes: object) -> Frame:
    """180 nodes of 11 kW would be in time, 1.5 MW feeds 136; budget, racks and minimum order are no problem."""
    facts = {
        "platforms": [platform(node_power_kw={"provisioned": 11})],
        "sites": {
            "hall": site(
                power=[{"from": "2027-01-01", "kw": 1500}],
                zones={"a": {"racks": 500, "kw_per_rack": 45, "cooling": "air"}},
            )
        },
        "workloads": workload(stated(180, 60), stated(136, 80), deadline="2027-03-15"),
        "budget": {"total": 1e9, "by_fiscal_year": {"2027": 1e9}},
        "policy": {"vendors": {"max": 2}},
    }
    return frame(quote(purchase(units={"min": 8, "step": 4})), **(facts | changes))


def test_the_conflict_is_power_and_deadline_and_nothing_else() -> None:
    """1,980 kW would do, or until 2027-03-21: day 79 from today."""
    assert decided(world()).status == "infeasible"
    found = explain_infeasible(inputs(world()), Modes(), prepared(world()), Settings())
    assert found.minimal
    assert {limit.name: (limit.needed, limit.available, limit.unit) for limit in found.limits} == {
        "deadline": (79, 73, "days from today"),
        "power": (1980, 1500, "kW"),
    }


def test_more_of_either_is_enough() -> None:
    assert decided(world(sites={"hall": site(power=[{"from": "2027-01-01", "kw": 1980}])})).status == "optimal"
    assert (
        decided(world(workloads=workload(stated(180, 60), stated(136, 80), deadline="2027-03-21"))).status == "optimal"
    )
