"""Every error a user can meet, and the exit code it carries.

    ClusterbuyError
    +-- InputError        exit 2   one or more Problems, all of a file at once
    +-- InternalError     exit 1   two proofs disagree, or a plan fails its check

Infeasible and undecided scenarios are answers, not errors: plans with that status.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input.

    Attributes:
        location: File and line, sheet and cell, or option name.
        found: What is there.
        expected: What should be there.
        fix: What to do about it; may be empty.
    """

    location: str
    found: str
    expected: str
    fix: str = ""

    def __str__(self) -> str:
        """Return ``location: found. expected. fix`` as one line."""
        parts = [
            part if part.endswith(("?", ".")) else f"{part}." for part in (self.found, self.expected, self.fix) if part
        ]
        return f"{self.location}: {' '.join(parts)}"


class ClusterbuyError(Exception):
    """Base of all errors raised on purpose; ``exit_code`` is the process exit code."""

    exit_code = 1
    kind = "internal"

    def __init__(self, problems: Iterable[Problem] | str) -> None:
        """Take the problems, or one sentence."""
        if isinstance(problems, str):
            problems = (Problem("clusterbuy", problems, ""),)
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class InputError(ClusterbuyError):
    """Bad input or usage (exit 2)."""

    exit_code = 2
    kind = "input"


class InternalError(ClusterbuyError):
    """The program contradicts itself (exit 1): a bug, never an answer."""

    exit_code = 1
    kind = "internal"


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return ``Did you mean "x"?`` for the closest known name, or an empty string."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f'Did you mean "{close[0]}"?' if close else ""
