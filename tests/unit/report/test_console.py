from __future__ import annotations

from decimal import Decimal

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType

from optimizer.io.json_text import rounded_plan
from optimizer.report.catalog import catalog_screen, record_screen
from optimizer.report.console import comparison_screen, plan_screen, table, verification_screen
from optimizer.results import CompareRow, Comparison, Layout, Rejection, Verification
from tests.unit.io.example_plan import example_plan


def text(screen: RenderableType, width: int = 160) -> str:
    console = Console(width=width, highlight=False, markup=False, force_terminal=False)
    with console.capture() as captured:
        console.print(screen)
    return captured.get()


LAYOUT = Layout(tensor_parallel=2, data_parallel=16, global_batch=512, recompute="full", sharding_stage=3)
REJECTION = Rejection(
    platform="tpu7x", limit="offer", needed=Decimal(1), available=Decimal(0), unit="offers", reason="no offer"
)


def test_the_answer_is_on_one_screen() -> None:
    shown = text(plan_screen(rounded_plan(example_plan()), "small.yaml"))
    for part in (
        "small · optimal, proven in 1.2 s",
        "Sign by order date 2026-12-15",
        "Acme acme-1 / node",
        "x h200-sxm, tier 1+ at 2.35 USD each",
        "pretrain   32 h200-sxm (4 nodes) in hall-a   fp8, TP 2 · DP 16, micro-batch 1, batch 512   100 days",
        "planned at your quantile; 8 of 10 such runs take 90 to 112 days (evidence: public_run)",
        "Binding   budget (1,234.57 of 5,000 USD)",
        "offer: b200-hgx: no quote offers it",
        "1 assumption in --json; warnings: clusterbuy check small.yaml",
    ):
        assert part in shown, part
    assert len(shown.splitlines()) <= 24


def test_an_unproven_plan_says_what_may_exist() -> None:
    objective = {
        "kind": "cost", "value": 1_000_000, "bound": 950_000, "gap": "0.05", "currency": "USD", "unit": "USD",
    }  # fmt: skip
    shown = text(plan_screen(example_plan(status="feasible", objective=objective), "s"))
    assert "feasible, not proven: at most 50.0 k USD (5.0 %) better may exist" in shown


def test_infeasible_shows_the_conflict_and_what_to_paste() -> None:
    conflict = {
        "limits": [
            {"name": "power", "needed": 1980, "available": 1500, "unit": "kW", "period": "2027-03"},
            {"name": "deadline", "needed": 12, "available": 0, "unit": "days", "period": None},
        ],
        "minimal": True,
        "relaxations": [
            {
                "limit": "power",
                "from": 1500,
                "to": 1980,
                "unit": "kW",
                "set": "sites.a.power.0.kw=1980",
                "verified": True,
            }
        ],
        "joint": [],
    }
    shown = text(
        plan_screen(example_plan(status="infeasible", conflict=conflict, awards=[], workloads=[], cost=None), "s")
    )
    assert "power: needs 1,980 kW, 1,500 available (2027-03)" in shown
    assert "deadline: needs 12 days, 0 available" in shown
    assert "power: 1,500 -> 1,980 kW" in shown
    assert "--set sites.a.power.0.kw=1980" in shown
    assert "Sign" not in shown


def test_a_narrow_terminal_loses_nothing() -> None:
    shown = text(plan_screen(example_plan(), "small.yaml"), width=40)
    assert max(map(len, shown.splitlines())) <= 40
    assert "micro-batch" in shown


def test_comparison_gives_a_plan_or_a_reason() -> None:
    good = CompareRow(
        platform="h200-sxm", status="optimal", total=Decimal(62_019_300), npv=Decimal(61_000_000), finish="2027-12-20",
        nodes=4, accelerators=32, layout=LAYOUT, binding=("power",), rejection=None,
    )  # fmt: skip
    bad = CompareRow(
        platform="tpu7x", status="rejected", total=None, npv=None, finish=None, nodes=None, accelerators=None,
        layout=None, binding=(), rejection=REJECTION,
    )  # fmt: skip
    lines = text(comparison_screen(Comparison(rows=(good, bad)))).splitlines()
    assert "62.0 M" in lines[1]
    assert "2027-12-20" in lines[1]
    assert [line.rstrip() for line in lines[2:]] == ["No quote offers (1)", "  tpu7x"]
    assert text(comparison_screen(Comparison(rows=(good,), runs=2))).startswith(
        "Each row has all 2 runs on its platform."
    )
    dear = REJECTION.model_copy(update={"limit": "budget", "reason": "needs 2 USD, 1 available"})
    refused = bad.model_copy(update={"rejection": dear})
    assert "tpu7x: budget: needs 2 USD, 1 available" in text(comparison_screen(Comparison(rows=(refused,))))


def test_verification_lists_breaches_and_changes() -> None:
    shown = text(verification_screen(Verification(ok=False, breaches=("total: off by 1",), changed_inputs=("a.yaml",))))
    assert shown.split("\n")[:3] == ["does not hold", "  total: off by 1", "  changed since: a.yaml"]


def test_the_catalogue_shows_unknown_as_unknown() -> None:
    from optimizer.io.library import Library

    library = Library.shipped()
    shown = text(catalog_screen({"platforms": {"cs-4": library.platforms["cs-4"]}}))
    assert "1 platforms" in shown
    assert "?" in shown
    full = text(record_screen(library.platforms["h200-sxm"]))
    assert "memory_bytes: 150754820096" in full
    assert "sources:" in full


ROWS = (
    ("Acme Systems (invented) acme-2291 / node", "12", "x h100-sxm, tier 10+ at 228,384.35 EUR each", "3.1 M"),
    ("华新算力（虚构） huaxin-88 / fwq", "5", "policy.allow_expired_quotes lifts this", "915.5 k"),
)


@pytest.mark.parametrize("columns", [34, 44, 60, 61, 80, 120])
def test_no_word_of_a_table_is_broken_or_lost(columns: int) -> None:
    shown = text(table(("sign", ">units", "what", ">cost"), ROWS, indent=2), columns)
    assert all(cell_len(line.rstrip()) <= columns for line in shown.splitlines())
    words = shown.split()
    for cell in (cell for row in ROWS for cell in row):
        assert set(cell.split()) <= set(words)


def test_figures_stay_on_one_line() -> None:
    assert "3.1 M" in text(table(("what", ">cost"), [("a " * 60, "3.1 M")]), 60)
