"""Neighbours of hits: visible rows beside them in their threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.embedders import WordEmbedder

import memstore
from memstore import InvalidArgument, Scope, SearchHit, Store

Open = Callable[..., Store]

ANA = Scope(user_id="ana")


def told(hits: Sequence[Any]) -> list[tuple[list[str], str, list[str]]]:
    """The texts before each hit, its own text, and the texts after it."""
    return [
        ([one.content for one in hit.before], _row(hit).content, [one.content for one in hit.after])
        for hit in hits
    ]


def _row(hit: Any) -> Any:
    return hit.fact if isinstance(hit, SearchHit) else hit.episode


def say(store: Store, *texts: str, thread: str | None = "a") -> list[int]:
    """Store each text as a fact and as an episode; return the ids of the facts."""
    for text in texts:
        store.episodes.add(text, source="x", thread=thread)
    new = [{"content": text, "subject": "s", "thread": thread} for text in texts]
    return [fact.id for fact in store.add_many(new)]


def found(store: Store, query: str, context: int, **asked: Any) -> list[Any]:
    """Search facts and episodes, whose hits must be equal; return those of facts as texts."""
    facts = told(store.search(query, context=context, ranking="classic", **asked))
    episodes = told(store.episodes.search(query, mode="words", context=context, **asked))
    assert sorted(facts) == sorted(episodes)
    return facts


def test_a_hit_has_its_neighbours_in_order(store: Store) -> None:
    say(store, "one", "two", "three", "needle", "five", "six", "seven")
    say(store, "eight", thread="b")
    for context in (0, 1, 2, 3, 10):
        before, after = ["one", "two", "three"], ["five", "six", "seven"]
        expected = (before[3 - min(context, 3) :], "needle", after[:context])
        assert found(store, "needle", context) == [expected]


def test_neighbours_are_ordered_by_position_then_age(store: Store) -> None:
    for seq, text in ((3, "late"), (1, "needle"), (1, "second"), (0, "first"), (1, "third")):
        store.add(text, subject="s", thread="a", seq=seq)
        store.episodes.add(text, source="x", thread="a", seq=seq)
    assert found(store, "needle", 9) == [(["first"], "needle", ["second", "third", "late"])]


def test_row_without_a_thread_has_no_neighbours(store: Store) -> None:
    say(store, "one", "needle", "two", thread=None)
    assert found(store, "needle", 5) == [([], "needle", [])]


def test_every_row_appears_once(store: Store) -> None:
    say(store, "one", "needle needle", "two", "needle and more of it", "three")
    assert found(store, "needle", 2) == [
        (["one"], "needle needle", ["two"]),
        ([], "needle and more of it", ["three"]),
    ]


def test_neighbours_have_the_owners_of_their_hit(store: Store) -> None:
    say(store, "nobody's", "needle", "nobody's too")
    say(store.of(ANA), "Ana's", "needle of Ana", "Ana's too")
    other = store.within("other")
    say(other, "elsewhere", "needle elsewhere", "elsewhere too")
    plain = (["nobody's"], "needle", ["nobody's too"])
    anas = (["Ana's"], "needle of Ana", ["Ana's too"])
    away = (["elsewhere"], "needle elsewhere", ["elsewhere too"])
    assert found(store, "needle", 5) == [plain]
    assert found(store.of(ANA), "needle", 5) == [anas]
    assert sorted(found(store.of("all"), "needle", 5)) == sorted([plain, anas])
    assert sorted(found(store, "needle", 5, namespaces="all")) == sorted([plain, away])


def test_inactive_rows_are_skipped(store: Store) -> None:
    ids = say(store, "one", "superseded", "deleted", "erased", "needle")
    store.add("expired", subject="s", thread="a", expired_at="2000-01-01")
    store.add("open", subject="todo", thread="a", metadata={"kind": "task", "status": "pending"})
    store.add("last", subject="s", thread="a")
    store.add("another subject", subject="t", supersedes=ids[1], any_subject=True, thread="b")
    store.delete(ids[2])
    store.erase(ids[3])
    (hit,) = told(store.search("needle", subject="s", context=2, ranking="classic"))
    assert hit == (["one"], "needle", ["last"])
    (hit,) = told(store.search("needle", active_only=False, context=3, ranking="classic"))
    assert hit == (["one", "superseded"], "needle", ["expired", "last"])


def test_filters_do_not_apply_to_neighbours(store: Store) -> None:
    store.add("before", subject="ben", category="event", thread="a")
    store.add("needle", subject="ana", category="identity", metadata={"n": 1}, thread="a")
    store.episodes.add("before", source="mail", thread="a")
    store.episodes.add("needle", source="chat", tags=["t"], thread="a")
    narrowed = store.search(
        "needle", subject="ana", category="identity", filters={"n": 1}, context=1
    )
    assert told(narrowed) == [(["before"], "needle", [])]
    hits = store.episodes.search("needle", tags=["t"], source="chat", mode="words", context=1)
    assert told(hits) == [(["before"], "needle", [])]


def test_expired_and_erased_episodes_are_skipped(store: Store) -> None:
    ids = [
        store.episodes.add(text, source="x", thread="a").id
        for text in ("one", "expired", "erased", "needle")
    ]
    store.episodes.update(ids[1], expired_at="2000-01-01")
    store.episodes.erase(ids[2])
    assert told(store.episodes.search("needle", mode="words", context=1)) == [
        (["one"], "needle", [])
    ]
    hits = store.episodes.search("needle", mode="words", context=1, include_expired=True)
    assert told(hits) == [(["expired"], "needle", [])]


def test_the_newest_episodes_have_neighbours_too(store: Store) -> None:
    say(store, "one", "two", "three")
    assert told(store.episodes.search(None, limit=1, context=2)) == [(["one", "two"], "three", [])]


def test_neighbours_do_not_count_as_used(store: Store) -> None:
    ids = say(store, "one", "needle")
    store.search("needle", context=1, limit=1)
    assert [store.get(id_).use_count for id_ in ids] == [0, 1]


@pytest.mark.parametrize("context", [-1, 11, 1.5, True, "2"])
def test_context_out_of_range_is_refused(store: Store, context: Any) -> None:
    for search in (store.search, store.episodes.search):
        with pytest.raises(InvalidArgument, match="context must be a whole number from 0 to 10"):
            search("needle", context=context)


def test_batch_search_answers_each_query_separately(store: Store) -> None:
    say(store, "one", "needle", "thimble")
    first, second = store.search_batch(["needle", "thimble"], context=1, ranking="classic")
    assert told(first) == [(["one"], "needle", ["thimble"])]
    assert told(second) == [(["needle"], "thimble", [])]


def test_memories_have_neighbours_from_their_conversation(store: Store) -> None:
    memory = memstore.Memory(store)
    memory.add([{"role": "user", "content": text} for text in ("one", "needle", "two")])
    (hit,) = memory.search("needle", limit=1, context=1)
    assert [one["memory"] for one in (*hit["before"], *hit["after"])] == ["one", "two"]
    (alone,) = memory.search("needle", limit=1)
    assert not {"before", "after"} & alone.keys()


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["needle", "hay", "needle hay"]),
        st.sampled_from([None, "a", "b"]),
        st.none() | st.integers(0, 4),
        st.sampled_from([None, "ana"]),
        st.sampled_from([False, False, True]),
    ),
    max_size=12,
)


@given(rows=ROWS, context=st.integers(0, 4))
def test_neighbours_match_a_naive_walk(rows: list[Any], context: int) -> None:
    with memstore.open(":memory:", embedder=WordEmbedder()) as store:
        for text, thread, seq, user, gone in rows:
            fact = store.add(text, subject="s", thread=thread, user_id=user,
                             seq=None if thread is None else seq)  # fmt: skip
            if gone:
                store.delete(fact.id)
        hits = store.of("all").search("needle", context=context, limit=4)
        shown = {hit.fact.id for hit in hits}
        held = sorted(store.of("all").list(), key=lambda fact: (fact.seq or 0, fact.id))
        for hit in hits:
            mine = (hit.fact.thread, hit.fact.scope)
            thread = [one for one in held if one.thread and (one.thread, one.scope) == mine]
            place = next((n for n, one in enumerate(thread) if one.id == hit.fact.id), 0)
            sides = thread[max(0, place - context) : place], thread[place + 1 :][:context]
            for given_, wanted in zip((hit.before, hit.after), sides, strict=True):
                assert [*given_] == [one for one in wanted if one.id not in shown]
                shown.update(one.id for one in given_)
