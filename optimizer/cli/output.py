"""Where an answer goes: JSON to a file or stdout, a screen for people, errors to stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from optimizer.cli.options import OutputOptions
from optimizer.errors import ClusterbuyError, InputError, Problem

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

STDOUT = "stdout"
"""Where an answer goes unless a file is named."""

_PIPED_WIDTH = 160
"""Columns when stdout is no terminal: wide enough that no table wraps."""


def deliver(output: OutputOptions, json_text: str, screen: Callable[[], RenderableType]) -> None:
    """Write the JSON where it was asked for, and show the screen unless told otherwise."""
    if output.json is not None:
        write_json(output.json, json_text)
    if not output.quiet and output.json != "-":
        show(screen())


def write_json(target: str, text: str) -> None:
    """Write text to a file, or to stdout for ``-``.

    Raises:
        InputError: The file cannot be written.
    """
    if target == "-":
        say(text if text.endswith("\n") else text + "\n")
        return
    write_file(Path(target), text)


def say(text: str) -> None:
    """Write to stdout, all of it now; a reader that has left is no error.

    Raises:
        InputError: it cannot be written, as on a full disk.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        mute()
    except OSError as error:
        mute()
        raise InputError([Problem(STDOUT, f"cannot be written ({error.strerror})", "")]) from None


def mute() -> None:
    """Let nothing more reach a stdout that takes no more, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_file(path: Path, text: str) -> None:
    """Write a UTF-8 text file; raise InputError when that is impossible."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file; raise InputError when that is impossible."""
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError([Problem(str(path), f"cannot be written ({error.strerror})", "")]) from None


def show(screen: RenderableType) -> None:
    """Print for people: colour only on a terminal; in a pipe wide lines and no trailing blanks."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    if console.is_terminal:
        _on_terminal(console, screen)
        return
    if "COLUMNS" not in os.environ:
        console.width = _PIPED_WIDTH
    with console.capture() as captured:
        console.print(screen, crop=False)
    say("\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n")


def _on_terminal(console: Console, screen: RenderableType) -> None:
    with console.capture() as captured:
        console.print(screen, crop=False)
    say(captured.get())


def progress(output: OutputOptions) -> Callable[[Decimal, Decimal | None], None] | None:
    """Return what tells incumbent, bound and gap on stderr while solving; None when nobody watches."""
    if output.quiet or not sys.stderr.isatty():
        return None

    def tell(incumbent: Decimal, bound: Decimal | None) -> None:
        if bound is None:  # found among a part of the runs
            print(f"best {incumbent:,.0f}", file=sys.stderr)
            return
        gap = abs(incumbent - bound) / max(abs(incumbent), Decimal(1))
        print(f"best {incumbent:,.0f}, bound {bound:,.0f}, gap {gap:.2%}", file=sys.stderr)

    return tell


def json_of(rows: object) -> str:
    """Return plain data as indented JSON."""
    return json.dumps(rows, indent=2, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def report_error(error: ClusterbuyError, arguments: Iterable[str]) -> int:
    """Tell an error on stderr, and as JSON where ``--json`` asked for it; return the exit code."""
    print(error, file=sys.stderr)
    target = json_target(arguments)
    if target == "-" and any(problem.location == STDOUT for problem in error.problems):
        return error.exit_code
    if target is not None:
        problems = [
            {"location": problem.location, "found": problem.found, "expected": problem.expected, "fix": problem.fix}
            for problem in error.problems
        ]
        try:
            write_json(target, json_of({"error": {"kind": error.kind, "problems": problems}}))
        except InputError as unwritable:
            print(unwritable, file=sys.stderr)
    return error.exit_code


def json_target(arguments: Iterable[str]) -> str | None:
    """Return the value of ``--json``, also of a command line that could not be parsed."""
    waiting = False
    for argument in arguments:
        if waiting:
            return argument
        if argument.startswith("--json="):
            return argument.removeprefix("--json=")
        waiting = argument == "--json"
    return None
