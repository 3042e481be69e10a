"""Assignments of pools, best first, against sorting all of them; blocks against pairs that are tied."""

from __future__ import annotations

from itertools import product

import pytest

from tests.unit.solver.programs import AFTER, PROGRAMS, field, offered, program


@pytest.mark.parametrize("policy", ["idle", "use"])
@pytest.mark.parametrize("offers", ["bought", "leased", "two pools"])
@pytest.mark.parametrize("runs", PROGRAMS)
def test_assignments_come_in_the_order_of_their_bounds_and_none_is_missing(runs, offers, policy, monkeypatch):
    """Also where awards earn more than they cost, so that another run in a pool makes it cheaper."""
    owned = [{"platform": "box", "nodes": 1, "site": "annex"}]
    sites = {name: {"electricity": {"per_kwh": price}} for name, price in (("hall", 0.1), ("annex", 0.3))}
    costs = [{"name": "net", "per": "cluster", "amount": 500, "every": "once"}]
    terms = {"sites": sites, "owned": owned, "costs": costs, "after_run": AFTER[policy]}
    known = field(program(offered(offers), PROGRAMS[runs], **terms), monkeypatch)
    constant, menus = float(known.outlook.constant.min()), [known.pools_of(run) for run in range(len(known.names))]
    every = [
        (constant + known.quick(tuple(enumerate(pools))) + known.entry(enumerate(pools)), pools)
        for pools in product(*menus)
    ]
    found = list(known.assignments())
    assert [bound for bound, _ in found] == sorted(bound for bound, _ in found)
    assert len(found) == len(every) > 1
    bounds = {pools: bound for bound, pools in every}
    for bound, pools in found:
        assert bound == pytest.approx(bounds[pools], abs=1e-6)
        _blocks_are_what_is_tied(pools, known)


def _blocks_are_what_is_tied(pools, known):
    """Two runs are in a block when a chain of runs that share a pool or follow each other leads from one to the other."""
    runs = range(len(pools))
    reach = {(a, b) for a, b in product(runs, runs) if a == b or pools[a] == pools[b] or a in known.after(b)}
    reach |= {(b, a) for a, b in reach}
    for middle, one, other in product(runs, runs, runs):
        if (one, middle) in reach and (middle, other) in reach:
            reach.add((one, other))
    found = {tuple(run for run, _ in block) for block in known.blocks(pools)}
    assert found == {tuple(other for other in runs if (run, other) in reach) for run in runs}
