"""How far reality may be from a prediction, by what the prediction rests on."""

from __future__ import annotations

import math
from statistics import NormalDist

from pydantic import Field

from optimizer.engine.efficiency import efficiency
from optimizer.errors import InputError, Problem, did_you_mean
from optimizer.schema.architecture import Architecture
from optimizer.schema.base import EvidenceLevel, Frozen, Precision
from optimizer.schema.platform import Platform

_NORMAL = NormalDist()
_KNOTS = (0.1, 0.5, 0.9)


class Quantiles(Frozen):
    """Quantiles of actual over predicted step time in one situation."""

    p10: float = Field(gt=0)
    """One run in ten is faster than predicted x p10."""
    p50: float = Field(gt=0)
    """Half of the runs."""
    p90: float = Field(gt=0)
    """One run in ten is slower than predicted x p90."""
    note: str
    """What was compared to get them."""


class Bands(Frozen):
    """Quantiles by situation (``models/bands.yaml``)."""

    situations: dict[str, Quantiles]
    """Name used in the platforms' ``efficiency.bands`` -> quantiles."""
    beyond_scale: Quantiles
    """More accelerators or a larger model than the evidence covers."""

    def of(self, name: str) -> Quantiles:
        """Return a situation by name; raise InputError when there is none."""
        if name not in self.situations:
            fix = did_you_mean(name, list(self.situations))
            raise InputError([Problem("models/bands.yaml", f'no situation named "{name}"', "a known one", fix)])
        return self.situations[name]


def factor(quantiles: Quantiles, quantile: float) -> float:
    """Return actual / predicted step time that is not exceeded with probability ``quantile``.

    Piecewise log-normal: straight lines in (normal score, log factor) through p10, p50 and p90, continued outwards.
    Raises InputError unless 0 < quantile < 1.
    """
    if not 0.0 < quantile < 1.0:
        raise InputError([Problem("performance_quantile", str(quantile), "a fraction above 0 and below 1, e.g. 0.8")])
    middle = math.log(quantiles.p50)
    outer = math.log(quantiles.p10 if quantile < _KNOTS[1] else quantiles.p90)
    reach = abs(_NORMAL.inv_cdf(_KNOTS[0]))
    return math.exp(middle + abs(outer - middle) / reach * _NORMAL.inv_cdf(quantile))


_TARGET = EvidenceLevel.TARGET_WORKLOAD
_SEEN, _UNSEEN, _NEW_PLATFORM = "experts_seen", "experts_unseen", "experts_new_platform"


def as_evidenced(platform: Platform, architecture: Architecture) -> Platform:
    """Return the platform with the evidence and bands that hold for a model: for experts those of runs with experts.

    Evidence that names another model is left out (of runs with experts: target workloads only, since all name one).
    A model that ran in a precision is ``experts_seen`` there, another one ``experts_unseen``, and on a platform
    without any such run ``experts_new_platform``. Raises InputError when the efficiency block is wrong.
    """
    if architecture.moe is None:
        own = tuple(run for run in platform.evidence if run.architecture in (None, architecture.id))
        return platform.model_copy(update={"evidence": own})
    shares = efficiency(platform)
    seen = {run.precision for run in shares.experts if run.architecture == architecture.id}
    other = _UNSEEN if shares.experts else _NEW_PLATFORM
    names = {precision: _SEEN if precision in seen else other for precision in shares.bands}
    known = tuple(run for run in shares.experts if run.level != _TARGET or run.architecture == architecture.id)
    return platform.model_copy(update={"evidence": known, "efficiency": {**platform.efficiency, "bands": names}})


def level(platform: Platform, precision: Precision, parameters: float, accelerators: int) -> EvidenceLevel:
    """Return the strongest evidence that covers this precision, model size and number of accelerators.

    Beyond the maxima of every entry it is ``datasheet``.
    """
    covering = [
        entry.level
        for entry in platform.evidence
        if entry.precision == precision
        and (entry.parameters_max is None or parameters <= entry.parameters_max)
        and (entry.accelerators_max is None or accelerators <= entry.accelerators_max)
    ]
    return max(covering, key=lambda known: known.rank, default=EvidenceLevel.DATASHEET)


def band(bands: Bands, platform: Platform, precision: Precision, parameters: float, accelerators: int) -> Quantiles:
    """Return the quantiles that apply: the platform's situation for this precision, widened beyond seen scale."""
    name = efficiency(platform).bands.get(precision)
    if name is None:
        where = f"models/platforms/{platform.id}.yaml, efficiency.bands"
        raise InputError([Problem(where, f"no {precision}", "a situation of models/bands.yaml")])
    own = bands.of(name)
    if level(platform, precision, parameters, accelerators).rank > EvidenceLevel.DATASHEET.rank:
        return own
    wide = bands.beyond_scale
    return own.model_copy(update={"p10": min(own.p10, wide.p10), "p90": max(own.p90, wide.p90)})
