"""``pytest tests/golden --refresh-golden`` writes the dumps anew; read the difference before you keep it."""

from __future__ import annotations

import pytest

OPTION = "--refresh-golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, action="store_true", default=False, help="write the golden dumps of tests/golden anew")


@pytest.fixture
def refresh(request: pytest.FixtureRequest) -> bool:
    """Whether dumps are written instead of compared."""
    return bool(request.config.getoption(OPTION, default=False))
