"""Sessions of the OpenAI Agents SDK: their own behaviour, and side by side with the SDK's."""

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
from memstore import AccessDenied, Scope, Store, StoreClosed
from memstore.adapters.openai_agents import SOURCE, MemstoreSession, Settings
from memstore.errors import InvalidArgument, InvalidArgumentType

ITEMS: list[Any] = [
    {"role": "user", "content": "We agreed on blue-green deploys."},
    {"type": "function_call", "name": "roll_back", "arguments": '{"to": 3}', "call_id": "c1"},
    {"type": "function_call_output", "call_id": "c1", "output": ""},
    {"role": "user", "content": [{"type": "input_image", "image_url": "data:AAAA"}]},
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm\x00"}]},
    {"role": "assistant", "content": " \n"},
    {},
]


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def session(store: Store, session_id: str = "talk", **options: Any) -> MemstoreSession:
    return MemstoreSession(session_id, store, **options)


def test_items_of_any_shape_come_back_in_order(store: Store) -> None:
    talk = session(store)
    run(talk.add_items(ITEMS))
    run(talk.add_items([]))
    assert run(talk.get_items()) == ITEMS
    assert run(session(store).get_items()) == ITEMS
    assert run(session(store, "other").get_items()) == []


@pytest.mark.parametrize(
    ("limit", "settings_", "expected"),
    [
        (None, None, [0, 1, 2]),
        (2, None, [1, 2]),
        (9, None, [0, 1, 2]),
        (0, None, []),
        (-1, None, [0, 1, 2]),
        (None, {"limit": 1}, [2]),
        (None, Settings(2), [1, 2]),
        (3, Settings(1), [0, 1, 2]),
        (None, {"limit": 0}, []),
    ],
)
def test_the_limit_is_given_or_in_the_settings(
    store: Store, limit: int | None, settings_: Any, expected: list[int]
) -> None:
    talk = session(store, session_settings=settings_)
    run(talk.add_items([{"n": n} for n in range(3)]))
    assert [item["n"] for item in run(talk.get_items(limit))] == expected


def test_settings_are_overlaid_and_checked(store: Store) -> None:
    assert Settings(3).resolve(None) == Settings(3)
    assert Settings(3).resolve({"limit": 5}) == Settings(3).resolve(Settings(5)) == Settings(5)
    with pytest.raises(InvalidArgument, match="no field 'size'"):
        session(store, session_settings={"size": 3})
    with pytest.raises(InvalidArgumentType, match="SessionSettings"):
        session(store, session_settings=3)


def test_nothing_is_added_if_one_item_is_refused(store: Store) -> None:
    talk = session(store)
    with pytest.raises(InvalidArgument, match=r"items\[1\]"):
        run(talk.add_items([{"n": 1}, {"n": float("inf")}]))
    assert run(talk.get_items()) == []


def test_what_is_popped_and_cleared_is_kept_but_hidden(store: Store) -> None:
    talk = session(store)
    run(talk.add_items(ITEMS[:3]))
    last = run(talk.pop_item())
    assert last == ITEMS[2]
    run(talk.add_items([last]))
    assert run(talk.get_items()) == ITEMS[:3]
    run(talk.clear_session())
    assert run(talk.get_items()) == []
    assert run(talk.pop_item()) is None
    assert store.episodes.count() == 0
    assert store.episodes.count(include_expired=True) == 4


def test_unreadable_rows_do_not_count_and_rows_of_others_are_not_touched(store: Store) -> None:
    talk = session(store)
    run(talk.add_items([{"n": 1}, {"n": 2}]))
    store.episodes.add("damaged", source=SOURCE, thread="talk")
    store.episodes.add("my own note", source="me", thread="talk")
    assert run(talk.get_items(1)) == [{"n": 2}]
    assert run(talk.pop_item()) == {"n": 2}
    run(talk.clear_session())
    assert [one.content for one in store.episodes.list(thread="talk")] == ["my own note"]


def test_texts_are_found_across_sessions(store: Store) -> None:
    run(session(store, "one").add_items([{"role": "user", "content": "We froze\nthe harbour."}]))
    run(session(store, "two").add_items([{"type": "message", "content": [{"text": "A violin"}]}]))
    [hit] = store.episodes.search("the", source=SOURCE, mode="words")
    assert (hit.episode.thread, hit.episode.speaker) == ("one", "user")
    [hit] = store.episodes.search("violin", mode="words")
    assert (hit.episode.thread, hit.episode.content) == ("two", "A violin")


def test_names_are_exact_and_owners_apart(store: Store) -> None:
    names = ["é", "e\u0301", '"\\u00e9"', "talk", "Talk", " talk", "\x00", " ", "\n"]
    for name in names:
        run(session(store, name).add_items([{"name": name}]))
    for name in names:
        assert run(session(store, name).get_items()) == [{"name": name}]
    assert run(session(store, "talk", scope=Scope(user_id="ann")).get_items()) == []
    for refused in ("", "x" * 501):
        with pytest.raises(InvalidArgument):
            session(store, refused)


def test_a_path_is_opened_and_closed_and_a_confined_store_stays_confined(
    path: Path, store: Store
) -> None:
    with MemstoreSession("talk", path.with_name("own.db")) as talk:
        run(talk.add_items([{"n": 1}]))
    with pytest.raises(StoreClosed):
        run(talk.get_items())
    with pytest.raises(AccessDenied):
        session(store.within("team", confined=True), namespace="other")
    with session(store) as talk:
        run(talk.add_items([{"n": 1}]))
    assert store.episodes.count() == 1
    assert store.ledger.log(limit=1)[0].source == SOURCE


def test_pops_of_many_threads_give_each_item_once(store: Store) -> None:
    run(session(store).add_items([{"n": n} for n in range(8)]))
    with ThreadPoolExecutor(8) as pool:
        popped = [*pool.map(lambda _: run(session(store).pop_item()), range(10))]
    assert sorted(item["n"] for item in popped if item is not None) == [*range(8)]


# -- side by side --------------------------------------------------------------------------

SMALL = st.sampled_from(ITEMS)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("add_items"), st.lists(SMALL, max_size=3)),
        st.tuples(st.just("get_items"), st.none() | st.integers(-2, 5)),
        st.tuples(st.just("pop_item")),
        st.tuples(st.just("clear_session")),
    ),
    max_size=20,
)


class Naive:
    """A session that is a list."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    async def add_items(self, items: list[Any]) -> None:
        self.items += items

    async def get_items(self, limit: int | None = None) -> list[Any]:
        if limit is None or limit < 0:
            return list(self.items)
        return self.items[-limit:] if limit else []

    async def pop_item(self) -> Any:
        return self.items.pop() if self.items else None

    async def clear_session(self) -> None:
        self.items = []


async def side_by_side(operations: list[tuple[Any, ...]], right: Any) -> None:
    with memstore.open(":memory:", embedder=None) as store:
        ours = session(store)
        for name, *arguments in operations:
            expected = await getattr(right, name)(*arguments)
            assert await getattr(ours, name)(*arguments) == expected, (name, arguments)


@given(operations=OPERATIONS)
@settings(max_examples=examples(10), deadline=None)
def test_a_session_is_a_list(operations: list[tuple[Any, ...]]) -> None:
    asyncio.run(side_by_side(operations, Naive()))


@given(operations=OPERATIONS)
@settings(max_examples=examples(10), deadline=None)
def test_a_session_is_the_sdks_sqlite_session(operations: list[tuple[Any, ...]]) -> None:
    agents = pytest.importorskip("agents")
    theirs = agents.SQLiteSession("talk")
    try:
        asyncio.run(side_by_side(operations, theirs))
    finally:
        theirs.close()


def test_the_sdk_takes_it_for_a_session(store: Store) -> None:
    memory = pytest.importorskip("agents.memory")
    assert isinstance(session(store), memory.Session)
    given_ = memory.SessionSettings(limit=3)
    assert session(store, session_settings=given_).session_settings is given_


# -- processes -----------------------------------------------------------------------------

WORK = """
import asyncio, sys
from memstore.adapters.openai_agents import MemstoreSession

async def work(talk, name, times):
    for number in range(times):
        await talk.add_items([{"by": name, "n": number, "half": half} for half in "ab"])
        print(number, flush=True)

with MemstoreSession("talk", sys.argv[1]) as talk:
    print("ready", flush=True)
    sys.stdin.readline()
    asyncio.run(work(talk, sys.argv[2], int(sys.argv[3])))
"""


@pytest.mark.process
def test_four_processes_add_and_one_is_killed(path: Path) -> None:
    memstore.open(path, embedder=None).close()
    workers = ((path, name, times) for name, times in enumerate((4, 4, 4, 10_000)))
    said = len(race(WORK, workers, answers=2))
    with MemstoreSession("talk", path) as talk:
        items = run(talk.get_items())
    pairs = [*zip(items[::2], items[1::2], strict=True)]
    assert all(
        (one["by"], one["n"], one["half"] + two["half"]) == (two["by"], two["n"], "ab")
        for one, two in pairs
    )
    for name, times in (("0", 4), ("1", 4), ("2", 4), ("3", said)):
        mine = [one["n"] for one, _ in pairs if one["by"] == name]
        assert mine == [*range(len(mine))]
        assert len(mine) in (times, times + (name == "3"))
