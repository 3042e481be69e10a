"""``pareto``: cost against finish date."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli.analysing import asked
from optimizer.cli.options import KeepOptions, LibraryOptions, OutputOptions, ScenarioOptions, command


@command("pareto")
def pareto(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO")],
    options: ScenarioOptions,
    library: LibraryOptions,
    output: OutputOptions,
    keep: KeepOptions,
) -> int:
    """Every plan that nothing both cheaper and earlier beats, up to the deadline."""
    from optimizer.analysis.pareto import pareto as analysed
    from optimizer.report.analyses import pareto_screen

    question = asked(scenario, options, library, output, keep)
    front = analysed(question.loaded, options=options.solve_options())
    return question.answered(front, front is None or front.complete, pareto_screen)
