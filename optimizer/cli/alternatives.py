"""``alternatives``: plans nearly as good as the best."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli.analysing import asked
from optimizer.cli.options import KeepOptions, LibraryOptions, OutputOptions, ScenarioOptions, command, share
from optimizer.cli.output import deliver
from optimizer.cli.solve import ANSWERED, INFEASIBLE


@command("alternatives")
def alternatives(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO")],
    options: ScenarioOptions,
    library: LibraryOptions,
    output: OutputOptions,
    keep: KeepOptions,
    within: Annotated[float, typer.Option(parser=share, metavar="SHARE", help="How much worse a plan may be.")] = 0.05,
) -> int:
    """Plans nearly as good as the best, spread; what each gives up and gains."""
    from optimizer.analysis.alternatives import alternatives as found_near
    from optimizer.io.json_text import json_text, rounded
    from optimizer.report.console import conflict_screen
    from optimizer.report.explanations import alternatives_screen
    from optimizer.results import Conflict

    question = asked(scenario, options, library, output, keep)
    found = found_near(question.loaded, within, options=options.solve_options())
    if isinstance(found, Conflict):
        result = rounded(found, question.loaded.scenario.currency)
        deliver(output, json_text(result), lambda: conflict_screen(result, options.question(scenario)))
        return INFEASIBLE
    question.deliver(found, alternatives_screen)
    return ANSWERED
