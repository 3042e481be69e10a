"""Every limit of the closed list as the only cause of an infeasible scenario: it is named, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, get_args

import pytest

from optimizer.cost.frame import Frame
from optimizer.io.library import Library
from optimizer.report.sentences import NEGOTIABLE
from optimizer.results import Conflict, LimitName
from optimizer.solver.backend import Settings
from optimizer.solver.conflict import explain_infeasible
from optimizer.solver.planner import Inputs, Modes, decide, prepare
from optimizer.solver.relax import RELAXATIONS, Lever, levers, lifted
from tests.unit.cost.world import frame, platform, purchase, quote, workload
from tests.unit.solver.test_conflict import CAUSES

LIBRARY = Library.shipped()


@dataclass(frozen=True)
class Cause:
    """A world with one cause, and what is said of it."""

    world: Frame
    needed: Any
    available: Any
    unit: str
    words: str = ""


def trained(card: str = "h100-sxm", nodes: int | None = None, model: str = "llama-2-7b", **changes: Any) -> Frame:
    """Return a world in which a model of the library is trained on a platform of it."""
    run = {
        "architecture": model, "tokens": 1e9, "sequence_length": 4096, "global_batch_tokens": 4096 * 256,
        "extra_compute": 0, "precisions": ["bf16"],
    }  # fmt: skip
    policy = changes.pop("policy", {})
    units = {"units": {"max": nodes}} if nodes else {}
    return frame(
        quote(purchase(100, platform=card, **units)), platforms=[LIBRARY.platforms[card]],
        workloads={"train": run | changes}, policy={"allow_excluded_licence": True} | policy,
    )  # fmt: skip


FACTS: dict[LimitName, Cause] = {
    "memory": Cause(
        trained("rtx-4090", 32, "dense-500b"),
        None, Decimal("25.77"), "GB", "does not fit: needs",
    ),
    "batch": Cause(
        trained(global_batch_tokens=4096 * 255.4, global_batch_tolerance=0),
        None, 0, "share of the target batch", "the nearest batch a layout divides into is 255 sequences",
    ),
    "precision": Cause(
        trained("a100-80gb-sxm", precisions=["fp8"]), "fp8", "bf16, fp16", "number format", "has no fp8"
    ),
    "release": Cause(
        frame(quote(purchase(100)), workloads=workload(release="2027-12-10")),
        "2027-12-02", "2027-12-10", "date", "train is released on 2027-12-10; with 30 days it must start by 2027-12-02",
    ),
    "delivery": Cause(
        frame(quote(purchase(100, lead_weeks=[60, 80]))),
        "2028-07-14", "2027-12-31", "date", "first delivery on 2028-07-14, the horizon ends on 2027-12-31",
    ),
    "minimum_order": Cause(
        frame(quote(purchase(100, units={"min": 5, "step": 4, "max": 7}))), 8, 7, "units", "smallest order 8, largest 7"
    ),
    "price": Cause(frame(quote(purchase("on_request"))), "a price", "on_request", "", "price on request"),
    "offer": Cause(
        frame(quote(purchase(100)), workloads=workload(platforms={"allow": ["crate"]}), platforms=[platform(), platform("crate")]),
        1, 0, "offers", "no quote offers a platform that train may use",
    ),
    "region": Cause(frame(quote(purchase(100)), sites={}), "a site of ours", "none", "", "no site it can be delivered to"),
    "licence": Cause(
        frame(quote(purchase(100)), platforms=[platform(licence_excludes_datacentre=True)]),
        "data centre use", "excluded", "", "policy.allow_excluded_licence lifts this",
    ),
    "specification": Cause(
        frame(quote(purchase(100)), platforms=[platform(ineligible="peak unknown")]),
        "complete facts", "unknown", "", "peak unknown",
    ),
}  # fmt: skip

EVIDENCE = trained(nodes=4, policy={"minimum_evidence": "target_workload"})


def inputs(world: Frame) -> Inputs:
    return Inputs(world, LIBRARY.architectures, LIBRARY.software, LIBRARY.bands)


def explained(world: Frame) -> Conflict:
    known, own = Modes(), inputs(world)
    prepared = prepare(own, known)
    assert decide(prepared, "auto", Settings()).status == "infeasible"
    return explain_infeasible(own, known, prepared, Settings())


def test_every_limit_has_a_fixture() -> None:
    assert {*FACTS, *CAUSES, "evidence"} == set(get_args(LimitName))
    assert {*CAUSES, "evidence"} == set(RELAXATIONS) == set(NEGOTIABLE)


@pytest.mark.parametrize("name", FACTS)
def test_a_fact_that_no_limit_lifts_is_named_with_its_figures(name: LimitName) -> None:
    cause = FACTS[name]
    conflict = explained(cause.world)
    (limit,) = [limit for limit in conflict.limits if limit.name not in RELAXATIONS]
    assert limit.name == name
    assert limit.available == cause.available
    assert cause.needed in (None, limit.needed)
    assert limit.needed is not None
    assert limit.unit == cause.unit
    assert cause.words in (limit.reason or "")
    lifting = {limit.name for limit in conflict.limits} - {name}
    assert lifting <= {"supply"}
    assert not lifting or name in ("minimum_order", "memory")  # more of the same would do


def test_evidence_is_named_with_its_levels() -> None:
    conflict = explained(EVIDENCE)
    (limit,) = conflict.limits
    assert conflict.minimal
    assert (limit.name, limit.needed) == ("evidence", "target_workload")
    assert limit.available in ("public_run", "vendor_claim", "datasheet")
    assert "is known by" in (limit.reason or "")
    own = inputs(lifted(EVIDENCE, {Lever("evidence")}))
    assert decide(prepare(own, Modes()), "auto", Settings()).status == "optimal"
    others = [lever for lever in levers(EVIDENCE) if lever.name != "evidence"]
    assert decide(prepare(inputs(lifted(EVIDENCE, others)), Modes()), "auto", Settings()).status == "infeasible"
