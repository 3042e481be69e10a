"""The command as a process: start-up time, closed pipes, interruption."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "optimizer.cli"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def test_help_starts_fast() -> None:
    def processor_s() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*COMMAND, "solve", "--help"], env=ENVIRONMENT, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(processor_s() for _ in range(3)) < 0.5  # processor time: other processes may hold the machine


def test_heavy_libraries_wait_for_the_command_that_needs_them() -> None:
    code = "import sys, optimizer.cli.main; print([n for n in ('numpy', 'pandas', 'ortools', 'pydantic', 'yaml') if n in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, check=True, capture_output=True, text=True)
    assert result.stdout.strip() == "[]"


def test_a_reader_that_leaves_is_no_error() -> None:
    with subprocess.Popen(
        [*COMMAND, "catalog", "--json", "-"], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) in (0, 120)


@pytest.mark.parametrize("arguments", [["catalog", "--json", "-"], ["catalog"], ["--version"]])
def test_a_full_disk_is_said_once(arguments: list[str]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        result = subprocess.run(
            [*COMMAND, *arguments], env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == 2
    assert result.stderr == "stdout: cannot be written (No space left on device).\n"


def test_a_screen_whose_reader_leaves_is_quiet() -> None:
    command = " ".join([*COMMAND, "catalog", "quotes"])
    result = subprocess.run(
        ["/bin/sh", "-c", f"({command}; echo $? >&2) | true"],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stderr == "0\n"


def test_interruption_is_exit_130(tmp_path: Path) -> None:
    fifo = tmp_path / "scenario.yaml"
    os.mkfifo(fifo)
    with subprocess.Popen([*COMMAND, "check", str(fifo)], env=ENVIRONMENT, stderr=subprocess.PIPE) as process:
        with fifo.open("wb"):  # returns when the command has opened it to read
            process.send_signal(signal.SIGINT)
            code = process.wait(30)
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
        assert code == 130


def test_no_time_zone_moves_a_date(tmp_path: Path) -> None:
    subprocess.run([*COMMAND, "init", str(tmp_path / "s"), "--quiet"], env=ENVIRONMENT, check=True)
    outputs = {
        subprocess.run(
            [*COMMAND, "check", "s/scenario.yaml", "--json", "-"],
            env={**ENVIRONMENT, "TZ": zone},
            cwd=tmp_path,
            check=True,
            capture_output=True,
        ).stdout
        for zone in ("Pacific/Kiritimati", "Pacific/Honolulu")
    }
    assert len(outputs) == 1


def test_the_cache_changes_no_answer(tmp_path: Path) -> None:
    """Without it, two processes filling it at once, and damaged: the same plan but for its wall time."""

    def solving(cache: object) -> subprocess.Popen[bytes]:
        command = [*COMMAND, "solve", "s/scenario.yaml", "--quiet", "--json", "-"]
        environment = {**ENVIRONMENT, "CLUSTERBUY_CACHE": str(cache)}
        return subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE)

    def answer(process: subprocess.Popen[bytes]) -> dict[str, object]:
        plan = json.loads(process.communicate(timeout=120)[0])
        plan["solve"].pop("wall_s")
        return plan

    subprocess.run([*COMMAND, "init", str(tmp_path / "s"), "--quiet"], env=ENVIRONMENT, check=True)
    cache = tmp_path / "cache"
    plans = [answer(process) for process in [solving("off"), solving(cache), solving(cache)]]
    kept = list(cache.iterdir())
    for file in kept:
        file.write_bytes(file.read_bytes()[:-9])
    plans.append(answer(solving(cache)))
    assert kept
    assert all(plan == plans[0] for plan in plans)
