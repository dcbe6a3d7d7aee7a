"""Episodes by thread, speaker, metadata and key: their filters, their order, lists of threads."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memstore import (
    Episode,
    IdempotencyConflict,
    InvalidArgumentType,
    NewEpisode,
    Store,
    ThreadSummary,
)
from memstore.domain import clock
from memstore.domain.clock import Clock


def turn(text: str, thread: str | None = "talk", **fields: object) -> NewEpisode:
    return NewEpisode(content=text, source="chat", thread=thread, **fields)  # type: ignore[arg-type]


def texts(episodes: list[Episode]) -> list[str]:
    return [episode.content for episode in episodes]


@pytest.fixture
def log(store: Store) -> Store:
    """Two conversations of two speakers."""
    store.episodes.add_many(
        [
            turn("cats sleep", speaker="Ana", metadata={"n": 1, "in": {"mood": "calm"}}),
            turn("dogs sleep", speaker="Ben", metadata={"n": 2}),
            turn("cats sleep again", speaker="Ana", metadata={"n": 3}),
            turn("cats elsewhere sleep", "other", speaker="Ana", metadata={"n": 4}),
        ]
    )
    return store


def test_lists_counts_and_searches_have_the_same_filters(log: Store) -> None:
    episodes = log.episodes
    for narrowed, expected in (
        ({"thread": "talk"}, [1, 2, 3]),
        ({"speaker": "Ana"}, [1, 3, 4]),
        ({"thread": "talk", "speaker": "Ana"}, [1, 3]),
        ({"filters": [("n", ">", 2)]}, [3, 4]),
        ({"filters": [(("in", "mood"), "=", "calm")]}, [1]),
        ({"thread": "talk", "filters": {"n": 4}}, []),
        ({"thread": "none"}, []),
    ):
        assert [one.id for one in episodes.list(**narrowed)] == expected  # type: ignore[arg-type]
        assert episodes.count(**narrowed) == len(expected)  # type: ignore[arg-type]
        hits = episodes.search("sleep", **narrowed)  # type: ignore[arg-type]
        assert sorted(hit.episode.id for hit in hits) == expected
        newest = episodes.search(**narrowed)  # type: ignore[arg-type]
        assert [hit.episode.id for hit in newest] == expected[::-1]


class Backwards(Clock):
    """A clock that goes back by a minute each time it is read."""

    def __init__(self) -> None:
        self.now = super().utc_now()

    def utc_now(self) -> datetime:
        self.now -= timedelta(minutes=1)
        return self.now


def test_a_thread_is_in_the_order_of_adding_whatever_the_clock_says(store: Store) -> None:
    with clock.use(Backwards()):
        for number in range(5):
            store.episodes.add_many([turn(f"{number}a"), turn(f"{number}b")])
    every = [f"{number}{half}" for number in range(5) for half in "ab"]
    listed = store.episodes.list(thread="talk")
    assert texts(listed) == every
    assert texts(store.episodes.list(thread="talk", newest_first=True, limit=3)) == every[:-4:-1]
    page = store.episodes.list(thread="talk", limit=2, after_id=listed[2].id)
    assert texts(page) == every[3:5]
    before = store.episodes.list(thread="talk", newest_first=True, limit=2, before_id=listed[2].id)
    assert texts(before) == every[1::-1]
    assert texts(store.episodes.list(thread="talk", namespaces="all")) == every


# -- keys ----------------------------------------------------------------------------------


def test_a_batch_with_known_keys_adds_only_what_is_new(store: Store) -> None:
    first = store.episodes.add_many([turn("one", idempotency_key="k1")])[0]
    both = [turn("one", idempotency_key="k1"), turn("two", idempotency_key="k2")]
    again = store.episodes.add_many([*both, turn("two", idempotency_key="k2"), turn("no key")])
    assert again[0] == first
    assert again[1] == again[2]
    assert texts(store.episodes.list(thread="talk")) == ["one", "two", "no key"]
    found = store.episodes.by_keys(["k2", " k1 ", "k3"])
    assert {key: episode.id for key, episode in found.items()} == {" k1 ": 1, "k2": 2}
    store.episodes.expire([1])
    assert store.episodes.by_keys(["k1"])["k1"].status == "expired"


def test_other_content_under_a_key_is_refused_or_the_first_is_kept(store: Store) -> None:
    store.episodes.add_many([turn("one", idempotency_key="k1")])
    with pytest.raises(IdempotencyConflict, match="different content"):
        store.episodes.add_many([turn("new"), turn("changed", idempotency_key="k1")])
    assert store.episodes.count() == 1
    changed = [turn("changed", idempotency_key="k1"), turn("new")]
    assert texts(store.episodes.add_many(changed, keep_known=True)) == ["one", "new"]
    theirs = turn("one", idempotency_key="k1", user_id="ann")
    with pytest.raises(IdempotencyConflict, match="other owners"):
        store.episodes.add_many([theirs], keep_known=True)


def test_keys_of_other_owners_are_not_shown(store: Store) -> None:
    store.episodes.add_many([turn("one", idempotency_key="k1", user_id="ann")])
    assert store.episodes.by_keys(["k1"]) == {}
    assert list(store.of(user_id="ann").episodes.by_keys(["k1"])) == ["k1"]
    assert list(store.of("all").episodes.by_keys(["k1"])) == ["k1"]


# -- threads -------------------------------------------------------------------------------


def test_threads_are_listed_with_their_size_and_times(log: Store) -> None:
    log.episodes.expire([1])
    listed = log.episodes.threads()
    assert [(one.thread, one.episodes) for one in listed] == [("other", 1), ("talk", 2)]
    assert listed[1].first_at == log.episodes.get(2).created_at
    assert listed[1].last_at == log.episodes.get(3).created_at
    log.episodes.expire([4])
    assert [one.thread for one in log.episodes.threads()] == ["talk"]


def test_pages_of_threads_and_their_owners(store: Store) -> None:
    people = (None, "ann", "bob")
    store.episodes.add_many(
        [turn("x", thread, user_id=who) for thread in ("é", "a2", "a1") for who in people]
    )
    every = store.of("all").episodes.threads()
    assert [(one.thread, one.scope.user_id) for one in every] == [
        (thread, who) for thread in ("a1", "a2", "é") for who in people
    ]
    paged: list[ThreadSummary] = []
    while page := store.of("all").episodes.threads(limit=2, after=paged[-1] if paged else None):
        paged += page
    assert paged == every
    assert [one.thread for one in store.episodes.threads("a")] == ["a1", "a2"]
    assert [one.thread for one in store.episodes.threads("e\u0301")] == ["é"]
    ann = store.of(user_id="ann").episodes.threads("a2")
    assert [(one.thread, one.scope.user_id) for one in ann] == [("a2", "ann")]
    with pytest.raises(InvalidArgumentType):
        store.episodes.threads(after="a1")  # type: ignore[arg-type]
