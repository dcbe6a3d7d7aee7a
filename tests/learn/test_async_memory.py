"""AsyncMemory: names, signatures and results of Memory, without blocking the event loop."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.model_server import ModelServer

from memstore import AsyncMemory, LearningError, Memory, NotFound, Store
from memstore.domain.results import Results
from memstore.learn.memory import LEARNING_THREADS

NAMES = [name for name in vars(Memory) if not name.startswith("_")]

FACTS = json.dumps(
    {"facts": [{"content": "Ana likes tea", "subject": "ana", "category": "preference"}]}
)


class Slow:
    """Answers when released."""

    model = "slow"

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.go = threading.Event()

    def generate(self, prompt: str) -> str:
        self.asked.set()
        assert self.go.wait(30)
        return FACTS


def test_async_names_match() -> None:
    assert [name for name in vars(AsyncMemory) if not name.startswith("_")] == NAMES


@pytest.mark.parametrize("name", [*NAMES, "__init__"])
def test_async_signatures_and_docstrings_match(name: str) -> None:
    sync, coat = getattr(Memory, name), getattr(AsyncMemory, name)
    assert inspect.signature(sync) == inspect.signature(coat)
    if name != "__init__":
        assert inspect.iscoroutinefunction(coat)
        assert sync.__doc__ == coat.__doc__


CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("add", ("I like tea",), {"user_id": "ana", "infer": False, "metadata": {"k": 1}}),
    ("add", ("I like tea",), {"user_id": "ana", "infer": False}),
    ("add", ("",), {}),
    ("add", ("x",), {"infer": True}),
    ("get", (1,), {"user_id": "ana"}),
    ("get", (1,), {}),
    ("get_all", (), {"user_id": "ana", "filters": {"k": 1}, "limit": 1, "offset": 0}),
    ("search", ("tea",), {"user_id": "ana", "threshold": 0.1, "limit": 3}),
    ("update", (1, "I like green tea", {"k": 2}), {"user_id": "ana"}),
    ("update", (1, "again"), {"user_id": "ana"}),
    ("history", (1,), {"user_id": "ana"}),
    ("delete", (2,), {"user_id": "ben"}),
    ("delete", (2,), {"user_id": "ana"}),
    ("delete_all", (), {}),
    ("delete_all", (), {"everything": True}),
    ("reset", (), {"namespace": "wrong"}),
    ("reset", (), {"namespace": "default"}),
]


def outcome(found: Any) -> Any:
    """Return the result of a call, without values that differ between files."""
    if isinstance(found, Exception):
        return type(found), str(found)
    if isinstance(found, dict):
        gone = ("at", "created_at", "superseded_at", "last_confirmed_at", "score")
        return {key: outcome(value) for key, value in found.items() if key not in gone}
    return [outcome(one) for one in found] if isinstance(found, list | Results) else found


def test_async_behaviour_matches(open_store: Callable[..., Store], tmp_path: Any) -> None:
    memory = Memory(open_store(tmp_path / "sync.db"))
    coat = AsyncMemory(open_store(tmp_path / "async.db"))

    async def awaited() -> list[Any]:
        found = []
        for name, arguments, options in CALLS:
            try:
                found.append(await getattr(coat, name)(*arguments, **options))
            except Exception as error:  # noqa: BLE001 - compared below
                found.append(error)
        return found

    called: list[Any] = []
    for name, arguments, options in CALLS:
        try:
            called.append(getattr(memory, name)(*arguments, **options))
        except Exception as error:  # noqa: BLE001 - compared below
            called.append(error)
    assert [outcome(one) for one in called] == [outcome(one) for one in asyncio.run(awaited())]


def test_search_is_not_blocked_by_calls_waiting_for_the_model(store: Store) -> None:
    slow = Slow()
    memory = AsyncMemory(store, slow)

    async def crowd() -> None:
        learning = [asyncio.create_task(memory.add(f"text {n}")) for n in range(LEARNING_THREADS)]
        await asyncio.sleep(0)
        try:
            assert await asyncio.wait_for(memory.get_all(), 20) == []
            assert not any(task.done() for task in learning)
        finally:
            slow.go.set()
        await asyncio.gather(*learning)

    asyncio.run(crowd())


def test_async_learning_matches(store: Store, model_server: ModelServer) -> None:
    model_server.replies = [FACTS]
    memory = AsyncMemory(store, model_server.generator())
    (change,) = asyncio.run(memory.add("I like tea", user_id="ana"))
    assert (change["event"], change["memory"]) == ("ADD", "Ana likes tea")
    assert repr(memory).startswith("AsyncMemory(Store(")


def test_event_loop_runs_while_a_model_answers(store: Store) -> None:
    slow = Slow()
    memory = AsyncMemory(store, slow)

    async def both() -> int:
        adding = asyncio.create_task(memory.add("I like tea"))
        turns = 0
        while not slow.asked.is_set() or turns < 100:
            await asyncio.sleep(0)
            turns += 1
        assert not adding.done()
        assert await memory.get_all() == []
        slow.go.set()
        assert len(await adding) == 1
        return turns

    assert asyncio.run(both()) >= 100


def test_cancelled_call_returns_at_once_and_writes_nothing_more(store: Store) -> None:
    slow = Slow()
    memory = AsyncMemory(store, slow)

    async def cancelled() -> None:
        adding = asyncio.create_task(memory.add("I like tea"))
        await asyncio.to_thread(slow.asked.wait, 30)
        adding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await adding
        assert not slow.go.is_set()  # the model call is still running, and nothing waited for it
        slow.go.set()

    asyncio.run(cancelled())
    memory._slow_threads.shutdown()  # waits for the thread
    assert store.of("all").list() == []
    assert len(store.of("all").episodes.list()) == 1


def test_timed_out_call_can_be_repeated(store: Store) -> None:
    slow = Slow()
    memory = AsyncMemory(store, slow)

    async def twice() -> list[Any]:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(memory.add("I like tea"), 0.05)
        slow.go.set()
        return await memory.add("I like tea")

    (change,) = asyncio.run(twice())
    assert change["event"] == "ADD"
    assert len(store.of("all").list()) == 1
    assert len(store.of("all").episodes.list()) == 1


def test_concurrent_calls_lose_nothing(store: Store) -> None:
    memory = AsyncMemory(store)

    async def many() -> None:
        await asyncio.gather(*(memory.add(f"number {n}", user_id="ana") for n in range(50)))
        with pytest.raises(NotFound):
            await memory.get(1)

    asyncio.run(many())
    assert len(store.of("all").list()) == 50


def test_errors_are_passed_on_with_their_step(store: Store) -> None:
    class Broken:
        model = "broken"

        def generate(self, prompt: str) -> str:
            return "no JSON"

    with pytest.raises(LearningError) as failed:
        asyncio.run(AsyncMemory(store, Broken()).add("hello"))
    assert failed.value.step == "extract"
