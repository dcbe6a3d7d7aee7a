"""AsyncStore: names, signatures and results of Store, without blocking the event loop."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Sequence
from inspect import getattr_static
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import memstore
from memstore import (
    AsyncErasurePlan,
    AsyncPlan,
    AsyncStore,
    AsyncView,
    ErasurePlan,
    Plan,
    Store,
    View,
)
from memstore.coroutines import Awaited
from memstore.embedding.generations import Generations
from memstore.episodes.episodes import Episodes
from memstore.facts.proposals import Proposals
from memstore.facts.tasks import Tasks
from memstore.file.tokens import Tokens
from memstore.graph.graph import AsyncGraph, Graph
from memstore.store import async_store
from memstore.store.keys import Keys, KeyView
from memstore.store.ledger import Ledger, LedgerView
from memstore.store.recorded_searches import RecordedSearches
from memstore.store.sources import Sources
from memstore.store.transfer import Transfer, TransferView
from memstore.store.view import GraphView

PAIRS: list[tuple[type, type[Awaited[Any]]]] = [
    (Store, AsyncStore),
    (View, AsyncView),
    (Keys, async_store.AsyncKeys),
    (Ledger, async_store.AsyncLedger),
    (RecordedSearches, async_store.AsyncSearches),
    (Sources, async_store.AsyncSources),
    (Transfer, async_store.AsyncTransfer),
    (KeyView, async_store.AsyncKeyView),
    (LedgerView, async_store.AsyncLedgerView),
    (TransferView, async_store.AsyncTransferView),
    (GraphView, async_store.AsyncGraphView),
    (Tasks, async_store.AsyncTasks),
    (Episodes, async_store.AsyncEpisodes),
    (Proposals, async_store.AsyncProposals),
    (Tokens, async_store.AsyncTokens),
    (Generations, async_store.AsyncGenerations),
    (Graph, AsyncGraph),
    (Plan, AsyncPlan),
    (ErasurePlan, AsyncErasurePlan),
]

AT_ONCE = {"of", "within", "unless_changed", "through", "to_dict"}
"""Needs no file, and so no thread."""

ENDLESS = {"keep_backups", "keep_embedding"}
"""Holds its thread until the process is interrupted."""

INSIDE = {(ErasurePlan, "check")}
"""Runs in a transaction of the blocking object."""


def methods(kind: type) -> set[str]:
    return {n for n in dir(kind) if n[0] != "_" and inspect.isfunction(getattr_static(kind, n))}


@pytest.mark.parametrize(("blocking", "coat"), PAIRS, ids=lambda kind: kind.__name__)
def test_async_names_signatures_and_docstrings_match(blocking: type, coat: type) -> None:
    inside = {name for kind, name in INSIDE if kind is blocking}
    assert methods(coat) == methods(blocking) - ENDLESS - inside
    for name in methods(coat) - AT_ONCE:
        sync, other = getattr(blocking, name), getattr(coat, name)
        assert inspect.signature(sync) == inspect.signature(other)
        assert sync.__doc__ == other.__doc__
        assert inspect.iscoroutinefunction(other)


def test_everything_bound_to_a_store_has_an_async_class(store: Store) -> None:
    coat = AsyncStore(store)
    rooms = "tasks episodes proposals keys ledger searches sources transfer graph file"
    for name in rooms.split():
        assert getattr(coat, name)._blocking is getattr(store, name)
    for name in ("tokens", "generations"):
        assert getattr(coat.file, name)._blocking is getattr(store.file, name)
    assert (coat.path, coat.namespace) == (store.path, "default")
    assert coat.file.embedder_trouble is None
    assert repr(coat) == f"Async{store!r}"


CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("add", ("Alice likes tea",), {"subject": "alice", "metadata": {"k": 1}}),
    ("add", ("",), {"subject": "alice"}),
    ("add_many", ([{"content": "Bob likes rain", "subject": "bob"}],), {}),
    ("search", ("tea",), {"limit": 1}),
    ("search_batch", (["tea", "rain"],), {"limit": 1}),
    ("search_batch", ("tea",), {}),
    ("get", (1,), {}),
    ("get", (9,), {}),
    ("list", (), {"filters": {"k": 1}}),
    ("count", (), {}),
    ("exists", ("Alice likes tea",), {"subject": "alice"}),
    ("history", (), {}),
    ("delete", (1,), {}),
    ("restore", (1,), {}),
    ("transfer.export", (), {}),
    ("transfer.uuids", ([1],), {}),
    ("keys.put", ([{"content": "x", "subject": "s", "external_key": "k"}],), {}),
    ("keys.get", ("k",), {}),
    ("keys.folders", (), {}),
    ("ledger.log", (), {"limit": 2}),
    ("ledger.explain", (1,), {}),
    ("searches.list", (), {}),
    ("searches.most_used", (), {}),
    ("sources.levels", (), {}),
    ("tasks.create", ("buy tea",), {}),
    ("tasks.list", (), {}),
    ("episodes.add", ("It rained",), {"source": "chat"}),
    ("episodes.search", ("rained",), {}),
    ("episodes.get", (7,), {}),
    ("proposals.list", (), {}),
    ("file.generations.list", (), {}),
    ("graph.status", (), {}),
    ("file.tokens.list", (), {}),
    ("erase", (1,), {}),
    ("file.doctor", (), {}),
    ("file.export", ("all",), {}),
]


def outcome(found: Any) -> Any:
    """Return the result of a call, without values that differ between files."""
    if isinstance(found, Exception):
        return type(found), str(found)
    if isinstance(found, str | int | float | None):
        return found if not isinstance(found, str) else len(found)
    if hasattr(found, "content"):
        return type(found), found.id, found.content
    if hasattr(found, "__iter__"):
        return [outcome(one) for one in found]
    return type(found)


def found_under(start: Any, path: str) -> Callable[..., Any]:
    for name in path.split("."):
        start = getattr(start, name)
    return start


def test_async_behaviour_matches(open_store: Callable[..., Store], tmp_path: Path) -> None:
    store = open_store(tmp_path / "sync.db")

    async def awaited() -> list[Any]:
        found = []
        async with AsyncStore(open_store(tmp_path / "async.db")) as coat:
            for path, arguments, options in CALLS:
                try:
                    found.append(outcome(await found_under(coat, path)(*arguments, **options)))
                except Exception as error:  # noqa: BLE001 - compared below
                    found.append(outcome(error))
        with pytest.raises(memstore.StoreClosed):
            await coat.list()
        return found

    called: list[Any] = []
    for path, arguments, options in CALLS:
        try:
            called.append(outcome(found_under(store, path)(*arguments, **options)))
        except Exception as error:  # noqa: BLE001 - compared below
            called.append(outcome(error))
    assert called == asyncio.run(awaited())


@pytest.mark.parametrize("verb", ["revert", "erasure"])
def test_a_plan_is_applied_while_the_event_loop_runs(store: Store, verb: str) -> None:
    store.within(source="crawler").add("Alice likes tea", subject="alice")
    blocking = getattr(store.ledger, verb)(source="crawler")

    async def work() -> Any:
        plan = await getattr(AsyncStore(store).ledger, verb)(source="crawler")
        assert public(plan) == public(blocking)
        assert (bool(plan), plan.to_dict()) == (True, blocking.to_dict())
        assert repr(plan) == f"Async{blocking!r}"
        with store.file.engine.write():
            applying = asyncio.create_task(plan.apply())
            for _ in range(10):
                await asyncio.sleep(0)
            assert not applying.done()
        return await applying

    done = asyncio.run(work())
    assert type(done) is (memstore.Reverted if verb == "revert" else memstore.Erased)
    assert store.list() == []
    with pytest.raises(memstore.Conflict):
        blocking.apply()


def public(one: object) -> dict[str, Any]:
    return {name: value for name, value in vars(one).items() if not name.startswith("_")}


class Slow:
    """Embeds when released."""

    model = "slow"

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.go = threading.Event()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.set()
        assert self.go.wait(30)
        return np.ones((len(texts), 4), dtype=np.float32)


def test_event_loop_runs_while_an_embedder_works(open_store: Callable[..., Store]) -> None:
    slow = Slow()
    store = AsyncStore(open_store(embedder=slow))

    async def both() -> None:
        adding = asyncio.create_task(store.add("tea", subject="sue"))
        while not slow.asked.is_set():
            await asyncio.sleep(0)
        assert not adding.done()
        assert await store.list() == []
        slow.go.set()
        assert (await adding).embedded

    asyncio.run(both())


def test_another_namespace_is_reached_as_in_the_sync_store(store: Store) -> None:
    async def work() -> None:
        other = AsyncStore(store).within("other", confined=True)
        await other.add("tea", subject="sue")
        with pytest.raises(memstore.AccessDenied):
            await other.search("tea", namespaces="default")
        assert await other.count() == 1

    asyncio.run(work())
    assert store.count() == 0
