"""``alternatives``: plans nearly as good as the best."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli.options import LibraryOptions, OutputOptions, ScenarioOptions, command, share
from optimizer.cli.output import deliver
from optimizer.cli.solve import ANSWERED, INFEASIBLE


@command("alternatives")
def alternatives(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO")],
    options: ScenarioOptions,
    library: LibraryOptions,
    output: OutputOptions,
    within: Annotated[float, typer.Option(parser=share, metavar="SHARE", help="How much worse a plan may be.")] = 0.05,
) -> int:
    """Plans nearly as good as the best, spread; what each gives up and gains."""
    from optimizer import api
    from optimizer.analysis.alternatives import alternatives as found_near
    from optimizer.io.json_text import json_text, rounded
    from optimizer.report.console import conflict_screen
    from optimizer.report.explanations import alternatives_screen
    from optimizer.results import Conflict

    loaded = api.load(scenario, library.load(), options.sets or ())
    found = found_near(loaded, within, options=options.solve_options())
    result = rounded(found, loaded.scenario.currency)
    if isinstance(result, Conflict):
        deliver(output, json_text(result), lambda: conflict_screen(result, str(scenario)))
        return INFEASIBLE
    deliver(output, json_text(result), lambda: alternatives_screen(result))
    return ANSWERED
