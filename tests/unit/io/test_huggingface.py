"""Configurations of the common families: each card has the parameters of the published model."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from optimizer.errors import InputError
from optimizer.io.huggingface import Converted, convert, identifier
from optimizer.io.huggingface_keys import families
from optimizer.io.library import Library

LIBRARY = Library.shipped()
KNOWN = families(LIBRARY.roots)

# Keys as published in the configuration of each model, those without effect thinned out.
CONFIGS: dict[str, dict[str, object]] = {
    "llama-3-1-8b": {
        "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "attention_bias": False,
        "mlp_bias": False, "rope_theta": 500000.0, "rms_norm_eps": 1e-05, "max_position_embeddings": 131072,
        "rope_scaling": {"factor": 8.0, "rope_type": "llama3"}, "tie_word_embeddings": False, "eos_token_id": 128001,
        "architectures": ["LlamaForCausalLM"], "torch_dtype": "bfloat16", "transformers_version": "4.43.0.dev0",
    },
    "mistral-7b": {
        "model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000, "sliding_window": 4096,
        "max_position_embeddings": 32768, "hidden_act": "silu", "tie_word_embeddings": False,
    },
    "mixtral-8x22b": {
        "model_type": "mixtral", "hidden_size": 6144, "num_hidden_layers": 56, "num_attention_heads": 48,
        "num_key_value_heads": 8, "intermediate_size": 16384, "vocab_size": 32000, "num_local_experts": 8,
        "num_experts_per_tok": 2, "sliding_window": None, "router_aux_loss_coef": 0.001, "output_router_logits": False,
    },
    "qwen-2-5-7b": {
        "model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28,
        "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064, "use_sliding_window": False,
        "sliding_window": 131072, "max_window_layers": 28, "tie_word_embeddings": False, "use_mrope": False,
    },
    "qwen-3-30b-a3b": {
        "model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 32,
        "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 6144, "moe_intermediate_size": 768,
        "num_experts": 128, "num_experts_per_tok": 8, "decoder_sparse_step": 1, "mlp_only_layers": [],
        "vocab_size": 151936, "norm_topk_prob": True, "attention_bias": False, "tie_word_embeddings": False,
    },
    "deepseek-v3": {
        "model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128,
        "num_key_value_heads": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256,
        "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1,
        "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "vocab_size": 129280, "num_nextn_predict_layers": 1, "n_group": 8, "topk_group": 4, "topk_method": "noaux_tc",
        "scoring_func": "sigmoid", "routed_scaling_factor": 2.5, "quantization_config": {"quant_method": "fp8"},
    },
    "moonlight-16b-a3b": {
        "model_type": "deepseek_v3", "hidden_size": 2048, "num_hidden_layers": 27, "num_attention_heads": 16,
        "num_key_value_heads": 16, "intermediate_size": 11264, "moe_intermediate_size": 1408, "n_routed_experts": 64,
        "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1, "q_lora_rank": None,
        "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 163840,
    },
    "opt-175b": {
        "model_type": "opt", "hidden_size": 12288, "num_hidden_layers": 96, "num_attention_heads": 96,
        "ffn_dim": 49152, "vocab_size": 50272, "max_position_embeddings": 2048, "word_embed_proj_dim": 12288,
        "do_layer_norm_before": True, "activation_function": "relu", "init_std": 0.006, "layerdrop": 0.0,
    },
    "bloom-176b": {
        "model_type": "bloom", "hidden_size": 14336, "n_layer": 70, "num_attention_heads": 112, "n_inner": None,
        "vocab_size": 250880, "masked_softmax_fusion": True, "skip_bias_add": True, "offset_alibi": 100,
    },
    "gpt-oss-120b": {
        "model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 36, "num_attention_heads": 64,
        "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880, "num_local_experts": 128,
        "num_experts_per_tok": 4, "experts_per_token": 4, "sliding_window": 128, "vocab_size": 201088,
        "layer_types": ["sliding_attention", "full_attention"] * 18, "attention_bias": True, "swiglu_limit": 7.0,
    },
    "gemma-7b": {
        "model_type": "gemma", "hidden_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16,
        "num_key_value_heads": 16, "head_dim": 256, "intermediate_size": 24576, "vocab_size": 256000,
        "hidden_act": "gelu", "attention_bias": False,
    },
    "llama-4-maverick": {
        "model_type": "llama4", "vision_config": {"hidden_size": 1408}, "text_config": {
            "model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40,
            "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
            "num_local_experts": 128, "num_experts_per_tok": 1, "interleave_moe_layer_step": 2, "vocab_size": 202048,
            "attention_chunk_size": 8192, "moe_layers": [1, 3, 5], "use_qk_norm": False, "attention_bias": False,
        },
    },
    "nemotron-4-340b": {
        "model_type": "nemotron", "hidden_size": 18432, "num_hidden_layers": 96, "num_attention_heads": 96,
        "num_key_value_heads": 8, "intermediate_size": 73728, "vocab_size": 256000, "hidden_act": "relu2",
        "norm_eps": 1e-05, "partial_rotary_factor": 0.5, "tie_word_embeddings": False,
    },
}  # fmt: skip
LLAMA = CONFIGS["llama-3-1-8b"]


def read(folder: Path, config: object, *, id_: str | None = "mine", ignore: tuple[str, ...] = ()) -> Converted:
    path = folder / "config.json"
    path.write_text(json.dumps(config, indent="\t"), encoding="utf-8")
    return convert(path, KNOWN, id_=id_, url=None, today=dt.date(2026, 11, 30), ignore=ignore)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_published_configuration_becomes_the_card_of_the_library(tmp_path: Path, name: str) -> None:
    read_card, shipped = read(tmp_path, CONFIGS[name], id_=name).architecture, LIBRARY.architectures[name]
    apart = {"name", "notes", "sources", "published_parameters", "moe"}
    assert read_card.model_dump(exclude=apart) == shipped.model_dump(exclude=apart)
    if shipped.moe is None:
        assert read_card.moe is None
        return
    assert read_card.moe is not None
    assert read_card.moe.model_dump(exclude={"shared_ffn_hidden_size"}) == shipped.moe.model_dump(
        exclude={"shared_ffn_hidden_size"}
    )


def test_gpt2_is_read_with_its_usual_widths(tmp_path: Path) -> None:
    config = {
        "model_type": "gpt2",
        "n_embd": 768,
        "n_layer": 12,
        "n_head": 12,
        "n_positions": 1024,
        "n_ctx": 1024,
        "vocab_size": 50257,
    }
    found = read(tmp_path, config)
    # 12 x (12 x 768 x 768 + 13 x 768) + (50257 + 1024) x 768 + 2 x 768
    assert found.parameters.total == 124_439_808
    assert "no feed-forward width is given: 4 x hidden size" in found.assumptions


def test_the_card_tells_where_each_value_was_read(tmp_path: Path) -> None:
    found = read(tmp_path, LLAMA)
    assert "layers: 32  # num_hidden_layers\n" in found.text
    assert "ffn: {hidden_size: 14336, gated: true}  # intermediate_size\n" in found.text
    assert "The shape gives 8.03e9 parameters" in found.text
    assert 'configuration: {url: "config.json", date: "2026-11-30", confidence: B}' in found.text
    assert "published_parameters: null" in found.text
    assert found.assumptions == ("head_dim is not given: hidden size / heads",)


def test_a_window_in_some_layers_is_told_and_not_used(tmp_path: Path) -> None:
    found = read(tmp_path, CONFIGS["gpt-oss-120b"])
    assert found.architecture.attention.window is None  # type: ignore[union-attr]
    assert any("full attention is counted in all" in text for text in found.assumptions)
    assert read(tmp_path, CONFIGS["mistral-7b"]).architecture.attention.window == 4096  # type: ignore[union-attr]


def test_only_the_language_model_of_a_larger_one_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, CONFIGS["llama-4-maverick"])
    assert any("Only text_config is read" in text for text in found.assumptions)
    assert found.parameters.total == pytest.approx(400.71e9, rel=1e-4)


def test_the_id_comes_from_the_name_in_the_file(tmp_path: Path) -> None:
    found = read(tmp_path, {**LLAMA, "_name_or_path": "meta-llama/Llama-3.1-8B"}, id_=None)
    assert found.architecture.id == "llama-3-1-8b"
    with pytest.raises(InputError, match=r"no name in it\. Give one: --id my-model"):
        read(tmp_path, LLAMA, id_=None)
    assert identifier("My Model_v2") == "my-model-v2"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "mamba"}, 'model_type "mamba". Expected one of llama, mistral'),
        ({"model_type": None}, 'model_type "None". Expected one of llama'),
        ({"is_encoder_decoder": True}, "is_encoder_decoder: true. Expected a decoder-only model"),
        ({"n_layer": 48}, "n_layer: 48 against num_hidden_layers 32. Expected one value. Remove one"),
        ({"hidden_size": "4096"}, 'hidden_size: "4096". Expected a whole number'),
        ({"vocab_size": None}, "vocab_size is missing. Expected vocab_size"),
        ({"num_attention_heads": 48}, "head_dim is missing. Expected head_dim, since hidden_size 4096 is no multiple of the 48"),
        ({"num_key_value_heads": 5}, "num_key_value_heads: 5. Expected a divisor of the 32 heads"),
        ({"tie_word_embeddings": "yes"}, 'tie_word_embeddings: "yes". Expected true or false'),
        ({"ssm_state_size": 128}, "ssm_state_size: a key that may change the model. Expected only keys whose meaning is known. If it does not: --ignore ssm_state_size"),
        ({"layer_types": ["linear_attention"]}, "layer_types: linear_attention. Expected full, sliding or chunked"),
        ({"num_experts": 4, "num_experts_per_tok": 8, "moe_intermediate_size": 64}, "num_experts_per_tok: 8. Expected at most the 4 experts"),
        ({"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64, "first_k_dense_replace": 40}, "first_k_dense_replace: 40. Expected at most the 32 layers"),
        ({"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64, "mlp_only_layers": [3]}, "mlp_only_layers: single dense layers"),
        ({"word_embed_proj_dim": 512}, "word_embed_proj_dim: 512. Expected hidden_size 4096"),
    ],
)  # fmt: skip
def test_unknown_and_contradictory_keys_are_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as refused:
        read(tmp_path, {**LLAMA, **change})
    assert message in str(refused.value)


def test_every_problem_is_told_at_once_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        read(tmp_path, {**LLAMA, "num_key_value_heads": 5, "strange": 1})
    text = str(refused.value)
    assert "config.json:6, num_key_value_heads" in text
    assert "config.json:25, strange" in text


def test_a_key_without_effect_may_be_named(tmp_path: Path) -> None:
    assert read(tmp_path, {**LLAMA, "strange": 1}, ignore=("strange",)).architecture.layers == 32
    assert read(tmp_path, {**LLAMA, "strange": None, "other": False}).architecture.layers == 32


@pytest.mark.parametrize("text", ["[1, 2]", "12"])
def test_what_is_no_configuration_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"no record of keys\. Expected a model configuration in JSON"):
        convert(path, KNOWN, id_="mine", url=None, today=dt.date(2026, 11, 30))


def test_every_family_names_what_its_files_leave_unsaid() -> None:
    assert {"llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "deepseek_v3", "gpt2", "opt", "bloom", "gpt_oss", "gemma"} <= set(KNOWN.families)  # fmt: skip
    assert all(family.gated or not family.shared_experts for family in KNOWN.families.values())
    assert KNOWN.sources["transformers"].url
