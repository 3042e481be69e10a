"""Ranked layouts equal nested loops over all degrees that predict one layout at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optimizer.candidates.conditions import setup_of
from optimizer.candidates.ranking import layouts, predict
from optimizer.candidates.space import Grid
from optimizer.engine.layouts import RECOMPUTE
from optimizer.engine.setup import Setup
from optimizer.errors import InputError
from optimizer.io.library import Library
from optimizer.results import Layout, LayoutRow
from optimizer.schema.architecture import Architecture, FeedForward, GroupedQueryAttention, MixtureOfExperts
from optimizer.schema.base import Precision

LIBRARY = Library.shipped()
LENGTH = 64


@st.composite
def setups(draw: st.DrawFn) -> Setup:
    heads = draw(st.sampled_from([4, 6, 8]))
    moe = draw(st.none() | st.sampled_from([4, 6]).map(lambda experts: MixtureOfExperts(
        experts=experts, experts_per_token=2, ffn_hidden_size=1536)))  # fmt: skip
    model = Architecture(
        id="random",
        layers=draw(st.integers(2, 6)),
        hidden_size=draw(st.sampled_from([1024, 4096])),
        vocab_size=32_000,
        tied_embedding=draw(st.booleans()),
        attention=GroupedQueryAttention(heads=heads, kv_heads=draw(st.sampled_from([heads, 2])), head_dim=128),
        ffn=FeedForward(hidden_size=8192, gated=draw(st.booleans())),
        moe=moe,
    )
    base = LIBRARY.platforms[draw(st.sampled_from(["h100-sxm", "mi355x"]))]
    memory_gb = draw(st.sampled_from([2, 6, 9, 60]))  # from nothing fits to everything fits
    platform = base.model_copy(update={"memory_bytes": int(memory_gb * 1e9)})
    return setup_of(model, platform, Precision.BF16, LENGTH, LIBRARY.software)


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    """All that launchers accept, with two of the sharding stages and two ways of recompute to keep loops short."""
    stages, codes = draw(st.sampled_from([(0, 3), (1, 2)])), draw(st.sampled_from([(0, 2), (1, 2)]))
    return dataclasses.replace(Grid.every(LENGTH, 4), sharding_stages=stages, recompute=codes)


def every_layout(setup: Setup, grid: Grid, accelerators: int, batch: int) -> Iterator[Layout]:
    """Yield all combinations of degrees; most are refused by ``predict``."""
    model, domain = setup.architecture, setup.platform.tiers[0].accelerators or setup.platform.accelerators_per_node
    small = [size for size in range(1, accelerators + 1) if accelerators % size == 0]
    experts = [1] if model.moe is None else [e for e in (1, 2, 4) if model.moe.experts % e == 0]
    few = model.moe is not None and model.moe.experts <= domain
    for t, p, c, e in product(small, small, small, experts):
        if domain % t or accelerators % (t * p * c) or c not in (1, 2, 4, 8, 16):
            continue
        chunks = [
            v
            for v in range(1, model.layers + 3)
            if v == 1 or 0 in (model.layers % (p * v), (model.layers + 2) % (p * v))
        ]
        splits = {1, t} if few else {1}
        rest = product(chunks, splits, (1, 2, 4), grid.sharding_stages, grid.recompute, {t > 1, False})
        for v, split, micro, stage, again, parallel in rest:
            yield Layout(
                tensor_parallel=t, pipeline_parallel=p, virtual_pipeline=v, context_parallel=c, expert_parallel=e,
                expert_tensor_parallel=split, data_parallel=accelerators // (t * p * c), sharding_stage=stage,
                micro_batch=micro, global_batch=batch, recompute=RECOMPUTE[again], sequence_parallel=parallel,
            )  # fmt: skip


def brute_force(setup: Setup, grid: Grid, accelerators: int, batch: int) -> list[LayoutRow]:
    found = []
    for layout in every_layout(setup, grid, accelerators, batch):
        try:
            found.append(predict(setup, layout, accelerators))
        except InputError:
            continue
    return found


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(setup=setups(), grid=grids(), accelerators=st.sampled_from([1, 2, 4, 6]), batch=st.sampled_from([4, 6]))
def test_ranking_equals_nested_loops(setup: Setup, grid: Grid, accelerators: int, batch: int):
    expected = brute_force(setup, grid, accelerators, batch)
    if not expected:
        with pytest.raises(InputError, match="no layout on"):
            layouts(setup, accelerators, batch, grid=grid)
        return
    ranking = layouts(setup, accelerators, batch, top=10**6, grid=grid)
    assert ranking.evaluated == len(expected)
    verdicts = {verdict: [row for row in expected if row.verdict == verdict] for verdict in ("fits", "tight")}
    assert ranking.fitting == len(verdicts["fits"])
    best = verdicts["fits"] or verdicts["tight"]
    if best:
        assert {str(row.layout) for row in ranking.rows} == {str(row.layout) for row in best}
        assert [row.step_time_s for row in ranking.rows] == pytest.approx(sorted(row.step_time_s for row in best))
    else:
        assert ranking.rows[0].memory_gb == min(row.memory_gb for row in expected)
