"""``pareto``: cost against finish date."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli.analysing import answered, ready
from optimizer.cli.options import LibraryOptions, OutputOptions, ScenarioOptions, command


@command("pareto")
def pareto(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO")],
    options: ScenarioOptions,
    library: LibraryOptions,
    output: OutputOptions,
    plan: Annotated[Path | None, typer.Option(metavar="PLAN.json", help="Keep the front under analyses there.")] = None,
) -> int:
    """Every plan that nothing both cheaper and earlier beats, up to the deadline."""
    from optimizer.analysis.pareto import pareto as analysed
    from optimizer.report.analyses import pareto_screen

    loaded = ready(scenario, options, library)
    front = analysed(loaded, options=options.solve_options())
    return answered("pareto", front, front is None or front.complete, loaded, pareto_screen, options, output, plan)
