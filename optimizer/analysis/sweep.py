"""Many independent solves: in this process or a pool, resumable, the same whatever the order and the worker count."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optimizer.errors import InputError, Problem

POOLS = 3
"""Pools tried before what is left counts as failed: a process may be killed, a task that kills it never ends well."""

Row = dict[str, Any]
"""Plain data, as JSON has it."""

Tell = Callable[[int, int, float], None]
"""Called with (done, all, seconds since the start) after every task."""


@dataclass(frozen=True)
class Outcome:
    """What a sweep found.

    Attributes:
        rows: Key of a task -> its row, in the order of the tasks; without those that failed.
        failed: Key of a task -> what went wrong.
    """

    rows: Mapping[str, Row]
    failed: Mapping[str, str]


def sweep(
    keys: Sequence[str],
    work: Callable[[str], Row],
    *,
    jobs: int = 1,
    store: Path | None = None,
    signature: str = "",
    tell: Tell | None = None,
) -> Outcome:
    """Return a row per key; a failure of one is kept beside the others.

    Args:
        keys: Names of the tasks, all different; also what a resumed sweep recognises them by.
        work: Computes one row; must pickle when ``jobs`` is above 1, and depend on nothing but its key.
        jobs: Processes.
        store: Results file (JSON lines): rows are added as they come, and those in it are not computed again.
        signature: Hash of everything the rows depend on; a file of another one is refused.
        tell: Told about progress.

    Raises:
        InputError: the results file belongs to another question.
    """
    started = time.monotonic()
    known = _read(store, signature) if store else {}
    missing = [key for key in keys if key not in known]
    for key, row in _computed(missing, work, jobs):
        known[key] = row
        if store:
            _append(store, {"key": key, "row": row})
        if tell:
            tell(sum(key in known for key in keys), len(keys), time.monotonic() - started)
    rows = {key: known[key] for key in keys}
    good = {key: row for key, row in rows.items() if "failure" not in row}
    return Outcome(good, {key: str(row["failure"]) for key, row in rows.items() if "failure" in row})


def _computed(keys: Sequence[str], work: Callable[[str], Row], jobs: int) -> Iterator[tuple[str, Row]]:
    """Yield rows as they are done; what a process that died had not finished is given to a new pool."""
    if jobs <= 1 or len(keys) <= 1:
        yield from ((key, _guarded(work, key)) for key in keys)
        return
    left = dict.fromkeys(keys)
    for _ in range(POOLS):
        try:
            for key, row in _pooled(list(left), work, jobs):
                del left[key]
                yield key, row
        except BrokenProcessPool:
            continue
        return
    yield from ((key, {"failure": "the process computing it died each time"}) for key in left)


def _pooled(keys: Sequence[str], work: Callable[[str], Row], jobs: int) -> Iterator[tuple[str, Row]]:
    """Yield rows from a pool; interpreters start afresh, so that no solver thread is inherited."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(keys)), context, _install, (work,)) as pool:
        running: dict[Future[Row], str] = {pool.submit(_installed, key): key for key in keys}
        try:
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                yield from ((running.pop(future), future.result()) for future in done)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


_own: list[Callable[[str], Row]] = []
"""What this process computes rows with, sent once: it holds the whole scenario, and what it computed so far."""


def _install(work: Callable[[str], Row]) -> None:
    _own[:] = [work]


def _installed(key: str) -> Row:
    return _guarded(_own[0], key)


def _guarded(work: Callable[[str], Row], key: str) -> Row:
    """Return a row, or what went wrong: one bad sample must not lose a thousand good ones."""
    try:
        return work(key)
    except Exception as error:  # noqa: BLE001 - counted and listed, never hidden
        return {"failure": f"{type(error).__name__}: {error}"}


def _read(store: Path, signature: str) -> dict[str, Row]:
    """Return the rows of a results file; a last line cut short by a kill is left out."""
    if not store.exists():
        _append(store, {"signature": signature})
        return {}
    lines = [line for text in store.read_text(encoding="utf-8").splitlines() if (line := _line(text)) is not None]
    if not lines or lines[0].get("signature") != signature:
        expected = "Expected a file of this scenario, these options and this version; give another name, or delete it"
        raise InputError([Problem(str(store), "results of another question", expected)])
    _rewrite(store, lines)
    return {line["key"]: line["row"] for line in lines[1:] if "failure" not in line["row"]}


def _line(text: str) -> Row | None:
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _rewrite(store: Path, lines: Sequence[Row]) -> None:
    """Write whole lines only, so that what is added next starts on a line of its own."""
    store.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _append(store: Path, line: Row) -> None:
    with store.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
