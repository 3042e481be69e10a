"""Small programs of several runs for the tests of the large-problem method, and every plan of them priced exactly."""

from __future__ import annotations

import datetime as dt
from typing import Any, NamedTuple

import numpy as np
import pytest

from optimizer.cost.frame import Frame
from optimizer.schema.quote import Quote
from optimizer.solver import enumerate as enumeration
from optimizer.solver import profiles as profiles_module
from optimizer.solver.assemble import priced
from optimizer.solver.columns import field_of
from optimizer.solver.partitions import Block, Field
from optimizer.solver.problem import Problem
from optimizer.solver.schedules import Schedules
from tests.unit.cost.world import Data, block, frame, hourly, lease, purchase, quote, reserved, site, stated
from tests.unit.solver.deciding import problem

Row = tuple[tuple[int, int], ...]
"""(mode, first day) of each run of a block."""


class Placed(NamedTuple):
    """A run in a plan."""

    pool: str
    nodes: int
    days: int
    start: dt.date


Runs = tuple[Placed, ...]

AFTER: dict[str, Data] = {
    "idle": {"policy": "idle"},
    "off": {"policy": "off"},
    "sell": {"policy": "sell"},
    "use": {
        "policy": "use", "max_accelerators": 16, "value_per_accelerator_hour": 0.4, "utilisation": 0.7,
        "decline_per_year": 0.1,
    },
}  # fmt: skip

LATER = [{"units": 1, "date": "2027-02-01"}, {"units": "rest", "date": "2027-03-15"}]

OFFERS: dict[str, dict[str, Data]] = {
    "bought": {
        "stock": purchase({"all_units": {1: 9000, 2: 7000}}, units={"max": 2}),
        "lots": purchase(6000, units={"max": 2}, lots=LATER, lead_weeks=None),
    },
    "leased": {"stock": purchase(9000, units={"max": 1}), "lease": lease(900, 6, units={"max": 2})},
    "hired": {"hour": hourly(3, units={"max": 2}), "block": block(2.5, (14, 1), (63, 7), units={"max": 1})},
    "term": {"term": reserved(2, 3, units={"max": 2})},
    "rented": {"hour": hourly(3, units={"max": 2}), "term": reserved(2, 2, units={"max": 1}, take_or_pay=0.5)},
    "two pools": {"stock": purchase(9000, units={"max": 2}), "hour": hourly(2.5, units={"max": 1})},
}
"""Offers of every kind, few enough to be enumerated."""


def program(offers: Quote, runs: dict[str, Data], **changes: Any) -> Frame:
    """Return a program: energy at 0.10 per kWh, money at 30% a year, so that when something is paid counts."""
    facts: Data = {"sites": {"hall": site(electricity={"per_kwh": 0.1})}, "finance": {"discount_rate": 0.3}}
    return frame(offers, **(facts | {"workloads": runs} | changes))


def run(*modes: tuple[int, int], **terms: Any) -> Data:
    """Return a workload with modes (nodes, days)."""
    return {"modes": [stated(*mode) for mode in modes]} | terms


PROGRAMS: dict[str, dict[str, Data]] = {
    "two": {"a": run((1, 30), (2, 20)), "b": run((1, 25), deadline="2027-05-31")},
    "in turn": {"a": run((1, 40)), "b": run((1, 30), (2, 18), after=["a"])},
    "three": {"a": run((1, 30)), "b": run((1, 25), release="2027-02-10"), "c": run((1, 20), after=["a"])},
}
"""Runs that meet, follow each other, and both."""


def unlisted(world: Frame, monkeypatch: pytest.MonkeyPatch) -> Problem:
    """Return the problem of a world as if there were too many runs to list."""
    monkeypatch.setattr(profiles_module, "LISTED", 0)
    return problem(world)


def fully_listed(world: Frame, monkeypatch: pytest.MonkeyPatch) -> Problem:
    """Return the problem with every run listed."""
    monkeypatch.setattr(profiles_module, "LISTED", 10**9)
    return problem(world)


def field(world: Frame, monkeypatch: pytest.MonkeyPatch) -> Field:
    """Return the field of a world."""
    return field_of(unlisted(world, monkeypatch))


def least_costs(listed: Problem, world: Frame | None = None) -> dict[Runs, float]:
    """Return every choice of runs that has a plan, with the exact cost of the cheapest awards for it (in a frame)."""
    found: dict[Runs, float] = {}
    for choice in enumeration._choices(listed):
        runs = tuple(Placed(one.pool, one.candidate.nodes, one.candidate.days, one.start) for one in choice.runs)
        found[runs] = min(float(priced(choice, world or listed.frame).npv), found.get(runs, np.inf))
    return found


def pools_of(runs: Runs, known: Field) -> tuple[int, ...]:
    """Return the position of the pool of each run."""
    places = {pool.name: number for number, pool in enumerate(known.outlook.pools)}
    return tuple(places[run.pool] for run in runs)


def row_of(runs: Runs, own: Block, known: Field) -> Row:
    """Return the modes and first days of the runs of a block."""
    found = []
    for workload, pool in own:
        modes = [(mode.nodes, mode.days) for mode in known.slots[workload, pool].modes]
        one = runs[workload]
        found.append((modes.index((one.nodes, one.days)), (one.start - known.frame.today).days))
    return tuple(found)


def rows(found: Schedules) -> dict[Row, float]:
    """Return schedules with their bounds."""
    return {
        tuple(zip(map(int, modes), map(int, starts), strict=True)): float(bound)
        for modes, starts, bound in zip(found.modes, found.starts, found.bound, strict=True)
    }


def offered(name: str) -> Quote:
    """Return a quote of the offers of a name."""
    return quote(OFFERS[name])
