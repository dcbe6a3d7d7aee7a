"""Memory for asyncio."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from memstore.coroutines import Awaited, awaited
from memstore.learn.decision import CHANGE_SHARE
from memstore.learn.memory import Memory

if TYPE_CHECKING:
    from memstore.domain.protocols import Generator
    from memstore.store.store import Store

LEARNING_THREADS: Final = 32
"""How many conversations can wait for a model at the same time; further ones queue."""


class AsyncMemory(Awaited[Memory]):
    """:class:`Memory` for asyncio: the same calls, awaited.

    A cancelled call returns at once. Its work stops at the next step: no further model call and no
    further transaction begins; an open transaction is completed.
    """

    def __init__(
        self,
        store: Store,
        generator: str | Generator | None = None,
        *,
        change_share: float = CHANGE_SHARE,
    ) -> None:
        # A separate pool: calls that wait for a model would fill asyncio's few threads, and
        # searches would queue behind them. The threads end with this object.
        threads = ThreadPoolExecutor(LEARNING_THREADS, "memstore-learning")
        super().__init__(Memory(store, generator, change_share=change_share), threads)

    def __repr__(self) -> str:
        return f"Async{self._blocking!r}"

    add = awaited(Memory.add, slow=True)
    retry = awaited(Memory.retry, slow=True)
    unread = awaited(Memory.unread)
    portion = awaited(Memory.portion)
    mark_read = awaited(Memory.mark_read)
    learn_unread = awaited(Memory.learn_unread, slow=True)
    search = awaited(Memory.search)
    get = awaited(Memory.get)
    get_all = awaited(Memory.get_all)
    update = awaited(Memory.update)
    delete = awaited(Memory.delete)
    delete_all = awaited(Memory.delete_all)
    history = awaited(Memory.history)
    reset = awaited(Memory.reset)
