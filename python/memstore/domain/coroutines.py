"""Calls for asyncio: a blocking method becomes a coroutine that runs it in a thread."""

from __future__ import annotations

import threading
from contextvars import ContextVar, copy_context
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, TypeVar

from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Executor
else:
    asyncio = lazy_import("asyncio")

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")

STOPPED: Final[ContextVar[threading.Event | None]] = ContextVar("STOPPED", default=None)
"""Set when the caller of a call in another thread was cancelled: nothing more is then begun."""


class Awaited(Generic[S]):
    """An object whose methods are :func:`awaited` ones of another object."""

    def __init__(self, blocking: S, threads: Executor | None = None) -> None:
        self._blocking = blocking
        self._slow_threads = threads


def awaited(
    method: Callable[Concatenate[S, P], T], *, slow: bool = False
) -> Callable[Concatenate[Awaited[S], P], Coroutine[Any, Any, T]]:
    """Return a method of an :class:`Awaited` object that runs a blocking one in a thread.

    Signature and docstring are the blocking method's. Cancelled, it returns at once; what it had
    begun is told to stop. A ``slow`` one waits for a language model and holds up no other calls.
    """

    @wraps(method)
    async def call(self: Awaited[S], /, *args: P.args, **options: P.kwargs) -> T:
        stopped = threading.Event()

        def work() -> T:
            STOPPED.set(stopped)  # in the thread's own copy of the context
            return method(self._blocking, *args, **options)

        threads = self._slow_threads if slow else None
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(threads, copy_context().run, work)
        except asyncio.CancelledError:
            stopped.set()
            raise

    return call
