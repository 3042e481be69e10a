from __future__ import annotations

import contextlib
import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.errors import InputError
from optimizer.io.yaml_reader import MAX_BYTES, MAX_DEPTH, read_value, read_yaml, read_yaml_file


def value(text: str) -> object:
    return read_yaml(f"x: {text}", "t.yaml").data["x"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10e12", 10_000_000_000_000.0),
        ("1e6", 1_000_000.0),
        ("-.5", -0.5),
        ("1.", 1.0),
        ("+7", 7),
        ("010", 10),
        ("007", 7),
        ("0o17", 15),
        ("0xff", 255),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
    ],
)
def test_core_schema_numbers_booleans_and_null(text: str, expected: object) -> None:
    assert value(text) == expected
    assert type(value(text)) is type(expected)


@pytest.mark.parametrize(
    "text",
    ["off", "on", "yes", "no", "Off", "NO", "y", "1_000", "12:30:45", "2026-11-30", "1e", "e5", "0b11", "=", "<<"],
)
def test_text_in_the_core_schema_stays_text(text: str) -> None:
    assert value(text) == text


@pytest.mark.parametrize("text", ["007", "1E5", "true", "null", "2026-11-30", ""])
def test_quoted_values_stay_text(text: str) -> None:
    assert value(f"'{text}'") == text
    assert value(f'"{text}"') == text


def test_digits_beyond_a_binary_double_are_kept() -> None:
    assert value("123456789012345678.25") == Decimal("123456789012345678.25")
    assert value("1e-400") == Decimal("1e-400")
    assert isinstance(value("0.1"), float)


@pytest.mark.parametrize("text", [".nan", ".inf", "-.INF", "1e999", "9" * 500])
def test_numbers_that_are_not_finite_or_too_long_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"t.yaml:1: .*Expected (a finite number|a number)"):
        value(text)


def test_every_value_knows_its_line_and_column() -> None:
    document = read_yaml("a:\n  b: [1,\n      {c: 2}]\nd: x\n", "t.yaml")
    assert document.marks["a", "b", 0] == (2, 7)
    assert document.marks["a", "b", 1, "c"] == (3, 11)
    assert document.at(("a", "b", 1, "c")) == "t.yaml:3, a.b[1].c"
    assert document.at(("a", "missing")) == "t.yaml:2, a.missing"
    assert document.at(()) == "t.yaml:1"


def test_aliases_share_values() -> None:
    assert read_yaml("a: &x {q: [1, 2]}\nb: *x\n", "t").data == {"a": {"q": [1, 2]}, "b": {"q": [1, 2]}}
    assert read_yaml("a: &x 5\nb: *x\n", "t").data == {"a": 5, "b": 5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3", r't.yaml:3: the key "a" a second time'),
        ("a: {b: 8,000,000}", r't.yaml:1: the key "000" a second time. .*Write numbers without thousands separators'),
        ("1: a\n1.0: b", r't.yaml:2: the key "1.0" a second time'),
        ("a:\n\tb: 1", r"t.yaml:2: a tab"),
        ("a: 1\n\tb: 1", r"t.yaml:2: a tab"),
        ("a: [1, 2\nb: 3", r"t.yaml:\d: this is not valid YAML"),
        ("a: b: c", r't.yaml:1: this is not valid YAML: a second ":"'),
        ("a: 'x", "a quote or bracket that is never closed"),
        ("a: *b", r"t.yaml:1: \*b. Expected &b with a whole value above it"),
        ("a: &a [*a]", r"t.yaml:1: \*a"),
        ("null: 1", "the key null. Expected text or a number as a key"),
        ("? [1]\n: 2", "a list or mapping as a key"),
        ("x: !!python/object:os.system ls", "the tag tag:yaml.org,2002:python/object:os.system"),
        ("x: !!str 5", "the tag"),
        ("x: !mine {}", "the tag"),
        ("x: 1\n---\ny: 2", r"t.yaml:2: a second document"),
        ("", "the file is empty"),
        ("# only a comment\n", "the file is empty"),
        ("---\n", "the file is empty"),
        ("x: \x01", "characters that no text file holds"),
        ("- " * (MAX_DEPTH + 1) + "x", f"more than {MAX_DEPTH} levels of nesting"),
        ("[" * 100_000, f"more than {MAX_DEPTH} levels of nesting"),
    ],
)
def test_bad_files_are_refused_with_their_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_yaml(text, "t.yaml")


def test_an_alias_bomb_is_refused_at_once() -> None:
    names = "abcdefghi"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]" for old, new in zip(names, names[1:], strict=False)]
    with pytest.raises(InputError, match="more than 1,000,000 values once aliases are expanded"):
        read_yaml("\n".join(lines), "t.yaml")


def test_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(b"a: 1\nb: \xff\xfe\n")
    with pytest.raises(InputError, match=r"f.yaml:2: bytes that are not UTF-8"):
        read_yaml_file(path)
    path.write_bytes(b"a: \0\n")
    with pytest.raises(InputError, match="binary data"):
        read_yaml_file(path)
    path.write_bytes(b" " * (MAX_BYTES + 1))
    with pytest.raises(InputError, match=r"20 MB. Expected at most 20 MB"):
        read_yaml_file(path)
    with pytest.raises(InputError, match="this is a folder"):
        read_yaml_file(tmp_path)
    with pytest.raises(InputError, match="there is no such file"):
        read_yaml_file(tmp_path / "none.yaml")


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_yaml_file(path).data == {"a": 1}


def test_one_value_as_written_on_the_command_line() -> None:
    assert read_value("2e8", "") == 2e8
    assert read_value("[bf16, fp8]", "") == ["bf16", "fp8"]
    assert read_value("{a: off}", "") == {"a": "off"}
    assert read_value("20e6 JPY", "") == "20e6 JPY"
    assert read_value("", "") is None


_text = st.text(st.characters(max_codepoint=0xD7FF))  # JSON writes higher ones as pairs, which YAML does not know
_key = _text.map(lambda text: text[:80])
"""YAML 1.2 allows a key of at most 1,024 characters on one line; escaped, one character may take twelve."""

_plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_key, inner, max_size=4),
    max_leaves=12,
)


@given(_plain)
def test_json_reads_back_as_it_was_written(data: object) -> None:
    assert read_yaml(json.dumps([data]), "t.yaml").data == [data]


@given(st.text(alphabet=st.sampled_from("ab1.: -[]{}#&*!|>'\"%@`,?\n\t~e")) | st.text())
def test_any_text_is_read_or_refused_never_worse(text: str) -> None:
    with contextlib.suppress(InputError):
        assert () in read_yaml(text, "t.yaml").marks
