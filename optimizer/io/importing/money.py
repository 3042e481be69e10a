"""Prices as vendors write them: an amount, a word in its place, or several readings; never a guess.

$(25,000.00)      priced, -25000 USD (a bare $ stays "$" until the file says which dollar)
Call for price    on_request          ~$3.1M est.       estimate
from $443,278     lower_bound         $9,800-$11,200    range
1.234             ambiguous: 1.234 or 1234, unless the file's other numbers show a style
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache
from itertools import product

from optimizer.io.importing.numbers import choose, plain, readings
from optimizer.io.importing.vocabulary import currency_of, currency_prose, meaning, multiplier, words_of
from optimizer.schema.base import MAX_MAGNITUDE
from optimizer.schema.price import PriceState

MAX_PRICE_TEXT = 200
"""Longest text read as a price; longer ones are sentences."""

_NUMBER = re.compile(r"[.,]?\d(?:[\d.,' ]*\d)?(?:e[-+]?\d+)?(?:[.,](?:--?|–|—)(?!\d))?")
_BASIS = re.compile(r"\s*(?:/|\bper\b|\bpro\b|\beach\b|\bje\b|每)")
_NOTE = re.compile(r"\(([^()]*[a-z\u3040-\u9fff][^()]*)\)|（([^（）]*)）")
_RANGE = re.compile(r"(?<=[\d\w元円%])\s*(?:-|–|—|~|\bto\b|\bbis\b|至|到)\s*(?=[^\s\d]{0,4}\s?[\d(])")
_CODE = re.compile(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")
_OR = re.compile(r"\s+(?:or|oder|ou|或)\s+|\s*\|\s*")


@dataclass(frozen=True, slots=True)
class Price:
    """What a price cell says.

    Attributes:
        state: Priced, or why it is not a number.
        amount: In major units; of an estimate or lower bound its figure.
        currency: ISO 4217 code, ``$`` or ``¥`` where only the symbol stands there, empty when none.
        low: Lower end of a range.
        high: Upper end of a range.
        options: Every reading of an ambiguous price, as text.
        basis: Words after ``per``.
        note: Words in brackets.
        scaled: True when the cell names its own unit (万, k, 元), so that a unit of the sheet does not apply.
        codes: Codes of what was assumed or noticed.
    """

    state: PriceState
    amount: Decimal | None = None
    currency: str = ""
    low: Decimal | None = None
    high: Decimal | None = None
    options: tuple[str, ...] = ()
    basis: str = ""
    note: str = ""
    scaled: bool = False
    codes: tuple[str, ...] = ()


MISSING = Price(PriceState.MISSING)


@lru_cache(maxsize=65536)
def read_price(text: str, mark: str = "") -> Price:
    """Read the text of a price cell.

    Args:
        text: The cell.
        mark: Decimal mark of the file; empty when its numbers show none.

    >>> price = read_price("CHF 443'278.00")
    >>> price.state.value, str(price.amount), price.currency
    ('priced', '443278.00', 'CHF')
    >>> read_price("1.234").options, read_price("1.234", ".").amount
    (('1.234', '1234'), Decimal('1.234'))
    >>> read_price("POA").state.value, read_price("-").state.value, read_price("").state.value
    ('on_request', 'ambiguous', 'missing')
    """
    words = plain(text)
    if not words:
        return MISSING
    if len(words) > MAX_PRICE_TEXT:
        return Price(PriceState.MALFORMED)
    if state := meaning("states", words):
        return _stated(PriceState(state))
    if not any(char.isdigit() for char in words):
        return _stated_with_note(words)
    if len(options := _OR.split(words)) > 1:
        return _alternatives(options, mark)
    return _amount(words, mark)


def _stated(state: PriceState) -> Price:
    if state is PriceState.AMBIGUOUS:
        return Price(state, options=("no_bid", "missing", "free"))
    return Price(state, amount=Decimal(0) if state.is_zero else None)


def _stated_with_note(words: str) -> Price:
    """Return the state of ``included (see line 1)`` or ``call, 2 weeks``; words that mean nothing are malformed."""
    bare = _NOTE.sub(" ", words).strip()
    first = re.split(r"[,;:]", bare)[0].strip()
    state = meaning("states", bare) or meaning("states", first)
    note = "; ".join(a or b for a, b in _NOTE.findall(words))
    return replace(_stated(PriceState(state)), note=note) if state else Price(PriceState.MALFORMED)


def _alternatives(options: list[str], mark: str) -> Price:
    """Return ``Rs. 1000 or USD 16`` as ambiguous with each reading."""
    prices = [_amount(option, mark) for option in options]
    if any(price.amount is None for price in prices):
        return Price(PriceState.MALFORMED)
    said = tuple(f"{price.amount} {price.currency}".strip() for price in prices)
    return Price(PriceState.AMBIGUOUS, options=said, codes=("alternatives",))


def _amount(words: str, mark: str) -> Price:
    words, basis = _cut_basis(words)
    notes = [first or second for first, second in _NOTE.findall(words)]
    words = _NOTE.sub(" ", words).strip()
    words, state = _qualified(words)
    halves = _RANGE.split(words)
    found = _range(halves, mark) if len(halves) == 2 else None
    price = found or _single(words, mark)
    if price.state is PriceState.PRICED and state is not PriceState.PRICED:
        price = replace(price, state=state)
    return replace(price, basis=basis, note="; ".join(notes))


def _cut_basis(words: str) -> tuple[str, str]:
    """Split ``31.40/node (8 gpu)`` into amount and basis; the amount keeps at least its first digits."""
    first = re.search(r"\d", words)
    match = _BASIS.search(words, first.end() if first else 0)
    if not match:
        return words, ""
    return words[: match.start()].strip(), words[match.end() :].strip() or match[0].strip()


def _qualified(words: str) -> tuple[str, PriceState]:
    """Cut words such as ``~``, ``est.`` or ``from`` off both ends and return the state they give."""
    for state in (PriceState.ESTIMATE, PriceState.LOWER_BOUND):
        before, after = _qualifiers(state.value)
        bare = before.sub("", after.sub("", words))
        if bare != words:
            return bare.strip(), state
    if words.endswith("+") and words[-2:-1].isdigit():
        return words[:-1], PriceState.LOWER_BOUND
    return words, PriceState.PRICED


@cache
def _qualifiers(state: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    some = "|".join(words_of("qualifiers", state))
    return re.compile(rf"^(?:(?:{some})[\s:]*)+(?=[^a-z]|[a-z]{{2,4}}\b)"), re.compile(rf"\s*(?:(?:{some})\s*)+$")


def _range(halves: list[str], mark: str) -> Price | None:
    """Return ``9,800 - 11,200`` as a range; None when the halves are no two amounts in order."""
    low, high = (_single(half, mark) for half in halves)
    if low.state is PriceState.MALFORMED or high.state is PriceState.MALFORMED:
        return None
    if low.amount is None or high.amount is None:
        options = tuple(f"{a}-{b}" for a, b in product(low.options or (low.amount,), high.options or (high.amount,)))
        return Price(PriceState.AMBIGUOUS, options=options)
    factor = high.amount / low.amount if low.amount else Decimal(0)
    if factor < 1 or (low.currency and high.currency and low.currency != high.currency):
        return None
    currency = low.currency or high.currency
    return Price(
        PriceState.RANGE, low=low.amount, high=high.amount, currency=currency, scaled=low.scaled or high.scaled
    )


def _single(words: str, mark: str) -> Price:
    """Read one amount with its sign, currency and multiplier; malformed when anything is left over."""
    words, negative, noticed = _sign(words.strip())
    spans = list(_NUMBER.finditer(words))
    if len(spans) != 1:
        return Price(PriceState.MALFORMED)
    span = spans[0]
    before = _affix(words[: span.start()])
    after = _affix(words[span.end() :])
    if before is None or after is None or (before[0] and after[0] and before[0] != after[0]) or before[1] != 1:
        return Price(PriceState.MALFORMED)
    currency = before[0] or after[0]
    found = choose(readings(span[0]), mark or _mark_of(currency, before[0], span[0]))
    values = [reading.value * after[1] * (-1 if negative else 1) for reading in found]
    if not values or max(map(abs, values)) > MAX_MAGNITUDE:
        return Price(PriceState.MALFORMED, currency=currency)
    if len(values) > 1:
        options = tuple(f"{value:f}" for value in sorted(values))
        return Price(PriceState.AMBIGUOUS, currency=currency, options=options)
    noticed += ("exponent",) if "e" in span[0] else ()
    noticed += ("decimal_comma",) if found[0].mark == "," and mark != "," else ()
    own_unit = after[1] != 1 or after[2]
    return Price(PriceState.PRICED, values[0], currency, scaled=own_unit, codes=noticed)


def _mark_of(currency: str, before: str, number: str) -> str:
    """Return ``.`` for ``$443,278``: three decimals are no dollars, and no dollar country writes a decimal comma so."""
    return "." if before in ("$", "USD") and currency == before and "." not in number else ""


def _sign(words: str) -> tuple[str, bool, tuple[str, ...]]:
    """Return the words without sign or brackets, whether they are negative, and what was noticed."""
    if match := re.fullmatch(r"([^\d()]*)\(\s*([^()]*\d[^()]*)\)\s*([^\d()]*)", words):
        return "".join(match.groups()), True, ("brackets_negative",)
    if match := re.fullmatch(r"([^\d-]*)-\s*([^\d]*[.,]?\d.*)", words):
        return match[1] + match[2], True, ()
    if match := re.fullmatch(r"(.*\d)\s*(?:-|cr\.?)", words):
        return match[1], True, ("trailing_minus",)
    return words.replace("+", "", 1) if words.startswith("+") else words, False, ()


@lru_cache(maxsize=4096)
def _affix(words: str) -> tuple[str, Decimal, bool] | None:
    """Return (currency, factor, names 元 or 円) of the words on one side of a number; None when they mean more."""
    rest = words.strip(" :;*")
    factor = Decimal(1)
    match = re.match(r"[a-z]+\.?|[\u4e00-\u9fff]{1,2}", rest)
    for length in range(len(match[0]) if match else 0, 0, -1):
        found = multiplier(rest[:length].rstrip(".")) if _ends_word(rest, length) else None
        if found:
            factor, rest = found, rest[length:].strip(" .")
            break
    if not rest:
        return "", factor, False
    parts = {currency_of(part) for part in rest.split()}
    joined = currency_of(rest)
    if joined is None and (None in parts or len(parts - {"$", "¥"}) > 1):
        return None
    named = joined or next(iter(parts - {"$", "¥"}), None) or next(iter(parts))
    return named or "", factor, any(char in rest for char in "元円圆")


def _ends_word(rest: str, length: int) -> bool:
    """True when a multiplier of so many letters is a word of its own."""
    following = rest[length : length + 1]
    return not (rest[length - 1].isascii() and following.isascii() and following.isalpha())


@lru_cache(maxsize=4096)
def currencies_in(text: str) -> frozenset[str]:
    """Return every currency named in some text: ISO 4217 codes, and ``$`` or ``¥`` where only the symbol stands.

    >>> sorted(currencies_in("Sum in USD, or 2.6M ¥"))
    ['USD', '¥']
    """
    named = {currency_of(match[0]) for match in currency_prose().finditer(plain(text))}
    spelled = {currency_of(code.casefold()) for code in _CODE.findall(text)}
    return frozenset(code for code in named | spelled if code)
