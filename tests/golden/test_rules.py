"""What each rule adds to the model of its scene: variables, rows, bookings, word for word.

``pytest tests/golden --refresh-golden`` writes the dumps anew after an intended change.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from optimizer.cost.frame import Frame
from optimizer.solver.linear import LinearModel
from optimizer.solver.rules import RULES, Rule
from optimizer.solver.variables import Builder, declare
from tests.golden.scenes import SCENES
from tests.unit.solver.deciding import problem

HERE = Path(__file__).parent


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_adds_what_it_always_added(rule: Rule, refresh: bool) -> None:
    assert rule.name in SCENES, f"rule {rule.name} has no scene: add one to tests/golden/scenes.py"
    text, file = dump(SCENES[rule.name](), rule), HERE / f"{rule.name}.txt"
    if refresh:
        file.write_text(text, encoding="utf-8")
    assert text.count("\n") > 3, "the scene gives the rule nothing to say"
    assert file.is_file(), "no dump yet: pytest tests/golden --refresh-golden"
    assert text == file.read_text(encoding="utf-8")


def test_there_is_no_dump_or_scene_without_a_rule() -> None:
    names = {rule.name for rule in RULES}
    assert {file.stem for file in HERE.glob("*.txt")} == names == set(SCENES)


def dump(world: Frame, rule: Rule) -> str:
    """Return what a rule adds after the rules before it."""
    builder = declare(problem(world))
    for other in RULES[: RULES.index(rule)]:
        other.add(builder)
    variables, rows, booked = len(builder.model.names), len(builder.model.rows), dict(builder.ledger.npv)
    rule.add(builder)
    model = builder.model
    added = LinearModel(model.names, model.lower, model.upper, model.rows[rows:])
    sections = {
        "variables": [
            f"{model.names[v]}: {model.lower[v]} … {model.upper[v]}" for v in range(variables, len(model.names))
        ],
        "rows": added.dump().splitlines(),
        "bookings (present value, outflow)": _bookings(builder, booked),
    }
    story = (SCENES[rule.name].__doc__ or "").strip()
    return f"# {rule.name}: {story}\n" + "".join(_section(name, body) for name, body in sections.items() if body)


def _bookings(builder: Builder, before: dict[int, Decimal]) -> list[str]:
    ledger = builder.ledger
    changed = [v for v, amount in ledger.npv.items() if amount != before.get(v, 0)]
    return [f"{builder.model.names[v]}: {ledger.npv[v]:.5f}, {ledger.outflow[v]:.5f}" for v in sorted(changed)]


def _section(name: str, body: list[str]) -> str:
    return f"\n## {name}\n" + "".join(f"{line}\n" for line in body)
