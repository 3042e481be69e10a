"""Rows of a sweep computed by the workers of a Dask cluster (optional extra ``dask``).

What is to be computed goes to every worker once, also to those that join later, as a worker plugin; tasks are keys only.
A task whose worker is lost is given to another one; the third worker lost over the same task makes it a failure.
"""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from distributed import Client, Future, Worker, WorkerPlugin, as_completed

from optimizer.analysis.executors import DIED, Row, Work, guarded
from optimizer.errors import InputError, Problem
from optimizer.version import __version__

CONNECT_S = 5.0
"""Seconds to wait for the scheduler, and for its first worker."""

OPTION = "--dask"

_works: dict[str, Work] = {}
"""On a worker: sweep -> what it computes rows with."""

_one_at_a_time = threading.Lock()
"""Threads of a worker share what is computed once, so they take turns; workers of one thread lose nothing."""


class Installation(WorkerPlugin):
    """Worker plugin that leaves on every worker what a sweep computes with.

    Attributes:
        name: Name of the sweep.
        work: Computes a row.
        version: Version of this package where the sweep was asked for.
    """

    def __init__(self, name: str, work: Work) -> None:
        self.name, self.work, self.version = name, work, __version__

    def setup(self, worker: Worker) -> None:  # noqa: ARG002 - the base class has it
        """Take the work in.

        Raises:
            RuntimeError: the worker has another version of this package.
        """
        if self.version != __version__:
            raise RuntimeError(f"the worker has clusterbuy {__version__}, the sweep needs {self.version}")
        _works[self.name] = self.work

    def teardown(self, worker: Worker) -> None:  # noqa: ARG002 - the base class has it
        """Forget it."""
        _works.pop(self.name, None)


def _computed(name: str, key: str) -> Row:
    """Return a row; runs on a worker."""
    with _one_at_a_time:
        return guarded(_works[name], key)


@dataclass(frozen=True)
class DaskCluster:
    """The workers of a Dask scheduler.

    Attributes:
        address: ``tcp://HOST:PORT`` of the scheduler.
    """

    address: str

    def rows(self, keys: Sequence[str], work: Work) -> Iterator[tuple[str, Row]]:
        """Yield rows as they are done.

        Raises:
            InputError: the extra is not installed, nobody answers at the address, its workers have another version, or
                the scheduler is lost.
        """
        if not keys:
            return
        with _connected(self.address) as client:
            name = uuid.uuid4().hex
            self._install(client, Installation(name, work))
            try:
                yield from self._gathered(client, name, keys)
            finally:
                _quietly_forget(client, name)

    def _install(self, client: Client, plugin: Installation) -> None:
        try:
            client.register_plugin(plugin, name=plugin.name)
        except Exception as error:
            found = f"the work cannot be set up on its workers ({type(error).__name__}: {error})"
            fix = f"Start the workers in an environment with clusterbuy {__version__}"
            raise InputError([Problem(f"{OPTION} {self.address}", found, "", fix)]) from error

    def _gathered(self, client: Client, name: str, keys: Sequence[str]) -> Iterator[tuple[str, Row]]:
        """Yield rows as they are done; a future that lost too many workers is a failure, a cancelled one ends it all."""
        key_of = {client.submit(_computed, name, key, pure=False): key for key in keys}
        try:
            for future in as_completed(key_of, loop=client.loop):
                yield key_of[future], self._row(future)
        finally:
            client.cancel(list(key_of))

    def _row(self, future: Future[Row]) -> Row:
        """Return the row of a future that ended; it is fetched from a worker, by way of a scheduler that may be gone by then."""
        if future.status not in ("finished", "cancelled"):
            return {"failure": DIED}
        try:
            return dict(future.result())
        except (OSError, asyncio.CancelledError, CancelledError):
            fix = "What is done stays in the file of --results; name it again to go on"
            raise InputError([Problem(f"{OPTION} {self.address}", "the scheduler is gone", "", fix)]) from None


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    try:
        client = Client(address, timeout=CONNECT_S, set_as_default=False)
    except OSError as error:
        raise _unanswered(address, error) from None
    try:
        _wait_for_workers(client, address)
        yield client
    finally:
        client.close(timeout=2)


def _wait_for_workers(client: Client, address: str) -> None:
    """Wait for a first worker: without one a sweep would stand still and say nothing."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_S)
    except TimeoutError:
        fix = f"Start one with: dask worker {address} --nthreads 1"
        raise InputError([Problem(f"{OPTION} {address}", "the scheduler has no worker", "", fix)]) from None


def _quietly_forget(client: Client, name: str) -> None:
    """Take the work off the workers; a cluster that is gone has forgotten it already."""
    with suppress(Exception):
        client.unregister_worker_plugin(name)


def cluster(address: str) -> DaskCluster:
    """Return the executor of an address at which something listens.

    Raises:
        InputError: not ``tcp://HOST:PORT`` or ``tls://HOST:PORT``, or nobody answers.
    """
    parts = re.fullmatch(r"(?:tcp|tls)://\[?([^/\s\]]+)\]?:(\d{1,5})", address)
    if parts is None:
        raise InputError([Problem(f"{OPTION} {address}", "no address of a scheduler", "Expected tcp://HOST:PORT")])
    try:
        socket.create_connection((parts[1], int(parts[2])), CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise _unanswered(address, error) from None
    return DaskCluster(address)


def _unanswered(address: str, error: Exception) -> InputError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    fix = "Start one with: dask scheduler, then: dask worker ADDRESS --nthreads 1"
    return InputError([Problem(f"{OPTION} {address}", f"no scheduler answers ({reason})", "", fix)])
