"""Amounts written out in words, to check them against the figures."""

from __future__ import annotations

import re
from decimal import Decimal

_CHINESE_DIGITS = {
    char: value
    for value, chars in enumerate(
        ("零〇", "壹一", "贰二貳", "叁三參", "肆四", "伍五", "陆六陸", "柒七", "捌八", "玖九")
    )
    for char in chars
}
_CHINESE_SMALL = {"拾": 10, "十": 10, "佰": 100, "百": 100, "仟": 1000, "千": 1000}
_CHINESE_LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_CHINESE = re.compile("[零〇壹一贰二貳叁三參肆四伍五陆六陸柒七捌八玖九拾十佰百仟千万萬亿億]+")
_ENGLISH_SMALL = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
} | {
    word: 10 * value
    for value, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}
_ENGLISH_LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9}


def amount_in_words(text: str) -> Decimal | None:
    """Return the amount that Chinese or English number words in a text give; None when there are none.

    >>> amount_in_words("大写：壹亿叁仟叁佰伍拾叁万陆仟柒佰元整"), amount_in_words("one million two hundred and five thousand dollars")
    (Decimal('133536700'), Decimal('1205000'))
    """
    whole = _chinese(text) if _CHINESE.search(text) else None
    return whole if whole is not None else _english(text)


def _chinese(text: str) -> Decimal | None:
    body = re.sub(r"^.*[:：]", "", text)
    match = re.search(rf"({_CHINESE.pattern})(?:元|圆|圓)", body)
    if not match:
        return None
    cents = re.search(r"([^元圆角]{1})角", body), re.search(r"([^角元圆]{1})分", body)
    parts = [Decimal(_CHINESE_DIGITS.get(found[1], 0)) if found else Decimal(0) for found in cents]
    return Decimal(_chinese_whole(match[1])) + parts[0] / 10 + parts[1] / 100


def _chinese_whole(words: str) -> int:
    total = section = digit = 0
    for char in words:
        if char in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[char]
        elif char in _CHINESE_SMALL:
            section += (digit or 1) * _CHINESE_SMALL[char]
            digit = 0
        else:
            total = (
                (total + section + digit) * _CHINESE_LARGE[char]
                if _CHINESE_LARGE[char] > 10**4
                else (total + (section + digit) * _CHINESE_LARGE[char])
            )
            section = digit = 0
    return total + section + digit


def _english(text: str) -> Decimal | None:
    words = re.findall(r"[a-z]+", text.lower())
    total = section = 0
    seen = 0
    for word in words:
        if word in _ENGLISH_SMALL:
            section += _ENGLISH_SMALL[word]
        elif word == "hundred":
            section = (section or 1) * 100
        elif word in _ENGLISH_LARGE:
            total += (section or 1) * _ENGLISH_LARGE[word]
            section = 0
        else:
            continue
        seen += 1
    return Decimal(total + section) if seen > 1 else None
