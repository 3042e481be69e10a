"""The memo as Markdown, for a pull request or a mail; text of files is escaped and never becomes markup."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from optimizer.report.cells import Writer
from optimizer.report.document import Absent, Block, Cell, Column, Document, Facts, Table, Text
from optimizer.report.language import Language

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&$])")
_FIRST = re.compile(r"^([-+=#]|\d+(?=[.)]))")
_LINKED = re.compile(r"(://|www\.)", re.IGNORECASE)
_ISOLATE, _POP = "\u2068", "\u2069"
"""Unicode marks around text that runs from right to left, so that it does not turn its surroundings around."""


def escaped(text: str) -> str:
    r"""Return text of a file so that it is read as written: no markup, link, mention, or second line.

    >>> escaped("a|b <i>*x*</i>"), escaped("@team https://x.y")
    ('a\\|b \\<i\\>\\*x\\*\\</i\\>', '@<!-- -->team https:<!-- -->//x.y')
    """
    plain = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    plain = _LINKED.sub(lambda match: f"{match[1][0]}<!-- -->{match[1][1:]}", plain).replace("@", "@<!-- -->")
    turned = any(unicodedata.bidirectional(letter) in ("R", "AL", "RLE", "RLO", "RLI") for letter in text)
    return f"{_ISOLATE}{plain}{_POP}" if turned else plain


def code(text: str) -> str:
    """Return a command, path or checksum as code; a fence longer than any inside.

    >>> code("clusterbuy check"), code("a`b")
    ('`clusterbuy check`', '`` a`b ``')
    """
    plain = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)
    return f"{'`' * (longest + 1)} {plain} {'`' * (longest + 1)}" if longest else f"`{plain}`"


def markdown(document: Document, language: Language) -> str:
    """Return the memo of a document as Markdown with tables."""
    writer = Writer(language, name=escaped, code=code, figure=escaped)
    lines = [
        f"# {writer.text(document.name)}",
        "",
        f"{language.name('status', document.status)} · {writer.text(document.today)}",
        "",
    ]
    for text in document.warnings:
        lines += [*_block(text, writer), ""]
    for section in document.memo:
        lines += [f"## {language.text(section.title)}", ""]
        for block in section.blocks:
            lines += [*_block(block, writer), ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n") + "\n"


def _block(block: Block, writer: Writer) -> Iterable[str]:
    if isinstance(block, Text):
        return [_paragraph(writer.text(block.body), block.role)]
    if isinstance(block, Facts):
        return [f"- **{writer.language.text(label)}**: {writer.text(cell)}" for label, cell in block.rows]
    if isinstance(block, Absent):
        return [f"*{writer.language.text(block.what)}* {code(block.command)}"]
    return _table(block, writer) if isinstance(block, Table) else ()


def _paragraph(text: str, role: str) -> str:
    text = _FIRST.sub(lambda match: f"{match[1]}\\" if match[1].isdigit() else f"\\{match[1]}", text)
    return {"lead": f"**{text}**", "warning": f"> {text}"}.get(role, text)


def _table(table: Table, writer: Writer) -> Iterator[str]:
    yield f"*{writer.language.text(table.title)}*"
    yield ""
    yield _row([writer.head(column) for column in table.columns])
    yield _row(["---:" if column.figure else "---" for column in table.columns])
    for row in table.rows:
        yield _row(_cells(row, table.columns, writer))
    if table.foot:
        yield _row([f"**{text}**" if text else "" for text in _cells(table.foot, table.columns, writer)])
    if table.note is not None:
        yield ""
        yield writer.text(table.note)


def _cells(row: Sequence[Cell], columns: Sequence[Column], writer: Writer) -> list[str]:
    return [_inside(writer.text(cell, column.unit)) for cell, column in zip(row, columns, strict=True)]


def _inside(text: str) -> str:
    """Return text for a table: a bar that code holds would end the cell."""
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
