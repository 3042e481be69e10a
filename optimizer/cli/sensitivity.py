"""``sensitivity``: what moves the answer, and what flips it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli.analysing import asked, sweeping, told_when_interrupted, write_rows
from optimizer.cli.options import KeepOptions, LibraryOptions, OutputOptions, ScenarioOptions, SweepOptions, command


@command("sensitivity")
def sensitivity(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO")],
    options: ScenarioOptions,
    library: LibraryOptions,
    output: OutputOptions,
    keep: KeepOptions,
    sweep: SweepOptions,
    ranges: Annotated[
        list[str] | None, typer.Option("--range", metavar="INPUT=LOW:HIGH", help="Range of one input.")
    ] = None,
    grid: Annotated[str | None, typer.Option(metavar="INPUT,INPUT", help="Move two inputs together as well.")] = None,
) -> int:
    """Each uncertain input at both ends of its range, solved again: ranked, with the value at which the decision flips."""
    from optimizer.analysis.sensitivity import pair_of, ranges_of
    from optimizer.analysis.sensitivity import sensitivity as analysed
    from optimizer.analysis.tornado import SensitivityRow
    from optimizer.report.analyses import sensitivity_screen

    how = sweeping(options, sweep, output)
    question = asked(scenario, options, library, output, keep)
    with told_when_interrupted(sweep.results):
        found = analysed(
            question.loaded,
            ends=ranges_of(ranges or ()),
            grid=None if grid is None else pair_of(grid),
            options=options.solve_options(),
            how=how,
        )
    if found is not None and sweep.rows is not None:
        write_rows(sweep.rows, found.rows, SensitivityRow)
    proven = found is None or (found.proven and not found.failed)
    return question.answered(found, proven, sensitivity_screen)
