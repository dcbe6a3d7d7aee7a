"""Whether a text has a name or a number, as far as its letters tell."""

from __future__ import annotations

import pytest

from memstore.text.utterances import has_name_or_number

COMMON = {"let", "show", "the", "mehr", "nurses"}


@pytest.mark.parametrize(
    "text",
    [
        "it takes 30 days",
        "Das dauert ३० Tage",
        "jobs run in Redis",
        "we call parseConfig for it",
        "Leonie hosts it",
        "By the way: Angular is out",
        "wir brauchen mehr Zeit",
        "каждый пишет Анне",
        "把装箱单导出",
        "リストを書き出す",
        "목록을 내보내기",
    ],
)
def test_a_digit_a_capital_or_a_script_without_case_may_be_a_name(text: str) -> None:
    assert has_name_or_number(text, COMMON.__contains__)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "let people export the list",
        "Let people export it. Show the list. Nurses land on the wrong page!",
        "I do not see that, and I looked",
        "Show it: the list",
        "mehr davon",
        "каждый пишет сам",
    ],
)
def test_what_begins_a_sentence_and_is_common_is_no_name(text: str) -> None:
    assert not has_name_or_number(text, COMMON.__contains__)
