"""The keys of a model configuration, read one by one: which counted, what was assumed, what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from optimizer.errors import Problem
from optimizer.io.document import Document
from optimizer.io.validate import validated
from optimizer.io.yaml_reader import read_yaml_file
from optimizer.schema.base import Frozen, Source

Value = int | bool | str
"""A value of a card."""


class Family(Frozen):
    """What the configuration files of one model family leave unsaid."""

    gated: bool
    """True: three feed-forward matrices."""
    tied_embedding: bool
    """Whether the tables are one when the file does not say."""
    biases: bool = False
    """True when all linear layers and norms have biases."""
    attention_bias: bool = False
    """Whether query, key and value have biases when the file does not say."""
    multi_head: bool = False
    """True: without a number of key-value heads there are as many as heads."""
    learned_positions: bool = False
    """True when positions are a table."""
    extra_positions: int = 0
    """Rows of that table beyond the longest sequence."""
    four_times: bool = False
    """True: without a feed-forward width it is 4 x the hidden size."""
    dense_width: str = "intermediate_size"
    """Key of the width of a dense layer."""
    expert_width: str = "moe_intermediate_size"
    """Key of the width of one expert."""
    shared_experts: int = 0
    """Shared experts that no key tells."""
    mixed_windows: bool = False
    """True when a window counts in part of the layers."""
    note: str | None = None
    """What the card cannot say."""


class Families(Frozen):
    """``models/configurations.yaml``."""

    families: dict[str, Family]
    """By ``model_type``."""
    without_effect: tuple[str, ...]
    """Keys without effect on the shape; ``*`` stands for anything."""
    sources: dict[str, Source]
    """Where this was read."""


@dataclass(frozen=True, slots=True)
class Part:
    """One key of the card: its value and the keys of the configuration, or the assumption, behind it."""

    key: str
    value: int | bool | Mapping[str, Value]
    origin: str


@dataclass(slots=True)
class ConfigurationKeys:
    """The keys of one configuration: what was read, assumed and found wrong."""

    document: Document
    keys: Mapping[str, object]
    family: Family
    used: set[str] = field(default_factory=set)
    origin: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def whole(self, *names: str) -> int | None:
        """Return a whole number above zero that may have several names; None when absent, null or zero."""
        self.used.update(names)
        given = {name: self.keys[name] for name in names if self.keys.get(name)}
        wrong = [name for name, value in given.items() if type(value) is not int]
        for name in wrong:
            self.wrong(name, f'"{given[name]}"', "Expected a whole number")
        if wrong or not given:
            return None
        first, *others = given
        for name in others:
            if given[name] != given[first]:
                self.wrong(name, f"{given[name]} against {first} {given[first]}", "Expected one value", "Remove one")
        self.origin.append(first)
        return int(str(given[first]))

    def needed(self, *names: str) -> int:
        """Return a whole number that must be there; 1 stands in when it is missing and told."""
        value = self.whole(*names)
        if value is None and not any(problem.location.endswith(names) for problem in self.problems):
            expected = f"Expected {' or '.join(names)}"
            self.problems.append(self.document.problem((), f"{names[0]} is missing", expected))
        return value or 1

    def flag(self, name: str, default: bool) -> bool:
        """Return true or false; the default of the family, told as an assumption, when absent."""
        self.used.add(name)
        value = self.keys.get(name)
        if value is None:
            self.assume(f"{name} is not given: {str(default).lower()}, as usual in this family")
            return default
        if not isinstance(value, bool):
            self.wrong(name, f'"{value}"', "Expected true or false")
        self.origin.append(name)
        return bool(value)

    def assume(self, text: str) -> None:
        """Keep what the file did not say."""
        self.assumptions.append(text)
        self.origin.append(f"assumed: {text}")

    def wrong(self, name: str, found: str, expected: str, fix: str = "") -> None:
        """Keep a problem of one key."""
        self.problems.append(self.document.problem((name,), found, expected, fix))

    def part(self, key: str, value: int | bool | Mapping[str, Value]) -> Part:
        """Return a key of the card with everything read since the last one as its origin."""
        origin = ", ".join(dict.fromkeys(self.origin))
        self.origin.clear()
        return Part(key, value, origin)

    def refuse_unknown(self, known: Families, ignore: Iterable[str]) -> None:
        """Tell every key that might change the shape and was not read; null, false and zero change nothing."""
        self.used.update(ignore)
        for key, value in self.keys.items():
            if key in self.used or not value or any(fnmatchcase(key, pattern) for pattern in known.without_effect):
                continue
            expected = "Expected only keys whose meaning is known"
            self.wrong(key, "a key that may change the model", expected, f"If it does not: --ignore {key}")


def families(roots: Iterable[Path]) -> Families:
    """Return the known families of the last folder that has ``models/configurations.yaml``; raise InputError if wrong."""
    files = [root / "models" / "configurations.yaml" for root in roots]
    return validated(Families, read_yaml_file(next(file for file in reversed(files) if file.is_file())))
