"""``breakeven``: at what price the decision changes."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli.analysing import asked
from optimizer.cli.options import KeepOptions, LibraryOptions, OutputOptions, ScenarioOptions, command, factor


@command("breakeven")
def breakeven(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO")],
    options: ScenarioOptions,
    library: LibraryOptions,
    output: OutputOptions,
    keep: KeepOptions,
    quote: Annotated[str | None, typer.Option(metavar="Q", help="Scale every price of this quote.")] = None,
    platform: Annotated[str | None, typer.Option(metavar="P", help="Scale all offers of this platform.")] = None,
    after_run: Annotated[
        bool, typer.Option("--after-run", help="Scale the value of an accelerator-hour after the run.")
    ] = False,
    low: Annotated[
        Decimal, typer.Option("--from", parser=factor, metavar="FACTOR", help="Least multiple of today's price.")
    ] = Decimal("0.25"),
    high: Annotated[
        Decimal, typer.Option("--to", parser=factor, metavar="FACTOR", help="Largest multiple of today's price.")
    ] = Decimal(4),
) -> int:
    """The price interval in which the decision holds, and every price at which it switches."""
    from optimizer.analysis.breakeven import breakeven as analysed
    from optimizer.report.analyses import breakeven_screen

    question = asked(scenario, options, library, output, keep)
    found = analysed(
        question.loaded,
        quote=quote,
        platform=platform,
        after_run=after_run,
        factors=(low, high),
        options=options.solve_options(),
    )
    return question.answered(found, found is None or found.proven, breakeven_screen)
