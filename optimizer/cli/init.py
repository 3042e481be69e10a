"""``init``: a starter folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli.options import OutputOptions, command
from optimizer.cli.output import deliver, json_of, write_file
from optimizer.errors import InputError, Problem


@command("init")
def init(folder: Annotated[Path, typer.Argument(metavar="DIR")], output: OutputOptions) -> None:
    """Write a small commented scenario and a quote file to start from."""
    from optimizer.io.shipped import shipped

    source = shipped("scenarios") / "starter"
    files = {file: folder / file.relative_to(source) for file in sorted(source.rglob("*.yaml"))}
    taken = [
        Problem(str(target), "it exists already", "", "Choose another folder")
        for target in files.values()
        if target.exists()
    ]
    if taken:
        raise InputError(taken)
    for file, target in files.items():
        _make_folder(target.parent)
        write_file(target, file.read_text(encoding="utf-8"))
    written = [str(target) for target in files.values()]
    deliver(output, json_of({"files": written}), lambda: _screen(written, folder))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError([Problem(str(folder), f"cannot be made ({error.strerror})", "")]) from None


def _screen(written: list[str], folder: Path) -> str:
    lines = "\n".join(f"wrote {name}" for name in written)
    return f"{lines}\nnext: clusterbuy solve {folder / 'scenario.yaml'}"
