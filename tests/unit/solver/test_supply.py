"""The most node-days that awards of so much money give."""

from __future__ import annotations

import numpy as np

from optimizer.solver.supply import supply_of

LEAST = np.array([[0.0, 100.0, 210.0, np.inf], [0.0, 60.0, 120.0, 200.0]])
"""From day 10 on a unit costs 100, two 210; from day 20 on 60, 120 and three 200."""


def test_node_days_are_of_what_is_there_on_each_day():
    """100 give a unit of two nodes from day 10, or three units less one from day 20: at most 2 x 10 + 2 x 10 to day 29."""
    supply = supply_of(LEAST, np.array([10, 20]), most=3, owned=0, per_unit=2, term=None)
    assert supply.awards(20, 0, 29) == 60  # one unit, from day 20
    assert supply.awards(21, 0, 29) == 100  # 20 in the first ten days, or 20 in the last
    assert supply.awards(40, 10, 29) == 100
    assert supply.awards(41, 10, 29) == 120  # 20 and two units for the last ten days
    assert supply.awards(60, 0, 29) == 120
    assert supply.awards(61, 0, 29) == 200
    assert supply.awards(20, 10, 19) == 100  # only the first class counts there
    assert supply.awards(101, 10, 29) == np.inf
    assert supply.awards(1, 0, 9) == np.inf  # before anything is ready


def test_what_is_owned_is_there_from_the_first_day_and_contracts_end():
    owned = supply_of(LEAST, np.array([10, 20]), most=3, owned=1, per_unit=2, term=None)
    assert owned.awards(10, 0, 9) == 0
    assert owned.awards(11, 0, 9) == np.inf
    assert owned.awards(51, 0, 29) == 100  # 30 of the owned node, 20 from day 20 are 50
    only = supply_of(np.zeros((0, 1)), np.array([], dtype=np.int64), most=0, owned=3, per_unit=2, term=None)
    assert (only.awards(30, 0, 9), only.awards(31, 0, 9)) == (0, np.inf)
    short = supply_of(LEAST, np.array([10, 20]), most=3, owned=0, per_unit=2, term=5)
    assert short.awards(10, 0, 29) == 60
    assert short.awards(20, 0, 29) == 120  # five days of two units


def test_beyond_the_table_all_units_are_there():
    supply = supply_of(LEAST[:, :3], np.array([10, 20]), most=50, owned=0, per_unit=1, term=None)
    assert supply.awards(500, 20, 29) == 120
