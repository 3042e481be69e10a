"""Whatever a scenario or quote file holds, it is read or refused: never a bug, never a traceback."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optimizer.cli.main import main
from optimizer.io.yaml_reader import read_yaml
from tests.unit.io.examples import QUOTE, SCENARIO

ODD = st.sampled_from(
    [
        None, True, False, 0, -1, 1, 1.5, 1e300, -1e300, 10**30, "", "x", "12k", "2026-02-30", "2027-01-01", "yes",
        "20e6 JPY", [], [1], [[]], {}, {"a": 1}, {"1": 2}, "b200-hgx", "on_request", "pretrain", "\u2028", "0",
    ]
)  # fmt: skip
DOCUMENTS = {"scenario": read_yaml(SCENARIO, "s").data, "quote": read_yaml(QUOTE, "q").data}
STEPS = st.lists(st.integers(0, 30), min_size=1, max_size=5)


def mutated(data: object, steps: list[int], odd: object) -> object:
    """Return the data with one value, found by the steps, replaced."""
    data = copy.deepcopy(data)
    here = data
    for position, step in enumerate(steps):
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = keys[step % len(keys)]
        below = here[key]
        if position == len(steps) - 1 or not isinstance(below, (dict, list)) or not below:
            here[key] = odd
            return data
        here = below
    return data


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(["scenario", "quote"]), STEPS, ODD)
def test_one_odd_value_is_read_or_refused(which: str, steps: list[int], odd: object) -> None:
    documents = {name: mutated(data, steps, odd) if name == which else data for name, data in DOCUMENTS.items()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "quotes").mkdir()
        (folder / "scenario.yaml").write_text(json.dumps(documents["scenario"]), encoding="utf-8")
        (folder / "quotes" / "q.yaml").write_text(json.dumps(documents["quote"]), encoding="utf-8")
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            code = main(["check", str(folder / "scenario.yaml"), "--quiet"])
    assert code in (0, 2), errors.getvalue()
    assert (code == 0) == (errors.getvalue() == "")
