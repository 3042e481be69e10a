"""The shipped headline scenario, solved once for all tests of a worker."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import optimizer as cb
from optimizer.io.shipped import shipped

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE.parent / "unit/report")]  # helpers of both folders are importable by these tests


@pytest.fixture(scope="session")
def headline() -> str:
    return str(shipped("scenarios") / "dense-500b.yaml")


@pytest.fixture(scope="session")
def plan(headline: str) -> cb.Plan:
    return cb.solve(headline)
