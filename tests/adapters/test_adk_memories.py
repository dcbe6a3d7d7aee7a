"""What ADK knows about a user, without ADK itself."""

import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.racing import race

import memstore
from memstore import InvalidArgument, Scope, Store
from memstore.adapters import adk_records as records
from memstore.adapters.adk_memories import Memories
from memstore.adapters.adk_records import Entry
from memstore.errors import InvalidArgumentType
from memstore.settings import MIN_RELEVANCE

AT = "2026-03-01T09:30:00.000000Z"
ANA = Scope(user_id="ana", agent_id="app")


@pytest.fixture
def store() -> Iterator[Store]:
    with memstore.open(":memory:", embedder=None) as opened:
        yield opened


@pytest.fixture
def ana(store: Store) -> Memories:
    return Memories(store, "app", "ana")


def said(id_: str | None, text: str, *more: dict[str, Any], author: str = "user") -> Entry:
    content = {"role": "user", "parts": [{"text": text}, *more]}
    return Entry(id_, author, AT, content, {})


def found(memories: Memories, query: str) -> list[Entry]:
    return memories.search(query, 10, MIN_RELEVANCE)


def ids(memories: Memories, query: str) -> list[str]:
    return sorted(entry.id or "" for entry in found(memories, query))


DOG = said("e1", "My dog is called Rufus.")
CELLO = said("e2", "I play the cello.", author="assistant")


# -- sessions --------------------------------------------------------------------------------


def test_adding_a_session_again_changes_nothing(store: Store, ana: Memories) -> None:
    ana.replace_session("s", [DOG, CELLO])
    before = store.of("all").ledger.log()
    ana.replace_session("s", [DOG, CELLO])
    assert store.of("all").ledger.log() == before
    assert found(ana, "dog") == [DOG]


def test_what_a_session_has_no_more_is_hidden_until_it_has_it_again(ana: Memories) -> None:
    ana.replace_session("s", [DOG, CELLO])
    ana.replace_session("s", [CELLO])
    assert ids(ana, "dog cello") == ["e2"]
    ana.replace_session("s", [DOG, CELLO])
    assert ids(ana, "dog cello") == ["e1", "e2"]


def test_a_changed_event_takes_the_place_of_the_old_one(ana: Memories) -> None:
    ana.replace_session("s", [DOG])
    changed = said("e1", "My dog is called Rex.")
    ana.replace_session("s", [changed])
    assert found(ana, "dog") == [changed]


def test_other_sessions_keep_theirs(ana: Memories) -> None:
    ana.replace_session("s", [DOG])
    ana.replace_session("t", [CELLO])
    ana.replace_session("t", [])
    assert ids(ana, "dog cello") == ["e1"]


def test_a_session_is_a_thread_in_order(store: Store, ana: Memories) -> None:
    ana.replace_session("s", [DOG])
    ana.replace_session("s", [DOG, CELLO])
    episodes = store.of(ANA).episodes.list()
    assert [(one.thread, one.seq, one.speaker) for one in episodes] == [
        ("s", 1, "user"),
        ("s", 2, "assistant"),
    ]


def test_what_a_person_expired_stays_expired(store: Store, ana: Memories) -> None:
    ana.replace_session("s", [DOG])
    [episode] = store.of(ANA).episodes.list()
    store.episodes.update(episode.id, expired_at="2026-01-01")
    ana.replace_session("s", [DOG])
    assert found(ana, "dog") == []


def test_events_without_text_are_left_out(store: Store, ana: Memories) -> None:
    call = Entry("c", "assistant", AT, {"parts": [{"function_call": {"name": "f"}}]}, {})
    ana.replace_session("s", [call, said("b", " \n"), DOG])
    assert store.of(ANA).episodes.count() == 1


def nested(depth: int) -> dict[str, Any]:
    return {"x": nested(depth - 1)} if depth else {}


@pytest.mark.parametrize(
    "part",
    [
        nested(120),
        pytest.param({"output": "z" * (16 * 2**20 + 1)}, marks=pytest.mark.slow, id="large"),
    ],
)
def test_nothing_is_written_if_an_event_is_refused(
    store: Store, ana: Memories, part: dict[str, Any]
) -> None:
    with pytest.raises(InvalidArgument):
        ana.replace_session("s", [DOG, said("x", "y", part)])
    assert store.of("all").ledger.log() == []


# -- deltas ----------------------------------------------------------------------------------


def test_deltas_add_and_hide_nothing(ana: Memories) -> None:
    ana.replace_session("s", [DOG])
    ana.add_events("s", [CELLO])
    assert ids(ana, "dog cello") == ["e1", "e2"]


def test_a_delta_leaves_events_with_a_known_id_as_they_are(ana: Memories) -> None:
    ana.replace_session("s", [DOG])
    ana.add_events("s", [said("e1", "My dog is called Rex."), said("e3", "a b"), said("e3", "c d")])
    assert found(ana, "dog") == [DOG]
    assert ids(ana, "b") == ["e3"]
    assert ids(ana, "d") == []


def test_deltas_without_a_session_are_kept_once(ana: Memories) -> None:
    for _ in range(2):
        ana.add_events(None, [DOG])
    ana.replace_session("__unknown_session_id__", [])
    assert ids(ana, "dog") == ["e1"]


def test_events_without_an_id_are_known_by_what_they_are(store: Store, ana: Memories) -> None:
    for _ in range(2):
        ana.replace_session("s", [said(None, "one fish"), said(None, "two fish")])
    assert store.of(ANA).episodes.count() == 2


# -- direct memories -------------------------------------------------------------------------


def test_direct_memories_are_facts_with_their_own_metadata(store: Store, ana: Memories) -> None:
    entry = Entry("m", None, "last summer", {"parts": [{"text": "Ana likes tea."}]}, {"k": [1]})
    ana.add([entry])
    assert found(ana, "tea") == [entry]
    [fact] = store.of(ANA).list()
    assert (fact.content, fact.subject, fact.source) == ("Ana likes tea.", "user", "adk")


def test_a_memory_with_a_known_id_replaces_the_old_one(store: Store, ana: Memories) -> None:
    ana.add([said("m", "Ana likes tea.")])
    ana.add([said("m", "Ana likes coffee.")])
    assert [entry.content["parts"] for entry in found(ana, "Ana likes")] == [
        [{"text": "Ana likes coffee."}]
    ]
    assert store.of(ANA).count() == 1


def test_the_same_memory_twice_is_one(store: Store, ana: Memories) -> None:
    for _ in range(2):
        ana.add([said(None, "Ana likes tea.")])
    assert len(store.of("all").ledger.log()) == 1


def test_a_memory_without_text_is_refused_and_none_is_added(store: Store, ana: Memories) -> None:
    with pytest.raises(InvalidArgument, match=r"memories\[1\].*has no text"):
        ana.add([said("m", "tea"), said("n", " ")])
    assert store.of("all").ledger.log() == []


# -- deleting --------------------------------------------------------------------------------


def test_the_deleted_stay_so_in_whatever_session_they_are_added(ana: Memories) -> None:
    ana.replace_session("s", [DOG, CELLO])
    ana.replace_session("t", [DOG])
    ana.delete("e1")
    ana.replace_session("s", [DOG, CELLO])
    ana.add_events("t", [DOG])
    ana.replace_session("u", [DOG])
    ana.add_events(None, [said("e1", "My dog is called Rex.")])
    assert ids(ana, "dog cello") == ["e2"]


def test_a_hidden_event_can_be_deleted(ana: Memories) -> None:
    ana.replace_session("s", [DOG])
    ana.replace_session("s", [])
    ana.delete("e1")
    ana.replace_session("s", [DOG])
    assert found(ana, "dog") == []


def test_an_event_deleted_while_it_is_shown_again_is_not_found(
    store: Store, ana: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana.replace_session("s", [DOG])
    ana.replace_session("s", [])
    deleting = ana.delete

    def too_early(self: Memories) -> frozenset[str]:
        return frozenset()

    monkeypatch.setattr(Memories, "_deleted_ids", too_early)
    update = type(store.episodes).update

    def after_a_deletion(self: Any, episode_id: int, **columns: Any) -> Any:
        monkeypatch.setattr(type(store.episodes), "update", update)
        deleting("e1")
        return update(self, episode_id, **columns)

    monkeypatch.setattr(type(store.episodes), "update", after_a_deletion)
    ana.replace_session("s", [DOG])
    assert found(ana, "dog") == []


def test_an_event_deleted_while_it_is_hidden_stays_deleted(
    ana: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana.replace_session("s", [DOG])
    in_thread = Memories._in_thread

    def before_a_deletion(self: Memories, thread: str) -> Any:
        read = in_thread(self, thread)
        ana.delete("e1")
        return read

    monkeypatch.setattr(Memories, "_in_thread", before_a_deletion)
    ana.replace_session("s", [])
    ana.replace_session("s", [DOG])
    assert found(ana, "dog") == []


def test_direct_memories_are_deleted_and_may_be_added_again(store: Store, ana: Memories) -> None:
    ana.add([said("m", "Ana likes tea.")])
    ana.delete("m")
    assert found(ana, "tea") == []
    assert [fact.status for fact in store.of(ANA).list(active_only=False, include_deleted=True)]
    ana.add([said("m", "Ana likes tea.")])
    assert ids(ana, "tea") == ["m"]


def test_an_unknown_id_changes_nothing(store: Store, ana: Memories) -> None:
    ana.replace_session("s", [DOG])
    before = store.of("all").ledger.log()
    for unknown in ("e9", "adk:fact:99", "adk:episode:x", "adk:episode:99", "\0", "é" * 999):
        ana.delete(unknown)
    assert store.of("all").ledger.log() == before


# -- whose, and what else is there -----------------------------------------------------------


def test_nobody_reaches_another_users_memories(store: Store, ana: Memories) -> None:
    ana.replace_session("s", [DOG])
    ana.add([said("m", "Ana likes tea.")])
    for app, user in (("app", "bob"), ("other", "ana"), ("ana", "app"), ("app", "ANA")):
        other = Memories(store, app, user)
        assert found(other, "dog tea Ana") == []
        other.delete("e1")
        other.delete("m")
        other.replace_session("s", [])
    assert ids(ana, "dog tea") == ["e1", "m"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("é", "e\u0301"), ("ana", "ana "), ("", " "), ("a" * 501, "a" * 502), ("a\0", "a\1")],
)
def test_users_whose_names_memstore_would_make_one_stay_apart(
    store: Store, one: str, other: str
) -> None:
    first, second = Memories(store, "app", one), Memories(store, "app", other)
    first.replace_session(one, [DOG])
    assert (ids(first, "dog"), ids(second, "dog")) == (["e1"], [])
    assert records.exact_name(records.exact_name(one, "x"), "x") != records.exact_name(other, "x")


def test_what_was_stored_in_another_way_is_found_and_deleted(store: Store, ana: Memories) -> None:
    owners = ANA.ids
    fact = store.add("Ana likes tea.", subject="ana", **owners)
    episode = store.of(ANA).episodes.add("Ana has a dog.", source="hooks", tags=["b"])
    entries = found(ana, "tea dog")
    assert {entry.id for entry in entries} == {f"adk:fact:{fact.id}", f"adk:episode:{episode.id}"}
    assert {entry.content["parts"][0]["text"] for entry in entries} == {
        "Ana likes tea.",
        "Ana has a dog.",
    }
    Memories(store, "app", "bob").delete(f"adk:fact:{fact.id}")
    assert len(found(ana, "tea dog")) == 2
    for entry in entries:
        ana.delete(entry.id or "")
    assert found(ana, "tea dog") == []
    assert store.get(fact.id).status == "deleted"
    assert store.episodes.get(episode.id).tags == ["adk:deleted", "b"]


def test_a_name_that_is_no_text_is_refused(store: Store) -> None:
    with pytest.raises(InvalidArgumentType, match="user_id"):
        Memories(store, "app", 7)  # type: ignore[arg-type]


# -- searching -------------------------------------------------------------------------------


@pytest.mark.model
def test_what_was_only_said_beside_it_is_not_returned() -> None:
    others = [said("e2", "I am vegetarian."), said("e3", "It rains a lot.")]
    with memstore.open(":memory:") as store:
        ana = Memories(store, "app", "ana")
        ana.replace_session("s", [DOG, *others])
        assert ids(ana, "What is the name of my dog?") == ["e1"]
        store.file.embed_pending()
        assert ids(ana, "What is the name of my dog?") == ["e1"]
        assert ids(ana, "quantum chromodynamics lectures") == []


@pytest.mark.parametrize("query", ["", " \n", "\0", "\ud800"])
def test_an_empty_query_finds_nothing(ana: Memories, query: str) -> None:
    ana.replace_session("s", [DOG])
    assert found(ana, query) == []


def test_any_query_is_a_search(ana: Memories) -> None:
    ana.replace_session("s", [DOG])
    assert ids(ana, "dog\0 \ud800 " + "AND " * 9_000) == ["e1"]


def test_no_more_than_the_limit_are_returned(ana: Memories) -> None:
    ana.replace_session("s", [said(f"e{n}", f"dog number {n}") for n in range(8)])
    assert len(ana.search("dog", 3, MIN_RELEVANCE)) == 3


def test_a_text_that_was_said_twice_is_returned_once(ana: Memories) -> None:
    ana.replace_session("s", [DOG, DOG._replace(id="e2")])
    assert len(found(ana, "dog")) == 1


# -- contents --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        {"parts": [{"text": "dog"}]},
        {"role": "model", "parts": [{"text": " dog\n\n"}]},
        {"role": "user", "parts": [{"text": "dog\0"}, {"text": ""}, {"text": "cat"}]},
        {"role": "user", "parts": [{"text": "dog", "thought": True}, {"a": [None, 1, 1.5, "\0"]}]},
        {"role": "user", "parts": [{"text": "dog"}, {"inline_data": {"data": "QUJD" * 50_000}}]},
    ],
)
def test_a_content_comes_back_as_it_was(store: Store, ana: Memories, content: Any) -> None:
    entry = Entry("e", "user", AT, content, {"k": 1})
    ana.replace_session("s", [entry])
    assert found(ana, "dog") == [entry]
    ana.delete("e")
    ana.add([entry])
    assert found(ana, "dog") == [entry]
    ana.delete("e")
    assert store.of(ANA).count() == 0  # nor is what was too large for metadata left


@pytest.mark.parametrize("bad", [math.nan, {1}, "\ud800", {1: 2}, 2**63])
def test_what_json_cannot_keep_is_refused_by_its_place(bad: Any) -> None:
    entry = Entry("e", "user", AT, {"parts": [{"x": bad}]}, {})
    with pytest.raises((InvalidArgument, InvalidArgumentType)) as raised:
        records.checked(entry, "events[3]")
    assert 'events[3].content["parts"][0]["x"]' in str(raised.value)


# -- at once ---------------------------------------------------------------------------------


def test_threads_that_add_one_session_record_each_event_once(store: Store) -> None:
    events = [said(f"e{n}", f"dog number {n}") for n in range(10)]
    ready = threading.Barrier(4)

    def add() -> None:
        ready.wait()
        for number in range(1, 11):
            Memories(store, "app", "ana").add_events("s", events[:number])

    adding = [threading.Thread(target=add) for _ in range(4)]
    for thread in adding:
        thread.start()
    for thread in adding:
        thread.join()
    assert sorted(one.content for one in store.of(ANA).episodes.list()) == sorted(
        entry.text for entry in events
    )


ADD = """
import sys
import memstore
from memstore.adapters.adk_memories import Memories
from memstore.adapters.adk_records import Entry
with memstore.open(sys.argv[1], embedder=None) as store:
    memories = Memories(store, "app", "ana")
    print("ready", flush=True)
    sys.stdin.readline()
    events = []
    for number in range(int(sys.argv[2])):
        content = {"role": "user", "parts": [{"text": f"dog number {number}"}]}
        events.append(Entry(f"e{number}", "user", None, content, {}))
        memories.add_events("s", events)
        print(number, flush=True)
"""


@pytest.mark.process
def test_four_processes_add_one_session_and_a_kill_loses_nothing(path: Path) -> None:
    memstore.open(path, embedder=None).close()
    times = 15
    kept = race(ADD, ((path, length) for length in (times, times, times, 10_000)), answers=5)
    with memstore.open(path, embedder=None) as store:
        episodes = [one.content for one in store.of(ANA).episodes.list()]
    assert len({*episodes}) == len(episodes)
    least = max(times, len(kept))
    assert {f"dog number {number}" for number in range(least)} <= {*episodes}
    assert len(episodes) <= max(times, len(kept) + 1)
