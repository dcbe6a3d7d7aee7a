"""Memory for asyncio: a thin coat that runs each call in a thread, so the loop never waits."""

from __future__ import annotations

import threading
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from memstore.learn.decision import DELETE_SHARE
from memstore.learn.memory import STOPPED, Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Executor

    from memstore.domain.metadata import Filters
    from memstore.domain.protocols import Generator
    from memstore.learn.conversation import MemoryEvents
    from memstore.learn.memory import MemoryHits
    from memstore.learn.memory_view import MemoryEvent, PastMemoryEvent
    from memstore.prompting.messages import Messages
    from memstore.store.store import Store

LEARNING_THREADS: Final = 32
"""Conversations that wait for a model at once; more take turns."""

P = ParamSpec("P")
T = TypeVar("T")


class AsyncMemory:
    """:class:`Memory` for asyncio: the same calls, awaited. See there for what each one does.

    A call that is cancelled returns at once. What it had begun ends at the next step: a model
    that is asked is not asked again, and no transaction is opened after that. One that was open
    already happens whole.
    """

    def __init__(
        self,
        store: Store,
        generator: Generator | None = None,
        *,
        delete_share: float = DELETE_SHARE,
    ) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._memory = Memory(store, generator, delete_share=delete_share)
        # Of its own: a crowd that waits for a model would fill asyncio's few threads, and a search
        # would wait behind it. The threads end with this object.
        self._learning = ThreadPoolExecutor(LEARNING_THREADS, "memstore-learning")

    def __repr__(self) -> str:
        return f"Async{self._memory!r}"

    async def add(
        self,
        messages: Messages,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        infer: bool | None = None,
    ) -> MemoryEvents:
        """Learn from messages, or store them as they are, and return what became of them."""
        return await _in(
            self._learning,
            partial(
                self._memory.add,
                messages,
                user_id=user_id,
                agent_id=agent_id,
                run_id=run_id,
                metadata=metadata,
                infer=infer,
            ),
        )

    async def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Filters = None,
        limit: int = 10,
        threshold: float | None = None,
    ) -> MemoryHits:
        """Find memories of a scope by words and by meaning, best first."""
        return await _in_thread(
            self._memory.search,
            query,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            filters=filters,
            limit=limit,
            threshold=threshold,
        )

    async def get(
        self,
        memory_id: int,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> dict[str, Any]:
        """Return one memory of a scope; its ``status`` says whether it is superseded or expired."""
        return await _in_thread(
            self._memory.get, memory_id, user_id=user_id, agent_id=agent_id, run_id=run_id
        )

    async def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Filters = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[dict[str, Any]]:
        """Return the active memories of a scope, oldest first."""
        return await _in_thread(
            self._memory.get_all,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            filters=filters,
            limit=limit,
            offset=offset,
        )

    async def update(
        self,
        memory_id: int,
        content: str,
        metadata: Mapping[str, Any] | None = None,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> MemoryEvent:
        """Supersede a memory with a new text; the old one stays in its history."""
        return await _in_thread(
            self._memory.update,
            memory_id,
            content,
            metadata,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
        )

    async def delete(
        self,
        memory_id: int,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> MemoryEvent:
        """Put a tombstone on a memory: it is no longer found, and its history stays."""
        return await _in_thread(
            self._memory.delete, memory_id, user_id=user_id, agent_id=agent_id, run_id=run_id
        )

    async def delete_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        everything: bool = False,
    ) -> list[MemoryEvent]:
        """Delete all active memories of a scope, or none."""
        return await _in_thread(
            self._memory.delete_all,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            everything=everything,
        )

    async def history(
        self,
        memory_id: int,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> list[PastMemoryEvent]:
        """Return everything that happened to a memory, oldest first; any of its ids will do."""
        return await _in_thread(
            self._memory.history, memory_id, user_id=user_id, agent_id=agent_id, run_id=run_id
        )

    async def reset(self, *, namespace: str) -> bool:
        """Erase all memories, tasks and episodes of the namespace, of every scope, for good."""
        return await _in_thread(self._memory.reset, namespace=namespace)


async def _in_thread(call: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Run a call that waits for no model in one of asyncio's threads."""
    return await _in(None, partial(call, *args, **options))


async def _in(threads: Executor | None, call: Callable[[], T]) -> T:
    """Run a call in a thread; cancelled, tell it to stop and do not wait for it."""
    import asyncio  # here, since importing memstore stays light

    stopped = threading.Event()

    def work() -> T:
        STOPPED.set(stopped)  # in the thread's own copy of the context
        return call()

    try:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(threads, copy_context().run, work)
    except asyncio.CancelledError:
        stopped.set()
        raise
