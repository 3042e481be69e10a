"""The memo as Markdown, read by a parser: names stay names."""

from __future__ import annotations

import re

from committee import HOSTILE, committee
from markdown_it import MarkdownIt
from markdown_it.token import Token

from optimizer.report.language import Language
from optimizer.report.markdown import escaped, markdown
from optimizer.report.views import report_of


def tokens(text: str) -> list[Token]:
    found = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable(["table", "strikethrough"]).parse(text)
    return [child for token in found for child in (token, *(token.children or ()))]


def shown(text: str) -> str:
    """Return what a reader sees of one line."""
    return "".join(token.content for token in tokens(text) if token.type in ("text", "code_inline", "text_special"))


def test_names_are_shown_as_text() -> None:
    text = markdown(report_of(committee(hostile=True), Language()).document, Language())
    kinds = {token.type for token in tokens(text)}
    assert not kinds & {"link_open", "image", "html_block", "em_open_by_name", "s_open"}
    html = {token.content for token in tokens(text) if token.type == "html_inline"}
    assert html <= {"<!-- -->"}
    seen = re.sub(r"[\u2068\u2069]", "", "\n".join(shown(line) for line in text.splitlines()))
    for name in HOSTILE.values():
        assert " ".join(name.split()) in seen, name


def test_every_line_of_a_table_has_as_many_cells_as_its_head() -> None:
    text = markdown(report_of(committee(hostile=True), Language("zh")).document, Language("zh"))
    tables = [token for token in MarkdownIt("commonmark").enable("table").parse(text) if token.type == "tr_open"]
    assert len(tables) > 30
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        counts = {len(re.split(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(counts) == 1


def test_escaping_can_be_undone_by_reading() -> None:
    for name in (*HOSTILE.values(), "a\\|b", "1. first", "# head", "x\n\ny", "&amp; <!-- -->", "~~no~~", "www.x.y"):
        read = re.sub(r"[\u2068\u2069]", "", shown(escaped(name)))
        assert read == " ".join(name.split()) or name.startswith(("1.", "#")), name
