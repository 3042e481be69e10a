"""``catalog``: the page of all options, and an own library made by following the guide."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from optimizer.cli.main import main

CONFIG = {
    "model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32,
    "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 8192, "vocab_size": 128256,
    "tie_word_embeddings": True, "attention_bias": False, "rope_theta": 500000.0,
}  # fmt: skip
# 16 x (2 x 2048 x 2048 + 2 x 2048 x 512 + 3 x 2048 x 8192 + 2 x 2048) + 128256 x 2048 + 2048
WEIGHTS = 1_235_814_400

PLATFORM = """\
id: h200-lab
vendor: NVIDIA
name: "H200 NVL, 4-card server of ours"
accelerators_per_node: 4
acquisition: [purchase]
memory_bytes: 150754820096
memory_bandwidth_gb_s: 4800
peak_dense_tflops: {bf16: 835, fp8: 1671}
tiers:
  - {name: nvlink, topology: switch, accelerators: 4, pair_gb_s: 300, full_domain_gb_s: 300}
  - {name: fabric, topology: switch, pair_gb_s: 25, full_domain_gb_s: 25}
node_power_kw: {provisioned: 3.9}
space: {rack_units: 4, cooling: [air]}
efficiency:
  software: megatron-core
  release: 2026.25
  release_gain_per_year: 0.07
  matmul_share: {bf16: 0.8, fp8: 0.71}
  sustained_share: {bf16: 0.87, fp8: 0.87}
  attention_share: 0.4
  memory_share: 0.85
  inner_network_share: 0.8
  outer_network_share: 0.74
  bands: {bf16: vendor_family, fp8: vendor_family}
  evidence: [{source: "copied from h200-sxm", rows: 0, date: "2026-11-30", note: "until a pilot is run"}]
sources:
  quote: {url: "the vendor's data sheet", date: "2026-11-20", confidence: A}
"""

QUOTE = """\
quote: lab-1
vendor: Lab Supply (invented)
kind: binding
valid_until: 2027-02-28
currency: USD
offers:
  server: {type: purchase, platform: h200-lab, per: node, price: 160e3, units: {max: 16}, lead_weeks: [4, 6]}
"""

SCENARIO = """\
name: lab
today: 2026-11-30
currency: USD
quotes: [quotes/lab]
workloads:
  pretrain:
    architecture: my-model
    tokens: 1e12
    sequence_length: 4096
    global_batch_tokens: 2e6
    extra_compute: 0.1
    deadline: 2027-12-31
sites:
  room: {electricity: {per_kwh: 0.1}}
"""


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    streams = capsys.readouterr()
    return code, streams.out, streams.err


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG), encoding="utf-8")
    return path


def test_an_own_library_is_made_and_used(tmp_path: Path, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine"
    card = mine / "models" / "architectures" / "my-model.yaml"
    code, out, _ = run(capsys, "catalog", "add-architecture", config, "-o", card)
    assert code == 0
    assert "1.236 B parameters, 1.236 B active" in out
    for folder, name, text in (("models/platforms", "h200-lab", PLATFORM), ("quotes/lab", "lab-1", QUOTE)):
        (mine / folder).mkdir(parents=True)
        (mine / folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    (mine / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    code, out, _ = run(capsys, "check", mine / "scenario.yaml", "--library", mine, "--json", "-")
    assert code == 0
    assert json.loads(out)["understood"]["offers"][0]["price_per_accelerator"] == 40_000
    code, out, err = run(capsys, "solve", mine / "scenario.yaml", "--library", mine, "--json", "-")
    assert code == 0, err
    plan = json.loads(out)
    assert plan["workloads"][0]["architecture"] == "my-model"
    assert plan["awards"][0]["platform"] == "h200-lab"
    code, out, _ = run(capsys, "catalog", "quotes", "lab-1", "--library", mine)
    assert "vendor: Lab Supply (invented)" in out


def test_the_card_is_printed_or_given_as_json(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "catalog", "add-architecture", config, "--id", "My Model")
    assert code == 0
    assert "\nid: my-model\n" in out
    code, out, _ = run(capsys, "catalog", "add-architecture", config, "--id", "m", "--json", "-", "--quiet")
    data = json.loads(out)
    assert data["parameters"] == data["active_parameters"] == WEIGHTS
    assert data["read"]["layers"] == "num_hidden_layers"
    assert data["architecture"]["tied_embedding"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["config.json", "-o", "there.yaml"], "there is such a file already"),
        (["config.json", "-o", "My.yaml"], 'the id is "my". Expected a file named my.yaml'),
        (["config.json", "-o", "b.yaml", "--id", "a"], 'the id is "a". Expected a file named a.yaml'),
        (["config.json"], "no name in it. Give one: --id my-model"),
        (["nothing.json", "--id", "a"], "nothing.json: there is no such file"),
        ([], "Missing argument 'CONFIG.json'"),
        (["config.json", "--jsn"], "No such option: --jsn"),
    ],
)
def test_bad_usage_of_add_architecture(
    config: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(config.parent)
    Path("there.yaml").write_text("", encoding="utf-8")
    code, out, err = run(capsys, "catalog", "add-architecture", *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_help_is_a_guide(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "catalog", "add-architecture", "--help")
    assert code == 0
    for text in ("clusterbuy catalog add-architecture", "--library mine", "--json FILE|-", "--quiet", "--ignore KEY"):
        assert text in out
    _, out, _ = run(capsys, "catalog", "--help")
    assert "add-architecture CONFIG.json" in out
    assert "--markdown FILE" in out


def test_the_page_holds_what_the_library_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "mine" / "models" / "platforms"
    folder.mkdir(parents=True)
    (folder / "h200-lab.yaml").write_text(PLATFORM, encoding="utf-8")
    page = tmp_path / "page.md"
    code, out, _ = run(capsys, "catalog", "--library", tmp_path / "mine", "--markdown", page)
    assert (code, out) == (0, "")
    assert "| [h200-lab](platforms/h200-lab.yaml) | 4 | 150.75 | 4,800 | 835 | 1,671 |" in page.read_text("utf-8")
