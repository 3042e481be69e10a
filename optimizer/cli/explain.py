"""``explain``: why there is no plan and what would give one; or why something is not in the plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli.analysing import asked
from optimizer.cli.options import KeepOptions, LibraryOptions, OutputOptions, ScenarioOptions, command


@command("explain")
def explain(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO")],
    options: ScenarioOptions,
    library: LibraryOptions,
    output: OutputOptions,
    keep: KeepOptions,
    platform: Annotated[str | None, typer.Option(metavar="P", help="Why this platform is not in the plan.")] = None,
    vendor: Annotated[str | None, typer.Option(metavar="V", help="Why this vendor is not in the plan.")] = None,
    quote: Annotated[str | None, typer.Option(metavar="Q", help="Why this quote (or quote/offer) is not.")] = None,
    pin: Annotated[list[str] | None, typer.Option(metavar="LIMIT", help="A limit that is not negotiable.")] = None,
    worth: Annotated[
        bool, typer.Option("--worth", help="Also find what one more unit of each limit is worth.")
    ] = False,
) -> None:
    """Why infeasible, with the smallest changes; or why not a platform, vendor or quote; else why this plan."""
    from optimizer.analysis.explain import Question
    from optimizer.analysis.explain import explain as explained
    from optimizer.report.explanations import explanation_screen, infeasible_screen
    from optimizer.results import Conflict

    about = asked(scenario, options, library, output, keep)
    question = Question(platform, vendor, quote)
    pinned = pin or ()
    found = explained(about.loaded, options=options.solve_options(), question=question, pinned=pinned, worth=worth)
    if isinstance(found, Conflict):
        about.deliver(found, lambda shown: infeasible_screen(shown, pinned))
    else:
        about.deliver(found, explanation_screen)
