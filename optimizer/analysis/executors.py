"""Who computes the rows of a sweep: this process, or a pool of processes on this machine.

All of them give the same rows; ``optimizer.analysis.cluster`` adds machines.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Protocol

from optimizer.errors import InputError, Problem

POOLS = 3
"""Pools tried before what is left counts as failed: a process may be killed, a task that kills it never ends well."""

DIED = "the process computing it died each time"
"""Failure of a task that took its process with it."""

Row = dict[str, Any]
"""Plain data, as JSON has it."""

Work = Callable[[str], Row]
"""Computes the row of a key."""


class Executor(Protocol):
    """Computes rows, in whatever order they are done."""

    def rows(self, keys: Sequence[str], work: Work) -> Iterator[tuple[str, Row]]:
        """Yield every key with its row, or with what went wrong under ``failure``."""
        ...


def guarded(work: Work, key: str) -> Row:
    """Return a row, or what went wrong: one bad sample must not lose a thousand good ones."""
    try:
        return work(key)
    except Exception as error:  # noqa: BLE001 - counted and listed, never hidden
        return {"failure": f"{type(error).__name__}: {error}"}


@dataclass(frozen=True)
class Here:
    """This process, one row after the other."""

    def rows(self, keys: Sequence[str], work: Work) -> Iterator[tuple[str, Row]]:
        """Yield every key with its row."""
        return ((key, guarded(work, key)) for key in keys)


@dataclass(frozen=True)
class Processes:
    """Processes on this machine.

    Attributes:
        count: How many, at least 1.
    """

    count: int

    def rows(self, keys: Sequence[str], work: Work) -> Iterator[tuple[str, Row]]:
        """Yield rows as they are done; what a process that died had not finished is given to a new pool."""
        left = dict.fromkeys(keys)
        for _ in range(POOLS if left else 0):
            try:
                for key, row in _pooled(list(left), work, self.count):
                    del left[key]
                    yield key, row
            except BrokenProcessPool:
                continue
            return
        yield from ((key, {"failure": DIED}) for key in left)


@dataclass(frozen=True)
class Growing:
    """This process, until what is left would take long: then a pool of processes.

    Attributes:
        count: Processes of the pool.
        patience_s: Seconds that may be left for this process alone; a pool costs seconds to start.
    """

    count: int
    patience_s: float = 20.0

    def rows(self, keys: Sequence[str], work: Work) -> Iterator[tuple[str, Row]]:
        """Yield every key with its row."""
        started = time.monotonic()
        for done, (key, row) in enumerate(Here().rows(keys, work), start=1):
            yield key, row
            left_s = (time.monotonic() - started) / done * (len(keys) - done)
            if self.count > 1 and left_s > self.patience_s:
                yield from Processes(self.count).rows(keys[done:], work)
                return


MOST_JOBS = 8
"""Processes started unasked: each holds the scenario and an interpreter."""


def local(jobs: int | None) -> Executor:
    """Return the executor of a number of processes; one stays here, None takes what the machine has when it pays."""
    if jobs is None:
        return Growing(min(MOST_JOBS, os.cpu_count() or 1))
    return Here() if jobs <= 1 else Processes(jobs)


def remote(address: str) -> Executor:
    """Return the executor of the Dask cluster at an address.

    Raises:
        InputError: the extra is not installed, or it is no address.
    """
    try:
        from optimizer.analysis.cluster import cluster  # noqa: PLC0415 - Dask is an extra, and slow to import
    except ImportError as error:
        fix = "pip install 'clusterbuy[dask]', or leave --dask out to use this machine"
        raise InputError([Problem(f"--dask {address}", f"Dask is not installed ({error})", "", fix)]) from None
    return cluster(address)


def _pooled(keys: Sequence[str], work: Work, count: int) -> Iterator[tuple[str, Row]]:
    """Yield rows from a pool; interpreters start afresh, so that no solver thread is inherited."""
    context = multiprocessing.get_context("spawn")
    others = {child.pid for child in multiprocessing.active_children()}
    pool = ProcessPoolExecutor(min(count, len(keys)), context, _install, (work,))
    try:
        running: dict[Future[Row], str] = {pool.submit(_installed, key): key for key in keys}
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            yield from ((running.pop(future), future.result()) for future in done)
        pool.shutdown()
    finally:  # interrupted or broken: nobody waits for the rows under way
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            if child.pid not in others:
                child.terminate()


_own: list[Work] = []
"""What this process computes rows with, sent once: it holds the whole scenario, and what it computed so far."""


def _install(work: Work) -> None:
    """Make this process ready: it leaves Ctrl-C to its parent, and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _own[:] = [work]


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _installed(key: str) -> Row:
    return guarded(_own[0], key)
