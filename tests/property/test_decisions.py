"""Laws of decisions over random small problems: three solvers agree, and what must not matter does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.errors import InputError
from optimizer.io.json_text import plan_json
from optimizer.io.plans import read_plan
from optimizer.results import Plan
from optimizer.solver import profiles as profiles_module
from optimizer.solver import search as search_module
from optimizer.solver.backend import Settings
from optimizer.solver.model import build_model
from optimizer.units import round_money
from tests.property.instances import Instance, instance, several
from tests.unit.solver.deciding import decided, planned, prepared

ROOT = Path(__file__).parents[2]
SEEDS_PER_BLOCK = 30
LAWS = settings(derandomize=True, deadline=None, max_examples=45)

seeds = st.integers(10_000, 10**9)


def cents(plan: Plan) -> Decimal | None:
    """Return the present value to the cent; None without a plan."""
    return None if plan.cost is None else round_money(plan.cost.npv, "USD")


def decisions(plan: Plan) -> list[object]:
    """Return what is signed and run."""
    awards = [(a.quote, a.offer, a.place, a.units, a.delivery_date, a.contract_end) for a in plan.awards]
    runs = [(run.name, run.pool, run.nodes, run.start, run.end) for run in plan.workloads.values()]
    return [plan.status, awards, runs]


@pytest.mark.parametrize("block", range(9))
def test_cp_sat_highs_and_enumeration_agree_to_the_cent(block: int, tmp_path: Path) -> None:
    """Every plan has passed its independent check, and what is read back from its JSON is written as it was."""
    compared = 0
    for seed in range(SEEDS_PER_BLOCK * block, SEEDS_PER_BLOCK * (block + 1)):
        world = instance(seed).frame()
        with suppress(InputError):  # too large to enumerate
            oracle, plan, second = planned(world, "enumerate"), planned(world), planned(world, "highs")
            assert decisions(plan) == decisions(oracle), seed
            assert (second.status, cents(second)) == (plan.status, cents(plan)) == (oracle.status, cents(oracle)), seed
            saved = tmp_path / "plan.json"
            saved.write_text(plan_json(plan), encoding="utf-8")
            assert json.loads(plan_json(read_plan(saved))) == json.loads(saved.read_text(encoding="utf-8")), seed
            compared += 1
    assert compared >= SEEDS_PER_BLOCK - 6


@pytest.mark.parametrize("block", range(3))
def test_cp_sat_highs_and_enumeration_agree_on_several_runs(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one pool or several, at the same time or one after another, to the cent and to the last tie."""
    monkeypatch.setattr(profiles_module, "LISTED", 10**9)
    compared = 0
    for seed in range(7 * block, 7 * (block + 1)):
        world = several(seed).frame()
        with suppress(InputError):  # too large to enumerate
            oracle, plan, second = planned(world, "enumerate"), planned(world), planned(world, "highs")
            assert decisions(plan) == decisions(oracle), seed
            assert (second.status, cents(second)) == (plan.status, cents(plan)) == (oracle.status, cents(oracle)), seed
            compared += 1
    assert compared > 4


@pytest.mark.parametrize("block", range(2))
def test_columns_of_schedules_lose_no_better_plan(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were too many runs to list: bounds, blocks and dominance decide what enters the compact model."""
    compared = 0
    for seed in range(100 + 8 * block, 108 + 8 * block):
        world = several(seed).changed(cheapest).frame()
        with suppress(InputError):  # too large to enumerate
            monkeypatch.setattr(profiles_module, "LISTED", 10**9)
            oracle = planned(world, "enumerate")
            monkeypatch.setattr(profiles_module, "LISTED", 0)
            plan = planned(world)
            assert (plan.status, cents(plan)) == (oracle.status, cents(oracle)), seed
            compared += 1
    assert compared > 5


def test_the_instances_of_several_runs_hold_what_they_should(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs at the same time in a pool, one after another, starts that follow runs, hires for several, terms."""
    monkeypatch.setattr(profiles_module, "LISTED", 10**9)
    seen: Counter[str] = Counter()
    for seed in range(45):
        world = several(seed).frame()
        found = decided(world)
        seen[found.status] += 1
        runs, taken = (found.choice.runs, found.choice.taken) if found.choice else ((), ())
        pairs = [(one, two) for one in runs for two in runs if one is not two and one.pool == two.pool]
        waits = {(p.workload, p.pool.name, p.run.start) for p in prepared(world).problem.profiles if p.follows}
        seen["together"] += any(one.start <= two.start <= one.end for one, two in pairs)
        seen["in turn"] += any(one.end < two.start for one, two in pairs)
        seen["follows"] += any((run.candidate.workload, run.pool, run.start) in waits for run in runs)
        seen["hired twice"] += len({award.workload for award in taken} - {None}) > 1
        seen["term"] += any(award.option.end is not None and award.workload is None for award in taken)
    assert seen["optimal"] > 15
    assert min(seen[name] for name in ("infeasible", "together", "in turn", "follows", "hired twice", "term")) > 1


def test_the_instances_hold_what_they_should() -> None:
    """Coefficients past 2^31, every kind of offer awarded, every objective and policy, plans and conflicts."""
    large, kinds, asked, statuses = 0, set(), set(), set()
    for seed in range(120):
        world = instance(seed).frame()
        found = decided(world)
        statuses.add(found.status)
        asked.add((world.scenario.objective, world.scenario.after_run.policy))
        kinds |= {taken.option.offer.type for taken in found.choice.taken} if found.choice else set()
        model = build_model(prepared(world).problem)
        large += max(map(abs, model.npv.values()), default=0) > 2**31
    assert large > 60
    assert {kind.value for kind in kinds} == {"purchase", "lease", "reserved", "on_demand"}
    assert len(asked) == 12
    assert statuses == {"optimal", "infeasible"}


def cheapest(one: Instance) -> None:
    one.scenario["objective"] = "cost"


@pytest.mark.parametrize("block", range(3))
def test_runs_left_out_by_their_bound_never_win(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a first model of two runs instead of 24, bounds decide what enters the second even on small problems."""
    monkeypatch.setattr(search_module, "PROMISING", 2)
    monkeypatch.setattr(search_module, "PROMISING_PER_POOL", 1)
    dropped = 0
    for seed in range(1000 + 40 * block, 1040 + 40 * block):
        world = instance(seed).changed(cheapest).frame()
        with suppress(InputError):
            oracle, plan = planned(world, "enumerate"), planned(world)
            assert (plan.status, cents(plan)) == (oracle.status, cents(oracle)), seed
            dropped += plan.status == "optimal" and "; 0 runs" not in plan.solve.proof
    assert dropped > 5


def more_budget(one: Instance) -> None:
    for key, money in one.scenario.get("budget", {}).items():
        one.scenario["budget"][key] = {y: m * 1.5 for y, m in money.items()} if isinstance(money, dict) else money * 1.5


def more_power(one: Instance) -> None:
    for site in one.scenario["sites"].values():
        for step in site["power"] or ():
            step["kw"] += 25


def more_racks(one: Instance) -> None:
    for site in one.scenario["sites"].values():
        for zone in (site["zones"] or {}).values():
            zone["racks"] += 2


def later_deadline(one: Instance) -> None:
    one.scenario["workloads"]["w"] |= {"deadline": "2027-11-30", "deadline_margin_days": 0}


def more_supply(one: Instance) -> None:
    for quote in one.quotes:
        for offer in quote["offers"].values():
            offer["units"]["max"] += 1


def freer_vendors(one: Instance) -> None:
    one.scenario["policy"]["vendors"] = {}


def larger_fabrics(one: Instance) -> None:
    for quote in one.quotes:
        for offer in quote["offers"].values():
            offer.pop("fabric_max_units", None)


LOOSER = [more_budget, more_power, more_racks, later_deadline, more_supply, freer_vendors, larger_fabrics]


@pytest.mark.parametrize("loosen", LOOSER, ids=lambda change: change.__name__)
@given(seed=seeds)
@LAWS
def test_a_looser_limit_never_costs_more(loosen: Callable[[Instance], None], seed: int) -> None:
    tight = instance(seed).changed(cheapest)
    before, after = planned(tight.frame()), planned(tight.changed(loosen).frame())
    if before.status == "optimal":
        assert after.status == "optimal"
        assert cents(after) <= cents(before)


def times_three(value: Any) -> Any:
    """Return an amount, a table or breaks three times as high."""
    if isinstance(value, dict):
        return {key: times_three(item) for key, item in value.items()}
    if isinstance(value, str):
        amount, code = value.split()
        return f"{3 * int(amount)} {code}"
    return Decimal(str(value)) * 3


def dearer(one: Instance) -> None:
    """Make everything that is money three times as much."""
    for quote in one.quotes:
        for offer in quote["offers"].values():
            price = "price_per_month" if "price_per_month" in offer else "price"
            offer[price] = times_three(offer[price])
            for line in offer.get("lines", ()):
                line["price"] = times_three(line["price"])
    for entry in one.scenario["costs"]:
        entry["amount"] = times_three(entry["amount"])
    for site in one.scenario["sites"].values():
        site["electricity"] = times_three(site["electricity"])
        site["colocation"] = site["colocation"] and times_three(site["colocation"])
    after = one.scenario["after_run"]
    if "value_per_accelerator_hour" in after:
        after["value_per_accelerator_hour"] = times_three(after["value_per_accelerator_hour"])
    if "budget" in one.scenario:
        one.scenario["budget"] = times_three(one.scenario["budget"])


@given(seed=seeds)
@LAWS
def test_three_times_the_prices_are_three_times_the_cost(seed: int) -> None:
    one = instance(seed)
    before, after = planned(one.frame()), planned(one.changed(dearer).frame())
    assert after.status == before.status
    if before.cost is not None and after.cost is not None:
        assert abs(after.cost.npv - 3 * before.cost.npv) < Decimal("0.01")


def turned_round(one: Instance) -> Instance:
    """Return the instance with every list and map of it in the opposite order."""

    def back(values: dict[str, Any]) -> dict[str, Any]:
        return dict(reversed(values.items()))

    quotes = tuple(back(quote | {"offers": back(quote["offers"])}) for quote in reversed(one.quotes))
    scenario = one.scenario | {"costs": one.scenario["costs"][::-1], "sites": back(one.scenario["sites"])}
    return Instance(back(scenario), one.platforms[::-1], quotes)


@given(seed=seeds)
@LAWS
def test_the_order_of_files_offers_sites_and_costs_does_not_matter(seed: int) -> None:
    one = instance(seed)
    plan, other = planned(one.frame()), planned(turned_round(one).frame())
    assert decisions(other) == decisions(plan)
    assert cents(other) == cents(plan)
    assert other.rejections == plan.rejections
    if plan.cost is not None and other.cost is not None:
        paid = [
            sorted((cash.date, cash.item, round(cash.amount, 9)) for cash in one.cost.cash) for one in (plan, other)
        ]
        assert paid[0] == paid[1]


@pytest.mark.parametrize("seed", range(400, 412))
def test_the_same_plan_on_every_run_and_with_any_number_of_threads(seed: int) -> None:
    world = instance(seed).frame()
    texts = {plan_json(planned(world, settings=Settings(workers=workers))) for workers in (1, 1, 1, 2, 8)}
    assert len(texts) == 1


PRINT_PLANS = """
import sys
from optimizer.io.json_text import plan_json
from tests.property.instances import instance
from tests.unit.solver.deciding import planned
sys.stdout.buffer.write("".join(plan_json(planned(instance(seed).frame())) for seed in range(12)).encode())
"""


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Honolulu"])
def test_time_zone_locale_and_hash_seed_do_not_matter(zone: str) -> None:
    surroundings = {"TZ": zone, "LC_ALL": "C", "PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        [sys.executable, "-c", PRINT_PLANS], cwd=ROOT, env=os.environ | surroundings, capture_output=True, check=True
    )
    assert found.stdout.decode() == "".join(plan_json(planned(instance(seed).frame())) for seed in range(12))
