"""Fits, tight, does not fit."""

from __future__ import annotations

import numpy as np
import pytest

from optimizer.engine.verdict import VERDICTS, verdict, verdict_codes


@pytest.mark.parametrize(
    ("allocated_gb", "expected"),
    [
        (72.6, "fits"),  # 73.6 x 1.12 + 2 = 84.43 <= 85.52
        (74.0, "tight"),  # 75 x 1.12 + 2 = 86.0 but 75 x 1.05 + 2.25 = 81.0
        (78.2, "tight"),  # 79.2 x 1.05 + 2.25 = 85.41
        (79.0, "does_not_fit"),  # 80 x 1.05 + 2.25 = 86.25
    ],
)
def test_limits_on_an_h100(allocated_gb: float, expected: str):
    assert verdict(allocated_gb * 1e9, 81_559 * 2**20) == expected


def test_codes_name_the_verdicts():
    codes = verdict_codes(np.array([1e9, 78e9, 200e9]), 85.52e9)
    assert [VERDICTS[code] for code in codes] == ["fits", "tight", "does_not_fit"]
