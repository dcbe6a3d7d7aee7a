"""Cutting long text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore.text import chunks as module
from memstore.text.chunks import chunks

PROSE = st.text(alphabet=st.sampled_from("ab.!? \n\r。！é\u0301\u200d👩🏽🇩🇪,、"), max_size=300)


@given(st.one_of(st.text(), PROSE), st.integers(1, 50))
def test_joined_chunks_are_the_text(text: str, size: int) -> None:
    found = chunks(text, size)
    assert "".join(found) == text
    assert all(0 < len(piece) <= size for piece in found)


@given(st.one_of(st.text(), PROSE), st.integers(2, 50), st.data())
def test_overlapping_chunks_contain_every_character_in_order(
    text: str, size: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, size // 2))
    found = chunks(text, size, overlap)
    assert all(0 < len(piece) <= size for piece in found)
    reached = 0
    for piece in found:
        starts = range(max(0, reached - overlap), reached + 1)
        ends = [s + len(piece) for s in starts if text.startswith(piece, s)]
        assert ends
        assert max(ends) > reached
        reached = max(ends) if max(ends) <= len(text) else len(text)
    assert reached == len(text)


def test_a_short_text_is_one_chunk() -> None:
    assert chunks("Hello there.", 100) == ["Hello there."]
    assert chunks("", 100) == []


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        ("One two.\n\nThree four.\nFive.", 20, ["One two.\n\n", "Three four.\nFive."]),
        ("First line here\nsecond line", 20, ["First line here\n", "second line"]),
        ("It rained. We stayed home all day.", 16, ["It rained. ", "We stayed home ", "all day."]),
        ("今天下雨。我们在家。明天去公园。", 11, ["今天下雨。我们在家。", "明天去公园。"]),
        ("alpha beta gamma", 11, ["alpha beta ", "gamma"]),
    ],
)
def test_the_best_boundary_that_fits_is_chosen(text: str, size: int, expected: list[str]) -> None:
    assert chunks(text, size) == expected


@pytest.mark.parametrize(
    "cluster",
    [
        "e\u0301", "👩🏽", "👩\u200d👧", "🇩🇪", "👨\u200d👩\u200d👧\u200d👦", "1\ufe0f\u20e3",
        "\u1112\u1161\u11ab", "น้ำ", "ی\u200c",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    ],
)  # fmt: skip
def test_grapheme_clusters_are_not_split_if_they_fit(cluster: str) -> None:
    text = cluster * 20
    for size in range(len(cluster) + 1, 30):
        assert all(len(piece) % len(cluster) == 0 for piece in chunks(text, size))


def test_endless_combining_marks_are_split() -> None:
    assert "".join(chunks("a" + "\u0301" * 1000, 100)) == "a" + "\u0301" * 1000


def test_overlap_begins_at_a_word() -> None:
    first, second = chunks("alpha beta gamma delta", 18, 8)
    assert first == "alpha beta gamma "
    assert second == "gamma delta"


def test_text_without_boundaries_is_cut_anyway() -> None:
    assert [len(piece) for piece in chunks("x" * 1_000_001, 10_000)] == [10_000] * 100 + [1]


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-1, 0), (10, 6), (10, -1)])
def test_invalid_sizes_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match=r"max_characters|overlap"):
        chunks("text", size, overlap)


def naive_end(text: str, start: int, done: int, limit: int) -> int:
    """Return where a piece ends: all borders of a kind are listed, and the last one is taken."""
    if limit >= len(text):
        return len(text)
    least = max(done + 1, start + (limit - start) // 2)
    for border in module.BORDERS:
        found = re.compile(border).finditer(text, least - 1, limit)
        ends = [one.end() for one in found if one.end() >= least]
        if ends and not module._inside_cluster(text, ends[-1]):
            return ends[-1]
    place = limit
    while place > max(done + 1, limit - module.MAX_CLUSTER) and module._inside_cluster(text, place):
        place -= 1
    return limit if module._inside_cluster(text, place) else place


def naive_back(text: str, end: int, overlap: int, done: int) -> int:
    start = max(end - overlap, done)
    if start == end:
        return end
    space = next((i for i in range(start, end) if i and text[i - 1].isspace()), start)
    while space < end and module._inside_cluster(text, space):
        space += 1
    return space


@given(st.one_of(st.text(), PROSE), st.integers(2, 50), st.data())
def test_pieces_are_those_of_the_naive_twin(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size // 2))
    found, start, done = [], 0, 0
    while done < len(text):
        end = naive_end(text, start, done, start + size)
        found.append((start, end))
        start, done = naive_back(text, end, overlap, done), end
    assert module.spans(text, size, overlap) == found
