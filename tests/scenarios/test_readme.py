"""README shows what the program prints: its demo is the real output, and every scenario it tells of is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DEMO = re.compile(r"<!-- demo -->\n```\n(.*?)```\n<!-- /demo -->", re.DOTALL)


def shown() -> str:
    """Return what the demo prints in a window of 118 columns, without the seconds it took."""
    command = [sys.executable, "-m", "optimizer.cli", "solve", "scenarios/dense-500b.yaml"]
    environment = {"COLUMNS": "118", "PATH": "", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return re.sub(r"proven in [0-9.]+ s", "proven in 1.4 s", done.stdout)


def test_the_demo_is_what_the_program_prints():
    printed = [line.rstrip() for line in shown().splitlines()]
    assert DEMO.search(README).group(1).splitlines() == printed


def test_every_scenario_is_told():
    scenarios = {path.stem for path in (ROOT / "scenarios").glob("*.yaml")}
    assert scenarios - {name for name in scenarios if f"`{name}`" in README} <= {"dense-500b"}
