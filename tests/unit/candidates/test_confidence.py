from __future__ import annotations

import numpy as np
import pytest

from optimizer.candidates.confidence import confidence
from optimizer.engine.bands import Bands, Quantiles
from optimizer.errors import InputError
from optimizer.io.library import Library
from optimizer.schema.base import EvidenceLevel, Precision
from optimizer.schema.platform import PlatformEvidence

BANDS = Bands(
    situations={"seen": Quantiles(p10=0.9, p50=1.0, p90=1.2, note="test")},
    beyond_scale=Quantiles(p10=0.8, p50=1.0, p90=1.5, note="test"),
)
RUN = PlatformEvidence(
    precision=Precision.FP8, level=EvidenceLevel.PUBLIC_RUN, accelerators_max=64, parameters_max=1e10, source="t"
)


def platform(library: Library):
    b200 = library.platforms["b200-hgx"]
    return b200.model_copy(update={"evidence": (RUN,), "efficiency": {**b200.efficiency, "bands": {"fp8": "seen"}}})


def test_evidence_ends_at_the_largest_scale_seen(library: Library):
    known = confidence(BANDS, platform(library), Precision.FP8, 8e9, np.array([8, 64, 65, 4096]), 0.9)
    assert [level.value for level in known.levels] == ["public_run", "public_run", "datasheet", "datasheet"]
    assert known.rank.tolist() == [3, 3, 1, 1]
    assert known.planned.tolist() == pytest.approx([1.2, 1.2, 1.5, 1.5])
    assert known.low.tolist() == pytest.approx([0.9, 0.9, 0.8, 0.8])
    assert known.high.tolist() == known.planned.tolist()


def test_evidence_of_a_smaller_model_does_not_count(library: Library):
    known = confidence(BANDS, platform(library), Precision.FP8, 5e11, np.array([8]), 0.5)
    assert known.levels == (EvidenceLevel.DATASHEET,)
    assert known.planned.tolist() == pytest.approx([1.0])


def test_a_precision_without_band_is_an_error(library: Library):
    with pytest.raises(InputError, match=r"no bf16"):
        confidence(BANDS, platform(library), Precision.BF16, 8e9, np.array([8]), 0.8)
