"""Floating-point operations of training, by the usual conventions, and the utilisation they give."""

from __future__ import annotations

from optimizer.engine.parameters import parameters
from optimizer.errors import InputError, Problem
from optimizer.schema.architecture import Architecture, GroupedQueryAttention


def attention_span(architecture: Architecture, sequence_length: int) -> float:
    """Return twice the mean number of tokens a token attends to: the sequence length, less with a window.

    Causal attention sees s / 2 on average; a window w sees w - w^2 / (2 s).
    """
    attention = architecture.attention
    window = attention.window if isinstance(attention, GroupedQueryAttention) else None
    if window is None or window >= sequence_length:
        return float(sequence_length)
    return 2.0 * (window - window**2 / (2.0 * sequence_length))


def matmul_flops_per_token(architecture: Architecture) -> float:
    """Return 6 x weights a token meets (forward 2, backward 4); head included, input table not."""
    return 6.0 * parameters(architecture).matmul


def attention_flops_per_token(architecture: Architecture, sequence_length: int, *, causal: bool = True) -> float:
    """Return attention FLOPs per token: 12 L A s for full attention, 6 L A s for causal (A = heads x head size).

    L counts multi-token prediction layers too.
    """
    span = attention_span(architecture, sequence_length) if causal else float(sequence_length)
    width = parameters(architecture).attention_width
    return (3.0 if causal else 6.0) * (architecture.layers + architecture.mtp_layers) * width * span


def flops_per_token(architecture: Architecture, sequence_length: int, *, causal: bool = True) -> float:
    """Return model FLOPs per trained token (no recompute): matrices plus attention."""
    attention = attention_flops_per_token(architecture, sequence_length, causal=causal)
    return matmul_flops_per_token(architecture) + attention


def utilisation(flops_per_s: float, peak_tflops: float, convention: str = "causal") -> float:
    """Return FLOP/s over the dense peak; raise InputError when above 1, naming the attention convention."""
    share = flops_per_s / (peak_tflops * 1e12)
    if share > 1:
        found = f"utilisation {share:.2f} of the dense peak ({convention} attention FLOPs)"
        fix = "Check the peak (dense, this precision) and whether attention was counted in full."
        raise InputError([Problem("utilisation", found, "at most 1", fix)])
    return share
