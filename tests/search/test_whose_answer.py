"""Whose answer it is: what is said if the best match is about others than the one named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memstore import Memory, Store

QUERY = "Where does Ana work?"

FACTS = [
    ("Ana", "prefers green tea"),
    ("Ana", "was born in Madrid"),
    ("Ben", "works at the harbour"),
]


@pytest.fixture
def store(open_store: Callable[..., Store]) -> Store:
    store = open_store()
    for subject, content in FACTS:
        store.add(content, subject=subject)
    return store


def about(store: Store, query: str, **asked: Any) -> str | None:
    found = store.search(query, **asked).about
    return None if found is None else str(found)


@pytest.mark.model
def test_a_search_says_that_its_answer_is_about_somebody_else(store: Store) -> None:
    found = store.search(QUERY).about
    assert found is not None
    assert (str(found), found.id) == ("about Ben, not Ana", 3)
    assert found.difference < -0.05
    assert found.to_dict().keys() == {"named", "other", "id", "difference"}


@pytest.mark.model
@pytest.mark.parametrize(
    "query",
    ["Where does Ben work?", "What does Ana prefer?", "who works", "Where do Ana and Ben work?"],
)
def test_nothing_is_said_of_the_one_named_or_of_two(store: Store, query: str) -> None:
    assert about(store, query) is None


@pytest.mark.model
def test_nothing_is_said_about_roles(open_store: Callable[..., Store]) -> None:
    store = open_store()
    store.add("prefers green tea", subject="Ana")
    store.add("works at the harbour", subject="user")
    assert about(store, QUERY) is None
    assert about(store, "What does the user prefer?") is None


@pytest.mark.model
def test_a_fact_about_both_is_no_answer_about_somebody_else(store: Store) -> None:
    store.add("was hired by Ana to work at the harbour", subject="Ben")
    store.delete(3)
    assert about(store, QUERY) is None


@pytest.mark.model
def test_nothing_is_said_if_the_best_match_is_not_among_the_hits(store: Store) -> None:
    first, *_ = store.search(QUERY)
    assert first.fact.id != 3
    assert about(store, QUERY, limit=1) is None
    assert about(store, QUERY, subject="Ana") is None
    assert about(store, QUERY, ranking="classic") is None


@pytest.mark.model
def test_a_name_known_in_another_namespace_alone_is_not_a_second_one(store: Store) -> None:
    store.within("other").add("sleeps", subject="Carl")
    query = "Does Ana work at the harbour with Carl?"
    assert about(store, query) == "about Ben, not Ana"
    store.add("sleeps", subject="Carl")
    assert about(store, query) is None


@pytest.mark.model
def test_turns_are_of_their_speakers(open_store: Callable[..., Store]) -> None:
    store = open_store()
    for speaker, content in [
        ("Ana", "green tea"),
        ("Ana", "born in Madrid"),
        ("Ben", "I work at the harbour"),
    ]:
        store.episodes.add(content, source="chat", thread="one", speaker=speaker)
    found = store.episodes.search(QUERY).about
    assert (str(found), found and found.id) == ("about Ben, not Ana", 3)
    text = store.recall(QUERY, max_tokens=200).text
    assert "e3 Ben: I work at the harbour\n(about Ben, not Ana)" in text


@pytest.mark.model
def test_a_recall_says_it_below_the_line_and_within_the_budget(store: Store) -> None:
    found = store.recall(QUERY, max_tokens=200)
    assert "#3 Ben: works at the harbour\n(about Ben, not Ana)" in found.text
    assert str(found.about) == "about Ben, not Ana"
    assert found.to_dict()["about"]["other"] == "Ben"
    for tokens in range(5, 60):
        found = store.recall(QUERY, max_tokens=tokens, counter=lambda text: len(text.split()))
        assert len(found.text.split()) <= tokens
        assert ("(about" in found.text) == (found.about is not None) == (3 in found.facts)


@pytest.mark.model
def test_a_reminder_and_a_view_say_it_too(store: Store) -> None:
    assert "(about Ben, not Ana)" in store.remind(QUERY).text
    view = store.as_of("op:3")
    assert str(view.search(QUERY).about) == "about Ben, not Ana"
    assert store.as_of("op:2").search(QUERY).about is None


@pytest.mark.model
def test_a_memory_says_it_too(open_store: Callable[..., Store]) -> None:
    store = open_store()
    for subject, content in FACTS:
        store.add(content, subject=subject, user_id="u")
    found = Memory(store).search(QUERY, user_id="u")
    assert str(found.about) == "about Ben, not Ana"
