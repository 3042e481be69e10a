"""What an import has to say: warnings, open questions and what it left out; and the answer that carries them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from optimizer.results import Result
from optimizer.schema.quote_record import SheetWarning


class Question(Result):
    """Something only a person can decide."""

    to: Literal["buyer", "vendor"]
    """``buyer``: how to read the file (an open one makes the exit code 2); ``vendor``: what the quote does not say."""
    code: str
    """What kind it is."""
    location: str
    """Cell, or sheet and row."""
    question: str
    """What is asked."""
    options: tuple[str, ...] = ()
    """Possible answers."""
    key: str | None = None
    """Where the answer goes in the vendor's mapping, e.g. ``currency`` or ``cells.B19``."""


class Ignored(Result):
    """Something that was read and left out."""

    location: str
    """Where it stands."""
    text: str
    """What it says, cut."""
    why: str
    """Why it is left out."""


@dataclass
class Notes:
    """Collects what one quote, or one file, has to say."""

    warnings: list[SheetWarning] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    ignored: list[Ignored] = field(default_factory=list)
    _once: set[tuple[str, str]] = field(default_factory=set)
    _said: set[SheetWarning] = field(default_factory=set)

    def warn(self, code: str, location: str, message: str) -> None:
        """Note something that was assumed or looks wrong."""
        warning = SheetWarning(code=code, location=location, message=message)
        if warning not in self._said:
            self._said.add(warning)
            self.warnings.append(warning)

    def once(self, code: str, location: str, message: str) -> None:
        """Note something that would be said again for every line; the first place stands for all."""
        if (code, "") not in self._once:
            self._once.add((code, ""))
            self.warn(code, location, message)

    def ask(self, code: str, location: str, question: str, key: str, options: Iterable[str] = ()) -> None:
        """Note a question about how to read the file; each key is asked once."""
        if ("?", key) not in self._once:
            self._once.add(("?", key))
            self.questions.append(
                Question(to="buyer", code=code, location=location, question=question, key=key, options=tuple(options))
            )

    def ask_vendor(self, code: str, location: str, question: str) -> None:
        """Note what the vendor has to be asked."""
        if (code, location) not in self._once:
            self._once.add((code, location))
            self.questions.append(Question(to="vendor", code=code, location=location, question=question))

    def leave(self, location: str, text: str, why: str) -> None:
        """Note something left out."""
        self.ignored.append(Ignored(location=location, text=text[:80], why=why))

    def add(self, other: Notes) -> None:
        """Take over the notes of another collector."""
        self.warnings += other.warnings
        self.questions += other.questions
        self.ignored += other.ignored
