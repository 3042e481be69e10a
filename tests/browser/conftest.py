"""Pages in a real headless Chromium; none is downloaded: the system's own is used.

Without one these tests are skipped, except in CI, where they fail: a skipped check would look like a passed one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from optimizer.cli.main import main

sys.path.insert(0, str(Path(__file__).parent))
from chromium import NAMES, program, started

DEAR_RENT = ("--set", "quotes.lagoon-5.offers.reserved.price=60")
"""With it the starter buys: its report has lots, power, a cost build-up."""

ANALYSES = (
    ("compare",), ("alternatives", "--within", "25%"), ("explain", "--worth"), ("pareto",), ("sensitivity",),
    ("breakeven", "--platform", "h200-sxm"), ("risk", "--samples", "64"),
)  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = program()
    if path is None:
        missing = f"none of {', '.join(NAMES)} is installed"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    with started(path) as running:
        yield running


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


def reported(plan: Path) -> Path:
    page = plan.with_suffix(".html")
    assert main(["report", str(plan), "-o", str(page)]) == 0
    return page


@pytest.fixture(scope="session")
def plan(folder: Path) -> Path:
    """The starter's plan, rent made dear, with every analysis kept in it."""
    scenario, plan = folder / "scenario.yaml", folder / "full.json"
    assert main(["init", str(folder), "--quiet"]) == 0
    assert main(["solve", str(scenario), *DEAR_RENT, "--quiet", "--json", str(plan)]) == 0
    for name, *options in ANALYSES:
        assert main([name, str(scenario), *DEAR_RENT, *options, "--quiet", "--plan", str(plan)]) == 0
    return plan


@pytest.fixture(scope="session")
def full(plan: Path) -> Path:
    """Its page."""
    return reported(plan)


@pytest.fixture(scope="session")
def infeasible(folder: Path, plan: Path) -> Path:
    """The page of the starter with a deadline nothing can meet."""
    found = folder / "infeasible.json"
    late = ["--set", "workloads.pretrain.deadline=2027-03-01"]
    assert main(["solve", str(folder / "scenario.yaml"), *late, "--quiet", "--json", str(found)]) == 3
    return reported(found)
