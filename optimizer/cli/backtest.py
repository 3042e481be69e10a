"""``backtest``: errors of the engine against measured runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli.options import LibraryOptions, OutputOptions, command
from optimizer.cli.output import deliver, write_file

if TYPE_CHECKING:
    from optimizer.analysis.backtest import RowScore


@command("backtest")
def backtest(
    runs: Annotated[Path, typer.Argument(metavar="RUNS.csv")],
    library: LibraryOptions,
    output: OutputOptions,
    out: Annotated[Path | None, typer.Option("--out", metavar="ROWS.csv", help="Write one line per run.")] = None,
) -> None:
    """Predict measured runs and print the errors."""
    from optimizer.analysis.backtest import backtest as score
    from optimizer.io.json_text import json_text
    from optimizer.io.runs import read_runs
    from optimizer.report.console import backtest_screen

    result, rows = score(read_runs(runs), library.load())
    if out is not None:
        write_file(out, _csv(rows))
    deliver(output, json_text(result), lambda: backtest_screen(result))


def _csv(rows: Sequence[RowScore]) -> str:
    from optimizer.analysis.backtest import RowScore

    text = io.StringIO()
    writer = csv.DictWriter(text, list(RowScore.model_fields), lineterminator="\n")
    writer.writeheader()
    writer.writerows(row.model_dump() for row in rows)
    return text.getvalue()
