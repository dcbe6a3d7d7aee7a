"""Which notes an answer has: of the facts of a search, and of what was said beside them."""

from __future__ import annotations

from typing import Any

import pytest

from memstore.domain import notes
from memstore.domain.episodes import Episode, EpisodeHit, EpisodeHits
from memstore.domain.notes import AboutOthers, LessRelevant, OnlyNewest, Provisional
from memstore.domain.records import Fact, SearchHit, SearchHits, unchecked
from memstore.domain.results import Respelt, WordsOnly
from memstore.errors import Reason
from memstore.telling.recall import Recalled

FACT = SearchHit(unchecked(Fact, {"id": 1}), 1.0, 1.0, 0.0, 1.0)
TURN = EpisodeHit(unchecked(Episode, {"id": 1}), 1.0, 1.0, None, 0, 1)
DOWN = WordsOnly("embedder_unavailable", Reason("nobody answers"))
TEA = Respelt("tee", "tea")
MILK = Respelt("mlik", "milk")
BEN = AboutOthers("ana", "ben", 1, -0.2)


def test_an_answer_without_remarks_has_no_notes() -> None:
    assert notes.of_search(SearchHits([FACT]), EpisodeHits([TURN])) == ()
    assert notes.of_episodes(EpisodeHits([TURN])) == ()
    assert notes.of_recall(Recalled(text="#1 tea")) == ()


def test_a_search_has_the_notes_of_its_facts() -> None:
    hits = SearchHits(
        [FACT], words_only=DOWN, hidden=3, provisional=True, about=BEN, respelt=(TEA,)
    )
    found = (DOWN, LessRelevant(3, is_all=False), TEA, Provisional(), BEN)
    assert notes.of_search(hits) == notes.of_search(hits, EpisodeHits()) == found


@pytest.mark.parametrize("is_first", [True, False])
def test_facts_and_turns_are_noted_together(is_first: bool) -> None:
    """Each spelling once, and the order is provisional if that of either is."""
    hits = SearchHits([FACT], respelt=(TEA,), provisional=is_first)
    said = EpisodeHits([TURN], respelt=(TEA, MILK), provisional=not is_first, hidden=2)
    assert notes.of_search(hits, said) == (TEA, MILK, Provisional())


@pytest.mark.parametrize(
    ("facts", "turns", "about"),
    [([FACT], [TURN], BEN), ([FACT], [], BEN), ([], [TURN], None), ([], [], None)],
)
def test_an_answer_is_about_whom_its_first_part_is_about(
    facts: list[Any], turns: list[Any], about: AboutOthers | None
) -> None:
    found = notes.of_search(SearchHits(facts, about=BEN), EpisodeHits(turns))
    assert found == (() if about is None else (about,))


@pytest.mark.parametrize(
    ("facts", "turns", "is_all"),
    [([FACT], [TURN], False), ([], [TURN], False), ([FACT], [], False), ([], [], True)],
)
def test_what_was_left_out_is_all_if_nothing_else_was_found(
    facts: list[Any], turns: list[Any], is_all: bool
) -> None:
    found = notes.of_search(SearchHits(facts, hidden=2), EpisodeHits(turns))
    assert found == (LessRelevant(2, is_all=is_all),)
    assert notes.hides_all(found) == notes.is_empty(found) == is_all


def test_a_recall_first_says_what_matters_most() -> None:
    told = Recalled(text="", words_only=DOWN, hidden=1, about=BEN, respelt=(TEA,), provisional=True)
    assert notes.of_recall(told) == (DOWN, Provisional(), BEN, TEA, LessRelevant(1, is_all=True))


def test_episodes_that_only_fill_an_answer_are_counted() -> None:
    hits = EpisodeHits([TURN], words_only=DOWN, newest_first=1)
    assert notes.of_episodes(hits) == (DOWN, OnlyNewest(1))
