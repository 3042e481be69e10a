"""What is known about a platform at each scale: evidence level and the factors of its duration band."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optimizer.engine.bands import Bands, band, factor, level
from optimizer.engine.layouts import Floats, Integers
from optimizer.schema.base import EvidenceLevel, Precision
from optimizer.schema.platform import Platform


@dataclass(frozen=True, slots=True)
class Confidence:
    """Evidence of a precision at each node count; arrays of shape (N,).

    Attributes:
        levels: Evidence level of each node count.
        rank: Position of the level, weakest 0.
        planned: Actual / predicted duration at the quantile plans use.
        low: The same at the 10th percentile.
        high: The same at the 90th percentile.
        p50: The same at the median.
        p80: The same at the 80th percentile.
    """

    levels: tuple[EvidenceLevel, ...]
    rank: Integers
    planned: Floats
    low: Floats
    high: Floats
    p50: Floats
    p80: Floats


def confidence(
    bands: Bands, platform: Platform, precision: Precision, parameters: float, accelerators: Integers, quantile: float
) -> Confidence:
    """Return evidence and band factors of each number of accelerators, shape (N,).

    Evidence changes only where a run seen was the largest, so it is looked up once per interval between those.
    Raises InputError when the platform names no band for the precision.
    """
    seen = {entry.accelerators_max for entry in platform.evidence if entry.precision == precision}
    edges = sorted(edge for edge in seen if edge is not None)
    _, first, which = np.unique(np.searchsorted(edges, accelerators), return_index=True, return_inverse=True)
    sizes = [int(accelerators[position]) for position in first]
    levels = [level(platform, precision, parameters, size) for size in sizes]
    quantiles = [band(bands, platform, precision, parameters, size) for size in sizes]
    planned, low, high, p50, p80 = (
        np.array([factor(each, share) for each in quantiles])[which] for share in (quantile, 0.1, 0.9, 0.5, 0.8)
    )
    rank = np.array([each.rank for each in levels])[which]
    return Confidence(tuple(levels[position] for position in which), rank, planned, low, high, p50, p80)
