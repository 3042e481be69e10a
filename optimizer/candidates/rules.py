"""Which layouts a launcher accepts: one function per rule, each returning what is wrong with the numbers."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.errors import Problem
from optimizer.results import Layout
from optimizer.schema.architecture import Architecture, GroupedQueryAttention


def kv_heads(architecture: Architecture) -> int:
    """Return key-value heads that tensor parallelism divides; low-rank attention rebuilds one per query head."""
    attention = architecture.attention
    return attention.kv_heads if isinstance(attention, GroupedQueryAttention) else attention.heads


def tensor_faults(architecture: Architecture, tensor: int) -> Iterator[Problem]:
    """Yield why matrices cannot be split: heads and feed-forward widths divide, key-value heads divide or repeat."""
    heads, key_values = architecture.attention.heads, kv_heads(architecture)
    if heads % tensor:
        yield _fault("tensor_parallel", f"{heads} heads not divisible by TP {tensor}", f"a divisor of {heads}")
    if key_values % tensor and tensor % key_values:
        found = f"{key_values} key-value heads neither divide by TP {tensor} nor repeat a whole number of times"
        yield _fault("tensor_parallel", found, f"a divisor or a multiple of {key_values}")
    for width in sorted(_widths(architecture)):
        if width % tensor:
            found = f"feed-forward width {width} not divisible by TP {tensor}"
            yield _fault("tensor_parallel", found, f"a divisor of {width}")


def _widths(architecture: Architecture) -> set[int]:
    moe = architecture.moe
    shared = {moe.shared_ffn_hidden_size or moe.ffn_hidden_size} if moe and moe.shared_experts else set()
    return {architecture.ffn.hidden_size} | shared


def pipeline_faults(architecture: Architecture, pipeline: int) -> Iterator[Problem]:
    """Yield why layers do not fill the stages.

    Stages hold ceil(L / p) layers with a short last one, or (L + 2) / p with one less at each end (embedding and
    head counted as layers); either way every stage holds a layer.
    """
    layers = architecture.layers
    size = -(-layers // pipeline)
    with_ends = (layers + 2) % pipeline == 0 and layers + 2 > pipeline
    if pipeline > 1 and (pipeline - 1) * size >= layers and not with_ends:
        found = f"{layers} layers in stages of {size} fill {-(-layers // size)} of PP {pipeline} stages"
        yield _fault("pipeline_parallel", found, "a number of stages of which none stays empty")


def virtual_faults(architecture: Architecture, pipeline: int, virtual: int) -> Iterator[Problem]:
    """Yield why chunks cannot be interleaved: more than one stage, and no more chunks than layers, embedding, head."""
    chunks, most = pipeline * virtual, architecture.layers + 2
    if virtual > 1 and pipeline == 1:
        yield _fault("virtual_pipeline", f"VPP {virtual} with PP 1", "1 without pipeline stages")
    elif virtual > 1 and chunks > most:
        found = f"PP {pipeline} x VPP {virtual} = {chunks} chunks for {architecture.layers} layers"
        yield _fault("virtual_pipeline", found, f"at most {most} chunks (layers, embedding, head)")


def sequence_faults(sequence_length: int, context: int, tensor: int, sequence_parallel: bool) -> Iterator[Problem]:
    """Yield why a sequence cannot be split: 2 c equal parts (causal balance), then t parts under sequence parallel."""
    if context > 1 and sequence_length % (2 * context):
        found = f"sequence {sequence_length} not divisible by 2 x CP {context}"
        yield _fault("context_parallel", found, "two equal parts per accelerator, so that causal work is even")
    if sequence_parallel and sequence_length % (context * tensor):
        found = f"sequence {sequence_length} not divisible by CP {context} x TP {tensor}"
        yield _fault("sequence_parallel", found, "equal parts, or --no-sequence-parallel")


def expert_faults(architecture: Architecture, layout: Layout) -> Iterator[Problem]:
    """Yield why experts cannot be placed: EP divides experts, expert-TP their width, EP x expert-TP TP x CP x DP."""
    expert, expert_tensor, moe = layout.expert_parallel, layout.expert_tensor_parallel, architecture.moe
    if moe is None:
        if expert * expert_tensor > 1:
            found = f"EP {expert} x expert-TP {expert_tensor} for a model without experts"
            yield _fault("expert_parallel", found, "1 for a dense model")
        return
    if moe.ffn_hidden_size % expert_tensor:
        found = f"expert width {moe.ffn_hidden_size} not divisible by expert-TP {expert_tensor}"
        yield _fault("expert_tensor_parallel", found, f"a divisor of {moe.ffn_hidden_size}")
    if moe.experts % expert:
        found = f"{moe.experts} experts not divisible by EP {expert}"
        yield _fault("expert_parallel", found, f"a divisor of {moe.experts}")
    group = layout.tensor_parallel * layout.context_parallel * layout.data_parallel
    if group % (expert * expert_tensor):
        found = f"TP x CP x DP = {group} not divisible by EP {expert} x expert-TP {expert_tensor}"
        yield _fault("expert_parallel", found, f"a divisor of {group}")


def batch_faults(layout: Layout) -> Iterator[Problem]:
    """Yield why the batch cannot be split: whole micro-batches, in rounds of p when interleaved."""
    data, micro, batch = layout.data_parallel, layout.micro_batch, layout.global_batch
    if batch % (data * micro):
        found = f"global batch {batch} not divisible by DP {data} x MBS {micro}"
        yield _fault("global_batch", found, f"a multiple of {data * micro}")
    elif layout.virtual_pipeline > 1 and (batch // (data * micro)) % layout.pipeline_parallel:
        found = f"{batch // (data * micro)} micro-batches not divisible by PP {layout.pipeline_parallel}"
        yield _fault("global_batch", found, "whole rounds of the interleaved schedule")


def layout_faults(
    architecture: Architecture, sequence_length: int, layout: Layout, accelerators: int | None = None
) -> tuple[Problem, ...]:
    """Return everything a launcher would refuse about a layout; empty when it is legal.

    ``accelerators`` adds the rule that TP x PP x CP x DP occupies exactly that many.
    """
    small = tuple(_small_faults(layout))
    if small:
        return small  # the other rules divide by these
    tensor, context = layout.tensor_parallel, layout.context_parallel
    return (
        *tensor_faults(architecture, tensor),
        *pipeline_faults(architecture, layout.pipeline_parallel),
        *virtual_faults(architecture, layout.pipeline_parallel, layout.virtual_pipeline),
        *sequence_faults(sequence_length, context, tensor, layout.sequence_parallel),
        *expert_faults(architecture, layout),
        *batch_faults(layout),
        *_occupation_faults(layout, accelerators),
    )


def _small_faults(layout: Layout) -> Iterator[Problem]:
    for name, value in layout:
        if isinstance(value, int) and name not in ("sharding_stage", "sequence_parallel") and value < 1:
            yield _fault(name, str(value), "1 or more")


def _occupation_faults(layout: Layout, accelerators: int | None) -> Iterator[Problem]:
    if accelerators is not None and layout.accelerators != accelerators:
        degrees = f"TP {layout.tensor_parallel} x PP {layout.pipeline_parallel} x CP {layout.context_parallel}"
        found = f"{degrees} x DP {layout.data_parallel} = {layout.accelerators} accelerators"
        yield _fault("accelerators", found, f"{accelerators}")


def _fault(name: str, found: str, expected: str) -> Problem:
    return Problem(name, found, f"Expected {expected}")
