"""``calibrate``: a pilot's measured runs become an overlay of a platform."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli.options import LibraryOptions, OutputOptions, command
from optimizer.cli.output import deliver
from optimizer.errors import InputError, Problem


@command("calibrate")
def calibrate(
    runs: Annotated[Path, typer.Argument(metavar="RUNS.csv", help="Measured runs, three or more.")],
    library: LibraryOptions,
    output: OutputOptions,
    platform: Annotated[str, typer.Option("--platform", metavar="P", help="Hardware the runs are of.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OVERLAY.yaml", help="New file to write.")],
    today: Annotated[
        str | None, typer.Option("--today", metavar="DATE", help="Date of the fit; default today.")
    ] = None,
) -> None:
    """Fit a platform's efficiency to a pilot and write it as an overlay.

    clusterbuy calibrate pilot.csv --platform b200-hgx -o mine/models/platforms/b200-pilot.yaml

    clusterbuy solve scenario.yaml --library mine

    The columns are those of backtest. An overlay counts in models/platforms of a folder named by --library, whatever
    its file name. A file that is there already is never changed, and nothing is written among the shipped data.
    """
    from optimizer.analysis.calibrate import calibrate as fit
    from optimizer.analysis.overlay import overlay_of
    from optimizer.io.json_text import json_text
    from optimizer.io.overlays import refuse_place, write_overlay
    from optimizer.io.runs import read_runs_file
    from optimizer.report.calibration import calibration_screen

    refuse_place(out)
    cards, date = library.load(), _date(today)
    calibrated = fit(read_runs_file(runs), platform, cards)
    write_overlay(out, overlay_of(calibrated, cards, date))
    deliver(output, json_text(calibrated.result), lambda: calibration_screen(calibrated.result, out))


def _date(text: str | None) -> dt.date:
    try:
        return dt.date.fromisoformat(text) if text else dt.datetime.now(tz=dt.UTC).date()
    except ValueError:
        raise InputError([Problem("--today", f'"{text}"', "a calendar date such as 2026-11-30")]) from None
