"""Answers to open questions -> a vendor's mapping, and a blank one that lists the questions."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as Map
from typing import Any

from optimizer.errors import InputError, Problem
from optimizer.io.importing.mapping import Mapping
from optimizer.io.importing.notes import Question
from optimizer.io.importing.yaml_text import word

_MAPS = ("cells", "platforms", "basis", "columns")


def with_answers(mapping: Mapping, answers: Map[str, str]) -> Mapping:
    """Return a mapping with answers put where their keys say.

    Raises:
        InputError: An answer its key cannot hold.
    """
    data: dict[str, Any] = mapping.model_dump(exclude_none=True)
    for key, answer in answers.items():
        first, _, rest = key.partition(".")
        if first in _MAPS:
            data.setdefault(first, {})[rest] = answer
        else:
            data[first] = _value(first, answer)
    try:
        return Mapping.model_validate(data)
    except ValueError as error:
        raise InputError([Problem("answers", str(error).splitlines()[0], "")]) from None


def _value(key: str, answer: str) -> object:
    """Return an answer in the form of its key; a rate is a tax that prices include."""
    if key == "tax":
        return {"included": True, "rate": float(answer.rstrip("% ")) / (100 if "%" in answer else 1)}
    return answer.upper() if key == "currency" else answer


def blank_mapping(vendor: str, questions: Iterable[Question]) -> str:
    """Return a mapping file that names the vendor and lists the open questions as comments to fill in."""
    lines = ["# How this vendor's sheets are read. Take the # off a line, write the answer, import again."]
    lines.append(f"vendor: {word(vendor)}")
    keyed = [question for question in questions if question.key]
    for key in dict.fromkeys((question.key or "").partition(".")[0] for question in keyed):
        some = [question for question in keyed if (question.key or "").partition(".")[0] == key]
        lines += [f"# {key}:"] if key in _MAPS else []
        lines += [line for question in some for line in _asked(question, key)]
    return "\n".join(lines) + "\n"


def _asked(question: Question, key: str) -> list[str]:
    choices = f"  ({' | '.join(question.options)})" if question.options else ""
    said = f"{question.location}: {question.question}{choices}".replace("\n", " ")
    entry = f"#   {word((question.key or '').partition('.')[2])}: " if key in _MAPS else f"# {key}: "
    return [f"  # {said}", entry] if key in _MAPS else [f"# {said}", entry]
