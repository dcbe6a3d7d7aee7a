"""What was stored or found, with its notes, as every face gets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.support.embedders import WordEmbedder

import memstore
from memstore import NewFact, Scope, Store
from memstore.domain import notes
from memstore.domain.notes import (
    AsOf,
    Duplicate,
    LessRelevant,
    Near,
    NothingFound,
    NothingStored,
    OtherNamespaces,
    OthersHold,
    PartOf,
    Pending,
    Proposed,
    Superseded,
    WordsOnly,
)
from memstore.domain.queries import FactRecall, FactSearch
from memstore.providers.local import LocalEmbedder
from memstore.store import answers
from memstore.store.answers import StoredFact

ANA = Scope(user_id="ana")


@pytest.fixture
def words(open_store: Callable[..., Store]) -> Store:
    return open_store(embedder=None)


def stored(store: Store, content: str, **given: Any) -> StoredFact:
    [one] = answers.store_facts(store, [NewFact(content=content, subject="ana", **given)])
    return one


def but_words(given: tuple[notes.Note, ...]) -> tuple[notes.Note, ...]:
    """Return notes without the one that every search has that has no embedder."""
    return tuple(one for one in given if not isinstance(one, WordsOnly))


def searched(store: Store, query: str, **given: Any) -> tuple[notes.Note, ...]:
    return but_words(answers.search(store, query, FactSearch(), **given).notes)


def recalled(store: Store, query: str, **given: Any) -> tuple[notes.Note, ...]:
    return but_words(answers.recall(store, query, FactRecall(), max_tokens=100, **given).notes)


# -- what was stored -------------------------------------------------------------------------------


def test_a_new_fact_has_no_notes(words: Store) -> None:
    assert stored(words, "Ana drinks tea").notes == ()


def test_a_known_fact_is_noted_as_a_duplicate(words: Store) -> None:
    first = stored(words, "Ana drinks tea")
    again = stored(words, "Ana drinks tea.")
    assert (again.fact.id, again.notes, again.is_known) == (first.fact.id, (Duplicate(),), True)


def test_a_key_of_a_superseded_fact_is_no_duplicate(words: Store) -> None:
    stored(words, "Ana drinks tea", idempotency_key="k")
    stored(words, "Ana drinks tea")  # confirms it
    stored(words, "Ana drinks milk", supersedes=1)
    again = stored(words, "Ana drinks tea", idempotency_key="k")
    assert (again.fact.status, again.is_known) == ("superseded", False)


def test_a_correction_notes_what_it_superseded(words: Store) -> None:
    stored(words, "Ana works at Initech")
    assert stored(words, "Ana left Initech", supersedes=1).notes == (Superseded(1),)


def test_a_known_correction_supersedes_too(words: Store) -> None:
    stored(words, "Ana works at Initech")
    stored(words, "Ana drinks tea")
    assert stored(words, "Ana drinks tea", supersedes=1).notes == (Duplicate(), Superseded(1))


def test_a_correction_that_counts_less_is_proposed(words: Store) -> None:
    stored(words, "Ana lives in Rome")
    moved = stored(words, "Ana lives in Oslo", supersedes=1, source="web:example.org")
    assert moved.notes == (Proposed(1),)
    assert words.get(1).status == "active"


def test_older_facts_that_a_new_one_may_replace_are_near(words: Store) -> None:
    stored(words, "Ana works at Initech")
    [near] = stored(words, "Ana no longer works at Initech").notes
    assert near == Near(2, (words.get(1),))


def test_a_fact_is_pending_only_because_of_the_embedder(
    open_store: Callable[..., Store], embedder: WordEmbedder
) -> None:
    store = open_store()
    assert stored(store, "Ana drinks tea").notes == ()
    embedder.failure = memstore.EmbedderUnavailable("nobody answers")
    [pending] = stored(store, "Ana sleeps late").notes
    assert isinstance(pending, Pending)
    assert (pending.id, str(pending.reason)) == (2, "nobody answers")


def test_several_facts_have_notes_of_their_own(words: Store) -> None:
    stored(words, "Ana drinks tea")
    given = [NewFact(content=one, subject="ana") for one in ("Ana sleeps", "Ana drinks tea")]
    assert [one.notes for one in answers.store_facts(words, given)] == [(), (Duplicate(),)]


# -- what was not found ----------------------------------------------------------------------------


def test_a_search_that_finds_something_has_no_notes(words: Store) -> None:
    words.add("tea", subject="ana")
    assert searched(words, "tea") == ()


def test_an_empty_memory_is_told_from_one_that_has_no_answer(words: Store) -> None:
    assert searched(words, "tea") == (NothingStored(0, names_nobody=True),)
    words.episodes.add("we drank milk", source="test")
    assert searched(words, "tea") == (NothingStored(1, names_nobody=True),)
    words.add("milk", subject="ana")
    assert searched(words, "tea") == (NothingFound(),)


def test_what_other_owners_hold_is_told_to_people(words: Store) -> None:
    words.add("tea", subject="ana", **ANA.ids)
    words.of(ANA).episodes.add("we drank tea", source="test")
    both = OthersHold({"fact": 1, "episode": 1}, (ANA,))
    assert searched(words, "tea") == (NothingFound(), both)
    assert searched(words.of(user_id="ben"), "tea") == (NothingFound(), both)
    assert searched(words, "tea", said=False)[1] == OthersHold({"fact": 1}, (ANA,))
    assert searched(words.of("all"), "tea") == ()


def test_a_memory_where_others_have_episodes_is_not_empty(words: Store) -> None:
    words.of(ANA).episodes.add("we drank tea", source="test")
    assert searched(words, "tea", said=False) == (NothingFound(),)


def test_a_model_is_told_of_others_only_if_it_named_no_owner(words: Store) -> None:
    words.add("tea", subject="ana", **ANA.ids)
    ben = words.of(user_id="ben")
    assert searched(words, "tea", to_model=True)[1:] == (OthersHold({"fact": 1}, (ANA,)),)
    assert searched(ben, "tea", to_model=True) == (NothingStored(0, names_nobody=False),)
    assert answers.of_others(ben, to_model=True) == ()
    assert answers.of_everybody(ben, "task", lambda _: 1, to_model=True) == ()
    assert answers.of_others(words.within("default", confined=True), to_model=True) != ()


def test_a_model_is_told_of_other_namespaces_only_if_its_own_is_empty(words: Store) -> None:
    words.within("work").add("tea", subject="ana")
    nothing, elsewhere = searched(words, "tea", to_model=True)
    assert nothing == NothingStored(0, names_nobody=True)
    assert isinstance(elsewhere, OtherNamespaces)
    assert [*elsewhere.contents] == ["work"]
    assert searched(words, "tea") == (nothing,)
    assert answers.of_namespaces(words) == (elsewhere,)
    words.add("milk", subject="ana")
    assert searched(words, "tea", to_model=True) == (NothingFound(),)


def test_what_is_less_relevant_is_no_empty_memory(open_store: Callable[..., Store]) -> None:
    store = open_store(embedder=LocalEmbedder())
    store.add("undo.sh restores the table", subject="note")
    store.file.embed_pending()
    unrelated = "which enzymes repair double strand breaks"
    found = (LessRelevant(1, is_all=True),)
    assert searched(store, unrelated) == recalled(store, unrelated) == found
    store.add("tea", subject="ana", **ANA.ids)
    assert searched(store, unrelated) == (*found, OthersHold({"fact": 1}, (ANA,)))


def test_a_recall_and_a_search_are_noted_alike(words: Store) -> None:
    words.add("tea", subject="ana", **ANA.ids)
    for query in ("tea", "milk"):
        for store in (words, words.of(ANA)):
            assert recalled(store, query) == searched(store, query)


def test_a_search_for_episodes_does_not_ask_for_facts(words: Store) -> None:
    hits = words.episodes.search("tea")
    assert but_words(answers.of_episodes(words, hits)) == (NothingFound(),)
    words.of(ANA).episodes.add("we drank tea", source="test")
    hits = words.episodes.search("tea")
    assert but_words(answers.of_episodes(words, hits, "episode")) == (
        NothingFound(),
        OthersHold({"episode": 1}, (ANA,)),
    )


def test_an_answer_about_a_moment_says_so(words: Store) -> None:
    words.add("tea", subject="ana")
    moment = words.as_of("op:1").at
    assert searched(words, "tea", as_of="op:1") == (AsOf(moment),)
    assert recalled(words, "tea", as_of="op:1") == (AsOf(moment),)


def test_a_list_tells_how_much_it_leaves_out() -> None:
    def unread() -> tuple[notes.Note, ...]:
        raise AssertionError("what others hold is not read")

    assert answers.of_list([1, 2], "fact", 2, unread) == ()
    assert answers.of_list([1, 2], "fact", 3, unread) == (PartOf(2, 3, "fact"),)
    assert answers.of_list([], "fact", 3, unread) == (PartOf(0, 3, "fact"),)
    others = (OthersHold({"fact": 1}),)
    assert answers.of_list([], "fact", 0, lambda: others) == (NothingFound(), *others)


def test_facts_about_a_subject_may_belong_to_others(words: Store) -> None:
    assert answers.of_subject(words, "ana") == ()
    words.delete(words.add("tea", subject="ana", **ANA.ids).id)
    assert answers.of_subject(words, "Ana") == (OthersHold({"fact": 1}, (ANA,)),)
