"""A setup refuses what it does not know, and says so."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from optimizer.engine.efficiency import efficiency
from optimizer.engine.setup import Setup
from optimizer.errors import InputError, InternalError
from optimizer.io.library import Library
from optimizer.schema.base import Precision

Make = Callable[..., Setup]


def test_an_unsupported_precision_is_an_error_naming_the_known_ones(make: Make):
    with pytest.raises(InputError, match=r"a100-80gb-sxm\.yaml, peak_dense_tflops: no fp8.*bf16"):
        make(platform="a100-80gb-sxm", precision="fp8")


def test_missing_facts_are_reported_together(library: Library, make: Make):
    known = library.platforms["h100-sxm"]
    bare = known.model_copy(update={"memory_bytes": None, "memory_bandwidth_gb_s": None, "tiers": ()})
    with pytest.raises(InputError) as caught:
        Setup(library.architectures["llama-3-1-8b"], bare, Precision.BF16, 8192, library.software["megatron-core"])
    found = [problem.location.split(", ")[-1] for problem in caught.value.problems]
    assert found == ["memory_bytes", "memory_bandwidth_gb_s", "tiers"]


def test_an_empty_efficiency_block_is_no_silent_default(library: Library):
    bare = library.platforms["h100-sxm"].model_copy(update={"efficiency": {}})
    with pytest.raises(InputError, match="efficiency: empty"):
        efficiency(bare)


def test_a_wrong_share_names_its_key(library: Library):
    known = library.platforms["h100-sxm"]
    wrong = known.model_copy(update={"efficiency": {**known.efficiency, "attention_share": 1.4}})
    with pytest.raises(InputError, match=r"efficiency\.attention_share: 1\.4"):
        efficiency(wrong)


def test_experts_are_refused_where_their_costs_are_unknown(make: Make):
    with pytest.raises(InputError, match=r"handwritten-cuda\.yaml, experts: unknown.*deepseek-v3"):
        make("deepseek-v3", software="handwritten-cuda")
    assert make("deepseek-v3").expert_shape.experts == 256


def test_a_dense_model_has_no_experts_to_ask_for(make: Make):
    with pytest.raises(InternalError, match="llama-3-1-8b has no experts"):
        _ = make().expert_shape
    with pytest.raises(InternalError, match="handwritten-cuda says nothing about experts"):
        _ = make(software="handwritten-cuda").expert_costs


def test_launching_layers_takes_the_host_less_with_graphs_and_fixed_shapes(make: Make):
    costs = make().software.experts
    assert costs is not None
    eager, graphs, fixed = (make("deepseek-v3", launch=launch).expert_host_s for launch in ("eager", "graphs", "fixed"))
    assert eager == costs.host_s
    assert graphs == pytest.approx(costs.host_s * costs.graphs_share)
    assert fixed == pytest.approx(costs.host_s * costs.fixed_share)
    assert make("deepseek-v3").expert_host_s == eager  # published Hopper recipes launch kernel by kernel
    assert make("deepseek-v3", "gb200-nvl72").expert_host_s == graphs


def test_moe_layers_of_an_older_release_are_slower_on_the_platforms_it_names(make: Make):
    then, now = make("deepseek-v3", "b200-hgx", release=2025.67), make("deepseek-v3", "b200-hgx", release=2026.25)
    assert then.expert_release_factor == then.expert_costs.releases[0].factor < 1
    assert now.expert_release_factor == 1
    assert make("deepseek-v3", "h100-sxm", release=2025.67).expert_release_factor == 1


def test_what_low_rank_attention_keeps_when_it_expands_again(make: Make):
    # 2 bytes x (1,536 query rank + 512 + 64 + 128 heads x 128)
    assert make("deepseek-v3").latent_bytes == 2 * (1536 + 512 + 64 + 128 * 128)
    assert make("mixtral-8x7b").latent_bytes is None


def test_every_platform_that_can_train_has_a_valid_block(library: Library):
    usable = [p for p in library.platforms.values() if p.tiers and p.peak_dense_tflops and p.memory_bytes]
    assert len(usable) > 25
    for platform in usable:
        shares = efficiency(platform)
        assert shares.software in library.software, platform.id
        for precision, share in shares.matmul_share.items():
            assert share * shares.sustained_share[precision] <= 1.0, (platform.id, precision)
            assert shares.bands[precision] in library.bands.situations, platform.id


def test_block_scaled_formats_use_the_peak_of_their_width(library: Library):
    known = library.platforms["b200-hgx"]
    peaks = {Precision.BF16: 2250.0, Precision.FP8: 4500.0}
    platform = known.model_copy(update={"peak_dense_tflops": peaks})
    setup = Setup(
        library.architectures["llama-3-1-8b"], platform, Precision.MXFP8, 8192, library.software["megatron-core"]
    )
    assert setup.peak_flops(Precision.MXFP8) == 4.5e15


def test_an_older_release_is_slower_and_a_newer_one_is_not_faster(make: Make):
    gain = make().efficiency.release_gain_per_year
    newest = make().efficiency.release
    assert make(release=newest - 2).age_factor == pytest.approx((1 + gain) ** -2)
    assert make(release=newest + 2).age_factor == 1.0


def test_a_stated_node_network_replaces_the_fabric(make: Make):
    # 100 GB/s per node of 8
    assert make(node_network_gb_s=100.0).tiers[-1].full_domain_gb_s == 12.5
    assert make(node_network_gb_s=100.0).tiers[0] == make().tiers[0]
