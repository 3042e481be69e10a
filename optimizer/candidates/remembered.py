"""Modes as text, and the text they depend on: what a store keeps between runs of the program."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
from pydantic import TypeAdapter, ValidationError

from optimizer.candidates.conditions import Conditions
from optimizer.candidates.result import ModesResult
from optimizer.results import Candidate, Rejection
from optimizer.schema.architecture import Architecture
from optimizer.schema.platform import Platform
from optimizer.schema.scenario import Workload
from optimizer.version import __version__


class Store(Protocol):
    """Keeps texts by key; may forget at any time, never gives another text than was put."""

    def get(self, key: str) -> str | None:
        """Return the text of a key, or None."""
        ...

    def put(self, key: str, text: str) -> None:
        """Keep a text."""
        ...


@dataclass(frozen=True, slots=True)
class _Record:
    """A ``ModesResult`` as it is stored."""

    candidates: tuple[Candidate, ...]
    rejections: tuple[Rejection, ...]
    layouts_evaluated: int


_RECORD: TypeAdapter[_Record] = TypeAdapter(_Record)


@cache
def code_sha256() -> str:
    """Return a checksum of the code that computes modes: a changed formula must never meet an old result."""
    here = Path(__file__).parent
    files = sorted([*here.glob("*.py"), *(here.parent / "engine").glob("*.py")])
    return hashlib.sha256(b"\0".join(file.name.encode() + b"\0" + file.read_bytes() for file in files)).hexdigest()


def key_of(
    name: str,
    workload: Workload,
    architecture: Architecture,
    platform: Platform,
    conditions: Conditions,
    node_counts: Sequence[int],
) -> str:
    """Return everything the modes of a workload on a platform depend on, as one text."""
    software = conditions.software.get(str(platform.efficiency.get("software")))
    parts = (
        __version__,
        code_sha256(),
        np.__version__,
        name,
        workload.model_dump_json(),
        architecture.model_dump_json(),
        platform.model_dump_json(),
        software.model_dump_json() if software else ",".join(sorted(conditions.software)),
        conditions.bands.model_dump_json(),
        conditions.reliability.model_dump_json(),
        conditions.policy.model_dump_json(),
        repr(conditions.grid),
        repr(list(node_counts)),
    )
    return json.dumps(parts)


def remembered(store: Store | None, key: Callable[[], str], compute: Callable[[], ModesResult]) -> ModesResult:
    """Return stored modes when there are some that can be read, else compute and store them."""
    if store is None:
        return compute()
    name = key()
    text = store.get(name)
    known = None if text is None else result_of(text)
    if known is None:
        known = compute()
        store.put(name, text_of(known))
    return known


def text_of(result: ModesResult) -> str:
    """Return modes as JSON; numbers are read again as the same."""
    record = _Record(result.candidates, result.rejections, result.layouts_evaluated)
    return _RECORD.dump_json(record).decode()


def result_of(text: str) -> ModesResult | None:
    """Return modes from their JSON, None when it is not theirs."""
    try:
        record = _RECORD.validate_json(text)
    except ValidationError:
        return None
    return ModesResult(record.candidates, record.rejections, record.layouts_evaluated)
