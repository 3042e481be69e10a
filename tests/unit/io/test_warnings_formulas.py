"""Claims that no scenario, platform or quote can state, as formulas with the engine's own numbers where it has them.

Airflow and hourly cost of an owned server are nowhere entered, so that nothing can warn of them.
"""

from __future__ import annotations

import pytest

from optimizer.engine.flops import matmul_flops_per_token
from optimizer.engine.parameters import parameters
from optimizer.io.library import Library
from optimizer.io.workload_claims import STATE_BYTES_PER_PARAMETER

CARDS = Library.shipped().architectures


def test_a_token_of_a_12b_model_takes_72_gflop_and_not_720() -> None:
    assert 6 * 12e9 == 72e9
    # 6 x (12.248e9 - 131072 x 5120 of the input table) = 69.5 GFLOP
    assert matmul_flops_per_token(CARDS["mistral-nemo-12b"]) == pytest.approx(69.46e9, rel=1e-3)


def test_training_state_of_a_12b_model_is_192_gb_and_not_72() -> None:
    assert STATE_BYTES_PER_PARAMETER * 12e9 == 192e9
    assert 3 * 2 * 12e9 == 72e9  # three copies in two bytes: no master weights, no moments
    assert STATE_BYTES_PER_PARAMETER * parameters(CARDS["mistral-nemo-12b"]).total == pytest.approx(196e9, rel=0.001)


def test_gpt3_read_as_a_count_gives_a_plausible_utilisation() -> None:
    # 3,640 petaflop/s-days = 3.14e23 FLOP; 3,640 A100 x 14.8 days x 312 TFLOP/s = 1.452e24
    done = 3.14e23 / (3640 * 14.8 * 86_400 * 312e12)
    assert done == pytest.approx(0.2162, rel=1e-3)


def air_cfm(kw: float, rise_f: float) -> float:
    """Return airflow at sea level: BTU per hour / (1.085 x rise in degrees F)."""
    return kw * 3412.14 / (1.085 * rise_f)


def test_300_cfm_per_kw_is_a_rise_of_ten_degrees() -> None:
    assert air_cfm(1, 20) == pytest.approx(157.2, rel=1e-3)
    assert air_cfm(1, 10.48) == pytest.approx(300, rel=1e-3)
    assert air_cfm(12, 20) == pytest.approx(1887, rel=1e-3)


def test_an_owned_server_at_4_17_an_hour_is_only_its_price_at_2000_hours_a_year() -> None:
    price, years = 25_000, 3
    assert price / (years * 2000) == pytest.approx(4.1667, rel=1e-4)
    assert price / 6.5 == pytest.approx(3846, rel=1e-3)  # hours at which renting at 6.5 costs as much
    assert 0.7 * price / 6.5 == pytest.approx(2692, rel=1e-3)  # with 30 % left at the end
    assert price / (years * 8760) == pytest.approx(
        0.951, rel=1e-3
    )  # used all the time, without power, staff and finance
