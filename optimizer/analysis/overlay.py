"""A fitted pilot as an overlay: parameters, bands and what counts as seen from now on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from optimizer.analysis.backtest import Errors, Library
from optimizer.analysis.calibrate import Calibrated, Calibration
from optimizer.analysis.pilot import FEWEST_ROWS, PilotRow
from optimizer.analysis.readings import Cards, card_of
from optimizer.engine.bands import Bands
from optimizer.engine.parameters import parameters
from optimizer.schema.base import EvidenceLevel, Precision, Source
from optimizer.schema.platform import PlatformEvidence, PlatformOverlay

_DIGITS = 4
_SAME_MODEL = 0.005  # parameters of a row against those of the card it names
_PILOT, _SCATTERED = "pilot", "pilot_scattered"

Entry = tuple[Precision, EvidenceLevel, str | None, float, int]
"""What was seen: precision, level, model it holds for, parameters, accelerators."""


def overlay_of(calibrated: Calibrated, library: Library, date: dt.date) -> PlatformOverlay:
    """Return the overlay of a fit: the whole efficiency block, evidence of the runs, and the file as a source.

    The level of a run is that of its nodes, ``pilot_single_node`` or ``pilot_multi_node``, for models up to its size on
    as many accelerators, and ``target_workload`` for the very model it trained.
    """
    name = Path(calibrated.file.name).name
    source = f"pilot-{date.isoformat()}"
    rows, result = calibrated.pilot.rows, calibrated.result
    dense = [row for row in rows if row.case.setup.architecture.moe is None]
    seen = [_evidence(entry, source) for entry in _seen(dense, library)]
    note = f"{name}, sha256 {calibrated.file.sha256}, {len(rows)} rows of {result.configurations} configurations"
    return PlatformOverlay(
        overlay_of=result.platform,
        efficiency=_block(calibrated, library, date, source),
        evidence=tuple(seen),
        notes=(f"Calibrated on {date.isoformat()} with {name}: {errors_text(result)}.",),
        sources={source: Source(url=name, date=date.isoformat(), confidence="A", covers=("efficiency",), note=note)},
    )


def errors_text(result: Calibration) -> str:
    """Return the mean errors before, after and left out in one line."""
    pairs = (("before", result.before), ("after", result.after), ("left out", result.left_out))
    return ", ".join(f"{name} {_mean(figures)}" for name, figures in pairs) + " mean error"


def _mean(figures: Errors) -> str:
    return "?" if figures.mean is None else f"{figures.mean:.1%}"


def _block(calibrated: Calibrated, library: Library, date: dt.date, source: str) -> dict[str, object]:
    """Return the efficiency block as plain data: shipped values where nothing was fitted."""
    shares, rows, result = calibrated.shares, calibrated.pilot.rows, calibrated.result
    measured = {row.case.setup.precision for row in rows if row.case.setup.architecture.moe is None}
    evidence = {
        "source": Path(calibrated.file.name).name,
        "rows": len(rows),
        "date": date.isoformat(),
        "note": f"{', '.join(item.name for item in result.parameters)} fitted by clusterbuy calibrate: {errors_text(result)}",
        "sha256": calibrated.file.sha256,
    }
    experts = [row for row in rows if row.case.setup.architecture.moe is not None]
    mine = [_evidence(entry, source) for entry in _seen(experts, library) if entry[2] is not None]
    data = shares.model_dump(mode="json", exclude_none=True)
    data["bands"] = {
        name: _situation(library.bands, situation, result) if name in measured else situation
        for name, situation in shares.bands.items()
    }
    data["experts"] = [*(entry.model_dump(mode="json", exclude_none=True) for entry in mine), *data["experts"]]
    data["evidence"] = [evidence, *data["evidence"]]
    return {key: _rounded(value) for key, value in data.items() if value or key != "derived"}


def _rounded(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _rounded(part) for key, part in value.items()}
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) and value < 1000 else value


def _situation(bands: Bands, shipped: str, result: Calibration) -> str:
    """Return the band of a measured precision: the pilot's own when left-out runs lie in it.

    Otherwise a wider one, unless the shipped one is narrower and not about a systematic error, which is now fitted away.
    """
    own = bands.of(_PILOT)
    ratios = [1.0 / (1.0 + run.left_out) for run in result.runs]  # actual over predicted
    if result.configurations >= FEWEST_ROWS and all(own.p10 <= ratio <= own.p90 for ratio in ratios):
        return _PILOT
    old, wide = bands.of(shipped), bands.of(_SCATTERED)
    return shipped if old.p50 == 1.0 and old.p90 / old.p10 <= wide.p90 / wide.p10 else _SCATTERED


def _seen(rows: Sequence[PilotRow], cards: Cards) -> list[Entry]:
    """Return what the rows are evidence for, without what another entry covers."""
    found = {entry for row in rows for entry in _entries(row, cards)}
    covered = {
        one
        for one in found
        for other in found
        if one != other and one[:3] == other[:3] and one[3] <= other[3] and one[4] <= other[4]
    }
    return sorted(found - covered, key=str)


def _entries(row: PilotRow, cards: Cards) -> Iterable[Entry]:
    setup, layout = row.case.setup, row.case.layout
    single = layout.accelerators <= setup.platform.accelerators_per_node
    level = EvidenceLevel.PILOT_SINGLE_NODE if single else EvidenceLevel.PILOT_MULTI_NODE
    size = float(setup.parameters.total)
    model = _target(row, cards)
    names = (model,) if setup.architecture.moe is not None else (None,)
    yield from ((setup.precision, level, name, size, layout.accelerators) for name in names)
    if model is not None:
        yield setup.precision, EvidenceLevel.TARGET_WORKLOAD, model, size, layout.accelerators


def _target(row: PilotRow, cards: Cards) -> str | None:
    """Return the card of the model a row trained, when its size is that of the card."""
    card = card_of(row.case.run, cards)
    if card is None:
        return None
    size = row.case.setup.parameters.total
    return card.id if abs(parameters(card).total / size - 1) <= _SAME_MODEL else None


def _evidence(entry: Entry, source: str) -> PlatformEvidence:
    precision, level, model, size, accelerators = entry
    return PlatformEvidence(
        precision=precision,
        level=level,
        architecture=model,
        parameters_max=size,
        accelerators_max=accelerators,
        source=source,
    )
