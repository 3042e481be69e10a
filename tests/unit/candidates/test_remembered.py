"""Stored modes are the modes, and a key holds everything they depend on."""

from __future__ import annotations

import dataclasses
from decimal import Decimal

import pytest

from optimizer.api import inputs_of, load
from optimizer.candidates.conditions import Conditions
from optimizer.candidates.modes import ModesResult, modes
from optimizer.candidates.remembered import key_of, remembered, result_of, text_of
from optimizer.candidates.space import Grid
from optimizer.io.library import Library
from optimizer.io.shipped import shipped
from optimizer.schema.base import EvidenceLevel
from optimizer.schema.scenario import Policy, Reliability, Workload
from optimizer.solver.planner import Modes, prepare

WORKLOAD = Workload(
    architecture="llama-3-1-8b", tokens=Decimal("1e12"), sequence_length=8192, global_batch_tokens=Decimal("4e6"),
    extra_compute=Decimal("0.1"), precisions=("bf16", "fp8"),
)  # fmt: skip


class Notebook(dict[str, str]):
    """A store in memory."""

    def put(self, key: str, text: str) -> None:
        self[key] = text


@pytest.fixture(scope="module")
def asked(library: Library) -> tuple[object, ...]:
    conditions = Conditions(library.software, library.bands, Reliability(), Policy())
    return (
        "run",
        WORKLOAD,
        library.architectures["llama-3-1-8b"],
        library.platforms["h200-sxm"],
        conditions,
        [1, 2, 4, 8, 16],
    )


@pytest.fixture(scope="module")
def result(asked: tuple[object, ...]) -> ModesResult:
    return modes(*asked)


def test_modes_survive_as_text_to_the_last_digit(result: ModesResult):
    assert len(result.candidates) >= 3
    assert result_of(text_of(result)) == result
    assert text_of(result_of(text_of(result))) == text_of(result)


def test_rejections_survive_as_text(asked: tuple[object, ...]):
    name, workload, architecture, platform, conditions, nodes = asked
    small = platform.model_copy(update={"memory_bytes": 3 * 10**9})
    refused = modes(name, workload, architecture, small, conditions, nodes)
    assert {item.limit for item in refused.rejections} == {"memory"}
    assert result_of(text_of(refused)) == refused


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"candidates": [1], "rejections": [], "layouts_evaluated": 1}'])
def test_text_that_is_no_modes(text: str, result: ModesResult):
    assert result_of(text) is None
    store = Notebook(key=text)
    assert remembered(store, lambda: "key", lambda: result) == result
    assert store["key"] == text_of(result)


def test_a_stored_result_is_not_computed_again(result: ModesResult):
    store = Notebook()
    calls = []
    for _ in range(3):
        found = remembered(store, lambda: "key", lambda: calls.append(1) or result)
        assert found == result
    assert len(calls) == 1
    assert remembered(None, lambda: pytest.fail("no key without a store"), lambda: result) is result


def test_the_key_holds_everything(asked: tuple[object, ...], library: Library):
    name, workload, architecture, platform, conditions, nodes = asked
    software = {
        **library.software,
        "megatron-core": library.software["megatron-core"].model_copy(update={"host_s": 1.0}),
    }
    bands = library.bands.model_copy(update={"beyond_scale": library.bands.of("datasheet")})
    others = [
        ("other", workload, architecture, platform, conditions, nodes),
        (name, workload.model_copy(update={"tokens": Decimal("2e12")}), architecture, platform, conditions, nodes),
        (name, workload, architecture.model_copy(update={"layers": 33}), platform, conditions, nodes),
        (name, workload, architecture, platform.model_copy(update={"memory_bytes": 1}), conditions, nodes),
        (name, workload, architecture, platform, dataclasses.replace(conditions, software=software), nodes),
        (name, workload, architecture, platform, dataclasses.replace(conditions, bands=bands), nodes),
        (name, workload, architecture, platform, dataclasses.replace(conditions, grid=Grid(context_max=2)), nodes),
        (name, workload, architecture, platform, dataclasses.replace(conditions, policy=Policy(minimum_evidence=EvidenceLevel.PUBLIC_RUN)), nodes),
        (name, workload, architecture, platform, dataclasses.replace(conditions, policy=Policy(performance_quantile=Decimal("0.9"))), nodes),
        (name, workload, architecture, platform, dataclasses.replace(conditions, reliability=Reliability(restart_minutes=Decimal(99))), nodes),
        (name, workload, architecture, platform, conditions, [*nodes, 32]),
    ]  # fmt: skip
    keys = {key_of(*asked), *(key_of(*other) for other in others)}
    assert len(keys) == len(others) + 1
    assert key_of(*asked) == key_of(*asked)


def test_changed_dates_and_budgets_find_what_is_stored_and_changed_quantiles_do_not():
    starter = shipped("scenarios") / "starter" / "scenario.yaml"
    store = Notebook()

    def prepared(*sets: str) -> int:
        prepare(inputs_of(load(starter, sets=("workloads.pretrain.tokens=1e11", *sets))), Modes(store))
        return len(store)

    first = prepared()
    assert first >= 1
    same = ("workloads.pretrain.deadline=2027-06-30", "budget.total=5e6", "policy.vendors.max=1")
    assert prepared(*same) == first
    assert prepared("policy.performance_quantile=0.9") == 2 * first
