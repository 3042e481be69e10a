"""A small world for the checker's tests: one platform, one site, one quote, and a plan built by hand.

Every test starts from ``purchase`` (numbers computed by hand in ``LEDGER``) or states its own offer, award and run.
"""

from __future__ import annotations

import copy
import datetime as dt
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import pytest

from optimizer.results import Award, Plan, WorkloadPlan
from optimizer.schema.architecture import Architecture
from optimizer.schema.platform import Platform
from optimizer.schema.quote import Quote
from optimizer.schema.scenario import Scenario
from optimizer.solver.check import Facts, _cases
from optimizer.solver.check.case import Case

Data = dict[str, Any]
Entry = tuple[str, str, str]
"""Date, item, amount."""

PLATFORM: Data = {
    "id": "box",
    "vendor": "Invented",
    "accelerators_per_node": 8,
    "acquisition": ["purchase", "lease", "reserved", "on_demand"],
    "memory_bytes": 80_000_000_000,
    "peak_dense_tflops": {"bf16": 1000},
    "node_power_kw": {"provisioned": 10, "training": 8, "idle": 2},
    "space": {"rack_units": 8, "cooling": ["air"]},
}

SCENARIO: Data = {
    "name": "small",
    "today": "2027-01-01",
    "horizon_months": 12,
    "currency": "USD",
    "workloads": {"train": {"modes": [{"platform": "box", "nodes": 10, "days": 30, "source": "pilot"}]}},
    "sites": {
        "hall": {
            "pue": 1.25,
            "electricity": {"per_kwh": 0.10},
            "colocation": {"per_kw_month": 100},
        }
    },
    "quotes": ["quotes"],
    "fiscal_year_start": 4,
    "finance": {"discount_rate": 0.08, "residual": {"months": 1, "share": 0.9}},
    "after_run": {"max_accelerators": 64, "value_per_accelerator_hour": 2, "utilisation": 0.5},
    "costs": [
        {
            "name": "network",
            "per": "accelerator",
            "amount": {1: 100, 100: 90},
            "every": "once",
            "kw": 0.05,
            "delay_days": 9,
        },
        {"name": "staff", "per": "cluster", "amount": 12000, "every": "year"},
    ],
    "duty": {"rate": 0.05},
    "policy": {"contingency": 0.1},
}

OFFER: Data = {
    "type": "purchase",
    "platform": "box",
    "per": "node",
    "price": 100_000,
    "units": {"min": 4, "step": 2, "max": 20},
    "lots": [{"units": 6, "date": "2027-02-01"}, {"units": "rest", "date": "2027-03-01"}],
    "acceptance_days": 5,
    "fabric_max_units": 10,
    "lines": [
        {"item": "support", "per": "node", "price": 1000, "months": 36},
        {"item": "freight", "per": "order", "price": "included"},
        {"item": "training", "per": "order", "price": 5000, "optional": True},
    ],
}

QUOTE: Data = {
    "quote": "q1",
    "vendor": "Acme",
    "kind": "binding",
    "valid_until": "2027-01-01",
    "currency": "USD",
    "tax": {"rate": 0.1, "recoverable": False},
    "payment": [
        {"at": "order", "share": 0.3},
        {"at": "delivery", "share": 0.6},
        {"at": "acceptance", "share": 0.1, "plus_days": 2, "plus_months": 1},
    ],
    "offers": {"node": OFFER},
}

ARCHITECTURE: Data = {
    "id": "tiny",
    "layers": 4,
    "hidden_size": 64,
    "vocab_size": 100,
    "tied_embedding": False,
    "attention": {"kind": "gqa", "heads": 4, "kv_heads": 4, "head_dim": 16},
    "ffn": {"hidden_size": 256, "gated": False},
}

MONTH_ENDS = [f"2027-{month:02d}-{day}" for month, day in enumerate((28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31), 2)]
"""February to December 2027."""

LEDGER: list[Entry] = [
    # 10 nodes x 100,000: 30 % at order, 60 % at delivery (6 and 4 nodes), 10 % a month and 2 days after acceptance;
    # ready = delivery + 5 acceptance + 9 network: 02-15 and 03-15
    ("2027-01-01", "hardware", "300000"),
    ("2027-02-01", "hardware", "360000"),
    ("2027-03-01", "hardware", "240000"),
    ("2027-03-17", "hardware", "60000"),
    ("2027-04-17", "hardware", "40000"),
    # 10 x 1,000 by the same milestones
    ("2027-01-01", "line:support", "3000"),
    ("2027-02-01", "line:support", "3600"),
    ("2027-03-01", "line:support", "2400"),
    ("2027-03-17", "line:support", "600"),
    ("2027-04-17", "line:support", "400"),
    # 5 % of 600,000 and of 400,000
    ("2027-02-01", "duty", "30000"),
    ("2027-03-01", "duty", "20000"),
    # 10 % of hardware, support and duty of the day
    ("2027-01-01", "tax", "30300"),
    ("2027-02-01", "tax", "39360"),
    ("2027-03-01", "tax", "26240"),
    ("2027-03-17", "tax", "6060"),
    ("2027-04-17", "tax", "4040"),
    # 48 and 32 accelerators x 100; 80 in all are below the break at 100
    ("2027-02-01", "cost:network", "4800"),
    ("2027-03-01", "cost:network", "3200"),
    # 12,000 a year from the first delivery to the end of the horizon
    *((end, "cost:staff", "1000") for end in MONTH_ENDS),
    # 10 % of hardware, support, network and staff
    ("2027-01-01", "contingency", "30300"),
    ("2027-02-01", "contingency", "36840"),
    ("2027-03-01", "contingency", "24560"),
    ("2027-03-17", "contingency", "6060"),
    ("2027-04-17", "contingency", "4040"),
    *((end, "contingency", "100") for end in MONTH_ENDS),
    # February 60 kW + 48 x 0.05, then 104 kW, x 100
    ("2027-02-28", "colocation", "6240"),
    *((end, "colocation", "10400") for end in MONTH_ENDS[1:]),
    # 24 h x 1.25 x 0.10 = 3 per kW and day; idle 14.4 kW in February, then 24 kW; training 84 kW from 03-15 to 04-13
    ("2027-02-28", "energy", "1209.6"),
    ("2027-03-31", "energy", "5292"),  # 14 x 72 + 17 x 252
    ("2027-04-30", "energy", "4500"),  # 13 x 252 + 17 x 72
    *((end, "energy", "2232" if end.endswith("31") else "2160") for end in MONTH_ENDS[3:]),
    # 600,000 x 0.9^11 + 400,000 x 0.9^10
    ("2028-01-01", "residual", "-327757.733694"),
]

AFTER_APRIL = MONTH_ENDS[3:]


def _without(*left_out: str) -> list[Entry]:
    """Return the ledger without some items at the ends of April to December."""
    return [entry for entry in LEDGER if not (entry[1] in left_out and entry[0] in MONTH_ENDS[2:])]


LEDGERS: dict[str, list[Entry]] = {
    "idle": LEDGER,
    "off": [*_without("energy"), ("2027-04-30", "energy", "3276")],  # 13 x 252, nothing after the run
    "sell": [
        *[entry for entry in _without("energy", "colocation", "cost:staff", "contingency") if entry[1] != "residual"],
        ("2027-04-30", "energy", "3276"),
        # 13 of 30 days of 10,400, of 1,000 and of 100
        ("2027-04-30", "colocation", "4506.66666666666666667"),
        ("2027-04-30", "cost:staff", "433.33333333333333333"),
        ("2027-04-30", "contingency", "43.33333333333333333"),
        # 600,000 x 0.9^(2 13/30) + 400,000 x 0.9^(1 13/30)
        ("2027-04-14", "residual", "-808243.307353"),
    ],
    # 64 accelerators x 24 h x 0.5 x 2 = 1,536 a day from 04-14
    "use": [
        *LEDGER,
        ("2027-04-30", "after_run_value", "-26112"),
        *((end, "after_run_value", "-47616" if end.endswith("31") else "-46080") for end in AFTER_APRIL),
    ],
}
"""The same cash under each after-run policy."""

TOTALS = {"idle": "1099023.87", "off": "1080159.87", "sell": "501157.63", "use": "696591.87"}
"""Sums of the ledgers: off saves 18,864 energy, use brings 402,432."""


class World:
    """Facts that a test may change before it builds a case or a plan."""

    def __init__(self) -> None:
        self.scenario: Data = copy.deepcopy(SCENARIO)
        self.platforms: dict[str, Data] = {"box": copy.deepcopy(PLATFORM)}
        self.quotes: dict[str, Data] = {"q1": copy.deepcopy(QUOTE)}
        self.awards: list[Data] = []
        self.runs: list[Data] = []

    @property
    def offer(self) -> Data:
        """The offer ``q1/node``."""
        offer: Data = self.quotes["q1"]["offers"]["node"]
        return offer

    def offers(self, **offer: Any) -> None:
        """Put another offer in the place of ``q1/node``."""
        self.quotes["q1"]["offers"] = {"node": {"platform": "box", "per": "node", **offer}}

    def bare(self) -> None:
        """Take away costs, duty, tax, contingency, residual and hall: only the quote's own money is left."""
        for key in ("costs", "duty", "policy", "finance", "after_run"):
            self.scenario.pop(key)
        self.scenario["sites"]["hall"] = {"electricity": {"per_kwh": 0}}
        self.quotes["q1"]["tax"] = {}
        self.quotes["q1"].pop("payment")

    def facts(self) -> Facts:
        """Return the facts as schema types."""
        return Facts(
            Scenario.model_validate(self.scenario),
            {key: Platform.model_validate(value) for key, value in self.platforms.items()},
            {"tiny": Architecture.model_validate(ARCHITECTURE)},
            {key: Quote.model_validate(value) for key, value in self.quotes.items()},
        )

    def award(self, **changes: Any) -> None:
        """Add an award of ``q1/node``: 10 nodes in the hall, delivered on 2027-03-01."""
        values: Data = {
            "quote": "q1", "offer": "node", "vendor": "Acme", "platform": "box", "type": "purchase", "place": "hall",
            "units": 10, "nodes": 10, "accelerators": 80, "unit_price": 100_000, "currency": "USD", "tier": None,
            "order_date": "2027-01-01", "delivery_date": "2027-03-01", "contract_end": None, "cost": 0,
        }  # fmt: skip
        units = changes.get("units", 10)
        values |= {"nodes": units, "accelerators": 8 * units}
        self.awards.append(values | changes)

    def run(self, **changes: Any) -> None:
        """Add the run ``train``: 10 nodes in the hall from 2027-03-15 on, 30 days."""
        values: Data = {
            "name": "train", "architecture": None, "platform": "box", "place": "hall", "pool": "box@hall", "nodes": 10,
            "accelerators": 80, "layout": None, "step_time_s": None, "tokens_per_s_per_accelerator": None, "mfu": None,
            "memory_gb": None, "memory_limit_gb": None, "goodput": None, "start": "2027-03-15", "end": "2027-04-13",
            "days": 30, "evidence": "target_workload", "band": None,
        }  # fmt: skip
        self.runs.append(values | changes)

    def plan(self, ledgers: dict[str, list[Entry]] | None = None, policy: str = "idle") -> Plan:
        """Return the plan of the awards and runs, priced by a ledger for each after-run policy (without: no cost)."""
        cost = None if ledgers is None else self._cost(ledgers, ledgers[policy])
        value = cost["npv"] if cost else None
        return Plan.model_validate(
            {
                "scenario": "small",
                "status": "optimal",
                "objective": {
                    "kind": "cost", "value": value, "bound": value, "gap": 0, "currency": "USD", "unit": "USD",
                },
                "solve": {
                    "solver": "hand", "wall_s": 0, "seed": 0, "workers": 1, "candidates": 1, "layouts_evaluated": 0,
                    "proof": "by hand",
                },
                "workloads": [WorkloadPlan.model_validate(run) for run in self.runs],
                "awards": [Award.model_validate(award) for award in self.awards],
                "cost": cost,
                "limits": [],
                "rejections": [],
                "conflict": None,
                "analyses": {},
                "provenance": {
                    "version": "0", "ortools": "0", "today": "2027-01-01", "inputs": [], "assumptions": [],
                },
            }
        )  # fmt: skip

    def case(self) -> Case:
        """Return the first reading of the awards and runs."""
        return next(iter(_cases(self.plan(), self.facts())))

    def _cost(self, ledgers: dict[str, list[Entry]], ledger: list[Entry]) -> Data:
        items = {item: sum(Decimal(amount) for _, other, amount in ledger if other == item) for _, item, _ in ledger}
        rate = float(self.scenario.get("finance", {}).get("discount_rate", 0))
        years: dict[str, Decimal] = {}
        for day, _, amount in ledger:
            label = "2026/27" if day < "2027-04-01" else "2027/28"
            years[label] = years.get(label, Decimal(0)) + Decimal(amount)
        return {
            "currency": "USD",
            "total": sum(items.values()),
            "npv": present_value(ledger, rate),
            "after_run": [
                {"policy": name, "total": plain_total(other), "npv": present_value(other, rate)}
                if other
                else {"policy": name, "total": None, "npv": None}
                for name, other in ledgers.items()
            ],
            "lines": [
                {
                    "item": item,
                    "amount": amount,
                    "factors": [{"name": item, "value": amount, "unit": "USD", "source": ""}],
                }
                for item, amount in items.items()
            ],
            "by_fiscal_year": years,
            "cash": [{"date": day, "amount": Decimal(amount), "item": item} for day, item, amount in ledger],
        }


def plain_total(ledger: Iterable[Entry]) -> Decimal:
    """Return the plain sum of a ledger."""
    return sum((Decimal(amount) for _, _, amount in ledger), Decimal(0))


def present_value(ledger: Iterable[Entry], rate: float) -> float:
    """Return sum of amount / (1 + rate) ^ (days since 2027-01-01 / 365) in floating point."""
    today = dt.date(2027, 1, 1)
    return sum(
        float(amount) / (1 + rate) ** ((dt.date.fromisoformat(day) - today).days / 365) for day, _, amount in ledger
    )


@pytest.fixture
def world() -> World:
    """A fresh world without awards and runs."""
    return World()


@pytest.fixture
def purchase(world: World) -> World:
    """The world with its purchase in two lots and the run on it."""
    world.award(cost=Decimal(1166000))
    world.run()
    return world


@pytest.fixture
def ledgers() -> dict[str, list[Entry]]:
    """The cash of ``purchase`` under each after-run policy, by hand."""
    return {policy: list(entries) for policy, entries in LEDGERS.items()}


@pytest.fixture
def items() -> Callable[[Iterable[Any]], dict[str, Decimal]]:
    """Return a function that sums payments by item."""

    def sums(payments: Iterable[Any]) -> dict[str, Decimal]:
        found: dict[str, Decimal] = {}
        for paid in payments:
            found[paid.item] = found.get(paid.item, Decimal(0)) + paid.amount
        return found

    return sums
