"""The Python interface as its documentation shows it."""

from __future__ import annotations

import optimizer as cb
from optimizer.io.scenario import load_scenario


def test_the_public_names_are_sorted_few_and_real():
    assert cb.__all__ == sorted(cb.__all__)
    assert len(cb.__all__) <= 12
    assert all(getattr(cb, name) is not None for name in cb.__all__)


def test_a_scenario_object_gives_the_plan_of_its_file(headline, plan):
    scenario = load_scenario(headline).scenario
    assert isinstance(scenario, cb.Scenario)
    again = cb.solve(scenario)
    assert (again.cost.total, again.awards) == (plan.cost.total, plan.awards)


def test_layouts_as_a_table():
    table = cb.layouts(
        architecture="dense-500b", platform="b200-hgx", accelerators=4096, sequence_length=8192, global_batch=2048
    )
    assert table.rows[0].step_time_s <= table.rows[-1].step_time_s
    assert table.rows[0].layout.accelerators == 4096
