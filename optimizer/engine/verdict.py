"""Whether a layout can be planned with: fits, tight, or does not fit."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optimizer.engine.layouts import Floats

Verdict = Literal["fits", "tight", "does_not_fit"]
VERDICTS: tuple[Verdict, ...] = ("fits", "tight", "does_not_fit")
"""Names of the codes 0, 1, 2."""

_OUTSIDE = 1e9  # allocator-external context, bytes
_FITS = (1.12, 2.0e9)  # fragmentation and reserve that gave no false fit on labelled rows
_TIGHT = (1.05, 2.25e9)  # needs expandable segments or a pilot


def needed_bytes(peak_bytes: Floats) -> Floats:
    """Return the card bytes from which an allocated peak fits: (peak + 1 GB) x 1.12 + 2 GB."""
    return (peak_bytes + _OUTSIDE) * _FITS[0] + _FITS[1]


def headroom_bytes(peak_bytes: float, memory_bytes: float) -> float:
    """Return what may be allocated beyond a peak while it fits, bytes: (card - 2 GB) / 1.12 - 1 GB - peak."""
    return (memory_bytes - _FITS[1]) / _FITS[0] - _OUTSIDE - peak_bytes


def verdict_codes(peak_bytes: Floats, memory_bytes: float) -> NDArray[np.int64]:
    """Return 0 fits, 1 tight, 2 does not fit.

    need = allocated + 1 GB; fits when need x 1.12 + 2 GB <= card bytes, tight when need x 1.05 + 2.25 GB <= card
    bytes (constants: allocated against reserved memory of published runs, reserved = 1.02-1.09 x allocated).
    """
    need = peak_bytes + _OUTSIDE
    fits = needed_bytes(peak_bytes) <= memory_bytes
    tight = need * _TIGHT[0] + _TIGHT[1] <= memory_bytes
    return np.where(fits, 0, np.where(tight, 1, 2)).astype(np.int64)


def verdict(peak_bytes: float, memory_bytes: float) -> Verdict:
    """Return the verdict of one layout."""
    return VERDICTS[int(verdict_codes(np.array([peak_bytes]), memory_bytes)[0])]
