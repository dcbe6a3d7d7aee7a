"""Which characters are spelt out: those that nobody sees, except where they are needed."""

from __future__ import annotations

import sys
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore.faces.web import words
from memstore.text import escaping, marking
from memstore.text.escaping import HIDDEN, visible

OTHER_DEFAULT_IGNORABLE = [
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0),
    *range(0xFFF0, 0xFFF9),
    *range(0xE0000, 0xE1000),
]
"""Of PropList.txt; with formats and variation selectors, they make Default_Ignorable_Code_Point."""

VARIATION_SELECTORS = [*range(0x180B, 0x180E), 0x180F, *range(0xFE00, 0xFE10)]

SHOWN_FORMATS = [
    *range(0x0600, 0x0606),
    *(0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD),
    *range(0x13430, 0x13440),
]
"""Formats that are signs: those before Arabic numbers, and those that arrange hieroglyphs."""

FORMATS = [
    code
    for code in range(sys.maxunicode + 1)
    if unicodedata.category(chr(code)) in ("Cf", "Zl", "Zp")
]


def test_every_character_that_unicode_says_is_not_seen_is_spelt_out() -> None:
    unseen = {*OTHER_DEFAULT_IGNORABLE, *VARIATION_SELECTORS, *FORMATS} - {*SHOWN_FORMATS}
    for code in unseen:
        assert visible(f"a{chr(code)}b").isascii(), hex(code)


def test_a_character_that_is_seen_is_shown() -> None:
    controls = {*range(32), *range(0x7F, 0xA0), *range(0xD800, 0xE000)}
    unseen = {*OTHER_DEFAULT_IGNORABLE, *VARIATION_SELECTORS, *FORMATS} - {*SHOWN_FORMATS}
    blank = {0x2800, 0x1D159, 0x16FE4}
    named = {0x180E, *range(0xFFF9, 0xFFFC)}
    for code in {*range(sys.maxunicode + 1)} - controls - unseen - blank - named:
        text = f"a{chr(code)}b"
        assert visible(text) == text, hex(code)


TAGGED = {
    region: "\U0001f3f4" + "".join(chr(0xE0000 + ord(one)) for one in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls", "usca", "hello", "gb")
}


@pytest.mark.parametrize(
    "text",
    [
        *(
            "👩\u200d🚀",
            "❤\ufe0f\u200d🔥",
            "🏳\ufe0f\u200d🌈",
            "🏴\u200d☠\ufe0f",
            "👁\ufe0f\u200d🗨\ufe0f",
        ),
        *(
            "👩🏽\u200d🤝\u200d👨🏿",
            "🙂\u200d↔\ufe0f",
            "1\ufe0f\u20e3",
            "#\ufe0f\u20e3",
            "☎\ufe0e",
            "©\ufe0f",
        ),
        *(TAGGED["gbeng"], TAGGED["gbsct"], f"a{TAGGED['gbwls']}b"),
        *("می\u200cخواهم", "کتاب\u200cها", "ه\u200d.", "خانهٔ\u200cما"),  # Persian
        *(
            "क\u094d\u200dष",
            "क\u094d\u200cष",
            "ന\u0d4d\u200d",
            "র\u200d\u09cdয",
            "ශ\u0dca\u200dර\u0dd3",
        ),
        *("ភាសា\u200bខ្មែរ", "ภาษา\u200bไทย", "မြန်မာ\u200bစာ"),
        *("ᠮᠣᠩᠭᠣᠯ\u180b", "ᠬᠠᠷ\u180eᠠ", "ᄀ\u1160", "\u115fᅡ", "⠓⠑⠀⠺"),
        *("שלום עולם", "مرحبا بالعالم", "naïve Ünïcödé", "緑茶", "한국어", "e\u0301"),
    ],
)
def test_what_is_needed_to_read_a_text_stays(text: str) -> None:
    assert visible(text) == text
    assert visible(f"before {text} after") == f"before {text} after"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "a\u200db",
            "a\u200cb",
            "a\u200bb",
            "😀\u200db",
            "a\u200d😀",
            "x\ufe0f\u200d😀",
            "1\ufe0f",
            "a\ufe0f",
        ),
        *(
            "❤\ufe0f\ufe0f",
            "م\u200c\u200dم",
            "م\u200c\u200c",
            "\u200cم",
            "ก\u200b\u200bก",
            "a\u200bก",
        ),
        *(TAGGED["usca"], TAGGED["hello"], TAGGED["gb"], TAGGED["gbeng"][:-1], TAGGED["gbeng"][1:]),
        *("🏳" + TAGGED["gbeng"][1:], TAGGED["gbeng"] + "\U000e0041", "葛\U000e0100", "∩\ufe00"),
        *(
            "a\u2800b",
            "\u2800",
            "a\u1160b",
            "a\u115fb",
            "a\u3164b",
            "co\u00adop",
            "\u180ba",
            "ש\u200f",
        ),
    ],
)
def test_what_is_not_needed_is_spelt_out(text: str) -> None:
    assert visible(text) != text
    assert HIDDEN.search(visible(text)) is None
    assert HIDDEN.search(text) is not None


UNSEEN_SAMPLES = (
    "\u00ad\u034f\u115f\u1160\u180b\u180e\u200b\u200c\u200d\u200f\u2060\u2800\ufe0e\ufe0f"
)
MIXED = st.text(
    UNSEEN_SAMPLES + TAGGED["gbeng"] + TAGGED["hello"] + "ab 1#😀❤♂🏽مکकക\u094dก緑ᠮᅡᄀ⠓\u20e3\n\t",
    max_size=30,
)


@given(MIXED)
def test_what_was_spelt_out_needs_no_more_spelling(text: str) -> None:
    shown = visible(text)
    assert HIDDEN.search(shown) is None
    assert visible(shown) == shown


@given(MIXED)
def test_no_two_of_what_stays_follow_one_another(text: str) -> None:
    """So nothing can be written with them: a flag's tags are those of the flag."""
    left = visible(text)
    for flag in escaping.FLAGS:
        left = left.replace(flag, "")
    beside = [one for one in left if escaping.JOINER.match(one)]
    # A selector may stand before a joiner.
    pairs = [f"{a}{b}" for a, b in pairwise(left) if a in beside and b in beside]
    assert {*pairs} <= {"\ufe0f\u200d"}


def test_a_marked_text_is_not_cut_before_a_joiner() -> None:
    text = "می\u200cخواهم چای"
    cut = words.marked(text, [(0, 2)])
    assert [one.kind for one in cut] == ["marked", "same"]
    assert all(visible(one.text) == one.text for one in cut)
    for old, new in (("من 👩\u200d🚀", "من 👩\u200d🔬"), (text, "نمی\u200cخواهم چای")):
        for parts in marking.marked(old, new):
            assert all(visible(part) == part for part, _ in parts)
            assert any(changed for _, changed in parts)
