"""``layouts`` and ``predict``: how a model runs on a number of accelerators."""

from __future__ import annotations

from typing import Annotated

import typer

from optimizer.cli.options import JobOptions, LayoutFlags, LibraryOptions, OutputOptions, command, share
from optimizer.cli.output import deliver


@command("layouts")
def layouts(
    job: JobOptions,
    library: LibraryOptions,
    output: OutputOptions,
    top: Annotated[int, typer.Option("--top", min=1, metavar="K", help="Most rows.")] = 10,
    near: Annotated[
        float | None, typer.Option("--near", parser=share, metavar="SHARE", help="Only so much slower than the best.")
    ] = None,
) -> None:
    """Rank the layouts of a model on a number of accelerators, fastest first."""
    from optimizer import api
    from optimizer.io.json_text import json_text
    from optimizer.report.layouts import layouts_screen

    ranking = api.layouts(
        architecture=job.architecture,
        platform=job.platform,
        accelerators=job.accelerators,
        sequence_length=job.sequence_length,
        global_batch=job.global_batch,
        precision=job.precision,
        top=top,
        near=near,
        library=library.load(),
    )
    deliver(output, json_text(ranking), lambda: layouts_screen(ranking))


@command("predict")
def predict(job: JobOptions, flags: LayoutFlags, library: LibraryOptions, output: OutputOptions) -> None:
    """Memory and time of one layout, by component."""
    from optimizer import api
    from optimizer.io.json_text import json_text
    from optimizer.report.layouts import layout_screen

    row = api.predict(
        architecture=job.architecture,
        platform=job.platform,
        layout=flags.layout(job),
        accelerators=job.accelerators,
        sequence_length=job.sequence_length,
        library=library.load(),
    )
    deliver(output, json_text(row), lambda: layout_screen(row))
