"""Async versions of blocking methods: coroutines that run them in a thread."""

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
S = TypeVar("S", covariant=True)
T = TypeVar("T")

STOPPED: Final[ContextVar[threading.Event | None]] = ContextVar("STOPPED", default=None)
"""Set when an async caller is cancelled: the thread that works for it starts nothing more."""


class Awaited(Generic[S]):
    """An object whose methods are :func:`awaited` versions of another object's."""

    def __init__(self, blocking: S, threads: Executor | None = None) -> None:
        self._blocking = blocking
        self._slow_threads = threads


def awaited(
    method: Callable[Concatenate[S, P], T], *, slow: bool = False
) -> Callable[Concatenate[Awaited[S], P], Coroutine[Any, Any, T]]:
    """Return a method of an :class:`Awaited` object that runs a blocking one in a thread.

    It has the blocking method's signature and docstring. When cancelled it returns at once and
    tells the thread to stop. A ``slow`` method waits for a language model, so it runs in threads
    of its own and does not hold up other calls.
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


def or_stopped(cancelled: Callable[[], bool] | None) -> Callable[[], bool] | None:
    """Return a function that is true if another one is, or if the async caller was cancelled."""
    stopped = STOPPED.get()
    if stopped is None or cancelled is None:
        return cancelled if stopped is None else stopped.is_set
    return lambda: stopped.is_set() or cancelled()
