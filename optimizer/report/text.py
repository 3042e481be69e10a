"""Numbers as people read them."""

from __future__ import annotations

from decimal import Decimal

from optimizer.results import Layout

_MAGNITUDES: tuple[tuple[int, int, str, int], ...] = (
    (999_950_000, 1_000_000_000, "B", 2),
    (999_950, 1_000_000, "M", 1),
    (10_000, 1_000, "k", 1),
)

UNKNOWN = "?"
"""Shown for a value that is not known; never a zero."""


def amount(value: Decimal | float | None) -> str:
    """Return an amount to three or four digits with its magnitude: ``62.0 M``, ``421.9 k``, ``2.35``.

    >>> amount(Decimal("62019300")), amount(Decimal("-45400000")), amount(Decimal("950")), amount(None)
    ('62.0 M', '-45.4 M', '950', '?')
    >>> amount(Decimal("999960000")), amount(Decimal("2.35"))
    ('1.00 B', '2.35')
    """
    if value is None:
        return UNKNOWN
    exact = Decimal(value)
    for limit, scale, unit, digits in _MAGNITUDES:
        if abs(exact) >= limit:
            return f"{exact / scale:,.{digits}f} {unit}"
    return number(value)


CAPACITY_UNITS = frozenset({"1e15 FLOP", "accelerators"})
"""Units of an objective that is neither money nor time."""


def measured(value: Decimal | None, unit: str) -> str:
    """Return a value of an objective with its unit, capacity as people count it.

    >>> measured(Decimal("1254.50"), "USD"), measured(Decimal(11_134_168_096), "1e15 FLOP"), measured(None, "days")
    ('1,254.5 USD', '1.113e25 FLOP', '? days')
    """
    return capacity(value, unit) if unit in CAPACITY_UNITS else f"{number(value)} {unit}"


def capacity(value: Decimal | float | None, unit: str | None) -> str:
    """Return an objective of capacity with its unit; compute in FLOP.

    >>> capacity(38_700_000_000, "1e15 FLOP"), capacity(Decimal(1248), "accelerators")
    ('3.870e25 FLOP', '1,248 accelerators')
    """
    if value is None:
        return UNKNOWN
    if unit != "1e15 FLOP":
        return f"{number(value)} {unit}"
    return f"{float(value) * 1e15:.3e} FLOP".replace("e+", "e") if value else "0 FLOP"


def number(value: Decimal | float | str | None) -> str:
    """Return a number in full with thousands separators, without needless zeros.

    >>> number(Decimal("437500.00")), number(2.35), number(1152), number(None), number("air")
    ('437,500', '2.35', '1,152', '?', 'air')
    """
    if value is None:
        return UNKNOWN
    if isinstance(value, str):
        return value
    text = f"{value:,.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def share(value: Decimal | float | None, digits: int = 1) -> str:
    """Return a fraction in per cent.

    >>> share(0.0512), share(Decimal("0.5"), 0), share(None)
    ('5.1 %', '50 %', '?')
    """
    return UNKNOWN if value is None else f"{float(value) * 100:.{digits}f} %"


def layout_text(layout: Layout | None) -> str:
    """Return a layout in one line; degrees of one are left out.

    >>> layout_text(Layout(tensor_parallel=8, pipeline_parallel=8, data_parallel=18, global_batch=1944))
    'TP 8 · PP 8 · DP 18, micro-batch 1, batch 1,944'
    """
    if layout is None:
        return "as stated"
    degrees = {
        "TP": layout.tensor_parallel,
        "PP": layout.pipeline_parallel,
        "VP": layout.virtual_pipeline,
        "CP": layout.context_parallel,
        "EP": layout.expert_parallel,
        "ETP": layout.expert_tensor_parallel,
    }
    parts = [f"{name} {degree}" for name, degree in degrees.items() if degree > 1]
    shape = " · ".join([*parts, f"DP {layout.data_parallel}"])
    extras = [f"micro-batch {layout.micro_batch}", f"batch {layout.global_batch:,}"]
    extras += [f"ZeRO-{layout.sharding_stage}"] if layout.sharding_stage != 1 else []
    extras += [f"{layout.recompute} recompute"] if layout.recompute != "none" else []
    return ", ".join([shape, *extras])
