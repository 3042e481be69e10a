from __future__ import annotations

import time
from pathlib import Path

import pytest

from optimizer.errors import InputError
from optimizer.io.library import Library
from optimizer.io.shipped import located, shipped, shown

PLATFORM = "id: mine\nvendor: Us\naccelerators_per_node: 4\nacquisition: [purchase]\n"


def folder(tmp_path: Path, name: str, text: str) -> Path:
    target = tmp_path / "models" / "platforms" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return tmp_path


def test_the_shipped_library_has_every_kind_of_record() -> None:
    library = Library.shipped()
    assert library.platforms["h200-sxm"].accelerators_per_node == 8
    assert library.architectures["llama-3-1-8b"].layers == 32
    assert library.software["megatron-core"].fused_attention
    assert library.bands.situations


def test_reading_every_platform_is_fast() -> None:
    _ = Library.shipped().platforms
    started = time.perf_counter()
    _ = Library.shipped().platforms
    assert time.perf_counter() - started < 0.5  # 0.04 s measured; a shared machine may stall


def test_an_extra_folder_adds_records(tmp_path: Path) -> None:
    library = Library.at(folder(tmp_path, "mine.yaml", PLATFORM))
    assert library.platforms["mine"].vendor == "Us"
    assert "h200-sxm" in library.platforms


def test_a_later_folder_replaces_the_record_of_the_same_id(tmp_path: Path) -> None:
    first = folder(tmp_path / "a", "mine.yaml", PLATFORM)
    second = folder(tmp_path / "b", "mine.yaml", PLATFORM.replace("4", "2"))
    assert Library.at(first, second).platforms["mine"].accelerators_per_node == 2
    assert Library.at(second, first).platforms["mine"].accelerators_per_node == 4


def test_a_replaced_record_keeps_nothing_of_the_old_one(tmp_path: Path) -> None:
    text = PLATFORM.replace("mine", "h200-sxm")
    assert Library.at(folder(tmp_path, "h200-sxm.yaml", text)).platforms["h200-sxm"].memory_bytes is None


def test_an_id_must_be_the_name_of_the_file(tmp_path: Path) -> None:
    library = Library.at(folder(tmp_path, "other.yaml", PLATFORM))
    with pytest.raises(InputError, match=r'other.yaml:1, id: "mine" in the file other.yaml. Expected "other"'):
        _ = library.platforms


def test_problems_of_all_files_come_at_once(tmp_path: Path) -> None:
    folder(tmp_path, "a.yaml", "id: a\n")
    library = Library.at(folder(tmp_path, "b.yaml", PLATFORM.replace("mine", "b") + "colour: red\n"))
    with pytest.raises(InputError) as caught:
        _ = library.platforms
    assert {problem.location.rsplit("/", 1)[-1] for problem in caught.value.problems} == {
        "a.yaml:1",
        "b.yaml:5, colour",
    }


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no data folder. Expected a folder with models/ or quotes/ in it"):
        Library.at(tmp_path)
    with pytest.raises(InputError, match="no data folder"):
        Library.at(tmp_path / "nowhere")


def test_shipped_files_are_named_without_the_machine() -> None:
    path = shipped("models") / "platforms" / "h200-sxm.yaml"
    assert shown(path) == "models/platforms/h200-sxm.yaml"
    found = located("models/platforms/h200-sxm.yaml")
    assert found is not None
    assert found.samefile(path)
    assert located("models/platforms/none.yaml") is None


def test_files_below_the_current_folder_are_named_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text("a: 1\n", encoding="utf-8")
    assert shown(tmp_path / "s.yaml") == "s.yaml"
    assert shown(tmp_path.parent / "x.yaml") == str(tmp_path.parent / "x.yaml")


def test_the_inputs_of_an_answer_carry_content_and_checksum() -> None:
    file, *engine = Library.shipped().inputs(platforms=["h200-sxm"])
    assert [other.path for other in engine] == ["models/software/megatron-core.yaml", "models/bands.yaml"]
    assert file.path == "models/platforms/h200-sxm.yaml"
    assert file.content.startswith("id: h200-sxm")
    assert len(file.sha256) == 64
