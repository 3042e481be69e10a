"""Terms and formats: both languages complete, closed lists named, numbers and dates by hand."""

from __future__ import annotations

import datetime as dt
import re
import string
from decimal import Decimal
from pathlib import Path
from typing import get_args

import pytest
from committee import committee, infeasible

import optimizer.report
from optimizer.cost.after import POLICIES
from optimizer.cost.items import INVOICED
from optimizer.errors import InternalError
from optimizer.io.library import Library
from optimizer.report.document import Value
from optimizer.report.language import CODES, Language, _file, terms
from optimizer.report.markdown import markdown
from optimizer.report.source import Source
from optimizer.report.views import report_of
from optimizer.report.views.values import Rewriting
from optimizer.results import LimitName, Status
from optimizer.schema.base import EvidenceLevel, OfferType
from optimizer.schema.price import PriceState

ROOM = Path(optimizer.report.__file__).parent
SOURCES = [path for path in sorted(ROOM.rglob("*")) if path.suffix in {".py", ".html", ".j2", ".js"}]
CLOSED = {
    "limit": get_args(LimitName),
    "status": get_args(Status),
    "evidence": [level.value for level in EvidenceLevel],
    "offer": [kind.value for kind in OfferType],
    "after_run": POLICIES,
    "item": [*INVOICED, "colocation", "energy", "residual", "after_run_value", "contingency", "line", "cost"],
    "price_state": [state.value for state in PriceState if state is not PriceState.PRICED],
    "kind": ["binding", "budgetary", "list", "contract"],
}


def slots(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("key", sorted(terms()))
def test_both_languages_say_the_same(key: str) -> None:
    words = terms()[key]
    assert words.en.strip()
    assert words.zh.strip()
    assert slots(words.en) == slots(words.zh)


@pytest.mark.parametrize("family", sorted(CLOSED))
def test_every_value_of_a_closed_list_has_a_name(family: str) -> None:
    assert not [word for word in CLOSED[family] if f"{family}.{word}" not in terms()]


def texts() -> list[str]:
    """Return the code and templates that use terms."""
    return [path.read_text(encoding="utf-8") for path in SOURCES]


def used() -> set[str]:
    """Return the ``section.key`` literals in the code and templates of reports."""
    sections = {key.split(".")[0] for key in terms()}
    found = {literal for text in texts() for literal in re.findall(r"""["']([a-z_]+\.[a-z0-9_]+)["']""", text)}
    files = {path.name for path in ROOM.rglob("*.*")}
    return {literal for literal in found - files if literal.split(".")[0] in sections}


def families() -> set[str]:
    """Return the sections whose keys are put together: ``f"limit.{name}"``, ``language.name("limit", …)``."""
    built = r"""f["']([a-z_]+)\.\{|\.name\(["']([a-z_]+)["'],|["']([a-z_]+)\.["'] ?~"""
    return {name for text in texts() for names in re.findall(built, text) for name in names if name}


def test_every_key_that_is_used_exists() -> None:
    assert used()
    assert not used() - set(terms())


def test_every_key_is_used() -> None:
    components = {"memory", "time"}  # of the engine; sections/hardware.py passes the section's name on
    unused = set(terms()) - used()
    assert not [key for key in sorted(unused) if key.split(".")[0] not in families() | components]
    heads = {key.split(".")[1] for key in terms() if key.startswith("book.")}
    assert not [
        head for head in sorted(heads) if not any(f'"{head}"' in text or f"book.{head}" in text for text in texts())
    ]


def test_an_unknown_key_and_an_empty_slot_are_bugs() -> None:
    with pytest.raises(InternalError, match=r"no\.such"):
        Language().text("no.such")
    with pytest.raises(InternalError, match=r"item\.line"):
        Language().text("item.line")


@pytest.mark.parametrize(
    ("code", "value", "currency", "headline", "table"),
    [
        ("en", "73013000", "USD", "73.0 M USD", "USD 73,013,000.00"),
        ("zh", "73013000", "USD", "7,301.3万美元", "USD 73,013,000.00"),
        ("zh", "99999960", "CNY", "1.00亿人民币", "CNY 99,999,960.00"),
        ("en", "999960000", "EUR", "1.00 B EUR", "EUR 999,960,000.00"),
        ("en", "1234567", "JPY", "1.2 M JPY", "JPY 1,234,567"),
        ("zh", "-45400000.005", "KWD", "-4,540.0万科威特第纳尔", "-KWD 45,400,000.005"),
        ("en", "9999", "USD", "9,999 USD", "USD 9,999.00"),
        ("zh", "9999", "USD", "9,999美元", "USD 9,999.00"),
    ],
)
def test_amounts_in_headlines_and_tables(code: str, value: str, currency: str, headline: str, table: str) -> None:
    language = Language(code)  # type: ignore[arg-type]
    assert language.headline(Decimal(value), currency) == headline
    assert language.money(Decimal(value), currency) == table


def test_dates_and_shares() -> None:
    day = dt.date(2026, 12, 15)
    assert [Language(code).date(day) for code in CODES] == ["2026-12-15", "2026年12月15日"]
    assert [Language(code).percent(Decimal("0.1234"), 1) for code in CODES] == ["12.3 %", "12.3%"]


def test_a_sentence_without_a_pattern_stays_as_it_is() -> None:
    assert Language("zh").phrase("something nobody foresaw") == "something nobody foresaw"
    assert Language("zh").phrase("quote a, offer b") == "报价 a，报价项 b"


def test_phrases_have_the_same_slots_in_both_languages() -> None:
    for words in _file().phrases:
        assert slots(words.en) == slots(words.zh), words.en


def sentences(source: Source) -> set[str]:
    """Return every sentence and unit of a plan that its report shows."""
    found: set[str] = set()

    def keep(value: Value) -> Value:
        found.update({str(value.value)} if value.kind == "sentence" else {value.unit})
        return value

    Rewriting(keep, lambda unit: unit, lambda command: command).of(report_of(source, Language("zh")).document)
    lines = source.plan.cost.lines if source.plan.cost else ()
    found.update(
        text for line in lines for factor in line.factors for text in (factor.name, factor.unit, factor.source)
    )
    return found


def test_every_sentence_of_a_plan_is_chinese_in_a_chinese_report() -> None:
    given = {"freight", "support", "pretrain", "tune", "evaluate"}  # names of the quotes and of the scenario
    told = sentences(committee()) | sentences(infeasible())
    assert len(told) > 100
    keys = {used.name for used in committee().plan.provenance.assumptions if " " not in used.name or ":" in used.name}
    english = {text for text in told if re.search("[a-z]{3}", text) and Language("zh").phrase(text) == text}
    assert english - keys <= given


def test_an_english_report_holds_no_chinese_words() -> None:
    text = markdown(report_of(committee(), Language()).document, Language())
    assert not re.search("[\u4e00-\u9fff]", text.replace("华新算力（虚构）", ""))


def test_the_reason_of_every_range_is_told_in_chinese_and_its_source_as_published() -> None:
    ranges = [known for _, known in Library.shipped().ranges]
    assert len(ranges) >= 15
    for known in ranges:
        text = Language("zh").phrase(known.origin)
        assert known.note not in text
        assert re.search("[\u4e00-\u9fff]", text)
        assert known.source is None or known.source.url in text
