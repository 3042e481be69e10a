"""Overlays: written to new files only, and read by any library whose folder holds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.errors import InputError
from optimizer.io.document import Document
from optimizer.io.library import Library
from optimizer.io.overlays import refuse_place, write_overlay
from optimizer.io.shipped import shipped
from optimizer.io.yaml_reader import read_yaml
from optimizer.schema.base import EvidenceLevel, Precision
from optimizer.schema.platform import PlatformEvidence, PlatformOverlay

SEEN = PlatformEvidence(
    precision=Precision.FP8,
    level=EvidenceLevel.PILOT_MULTI_NODE,
    parameters_max=8e9,
    accelerators_max=32,
    source="pilot",
)


def overlay(share: float = 0.41) -> PlatformOverlay:
    return PlatformOverlay(
        overlay_of="h200-sxm", efficiency={"attention_share": share}, evidence=(SEEN,), notes=("a note: with colon",)
    )


def place(folder: Path, name: str = "pilot.yaml") -> Path:
    return folder / "models" / "platforms" / name


def card(folder: Path, memory: int) -> None:
    text = (shipped("models") / "platforms" / "h200-sxm.yaml").read_text(encoding="utf-8")
    lines = [f"memory_bytes: {memory}" if line.startswith("memory_bytes") else line for line in text.splitlines()]
    file = place(folder, "h200-sxm.yaml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize("name", ["pilot.yaml", "h200-sxm.yaml"])
def test_keys_given_replace_and_evidence_is_added(tmp_path: Path, name: str):
    write_overlay(place(tmp_path, name), overlay())
    plain, changed = (library.platforms["h200-sxm"] for library in (Library.shipped(), Library.at(tmp_path)))
    assert changed.efficiency == {**plain.efficiency, "attention_share": 0.41}
    assert changed.evidence == (SEEN, *plain.evidence)
    assert changed.notes == (*plain.notes, "a note: with colon")
    assert changed.memory_bytes == plain.memory_bytes
    assert Library.at(tmp_path).platforms.keys() == Library.shipped().platforms.keys()


def test_later_overlays_win_and_a_later_card_stands_alone(tmp_path: Path):
    first, second, third = (tmp_path / name for name in "abc")
    write_overlay(place(first), overlay(0.31))
    write_overlay(place(second), overlay(0.32))
    card(third, 999)
    both = Library.at(first, second).platforms["h200-sxm"]
    assert both.efficiency["attention_share"] == 0.32
    assert both.evidence[:2] == (SEEN, SEEN)
    alone = Library.at(first, third).platforms["h200-sxm"]
    assert (alone.memory_bytes, alone.efficiency) == (999, Library.shipped().platforms["h200-sxm"].efficiency)
    assert Library.at(third, first).platforms["h200-sxm"].efficiency["attention_share"] == 0.31


def test_a_card_and_its_overlay_may_lie_in_one_folder(tmp_path: Path):
    card(tmp_path, 999)
    write_overlay(place(tmp_path, "a-pilot.yaml"), overlay())
    found = Library.at(tmp_path).platforms["h200-sxm"]
    assert (found.memory_bytes, found.efficiency["attention_share"]) == (999, 0.41)


def test_a_plan_carries_the_overlay_and_reads_it_again(tmp_path: Path):
    write_overlay(place(tmp_path, "h200-sxm.yaml"), overlay())
    library = Library.at(tmp_path)
    files = library.inputs(["h200-sxm"], ["llama-3-1-8b"])
    assert [Path(file.path).name for file in files].count("h200-sxm.yaml") == 2
    pinned: list[Document] = [read_yaml(file.content, file.path) for file in files]
    for base in (Library.shipped(), library):  # with or without the folder at hand
        assert base.pin(pinned).platforms["h200-sxm"] == library.platforms["h200-sxm"]
    assert not any("overlay_of" in file.content for file in library.inputs(["b200-hgx"]))


def test_problems_of_overlays_are_located(tmp_path: Path):
    place(tmp_path).parent.mkdir(parents=True)
    place(tmp_path).write_text("overlay_of: h200-sxn\nefficiency: {attention_share: 0.4}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r'pilot\.yaml:1, overlay_of: no platform named "h200-sxn".*"h200-sxm"'):
        Library.at(tmp_path).platforms.keys()
    place(tmp_path).write_text("overlay_of: h200-sxm\nmemory_bytes: 1\n", encoding="utf-8")
    with pytest.raises(InputError, match="memory_bytes") as refused:
        Library.at(tmp_path).platforms.keys()
    assert any("efficiency" in str(problem) for problem in refused.value.problems)


def test_nothing_is_overwritten(tmp_path: Path):
    file = tmp_path / "pilot.yaml"
    file.write_text("mine", encoding="utf-8")
    for refuse in (lambda: refuse_place(file), lambda: write_overlay(file, overlay())):
        with pytest.raises(InputError, match="there is such a file already"):
            refuse()
    assert file.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["platforms/h200-sxm.yaml", "platforms/new.yaml"])
def test_nothing_is_written_among_the_shipped_data(name: str):
    file = shipped("models") / name
    with pytest.raises(InputError, match=r"such a file already|never changed in place"):
        write_overlay(file, overlay())
    assert not (shipped("models") / "platforms/new.yaml").exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be made"):
        write_overlay(tmp_path / "file" / "pilot.yaml", overlay())
