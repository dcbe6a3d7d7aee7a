"""Letting episodes expire: many at once, only those that are active, each by one caller alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from tests.support.clock import ManualClock

from memstore import InvalidArgument, NewEpisode, NotFound, Store
from memstore.domain import clock


def say(store: Store, *texts: str, thread: str | None = "talk", user: str | None = None) -> None:
    store.episodes.add_many(
        [NewEpisode(content=text, source="chat", thread=thread, user_id=user) for text in texts]
    )


def said(store: Store) -> list[str]:
    return [episode.content for episode in store.episodes.list(thread="talk")]


def test_a_call_says_which_episodes_it_expired(store: Store) -> None:
    say(store, "one", "two", "three")
    second = store.episodes.get(2)
    assert store.episodes.expire([second.uuid, 1, 1]) == [1, 2]
    assert store.episodes.expire([1, 2, 3]) == [3]
    assert store.episodes.expire([1, 2, 3]) == []
    assert said(store) == []
    assert [line.kind for line in store.episodes.journal(1)] == ["episode", "update_episode"]


def test_nothing_expires_if_an_episode_is_unknown(store: Store) -> None:
    say(store, "one")
    with pytest.raises(NotFound):
        store.episodes.expire([1, 7])
    assert said(store) == ["one"]


def test_an_expiry_to_come_is_brought_forward_and_can_be_removed(
    store: Store, manual_clock: ManualClock
) -> None:
    say(store, "one")
    later = manual_clock.utc_now() + timedelta(days=1)
    store.episodes.update(1, expired_at=later)
    assert store.episodes.expire([1]) == [1]
    assert store.episodes.get(1).status == "expired"
    assert said(store) == []
    assert store.episodes.journal(1)[-1].before == {"expired_at": clock.to_text(later)}
    store.episodes.update(1, expired_at=None)
    assert said(store) == ["one"]


def test_what_filters_select_expires_in_one_act(store: Store) -> None:
    say(store, "one", "two", "three")
    say(store, "theirs", user="ann")
    say(store, "elsewhere", thread=None)
    assert store.episodes.expire_all(thread="talk", limit=1, newest_first=True) == [3]
    acts = len(store.ledger.log())
    assert store.episodes.expire_all(thread="talk") == [1, 2]
    assert len(store.ledger.log()) == acts + 1
    assert store.episodes.expire_all(thread="talk") == []
    assert store.of("all").episodes.count() == 2
    with pytest.raises(InvalidArgument):
        store.episodes.expire_all(limit=-1)


def test_pop_returns_the_last_of_a_thread_or_the_first(store: Store) -> None:
    say(store, "one", "two", "three")
    say(store, "theirs", user="ann")
    last, first = store.episodes.pop(thread="talk"), store.episodes.pop(thread="talk", oldest=True)
    assert last is not None
    assert (last.content, last.status) == ("three", "expired")
    assert first is not None
    assert first.content == "one"
    assert said(store) == ["two"]
    assert store.episodes.pop(thread="talk", filters={"kind": "note"}) is None
    theirs = store.of(user_id="ann").episodes.pop(thread="talk")
    assert theirs is not None
    assert theirs.content == "theirs"


def test_pops_of_many_threads_return_each_episode_once(store: Store) -> None:
    say(store, *map(str, range(12)))
    with ThreadPoolExecutor(8) as pool:
        popped = [*pool.map(lambda _: store.episodes.pop(thread="talk"), range(16))]
    texts = [one.content for one in popped if one is not None]
    assert sorted(texts, key=int) == [*map(str, range(12))]
    assert popped.count(None) == 4


class Late(ManualClock):
    """The clock of another machine, which is so many seconds behind."""

    behind = 0.0

    def utc_now(self) -> datetime:
        return super().utc_now() - timedelta(seconds=self.behind)


def test_what_a_clock_ahead_expired_is_not_popped_again(store: Store) -> None:
    late = Late()
    with clock.use(late):
        say(store, "one", "two")
        assert store.episodes.pop(thread="talk") is not None
        late.behind = 60.0
        next_one = store.episodes.pop(thread="talk")
        assert next_one is not None
        assert next_one.content == "one"
        assert store.episodes.pop(thread="talk") is None
