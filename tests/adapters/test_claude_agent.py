"""Transcripts of the Claude Agent SDK: their own behaviour, and side by side with the SDK's."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples
from tests.support.racing import race

import memstore
from memstore import Scope, Store
from memstore.adapters import claude_agent
from memstore.adapters.claude_agent import SOURCE, MemstoreSessionStore
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.lazy import lazy_import

MAIN = {"project_key": "proj", "session_id": "sess"}
SUB = {**MAIN, "subpath": "subagents/agent-1"}
OTHER = {"project_key": "proj2", "session_id": "sess"}
SAID = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Deploys are blue."}}


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def numbers(*several: int) -> list[dict[str, Any]]:
    return [{"type": "x", "n": n} for n in several]


@pytest.fixture
def sessions(store: Store) -> MemstoreSessionStore:
    return MemstoreSessionStore(store)


def test_entries_come_back_in_order(sessions: MemstoreSessionStore) -> None:
    run(sessions.append(MAIN, [SAID, *numbers(1, 2)]))
    run(sessions.append(MAIN, []))
    run(sessions.append(MAIN, numbers(3)))
    assert run(sessions.load(MAIN)) == [SAID, *numbers(1, 2, 3)]
    assert run(sessions.load(SUB)) is None
    assert run(sessions.load({**MAIN, "session_id": "none"})) is None


def test_a_uuid_is_known_in_its_transcript(sessions: MemstoreSessionStore) -> None:
    run(sessions.append(MAIN, [SAID]))
    run(sessions.append(MAIN, [SAID, {**SAID, "uuid": "u2"}, {**SAID, "changed": True}]))
    assert run(sessions.load(MAIN)) == [SAID, {**SAID, "uuid": "u2"}]
    for key in (SUB, OTHER):
        run(sessions.append(key, [SAID]))
        assert run(sessions.load(key)) == [SAID]
    run(sessions.append(MAIN, numbers(1, 1)))
    assert len(run(sessions.load(MAIN))) == 4


def test_what_was_deleted_may_be_appended_again(
    sessions: MemstoreSessionStore, store: Store
) -> None:
    for _ in range(2):
        run(sessions.append(MAIN, [SAID, *numbers(1)]))
        assert run(sessions.load(MAIN)) == [SAID, *numbers(1)]
        run(sessions.delete(MAIN))
        assert run(sessions.load(MAIN)) is None
    assert store.episodes.count(include_expired=True) == 4


def test_deleting_a_session_deletes_its_other_transcripts(sessions: MemstoreSessionStore) -> None:
    second = {**MAIN, "subpath": "subagents/agent-2"}
    longer = {**MAIN, "session_id": "sess2"}
    for key in (MAIN, SUB, second, OTHER, longer):
        run(sessions.append(key, numbers(1)))
    assert run(sessions.list_subkeys(MAIN)) == ["subagents/agent-1", "subagents/agent-2"]
    run(sessions.delete(SUB))
    assert run(sessions.list_subkeys(MAIN)) == ["subagents/agent-2"]
    run(sessions.delete(MAIN))
    run(sessions.delete(MAIN))
    assert run(sessions.list_subkeys(MAIN)) == []
    assert [one["session_id"] for one in run(sessions.list_sessions("proj"))] == ["sess2"]
    assert run(sessions.load(OTHER)) == numbers(1)


def test_sessions_are_listed_with_their_time(sessions: MemstoreSessionStore, store: Store) -> None:
    names = ["a", "a/b", 'a"', "é", "e\u0301", "a,b"]
    for name in names:
        run(sessions.append({"project_key": "p", "session_id": name}, numbers(1)))
        run(sessions.append({"project_key": name, "session_id": "x"}, numbers(1)))
    listed = run(sessions.list_sessions("p"))
    assert sorted(one["session_id"] for one in listed) == sorted(names)
    for name in names:
        assert [one["session_id"] for one in run(sessions.list_sessions(name))] == ["x"]
    [only] = run(sessions.list_sessions("é"))
    written = store.episodes.list()[7].created_at.timestamp() * 1000
    assert only["mtime"] == int(written)
    assert run(sessions.list_sessions("none")) == []


def test_texts_are_found_and_rows_of_others_are_left_alone(
    sessions: MemstoreSessionStore, store: Store
) -> None:
    run(sessions.append(MAIN, [SAID]))
    [hit] = store.episodes.search("blue deploys", source=SOURCE, mode="words")
    assert (hit.episode.content, hit.episode.speaker) == ("Deploys are blue.", "user")
    thread = hit.episode.thread
    store.episodes.add("my own note", source="me", thread=thread)
    store.episodes.add("damaged", source=SOURCE, thread=thread)
    assert run(sessions.load(MAIN)) == [SAID]
    run(sessions.delete(MAIN))
    assert [one.content for one in store.episodes.list()] == ["my own note"]
    assert {act.source for act in store.ledger.log()} >= {SOURCE}


def test_what_cannot_be_kept_is_refused_and_nothing_is_added(
    sessions: MemstoreSessionStore,
) -> None:
    with pytest.raises(InvalidArgumentType, match=r"entries\[1\]"):
        run(sessions.append(MAIN, [SAID, {"type": "x", "set": {1}}]))
    assert run(sessions.load(MAIN)) is None
    for key in ({**MAIN, "subpath": ""}, {"project_key": "p"}, {**MAIN, "session_id": "x" * 500}):
        with pytest.raises((InvalidArgument, InvalidArgumentType)):
            run(sessions.load(key))


def test_owners_are_apart(sessions: MemstoreSessionStore, store: Store) -> None:
    theirs = MemstoreSessionStore(store, scope=Scope(user_id="ann"))
    run(theirs.append(MAIN, [SAID]))
    assert run(sessions.load(MAIN)) is None
    assert run(sessions.list_sessions("proj")) == []
    run(sessions.append(MAIN, [SAID]))
    assert run(theirs.load(MAIN)) == [SAID]


def test_many_threads_append_one_entry_once(sessions: MemstoreSessionStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: run(sessions.append(MAIN, [SAID])), range(12)))
    assert run(sessions.load(MAIN)) == [SAID]


# -- side by side --------------------------------------------------------------------------

KEYS = st.sampled_from([MAIN, SUB, OTHER, {**MAIN, "session_id": "s2"}])
PROJECTS = st.sampled_from(["proj", "proj2", "p"])
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), KEYS, st.lists(st.integers(0, 9), min_size=1, max_size=3)),
        st.tuples(st.sampled_from(["load", "load", "delete", "list_subkeys"]), KEYS),
        st.tuples(st.just("list_sessions"), PROJECTS),
        st.tuples(st.just("list_session_summaries"), PROJECTS),
    ),
    max_size=15,
)


async def side_by_side(operations: list[tuple[Any, ...]], theirs: Any) -> None:
    """Compare all but the times; new entries have a new uuid, as the SDK gives them."""
    uuid = 0
    with memstore.open(":memory:", embedder=None) as store:
        ours = MemstoreSessionStore(store)
        for name, given_, *more in operations:
            arguments = [given_]
            if more:
                entries = [
                    {"type": "user", "uuid": f"{uuid + n}", "n": one} for n, one in enumerate(*more)
                ]
                uuid += len(entries)
                arguments.append(entries)
            answers = [await getattr(one, name)(*arguments) for one in (ours, theirs)]
            if name == "list_subkeys":
                answers = [sorted(answer) for answer in answers]
            elif name.startswith("list"):
                assert all(one["mtime"] > 1e12 for answer in answers for one in answer)
                answers = [[{**one, "mtime": 0} for one in answer] for answer in answers]
                for answer in answers:
                    answer.sort(key=lambda one: one["session_id"])
            assert answers[0] == answers[1], (name, arguments)


@given(operations=OPERATIONS)
@settings(max_examples=examples(10), deadline=None)
def test_a_store_is_the_sdks_store_in_memory(operations: list[tuple[Any, ...]]) -> None:
    sdk = pytest.importorskip("claude_agent_sdk")
    run(side_by_side(operations, sdk.InMemorySessionStore()))


def test_the_contracts_of_the_sdk_hold() -> None:
    testing = pytest.importorskip("claude_agent_sdk.testing")
    opened = []

    def fresh() -> MemstoreSessionStore:
        opened.append(memstore.open(":memory:", embedder=None))
        return MemstoreSessionStore(opened[-1])

    run(testing.run_session_store_conformance(fresh))
    for store in opened:
        store.close()


def test_the_contracts_hold_under_trio() -> None:
    trio = pytest.importorskip("trio")
    testing = pytest.importorskip("claude_agent_sdk.testing")

    def fresh() -> MemstoreSessionStore:
        return MemstoreSessionStore(memstore.open(":memory:", embedder=None))

    trio.run(testing.run_session_store_conformance, fresh)


def test_summaries_follow_what_is_appended_and_deleted(sessions: MemstoreSessionStore) -> None:
    pytest.importorskip("claude_agent_sdk")

    def titles() -> list[Any]:
        found = run(sessions.list_session_summaries("proj"))
        return [one["data"].get("custom_title") for one in found]

    run(sessions.append(MAIN, [{"type": "custom-title", "customTitle": "first"}]))
    assert titles() == ["first"]
    run(sessions.append(MAIN, [{"type": "custom-title", "customTitle": "second"}]))
    assert titles() == ["second"]
    run(sessions.delete(MAIN))
    assert titles() == []
    run(sessions.append(MAIN, numbers(1)))
    assert titles() == [None]


def test_without_the_sdk_summaries_say_what_to_install(
    sessions: MemstoreSessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_agent, "claude_agent_sdk", lazy_import("no_such_sdk"))
    with pytest.raises(ImportError, match=r"pip install claude-agent-sdk \(tested with"):
        run(sessions.list_session_summaries("proj"))


# -- processes -----------------------------------------------------------------------------

WORK = """
import asyncio, sys
from memstore.adapters.claude_agent import MemstoreSessionStore

async def work(sessions, times):
    key = {"project_key": "p", "session_id": "s"}
    for number in range(times):
        entries = [{"type": "x", "uuid": f"{number}{half}", "n": number} for half in "ab"]
        await sessions.append(key, entries)

sessions = MemstoreSessionStore(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
asyncio.run(work(sessions, int(sys.argv[2])))
sessions.close()
"""


@pytest.mark.process
def test_four_processes_append_the_same_entries_once(path: Path) -> None:
    memstore.open(path, embedder=None).close()
    race(WORK, [(path, 4)] * 4, answers=0)
    sessions = MemstoreSessionStore(path)
    entries = run(sessions.load({"project_key": "p", "session_id": "s"}))
    sessions.close()
    assert [one["uuid"] for one in entries] == [f"{n}{half}" for n in range(4) for half in "ab"]
