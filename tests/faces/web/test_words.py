"""Texts for the eye: word diffs and marks."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from memstore.faces.web.words import Stretch, changed_words, marked
from memstore.text.marking import MAX_WORDS


def test_changed_words_are_told_apart() -> None:
    old, new = changed_words("It runs on version 15", "It now runs on version 17")
    assert [one for one in old if one.kind == "old"] == [Stretch("old", "15")]
    assert [one.text.strip() for one in new if one.kind == "new"] == ["now", "17"]


def _words(texts: Iterable[str]) -> str:
    """Return texts without blanks and capitals, in which two of the same words may differ."""
    return "".join("".join(texts).casefold().split())


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_diff_keeps_both_texts(a: str, b: str) -> None:
    old, new = changed_words(a, b)
    assert "".join(one.text for one in old) == a
    assert "".join(one.text for one in new) == b
    same = [_words(one.text for one in side if one.kind == "same") for side in (old, new)]
    assert same[0] == same[1]


def test_long_texts_are_replaced_whole() -> None:
    old, new = changed_words("a " * MAX_WORDS, "b")
    assert [one.kind for one in (*old, *new)] == ["old", "new"]


@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=5),
)
def test_marks_keep_the_text(text: str, spans: list[tuple[int, int]]) -> None:
    parts = marked(text, spans)
    assert "".join(one.text for one in parts) == text
    wanted = {at for start, stop in spans for at in range(start, stop) if at < len(text)}
    place, found = 0, set()
    for one in parts:
        if one.kind == "marked":
            found |= {*range(place, place + len(one.text))}
        place += len(one.text)
    assert found == wanted
