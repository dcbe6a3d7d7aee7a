"""mem0's ``Memory`` and ``AsyncMemory`` on a store; nothing of mem0 is installed here."""

from __future__ import annotations

import asyncio
import inspect
import math
import sys
import threading
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.conversing import Conversing
from tests.support.model_server import ModelServer
from tests.support.racing import race

import memstore
from memstore import AccessDenied, Store, StoreClosed
from memstore.adapters.mem0 import AsyncMemory, Memory, ValidationError

ADA = {"user_id": "ada"}
YESTERDAY, TODAY = ((date.today() - timedelta(days=days)).isoformat() for days in (2, 0))


@pytest.fixture
def store() -> Iterator[Store]:
    with memstore.open(":memory:", embedder=None) as opened:
        yield opened


@pytest.fixture
def memory(store: Store) -> Memory:
    return Memory(store)


def added(memory: Memory, text: str = "I love green tea", **options: Any) -> str:
    owners = {} if {"user_id", "agent_id", "run_id"} & {*options} else ADA
    results = memory.add(text, infer=False, **owners, **options)["results"]
    return results[0]["id"]


def texts(memory: Memory, filters: dict[str, Any], **options: Any) -> list[str]:
    listed = memory.get_all(filters=ADA | filters, **options)["results"]
    found = memory.search("tea", filters=ADA | filters, threshold=0, **options)["results"]
    said = sorted(item["memory"] for item in listed)
    assert sorted(item["memory"] for item in found) == said
    return said


# -- storing ---------------------------------------------------------------------------------


def test_filters_that_no_index_has_look_at_every_memory(memory: Memory, store: Store) -> None:
    """Also at those that a search for a thousand hits ranks below others."""
    store.add_many(
        [
            {"content": "tea tea tea", "subject": "tea", "metadata": {"tag": "y"}, **ADA}
            for _ in range(1_200)
        ]
    )
    last = added(memory, "tea, of all things that were drunk here", metadata={"tag": "Zebra"})
    of_run = added(memory, "tea, or whatever was left in the cup", user_id="ada", run_id="r1")
    past = added(memory, "tea in the end, and then nothing else", expiration_date=YESTERDAY)

    def found(filters: dict[str, Any], **options: Any) -> list[str]:
        asked = {"filters": ADA | filters, "threshold": 0, "top_k": 3, **options}
        return [item["id"] for item in memory.search("tea", **asked)["results"]]

    assert found({"tag": {"icontains": "zebra"}}) == [last]
    assert found({"OR": [{"run_id": "r1"}, {"tag": "Zebra"}]}) == [last, of_run]
    assert found({"NOT": [{"tag": "y"}]}, show_expired=True) == [last, of_run, past]


def test_each_message_becomes_a_memory_in_one_transaction(memory: Memory, store: Store) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "I love green tea", "name": "bob"},
        {"role": "assistant", "content": [{"type": "text", "text": "Noted"}, {"type": "image"}]},
        {"role": "assistant", "tool_calls": []},
    ]
    results = memory.add(messages, infer=False, metadata={"n": 1, "user_id": "eve"}, **ADA)
    user, assistant = results["results"]
    assert user | {"id": ""} == {
        "id": "",
        "memory": "I love green tea",
        "event": "ADD",
        "actor_id": "bob",
        "role": "user",
    }
    assert memory.get(assistant["id"])["memory"] == "Noted"
    found = memory.get(user["id"])
    assert (found["metadata"], found["user_id"], found["actor_id"]) == ({"n": 1}, "ada", "bob")
    [act] = store.of("all").ledger.log()
    assert act.source == "mem0"


@pytest.mark.parametrize("text", ["", " \n", "a\0b", "\0", "e\u0301 é", "(blank)"])
def test_every_text_comes_back_as_it_was(memory: Memory, text: str) -> None:
    id_ = added(memory, text)
    assert memory.get(id_)["memory"] == text
    memory.update(id_, metadata={"n": 1})
    assert memory.get(id_)["memory"] == text
    memory.update(id_, "other")
    assert memory.get(id_)["memory"] == "other"


@pytest.mark.parametrize("value", [math.nan, {1}, "\ud800", {1: 2}, 2**63])
def test_what_json_cannot_keep_is_refused_before_anything_is_written(
    memory: Memory, store: Store, value: object
) -> None:
    id_ = added(memory)
    for call in (
        lambda: added(memory, metadata={"key": value}),
        lambda: memory.update(id_, metadata={"key": value}),
    ):
        with pytest.raises((ValueError, TypeError), match=r'metadata\["key"\]'):
            call()
    messages = [{"role": "user", "content": "fine"}, {"role": "user", "content": "\ud800"}]
    with pytest.raises(ValueError, match="half of a character"):
        memory.add(messages, infer=False, **ADA)
    assert store.of("all").count() == 1


def test_an_update_keeps_the_id_the_owners_and_the_other_metadata(memory: Memory) -> None:
    id_ = added(memory, metadata={"n": 1}, run_id="r")
    before = memory.get(id_)
    assert memory.update(id_, "Black tea", {"m": 2, "run_id": "s"}) == {
        "message": "Memory updated successfully!"
    }
    after = memory.get(id_)
    assert (after["memory"], after["metadata"], after["run_id"]) == (
        "Black tea",
        {"n": 1, "m": 2},
        "r",
    )
    assert after["created_at"] == before["created_at"] < after["updated_at"]
    memory.update(id_, data="White tea")
    assert [event["new_memory"] for event in memory.history(id_)][1:] == ["Black tea", "White tea"]


def test_history_tells_of_deletions(memory: Memory) -> None:
    id_ = added(memory)
    memory.delete(id_)
    assert memory.get(id_) is None
    events = memory.history(id_)
    assert [(event["event"], event["is_deleted"]) for event in events] == [
        ("ADD", False),
        ("DELETE", True),
    ]
    assert events[1]["old_memory"] == "I love green tea"
    assert memory.history("unknown") == []
    for call in (memory.delete, lambda gone: memory.update(gone, "x")):
        with pytest.raises(ValueError, match=f"Memory with id {id_} not found"):
            call(id_)


def test_facts_stored_in_other_ways_are_memories(memory: Memory, store: Store) -> None:
    fact = store.add("Ana lives in Porto", subject="ana", user_id="ada")
    keyed = store.add("port 1", subject="db", user_id="ada", external_key="/db")
    task = store.of(user_id="ada").tasks.create("buy tea")
    listed = memory.get_all(filters=ADA)["results"]
    assert [item["memory"] for item in listed] == ["port 1", "Ana lives in Porto"]
    assert memory.get(str(task.id)) is None
    for id_ in (str(fact.id), str(keyed.id)):
        memory.update(id_, "first")
        memory.update(id_, "second")
        assert memory.get(id_)["id"] == id_
        assert [event["new_memory"] for event in memory.history(id_)][1:] == ["first", "second"]
    assert store.of(user_id="ada").keys.get("/db").content == "second"


def test_what_supersedes_a_memory_elsewhere_has_its_id(memory: Memory, store: Store) -> None:
    id_ = added(memory)
    [fact] = store.of("all").list()
    store.add("I love coffee", subject=fact.subject, supersedes=fact.id, user_id="ada")
    assert memory.get(id_)["memory"] == "I love coffee"


def test_delete_all_takes_the_expired_and_those_of_further_owners(
    memory: Memory, store: Store
) -> None:
    added(memory, user_id="ada", run_id="r")
    added(memory, expiration_date=YESTERDAY)
    kept = added(memory, user_id="bob")
    assert memory.delete_all(user_id="ada") == {"message": "Memories deleted successfully!"}
    assert memory.get_all(filters=ADA, show_expired=True) == {"results": []}
    assert memory.get(kept) is not None
    [at] = {fact.deleted_at for fact in store.of("all").list(states=["deleted"])}
    assert at is not None
    assert store.of("all").ledger.restore_deleted(at) == 2
    with pytest.raises(ValueError, match="At least one filter is required"):
        memory.delete_all()


def test_reset_leaves_what_nobody_owns_and_can_be_undone(memory: Memory, store: Store) -> None:
    own = store.add("No owner", subject="x")
    id_ = added(memory)
    memory.reset()
    assert memory.get_all(filters={"user_id": "*"}) == {"results": []}
    assert [fact.id for fact in store.of("all").list()] == [own.id]
    [gone] = store.of("all").list(states=["deleted"])
    store.restore(gone.id)
    assert memory.get(id_) is not None


def test_threads_that_update_one_memory_lose_nothing(path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        memory = Memory(store)
        id_ = added(memory)

        def update(name: str) -> None:
            for number in range(3):
                memory.update(id_, metadata={f"{name}{number}": number})

        threads = [threading.Thread(target=update, args=[name]) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(memory.get(id_)["metadata"]) == 12
        assert len(memory.history(id_)) == 13


# -- expiry ----------------------------------------------------------------------------------


def test_expired_memories_are_shown_if_that_is_wanted(memory: Memory) -> None:
    old = added(memory, "old tea", expiration_date=YESTERDAY)
    added(memory, "new tea", expiration_date=date.fromisoformat(TODAY))
    assert texts(memory, {}) == ["new tea"]
    assert texts(memory, {}, show_expired=True) == ["new tea", "old tea"]
    assert memory.get(old)["expiration_date"] == YESTERDAY
    memory.update(old, "old tea", expiration_date=None)
    assert texts(memory, {}) == ["new tea", "old tea"]
    memory.update(old, "cold tea")
    assert memory.get(old)["expiration_date"] is None
    with pytest.raises(ValueError, match="YYYY-MM-DD"):
        memory.update(old, expiration_date="soon")


# -- filters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"n": 1}, "a"),
        ({"n": {"eq": 1}}, "a"),
        ({"n": {"ne": 1}}, "bc"),
        ({"n": {"gt": 1}}, "bc"),
        ({"n": {"gte": 2, "lt": 3}}, "b"),
        ({"n": {"lte": 2}}, "ab"),
        ({"n": {"in": [1, 3]}}, "ac"),
        ({"n": [1, 3]}, "ac"),
        ({"n": {"nin": [1]}}, "bc"),
        ({"t": {"contains": "Port"}}, "ab"),
        ({"t": {"icontains": "PORT"}}, "abc"),
        ({"tags": {"contains": "x"}}, "ab"),
        ({"tags": {"icontains": "X"}}, "ab"),
        ({"tags": "*"}, "ab"),
        ({"run_id": "*"}, "c"),
        ({"run_id": "r"}, "c"),
        ({"role": "user"}, "abcd"),
        ({"AND": [{"n": {"gt": 1}}, {"n": {"lt": 3}}]}, "b"),
        ({"AND": []}, "abcd"),
        ({"OR": [{"n": 1}, {"run_id": "r"}]}, "ac"),
        ({"OR": [{"n": 1, "t": "x"}, {"n": 2}]}, "b"),
        ({"NOT": [{"n": 1}, {"run_id": "r"}]}, "bd"),
        ({"NOT": [{"t": {"icontains": "port"}}]}, "d"),
        ({"OR": [{"AND": [{"n": 1}, {"tags": "*"}]}, {"NOT": [{"n": "*"}]}]}, "ad"),
        ({"created_at": {"gt": "2000-01-01"}}, "abcd"),
        ({"$or": [{"n": 1}, {"n": 2}]}, "ab"),
    ],
)
def test_every_operator(memory: Memory, filters: dict[str, Any], found: str) -> None:
    for name, options in {
        "a": {"metadata": {"n": 1, "t": "Porto", "tags": ["x", "y"]}},
        "b": {"metadata": {"n": 2, "t": "a Port", "tags": ["x"]}},
        "c": {"metadata": {"n": 3, "t": "port"}, "run_id": "r"},
        "d": {},
    }.items():
        memory.add(f"tea {name}", infer=False, **ADA, **options)  # type: ignore[arg-type]
    assert texts(memory, filters) == [f"tea {name}" for name in found]


@pytest.mark.parametrize(
    "filters",
    [
        None,
        {"n": 1},
        {"user_id": None},
        {"user_id": " "},
        {"user_id": "a b"},
        {"user_id": "a", "n": {"like": 1}},
        {"user_id": "a", "n": {}},
        {"user_id": "a", "OR": []},
        {"user_id": "a", "NOT": []},
        {"user_id": "a", "AND": {"n": 1}},
        {"user_id": "a", "OR": [1]},
        {"AND": [{"user_id": "a"}]},
    ],
)
def test_filters_that_are_refused(memory: Memory, filters: Any) -> None:
    for call in (
        lambda: memory.get_all(filters=filters),
        lambda: memory.search("x", filters=filters),
    ):
        with pytest.raises(ValueError, match=r"filter|Invalid|operator"):
            call()


def test_full_pages_where_each_memory_is_checked(memory: Memory) -> None:
    said = [{"role": "user", "content": f"tea {number}"} for number in range(220)]
    memory.add(said[:3], infer=False, metadata={"t": "PORTO"}, **ADA)
    memory.add(said[3:], infer=False, metadata={"t": "x"}, **ADA)
    filters = ADA | {"t": {"icontains": "porto"}}
    assert len(memory.get_all(filters=filters, top_k=2)["results"]) == 2
    assert len(memory.search("tea", filters=filters)["results"]) == 3
    assert len(memory.get_all(filters=ADA, top_k=0)["results"]) == 0
    newest = memory.get_all(filters=ADA, top_k=1)["results"][0]
    assert newest["memory"] == "tea 219"


# -- searching -------------------------------------------------------------------------------


def test_scores_fall_and_are_explained(memory: Memory) -> None:
    for text in ("green tea", "tea from a very old shop", "trains"):
        added(memory, text)
    results = memory.search(" green tea ", filters=ADA, explain=True)["results"]
    scores = [item["score"] for item in results]
    assert results[0]["memory"] == "green tea"
    assert scores == sorted(scores, reverse=True)
    assert results[0]["score_details"]["final_score"] == scores[0]
    assert memory.search("green tea", filters=ADA, threshold=scores[0])["results"][1:] == []
    assert memory.search("tea", filters=ADA, top_k=0) == {"results": []}


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda m: m.search("x", user_id="ada"), r"not supported in search\(\)"),
        (lambda m: m.get_all(user_id="ada"), r"not supported in get_all\(\)"),
        (lambda m: m.search(" ", filters=ADA), "Invalid query"),
        (lambda m: m.search("x", filters=ADA, top_k=True), "valid integer"),
        (lambda m: m.search("x", filters=ADA, top_k=-1), "non-negative"),
        (lambda m: m.search("x", filters=ADA, threshold=2), "Invalid threshold"),
        (lambda m: m.search("x", filters=ADA, reference_date=1), "reference_date is not supported"),
        (lambda m: m.add("x", user_id="a b"), "cannot contain whitespace"),
        (lambda m: m.add("x", user_id=""), "cannot be empty"),
        (lambda m: m.add("x", timestamp=1, **ADA), "timestamp is not supported"),
        (lambda m: m.add("x", memory_type="procedural_memory", **ADA), "memory_type is not"),
        (lambda m: m.add("x", **ADA), "infer=True needs a model"),
        (lambda m: m.update("x"), "At least one of text, metadata"),
        (lambda m: Memory.from_config({"llm": {}}), "config_dict has 'llm'"),
    ],
)
def test_what_is_refused(memory: Memory, call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call(memory)


@pytest.mark.parametrize(
    ("options", "code"),
    [({}, "001"), (ADA | {"memory_type": "x"}, "002"), (ADA | {"messages": 1}, "003")],
)
def test_validation_errors_have_codes(
    memory: Memory, options: Any, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = {"messages": "x", "infer": False} | options
    with pytest.raises(ValidationError) as raised:
        memory.add(**call)
    assert raised.value.error_code == f"VALIDATION_{code}"

    class Theirs:
        class ValidationError(Exception):
            pass

    monkeypatch.setitem(sys.modules, "mem0.exceptions", Theirs)  # type: ignore[arg-type]
    with pytest.raises(Theirs.ValidationError):
        memory.add(**call)


# -- models, stores, threads -----------------------------------------------------------------


def test_a_generator_learns(store: Store, model_server: ModelServer) -> None:
    model_server.replies = Conversing(
        {"Porto": [("ana", "Ana lives in Porto")], "Faro": [("ana", "Ana lives in Faro")]},
        {"Ana lives in Faro": ("UPDATE", "Ana lives in Porto", "Ana lives in Faro")},
    )
    memory = Memory(store, model_server.generator("openai"))
    options = {"metadata": {"n": 1}, "expiration_date": TODAY}
    [first] = memory.add("I live in Porto", **ADA, **options)["results"]  # type: ignore[arg-type]
    assert (first["memory"], first["event"]) == ("Ana lives in Porto", "ADD")
    found = memory.get(first["id"])
    assert (found["metadata"], found["expiration_date"]) == ({"n": 1}, TODAY)
    [fact] = store.of("all").list()
    assert fact.expired_at is not None
    [second] = memory.add("I moved to Faro", **ADA)["results"]
    assert second == first | {
        "memory": "Ana lives in Faro",
        "event": "UPDATE",
        "previous_memory": "Ana lives in Porto",
    }


def test_whose_store_it_is(store: Store, path: Path) -> None:
    with Memory(store) as memory:
        added(memory)
    assert store.of("all").count() == 1
    with pytest.raises(AccessDenied):
        Memory(store.within("a", confined=True), namespace="b")
    with Memory.from_config({"store": path, "namespace": "team"}) as opened:
        added(opened)
    with pytest.raises(StoreClosed):
        opened.get_all(filters=ADA)


def test_async_has_the_same_calls(store: Store) -> None:
    for name, method in inspect.getmembers(Memory, inspect.isfunction):
        if not name.startswith("_"):
            twin = getattr(AsyncMemory, name)
            assert inspect.signature(twin) == inspect.signature(method), name

    async def calls() -> None:
        async with AsyncMemory(store) as memory:
            [result] = (await memory.add("green tea", infer=False, **ADA))["results"]
            id_ = result["id"]
            await memory.update(id_, "black tea")
            assert (await memory.get(id_))["memory"] == "black tea"
            assert len((await memory.search("tea", filters=ADA))["results"]) == 1
            assert len((await memory.get_all(filters=ADA))["results"]) == 1
            assert len(await memory.history(id_)) == 2
            await memory.delete(id_)
            await memory.delete_all(user_id="ada")
            await memory.reset()
            with pytest.raises(NotImplementedError):
                await memory.chat("x")

    asyncio.run(calls())
    assert isinstance(AsyncMemory.from_config({"store": store}), AsyncMemory)


def test_the_sample_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs/adapters/mem0.md").read_text("utf-8")
    exec(page.split("```python\n")[1].split("```")[0], {})
    assert capsys.readouterr().out == "True\n['ADD', 'UPDATE']\n"


UPDATING = """
import sys
from memstore.adapters.mem0 import Memory
with Memory(sys.argv[1]) as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(int(sys.argv[4])):
        memory.update(sys.argv[2], metadata={f"{sys.argv[3]}{number}": number})
        print(number, flush=True)
"""


@pytest.mark.process
def test_four_processes_update_one_memory_and_a_kill_loses_nothing(path: Path) -> None:
    with Memory(path) as memory:
        id_ = added(memory)
    times = 5
    workers = {"a": times, "b": times, "c": times, "killed": 10_000}.items()
    said = race(UPDATING, ((path, id_, *worker) for worker in workers), answers=5)
    with Memory(path) as memory:
        keys = memory.get(id_)["metadata"]
        assert len(keys) in (3 * times + len(said), 3 * times + len(said) + 1)
        assert {f"killed{line.strip()}" for line in said} <= {*keys}
        assert len(memory.history(id_)) == len(keys) + 1
