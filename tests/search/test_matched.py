"""The words of a hit that match the query: those that the full-text index finds."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

from memstore import Matched, Span, Store
from memstore.database.sqlite import full_text, marked
from memstore.text import spans, words


def shown(store: Store, query: str) -> list[str]:
    """Return the best hit's words that match, first those of its content."""
    fact, matched = (hit := store.search(query, matched=True)[0]).fact, hit.matched
    assert matched is not None
    pairs = ((fact.content, matched.content), (fact.subject, matched.subject))
    return [text[span.start : span.stop] for text, some in pairs for span in some]


@pytest.mark.parametrize(
    ("content", "query", "right"),
    [
        ("Ana prefers dark mode", "does ana prefer dark modes?", "Ana prefers dark mode".split()),
        ("Café Zoë opened", "cafe zoe opening", ["Café", "Zoë", "opened"]),
        ("die Straße ist lang", "strasse", ["Straße"]),
        ("东京的天气很好", "天气", ["天气"]),
        ("用Python写的程序", "python 程序", ["Python", "程序"]),
        ("ｆｕｌｌ ｗｉｄｔｈｓ here", "full width", ["ｆｕｌｌ", "ｗｉｄｔｈｓ"]),
        ("ｶﾞﾗｽの器", "ガラス", ["ｶﾞﾗｽ"]),
        ("สวัสดีครับ", "สวัสดี", ["สวัสดี"]),
        ("日，本 is split", "日本", ["日，本"]),
        ("see -> there -> now", "->", ["->", "->"]),
        ("bare \x02o marks \x02c here", "marks here", ["marks", "here"]),
    ],
)  # fmt: skip
def test_matching_words_are_shown(
    open_store: Callable[..., Store], content: str, query: str, right: list[str]
) -> None:
    store = open_store(embedder=None)
    store.add(content, subject="x")
    assert shown(store, query) == right


def test_matching_words_of_the_subject_are_shown(store: Store) -> None:
    store.add("likes tea", subject="Ana Müller")
    (hit,) = store.search("mueller muller tea", matched=True)
    assert hit.matched == Matched((Span(6, 9),), (Span(4, 10),))
    assert store.search("tea")[0].matched is None


def test_a_fact_found_by_its_meaning_alone_has_no_matching_words(store: Store) -> None:
    store.add("red", subject="x")
    (hit,) = store.search("red", matched=True, word_weight=0)
    assert hit.matched == Matched((Span(0, 3),), ())
    (hit,) = store.as_of("now").search("x red", matched=True)
    assert hit.matched == Matched((Span(0, 3),), (Span(0, 1),))


WORDS = st.sampled_from(
    "tea teas Tea téa milk Milky harbour harbours the of running ran run Ærø aero 3.11 x".split()
)


@settings(max_examples=examples(60))
@given(st.lists(WORDS, min_size=1, max_size=8), st.lists(WORDS, min_size=1, max_size=4))
def test_each_word_matches_as_a_fact_of_that_word_alone_does(
    fresh: Callable[[], Store], content: list[str], query: list[str]
) -> None:
    store, asked = fresh(), " ".join(query)
    fact = store.add(" ".join(content), subject="-")
    alone = {part: fresh() for word in content for part in re.findall(r"[^\W_]+", word)}
    for part, other in alone.items():
        other.add(part, subject="-")
    right = [
        part[0]
        for part in re.finditer(r"[^\W_]+", fact.content)
        if alone[part[0]].search(asked, min_relevance=None)
    ]
    hits = store.search(asked, matched=True)
    found = hits[0].matched.content if hits and hits[0].matched else ()
    assert [fact.content[span.start : span.stop] for span in found] == right


CHARACTERS = st.text(
    st.one_of(
        st.sampled_from("ab用写ーガｶﾞが\u3099\u0301\uff50\uff59한\u1112\u1161\u11abกำ，- é"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=12,
)


@settings(max_examples=examples(300))
@given(CHARACTERS)
@example("e\u0301用\uff76\uff9e")
def test_segments_are_placed_where_they_come_from(text: str) -> None:
    placed = spans.placed_segments(text)
    assert (" ".join(one.text for one in placed) or None) == words.segments(text)
    for one in placed:
        part = unicodedata.normalize("NFKC", text[one.start : one.stop])
        assert one.text in words.split(part) or words.has_unspaced(one.text) or one.text in part
    starts = [one.start for one in placed]
    assert starts == sorted(starts)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 5))))
def test_merged_spans_cover_the_same_characters(given_: list[tuple[int, int]]) -> None:
    every = [(start, start + length) for start, length in given_]
    found = spans.merged(every)
    covered = {at for start, stop in every for at in range(start, stop)}
    assert {at for start, stop in found for at in range(start, stop)} == covered
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(found))


@given(
    st.lists(
        st.sampled_from(
            [
                "harbour",
                "Harbour's",
                "harbours",
                "straße",
                "café",
                "東京",
                "tea_time",
                "e\u0301 ",
                " ",
                ",",
            ]
        ),
        max_size=60,
    ),
    st.sampled_from(["harbour", "harbours tea", "cafe 東京", "strasse", "nothing"]),
)
def test_places_in_a_long_text_are_those_of_one_piece(some: list[str], query: str) -> None:
    """FTS5 marks a short text as a whole, and that is the naive twin."""
    text = " ".join(some)
    whole = marked.places(query, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(full_text, "MAX_HIGHLIGHTED", 30)
        assert marked.places(query, text) == whole
