"""``sensitivity``: what moves the answer, and what flips it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli.analysing import answered, progress_of, ready, write_rows
from optimizer.cli.options import LibraryOptions, OutputOptions, ScenarioOptions, command


@command("sensitivity")
def sensitivity(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO")],
    options: ScenarioOptions,
    library: LibraryOptions,
    output: OutputOptions,
    ranges: Annotated[
        list[str] | None, typer.Option("--range", metavar="INPUT=LOW:HIGH", help="Range of one input.")
    ] = None,
    grid: Annotated[str | None, typer.Option(metavar="INPUT,INPUT", help="Move two inputs together as well.")] = None,
    results: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep rows here; resume from it.")] = None,
    rows: Annotated[Path | None, typer.Option(metavar="FILE.csv|.parquet", help="Write a row per input.")] = None,
    plan: Annotated[
        Path | None, typer.Option(metavar="PLAN.json", help="Keep the answer under analyses there.")
    ] = None,
) -> int:
    """Each uncertain input at both ends of its range, solved again: ranked, with the value at which the decision flips."""
    from optimizer.analysis.sensitivity import pair_of, range_of
    from optimizer.analysis.sensitivity import sensitivity as analysed
    from optimizer.report.analyses import sensitivity_screen

    loaded = ready(scenario, options, library)
    found = analysed(
        loaded,
        ends=dict(map(range_of, ranges or ())),
        grid=None if grid is None else pair_of(grid),
        options=options.solve_options(),
        store=results,
        tell=progress_of(output),
    )
    if found is not None and rows is not None:
        write_rows(rows, [row.model_dump(mode="json") for row in found.rows])
    proven = found is None or (found.proven and not found.failed)
    return answered("sensitivity", found, proven, loaded, sensitivity_screen, options, output, plan)
