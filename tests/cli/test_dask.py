"""``--dask``: a real scheduler and real workers on loopback, some of which die."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from distributed.comm import CommClosedError

from optimizer.analysis.cluster import DaskCluster
from optimizer.analysis.executors import Here, remote
from optimizer.analysis.risk import Risk, risk
from optimizer.analysis.sweep import Progress, Sweeping
from optimizer.api import SolveOptions
from optimizer.cli.main import main
from optimizer.errors import InputError
from optimizer.io.loaded import Loaded
from tests.unit.analysis.small import small

ROOT = Path(__file__).resolve().parents[2]
QUIET = {
    **os.environ,
    "PYTHONPATH": str(ROOT),
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "3",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
}
PATIENCE_S = 60
SAMPLES = 400


@contextmanager
def started(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    module, *arguments = command
    process = subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{module}", *arguments, "--host", "127.0.0.1", "--no-dashboard"],
        env=QUIET, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes], list[subprocess.Popen[bytes]]]]:
    """Yield the address of a scheduler, the scheduler, and two workers of one thread."""
    file = folder / "scheduler.json"
    with ExitStack() as stack:
        scheduler = stack.enter_context(started("dask_scheduler", "--port", "0", "--scheduler-file", str(file)))
        where = ["--scheduler-file", str(file), "--nthreads", "1", "--no-nanny", "--local-directory", str(folder)]
        workers = [stack.enter_context(started("dask_worker", *where)) for _ in range(2)]
        ends = time.monotonic() + PATIENCE_S
        while not (file.exists() and file.read_text(encoding="utf-8").endswith("}")):
            assert scheduler.poll() is None
            assert time.monotonic() < ends
            time.sleep(0.05)
        yield json.loads(file.read_text(encoding="utf-8"))["address"], scheduler, workers


def played(loaded: Loaded, how: Sweeping) -> Risk:
    found = risk(loaded, SAMPLES, options=SolveOptions(workers=1), how=how)
    assert found is not None
    return found.model_copy(update={"wall_s": 0})


def rows(store: Path) -> list[str]:
    """Return the lines of a results file in a fixed order."""
    return sorted(store.read_text(encoding="utf-8").splitlines())


def test_a_cluster_gives_the_same_bytes_whoever_dies(tmp_path: Path) -> None:
    """Two workers; then one is killed half-way; then the scheduler, after which this process goes on."""
    loaded = small(tmp_path)
    whole = played(loaded, Sweeping(Here(), tmp_path / "here"))
    with cluster(tmp_path) as (address, scheduler, (first, _)):
        assert played(loaded, Sweeping(remote(address), tmp_path / "both")) == whole
        assert rows(tmp_path / "both") == rows(tmp_path / "here")

        def kill_worker(now: Progress) -> None:
            if now.computed == 2:
                first.kill()

        assert played(loaded, Sweeping(remote(address), tmp_path / "one", kill_worker)) == whole
        assert rows(tmp_path / "one") == rows(tmp_path / "here")
        assert first.wait(PATIENCE_S) != 0

        def kill_scheduler(now: Progress) -> None:
            if now.computed == 2:
                scheduler.kill()

        with pytest.raises(InputError, match="the scheduler is gone"):
            played(loaded, Sweeping(remote(address), tmp_path / "none", kill_scheduler))
    assert 2 <= len(rows(tmp_path / "none")) - 1 < len(rows(tmp_path / "here")) - 1
    assert played(loaded, Sweeping(Here(), tmp_path / "none")) == whole
    assert rows(tmp_path / "none") == rows(tmp_path / "here")


class Unreachable:
    """A result that is there and cannot be fetched, as when the scheduler dies in between."""

    status = "finished"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def result(self) -> None:
        raise self.error


@pytest.mark.parametrize("error", [CommClosedError("reset"), asyncio.CancelledError(), CancelledError()], ids=repr)
def test_a_result_that_is_lost_with_the_scheduler_says_so(error: BaseException) -> None:
    with pytest.raises(InputError, match="the scheduler is gone"):
        DaskCluster("tcp://127.0.0.1:1")._row(Unreachable(error))


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("tcp://127.0.0.1:1", "no scheduler answers"),
        ("127.0.0.1", "no address of a scheduler"),
        ("tcp://127.0.0.1:99999", "no scheduler answers"),
    ],
)
def test_an_address_without_a_scheduler_is_bad_input(
    tmp_path: Path, address: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    small(tmp_path)
    assert main(["risk", str(tmp_path / "small.yaml"), "--samples", "5", "--dask", address]) == 2
    assert words in capsys.readouterr().err


def test_without_the_extra_dask_is_refused_with_what_to_install(tmp_path: Path) -> None:
    small(tmp_path)
    code = "import sys; sys.modules['distributed'] = None; from optimizer.cli.main import main; sys.exit(main(sys.argv[1:]))"
    command = ["sensitivity", str(tmp_path / "small.yaml"), "--dask", "tcp://127.0.0.1:8786"]
    found = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "pip install 'clusterbuy[dask]'" in found.stderr
