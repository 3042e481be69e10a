"""One question, several processes: nothing of the surroundings changes a byte of the answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

QUOTE = """
quote: {name}
vendor: {vendor}
kind: binding
valid_until: 2027-12-31
currency: USD
offers:
  buy: {{type: purchase, platform: h100-sxm, per: node, price: {price}, lead_weeks: [4, 6], sites: [hall]}}
  hours: {{type: on_demand, platform: h100-sxm, region: eu, per: node_hour, price: 30}}
"""

SCENARIO = """
name: twice
today: 2026-11-30
currency: USD
workloads:
  first: {{modes: [{{platform: h100-sxm, nodes: 4, days: 60, source: pilot}}, {{platform: h100-sxm, nodes: 6, days: 41, source: pilot}}], deadline: 2027-09-30}}
  second: {{modes: [{{platform: h100-sxm, nodes: 5, days: 30, source: pilot}}], after: [first], deadline: 2027-12-31}}
sites: {{hall: {{electricity: {{per_kwh: 0.1}}}}}}
quotes: {quotes}
"""

SURROUNDINGS = (
    ({"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}, "1", ["a", "b"]),
    ({"TZ": "Pacific/Kiritimati", "LC_ALL": "de_DE.UTF-8", "PYTHONHASHSEED": "7"}, "8", ["b", "a"]),
    ({"TZ": "Pacific/Honolulu", "LANG": "tr_TR.UTF-8", "PYTHONHASHSEED": "4242", "COLUMNS": "40"}, "2", ["a", "b"]),
)
"""Environment, solver threads, and the order in which files are written and named."""


def answer(folder: Path, environment: dict[str, str], workers: str, order: list[str]) -> dict[str, Any]:
    """Return the plan of a process of its own: two equal prices, so that ties must be broken."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "quotes").mkdir(parents=True)
    for name in order:
        text = QUOTE.format(name=name, vendor=name.upper(), price=250_000)
        (folder / "quotes" / f"{name}.yaml").write_text(text, encoding="utf-8")
    scenario = folder / "scenario.yaml"
    scenario.write_text(SCENARIO.format(quotes=[f"quotes/{name}.yaml" for name in order]), encoding="utf-8")
    command = [sys.executable, "-m", "optimizer.cli", "solve", str(scenario), "--json", "-", "--workers", workers]
    done = subprocess.run(
        command, env=os.environ | environment | {"PYTHONPATH": str(ROOT)}, capture_output=True, check=True
    )
    return dict(json.loads(done.stdout))


def test_zone_locale_hash_seed_threads_and_file_order_change_nothing(tmp_path: Path) -> None:
    plans = [answer(tmp_path / "case", *surroundings) for surroundings in SURROUNDINGS]
    for plan in plans:
        assert plan["status"] == "optimal"
        assert {award["quote"] for award in plan["awards"]} == {"a"}
        files = plan["provenance"].pop("inputs")
        assert {Path(file["path"]).name for file in files} >= {"scenario.yaml", "a.yaml", "b.yaml"}
        for measured in ("wall_s", "workers"):
            del plan["solve"][measured]
    assert json.dumps(plans[1]) == json.dumps(plans[0])
    assert json.dumps(plans[2]) == json.dumps(plans[0])
