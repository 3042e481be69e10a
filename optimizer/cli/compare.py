"""``compare``: the best plan of each platform, or the limit that rejects it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli.options import LibraryOptions, OutputOptions, ScenarioOptions, command
from optimizer.cli.output import deliver


@command("compare")
def compare(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO")],
    options: ScenarioOptions,
    library: LibraryOptions,
    output: OutputOptions,
) -> None:
    """One row per platform: its best plan, or the limit that rejects it."""
    from optimizer import api
    from optimizer.io.json_text import json_text, rounded
    from optimizer.report.console import comparison_screen

    loaded = api.load(scenario, library.load(), options.sets or ())
    rows = rounded(api.compare(loaded, options=options.solve_options()), loaded.scenario.currency)
    deliver(output, json_text(rows), lambda: comparison_screen(rows))
