"""Which test holds each known fault of tools like this one, and each worked number; and which do not apply, and why.

The cases are restated from public bug reports on solvers, planners and price tools (C, decision side; the engine's are in
its own tests) and from hand-worked arithmetic of the job (W). A case is listed once, with the test that speaks for it best.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]

CASES: dict[str, str] = {
    "C01 optimum wrong with money-sized coefficients": "regression/test_wrong_optimum.py::test_every_optimum_is_the_one_of_enumeration",
    "C02 infeasible with presolve, optimal without": "regression/test_two_proofs.py::test_a_disagreement_is_a_bug_and_no_answer",
    "C03 false infeasible with many threads": "regression/test_two_proofs.py::test_more_threads_do_not_make_a_scenario_infeasible",
    "C05 solvers disagree": "property/test_decisions.py::test_cp_sat_highs_and_enumeration_agree_to_the_cent",
    "C06 plan worse than doing nothing": "unit/solver/test_baselines.py::test_a_search_that_was_stopped_is_no_worse_than_the_baselines",
    "C07 timed-out run read as optimal": "unit/solver/test_search.py::test_a_plan_without_a_proof_is_feasible_with_bound_and_gap",
    "C08 same input, other plan": "property/test_decisions.py::test_the_same_plan_on_every_run_and_with_any_number_of_threads",
    "C10 quantities too large for the solver": "regression/test_weak_currencies.py::test_a_trillion_a_node_for_a_hundred_thousand_nodes",
    "C11 conflict names what nobody wrote": "unit/solver/test_conflict.py::test_lifting_the_cause_alone_gives_a_plan",
    "C12 conflict names everything": "regression/test_power_and_deadline.py::test_the_conflict_is_power_and_deadline_and_nothing_else",
    "C13 no reason given": "unit/solver/test_conflict.py::test_a_single_cause_is_named_alone_with_its_need",
    "C15 outcomes share an exit code": "cli/test_solve.py::test_exit_codes",
    "C18 tie at a tier": "unit/cost/test_prices.py::test_the_first_quantity_of_a_break_already_has_its_price",
    "C21 all-units or marginal": "unit/cost/test_prices.py::test_nine_units_at_100_with_ten_per_cent_from_five",
    "C22 next tier cheaper than the need": "unit/solver/test_cases.py::test_buying_up_to_the_next_break_may_be_cheaper",
    "C25 budget in another currency": "unit/solver/test_cases.py::test_a_budget_in_euro_buys_eleven_nodes",
    "C27 stale rates, expired quotes": "cli/test_quotes.py::test_expired_quotes_are_told",
    "C30 past plan re-priced": "unit/report/test_html.py::test_inputs_that_changed_are_named_and_the_numbers_stay",
    "C32 several nodes at the cost of one": "unit/cost/test_running.py::test_twice_the_nodes_double_hardware_hall_and_energy_but_not_what_is_paid_once",
    "C34 cheaper combination missed": "unit/solver/test_cases.py::test_the_best_plan_may_split_an_order_over_two_quotes",
    "C35 leap day": "unit/cost/test_running.py::test_three_years_over_a_leap_day_have_1096_days_and_36_months",
    "C36 fiscal year by the wrong year": "unit/cost/test_totals.py::test_a_payment_on_the_last_day_of_september_is_in_the_year_that_ends",
    "C38 time zones": "cli/test_reproducible.py::test_zone_locale_hash_seed_threads_and_file_order_change_nothing",
    "C39 blank read as zero": "unit/solver/test_cases.py::test_blank_is_no_limit_and_zero_is_none",
    "C40 later power ignored": "unit/solver/test_cases.py::test_power_that_comes_later_is_waited_for",
    "C52 reserve without a price": "unit/solver/test_dedicated.py::test_compare_shows_the_wafer_with_its_cost_or_its_rejection",
    "W06 rent or buy at 3,846 hours": "unit/solver/test_cases.py::test_renting_is_cheaper_until_3846_hours",
    "W07 retention of 66.94 % a year": "unit/cost/test_purchase.py::test_a_share_of_30_per_cent_after_three_years_keeps_67_per_cent_each_year",
    "W19 energy of 256 nodes": "unit/cost/test_running.py::test_energy_of_256_nodes_for_a_year",
    "W20 energy at three tariffs": "unit/cost/test_running.py::test_energy_at_three_tariffs_and_the_hall_for_a_month",
    "W21 present value of cash at year ends": "unit/cost/test_frame.py::test_net_present_value_of_a_purchase_with_yearly_cost_and_residual",
    "W23 lease of 10 M": "unit/cost/test_rentals.py::test_a_lease_that_repays_ten_million_is_worth_ten_million",
    "W26 node with and without cards": "unit/cost/test_prices.py::test_a_network_card_priced_by_itself_is_the_difference_of_two_nodes",
    "W44 two of three at 0.95": "unit/solver/test_spares.py::test_two_of_three_at_95_per_cent_each_work_at_99275",
    "W49 tax inside a price": "unit/cost/test_prices.py::test_tax_inside_a_price_is_taken_out",
    "W52 eleven nodes for EUR 3.5 M": "unit/solver/test_cases.py::test_a_budget_in_euro_buys_eleven_nodes",
    "W53 order 64 for a need of 62": "unit/solver/test_cases.py::test_how_far_below_a_break_it_pays_to_reach_it",
    "W56 reserved term with prepayment": "unit/cost/test_rentals.py::test_a_reserved_term_with_a_quarter_prepaid",
    "W57 late end of the lead time": "unit/solver/test_options.py::test_plans_use_the_late_end_of_a_lead_time",
    "W63 incremental ladder": "unit/cost/test_prices.py::test_each_unit_of_an_incremental_ladder_costs_its_own_break",
    "W64 duty and tax": "unit/cost/test_purchase.py::test_duty_and_the_tax_on_it_fall_on_delivery",
    "W65 price in yuan with tax": "unit/cost/test_prices.py::test_a_price_in_another_currency_with_tax_inside",
}  # fmt: skip
"""Case -> the test that speaks for it."""

NOT_HERE: dict[str, str] = {
    "C14": "memory is the engine's: tests/unit/candidates",
    "C19 C26 C28 C29 C42 C43 C44 C46 C47 C48": "reading of files and sheets: tests/unit/io and tests/unit/io/importing",
    "C24": "documents in another currency: tests/unit/report",
    "C50": "worth of one more unit: tests/unit/analysis",
    "W46 W47 W48": "delay penalties are information for risk and negotiation: they never lower a planned cost",
    "W25 W27 W30 W31 W32": "arithmetic on published offers that no quantity of a plan stands for",
    "W62": "availability credits are terms of a quote, kept in its record and never planned as income",
    "W42 W43": "spares of switches on a shelf: shelf spares are not planned, nodes in the hall are (W44)",
    "W50 W54 W58 W59": "reading of prices and dates: tests/unit/io/importing",
}
"""Cases of the lists that no test of the decision speaks for, with the place that does or the reason."""


@pytest.mark.parametrize("case", CASES)
def test_the_test_of_a_case_is_there(case: str) -> None:
    file, name = CASES[case].split("::")
    assert re.search(rf"^def {name}\(", (TESTS / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_no_case_is_both_covered_and_left_out() -> None:
    covered = {case.split()[0] for case in CASES}
    left_out = {case for names in NOT_HERE for case in names.split()}
    assert not covered & left_out
    assert len({case for case in covered | left_out if case.startswith("C")}) == 39
