"""``verify``: recompute a plan without the solver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli.options import LibraryOptions, OutputOptions, command
from optimizer.cli.output import deliver

BREACH = 6


@command("verify")
def verify(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.json")], library: LibraryOptions, output: OutputOptions
) -> int:
    """Recompute every limit and cost of a plan; tell which inputs changed since."""
    from optimizer import api
    from optimizer.io.json_text import json_text
    from optimizer.report.console import verification_screen

    result = api.verify(plan, library=library.load())
    deliver(output, json_text(result), lambda: verification_screen(result))
    return 0 if result.ok else BREACH
