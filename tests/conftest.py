"""No test reads or writes the cache of the person who runs it."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest

CACHE = "CLUSTERBUY_CACHE"


def pytest_configure(config: pytest.Config) -> None:
    """Keep engine results for this session only, empty at its start; programs that tests run inherit the folder."""
    os.environ[CACHE] = tempfile.mkdtemp(prefix="clusterbuy-tests-")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove them."""
    shutil.rmtree(os.environ[CACHE], ignore_errors=True)
