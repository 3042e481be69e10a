"""Screen of ``calibrate``: errors before and after, what was fitted, and how to use it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from optimizer.report.console import table
from optimizer.report.text import share

if TYPE_CHECKING:
    from optimizer.analysis.calibrate import Calibration, RunErrors


def calibration_screen(result: Calibration, out: Path) -> RenderableType:
    """Return errors of every run before, after and left out of the fit, fitted parameters and warnings."""
    head = f"{result.platform}, {result.software}: {result.rows} rows, {result.configurations} configurations"
    ignored = [Text(f"not used: {times} with {reason}", style="dim") for reason, times in result.ignored.items()]
    read = [Text(f"read: {text} ({times})", style="dim") for text, times in result.readings.items()]
    return Group(
        Text(head, style="bold"),
        _errors(result),
        _parameters(result),
        *ignored,
        *read,
        *(Text(f"warning: {text}", style="yellow") for text in result.warnings),
        Text(_usage(out)),
    )


def _errors(result: Calibration) -> RenderableType:
    means = [
        (name, "", *(share(getattr(figures, name)) for figures in (result.before, result.after, result.left_out)))
        for name in ("mean", "median")
    ]
    headers = ("predicted / measured - 1", ">measured s", ">before", ">after", ">left out")
    return table(headers, [*map(_run, result.runs), *means])


def _run(run: RunErrors) -> tuple[str, ...]:
    signed = (f"{error * 100:+.1f} %" for error in (run.before, run.after, run.left_out))
    return run.run_id, f"{run.measured_step_time_s:.4g}", *signed


def _parameters(result: Calibration) -> RenderableType:
    rows = [
        (item.name, f"x {item.factor:.3f}", f"{share(item.prior)} -> {share(item.uncertainty)}", "")
        for item in result.parameters
    ]
    rows += [(f"  {item.key}", f"{item.fitted:.4g}", "", f"was {item.shipped:.4g}") for item in result.values]
    return table(("fitted", "", "uncertain by", ""), rows)


def _usage(out: Path) -> str:
    folder = out.parent
    if folder.name == "platforms" and folder.parent.name == "models":
        return f"written to {out}; use it with --library {folder.parent.parent}"
    return f"written to {out}; put it into models/platforms of a folder of yours and name that with --library"
