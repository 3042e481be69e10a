"""``compare``: the best plan of each platform, or the limit that rejects it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli.analysing import asked
from optimizer.cli.options import KeepOptions, LibraryOptions, OutputOptions, ScenarioOptions, command


@command("compare")
def compare(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO")],
    options: ScenarioOptions,
    library: LibraryOptions,
    output: OutputOptions,
    keep: KeepOptions,
) -> None:
    """One row per platform: its best plan, or the limit that rejects it."""
    from optimizer import api
    from optimizer.report.console import comparison_screen

    question = asked(scenario, options, library, output, keep)
    question.deliver(api.compare(question.loaded, options=options.solve_options()), comparison_screen)
