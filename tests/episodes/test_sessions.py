"""Sessions: threads by their last turn, with what a list shows of each, a page at a time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.support.clock import ManualClock

from memstore import InvalidArgument, Store
from memstore.domain.episodes import SessionSummary
from memstore.episodes.traces import new_trace


def say(store: Store, thread: str | None, speaker: str, text: str, source: str = "codex") -> int:
    return store.episodes.add(text, source=source, thread=thread, speaker=speaker).id


def paged(store: Store, limit: int) -> list[SessionSummary]:
    found: list[SessionSummary] = []
    while page := store.episodes.sessions(limit=limit, before=found[-1].last_id if found else None):
        found += page
    return found


def test_a_session_has_its_request_its_turns_its_files_and_what_was_learnt(store: Store) -> None:
    first = say(store, "s1", "assistant", "Ready.")
    asked = say(store, "s1", "user", "Why is the kettle cold?")
    said = say(store, "s1", "assistant", "The fuse is broken")
    store.add("The fuse is broken", subject="kettle", episode_id=said)
    done = new_trace(
        source="codex",
        session="s1",
        changed=["fuse.py", "kettle.py"],
        committed=[],
        failed=[],
        began=None,
        ended=None,
    )
    assert done is not None
    last = store.episodes.replace(done, "trace").id
    [one] = store.episodes.sessions()
    assert (one.thread, one.source, one.request) == ("s1", "codex", "Why is the kettle cold?")
    assert (one.turns, one.learnt, one.changed) == (3, 1, ("fuse.py", "kettle.py"))
    assert one.last_id == last
    assert one.first_at == store.episodes.get(first).created_at
    assert one.last_at == store.episodes.get(last).created_at
    assert asked < last


def test_the_latest_turn_comes_first_also_if_sessions_take_turns(
    store: Store, manual_clock: ManualClock
) -> None:
    for thread in ("a", "b", "a", "c", "b", None):
        manual_clock.advance(60)
        say(store, thread, "user", f"turn of {thread}")
    assert [one.thread for one in store.episodes.sessions()] == ["b", "c", "a"]
    assert [one.turns for one in store.episodes.sessions()] == [2, 1, 2]


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_pages_have_each_session_once(store: Store, limit: int) -> None:
    """Their turns are mixed, and some were recorded at the same time."""
    for place in range(40):
        say(store, f"s{place * 7 % 11}", "user", f"turn {place}")
    whole = store.episodes.sessions(limit=100)
    assert sorted(one.thread for one in whole) == sorted(f"s{n}" for n in range(11))
    assert sum(one.turns for one in whole) == 40
    assert paged(store, limit) == whole


def test_a_session_of_many_turns_is_passed(store: Store) -> None:
    say(store, "old", "user", "first of all")
    store.episodes.add_many(
        {"content": f"turn {n}", "source": "codex", "thread": "long"} for n in range(1200)
    )
    assert [(one.thread, one.turns) for one in paged(store, 1)] == [("long", 1200), ("old", 1)]


def test_sessions_of_other_owners_and_namespaces_are_not_listed(store: Store) -> None:
    say(store, "mine", "user", "nobody's")
    say(store.of(user_id="ana"), "mine", "user", "ana's")
    say(store.within("other"), "mine", "user", "elsewhere")
    assert [one.request for one in store.episodes.sessions()] == ["nobody's"]
    every = store.of("all").episodes.sessions()
    assert {(one.request, one.scope.user_id) for one in every} == {
        ("nobody's", None),
        ("ana's", "ana"),
    }


def test_what_expired_or_was_erased_does_not_count(store: Store) -> None:
    first, second = say(store, "s", "user", "The code is 4711"), say(store, "s", "user", "Paint it")
    gone = say(store, "t", "user", "never mind")
    store.episodes.erase(first)
    store.episodes.expire([gone])
    [one] = store.episodes.sessions()
    assert (one.thread, one.turns, one.request, one.last_id) == ("s", 1, "Paint it", second)


def test_since_selects_sessions_and_counts_all_their_turns(
    store: Store, manual_clock: ManualClock
) -> None:
    say(store, "old", "user", "long ago")
    say(store, "long", "user", "begun long ago")
    manual_clock.advance(7 * 86_400)
    say(store, "long", "user", "went on")
    since = manual_clock.utc_now() - timedelta(days=1)
    assert [(one.thread, one.turns) for one in store.episodes.sessions(since=since)] == [
        ("long", 2)
    ]


def test_a_place_that_is_unknown_ends_the_list_and_bad_numbers_are_refused(store: Store) -> None:
    say(store, "s", "user", "hello")
    assert store.episodes.sessions(before=999) == []
    for bad in ({"limit": 0}, {"before": 0}):
        with pytest.raises(InvalidArgument):
            store.episodes.sessions(**bad)
