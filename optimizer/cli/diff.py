"""``diff``: what changed between two plans."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli.options import OutputOptions, command
from optimizer.cli.output import deliver


@command("diff")
def diff(
    a: Annotated[Path, typer.Argument(metavar="A.json")],
    b: Annotated[Path, typer.Argument(metavar="B.json")],
    output: OutputOptions,
) -> None:
    """What changed between two plans: inputs, decisions, and the cost line by line, adding up."""
    from optimizer.analysis.diff import diff as compared
    from optimizer.io.json_text import json_text
    from optimizer.report.explanations import difference_screen

    result = compared(a, b)
    deliver(output, json_text(result), lambda: difference_screen(result))
