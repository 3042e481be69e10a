"""Evidence levels and the bands they give."""

from __future__ import annotations

import pytest

from optimizer.engine.bands import Quantiles, as_evidenced, band, factor, level
from optimizer.errors import InputError
from optimizer.io.library import Library
from optimizer.schema.base import EvidenceLevel, Precision

QUANTILES = Quantiles(p10=0.8, p50=1.0, p90=1.5, note="test")


def test_the_knots_are_met_and_the_factor_grows():
    assert factor(QUANTILES, 0.1) == pytest.approx(0.8)
    assert factor(QUANTILES, 0.5) == pytest.approx(1.0)
    assert factor(QUANTILES, 0.9) == pytest.approx(1.5)
    # normal scores: 0.8416 / 1.2816 of ln 1.5
    assert factor(QUANTILES, 0.8) == pytest.approx(1.5 ** (0.8416 / 1.2816), rel=1e-3)
    assert factor(QUANTILES, 0.95) > 1.5


@pytest.mark.parametrize("quantile", [0.0, 1.0, 1.2, -0.1])
def test_a_quantile_outside_the_open_interval_is_refused(quantile: float):
    with pytest.raises(InputError, match="above 0 and below 1"):
        factor(QUANTILES, quantile)


def test_evidence_holds_only_as_far_as_it_was_seen(library: Library):
    b200 = library.platforms["b200-hgx"]
    assert level(b200, Precision.FP8, 8e9, 8) == EvidenceLevel.PUBLIC_RUN
    assert level(b200, Precision.FP8, 500e9, 8) == EvidenceLevel.DATASHEET
    assert level(b200, Precision.FP8, 405e9, 4096) == EvidenceLevel.DATASHEET
    assert level(b200, Precision.FP4, 8e9, 8) == EvidenceLevel.DATASHEET


def test_beyond_seen_scale_the_band_is_at_least_as_wide(library: Library):
    b200 = library.platforms["b200-hgx"]
    near = band(library.bands, b200, Precision.FP8, 8e9, 8)
    far = band(library.bands, b200, Precision.FP8, 500e9, 4096)
    assert far.p10 <= near.p10
    assert far.p90 > near.p90
    assert near.p50 == far.p50


def test_an_unknown_situation_is_an_error(library: Library):
    with pytest.raises(InputError, match=r'no situation named "same_platfrom".*same_platform'):
        library.bands.of("same_platfrom")


def test_bands_are_ordered(library: Library):
    for name, quantiles in library.bands.situations.items():
        assert quantiles.p10 < quantiles.p50 < quantiles.p90, name


def test_a_model_with_experts_has_evidence_of_its_own(library: Library):
    b200, model = library.platforms["b200-hgx"], library.architectures["deepseek-v3"]
    seen = as_evidenced(b200, model)
    assert level(seen, Precision.MXFP8, 671e9, 256) == EvidenceLevel.PUBLIC_RUN
    assert level(seen, Precision.MXFP8, 671e9, 512) == EvidenceLevel.DATASHEET
    assert level(b200, Precision.MXFP8, 671e9, 256) == EvidenceLevel.DATASHEET  # dense runs do not cover it
    assert band(library.bands, seen, Precision.MXFP8, 671e9, 256) == library.bands.of("experts_seen")
    assert band(library.bands, seen, Precision.BF16, 671e9, 8).p90 == library.bands.of("experts_unseen").p90
    unseen = as_evidenced(b200, library.architectures["llama-4-scout"])
    assert band(library.bands, unseen, Precision.MXFP8, 109e9, 64) == library.bands.of("experts_unseen")
    nowhere = as_evidenced(library.platforms["mi355x"], model)
    assert band(library.bands, nowhere, Precision.BF16, 671e9, 64).p90 == library.bands.of("experts_new_platform").p90


def test_a_dense_model_keeps_the_evidence_of_the_platform(library: Library):
    b200 = library.platforms["b200-hgx"]
    assert as_evidenced(b200, library.architectures["llama-3-1-8b"]) == b200
