"""FLOPs per step against published figures, and the conventions they follow."""

from __future__ import annotations

import pytest

from optimizer.engine.flops import (
    attention_flops_per_token,
    attention_span,
    flops_per_token,
    matmul_flops_per_token,
    utilisation,
)
from optimizer.errors import InputError
from optimizer.io.library import Library


@pytest.mark.parametrize(
    ("sequence", "weights", "full", "causal"),
    [(8192, 1299.00, 422.21, 211.11), (129_024, 20_459.32, 104_735.08, 52_367.54)],
)
def test_llama_2_7b_step_of_four_sequences(library: Library, sequence: int, weights: float, full: float, causal: float):
    # TFLOP per step, AI-Hypercomputer/maxtext pull 1988: head included, input table not
    model, tokens = library.architectures["llama-2-7b"], 4 * sequence
    assert matmul_flops_per_token(model) * tokens / 1e12 == pytest.approx(weights, rel=1e-4)
    assert attention_flops_per_token(model, sequence, causal=False) * tokens / 1e12 == pytest.approx(full, rel=1e-4)
    assert attention_flops_per_token(model, sequence) * tokens / 1e12 == pytest.approx(causal, rel=1e-4)
    assert flops_per_token(model, sequence) * tokens / 1e12 == pytest.approx(weights + causal, rel=1e-4)


def test_multi_token_prediction_adds_a_layer_and_a_head(library: Library):
    # published benchmarks count 260.0 GFLOP per token at 4,096 with the prediction layer of DeepSeek-V3, 249.7 without
    model = library.architectures["deepseek-v3"]
    assert flops_per_token(model, 4096) / 1e9 == pytest.approx(260.0, rel=0.004)
    assert flops_per_token(model.model_copy(update={"mtp_layers": 0}), 4096) / 1e9 == pytest.approx(249.7, rel=0.004)


def test_a_window_shortens_attention(library: Library):
    model = library.architectures["llama-2-7b"]
    window = model.model_copy(update={"attention": model.attention.model_copy(update={"window": 1024})})
    assert attention_span(model, 8192) == 8192
    # mean tokens seen: 1024 - 1024^2 / (2 x 8192) = 960, against 4096 without a window
    assert attention_span(window, 8192) == 2 * 960
    assert attention_span(window, 1024) == 1024


def test_a_utilisation_above_one_is_refused_and_names_its_convention():
    # 16k tokens on A100: 189 TFLOP/s causal counted in full gives 1.21 (Megatron-LM issue 831)
    with pytest.raises(InputError, match=r"1\.21 .*full"):
        utilisation(2 * 189e12, 312, "full")
    assert utilisation(189e12, 312) == pytest.approx(0.6058, rel=1e-3)


def test_the_right_peak_matters():
    # 474 TFLOP/s on MI350X: 20.6 % of 2,300; against the A100's 312 it is impossible (pytorch/torchtitan pull 4779)
    assert utilisation(474e12, 2300) == pytest.approx(0.206, rel=2e-3)
    with pytest.raises(InputError, match=r"1\.52"):
        utilisation(474e12, 312)
