from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from optimizer.analysis.backtest import Backtest, RowScore, backtest
from optimizer.io.library import Library
from optimizer.io.runs import Run, read_runs

DATA = Path(__file__).parents[1] / "data"


@cache
def scored() -> tuple[Backtest, dict[str, RowScore], dict[str, Run]]:
    runs = read_runs(DATA / "runs.csv") + read_runs(DATA / "published_steps.csv")
    result, rows = backtest(runs, Library.shipped())
    return result, {row.run_id: row for row in rows}, {run.run_id: run for run in runs}


@pytest.fixture(scope="session")
def result() -> Backtest:
    return scored()[0]


@pytest.fixture(scope="session")
def rows() -> dict[str, RowScore]:
    return scored()[1]


@pytest.fixture(scope="session")
def runs() -> dict[str, Run]:
    return scored()[2]
