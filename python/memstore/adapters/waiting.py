"""Blocking calls for callers with an event loop."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import copy_context
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from anyio import to_thread
else:
    to_thread = lazy_import("anyio.to_thread")

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


async def in_thread(call: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Run a blocking call in a thread, and return what it returns.

    A cancelled caller waits until the call has ended, so that it knows what was written: either
    all of it, or, if the call failed, nothing. Its :class:`asyncio.CancelledError` follows then.
    Under another event loop than asyncio's, anyio runs the call and does the same.
    """
    work = partial(copy_context().run, call, *args, **options)
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return await to_thread.run_sync(work)  # type: ignore[no-any-return, unused-ignore]
    working = loop.run_in_executor(None, work)
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        while not working.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([working])
        if not working.cancelled():
            working.exception()  # looked at: it is not reported as forgotten
        raise


def finished(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Return a method that runs one of ``self._blocking`` by :func:`in_thread`.

    It has the blocking method's signature and docstring. Unlike
    :func:`memstore.coroutines.awaited`, it waits for the call when it is cancelled.
    """

    @wraps(method)
    async def call(self: Any, /, *args: P.args, **options: P.kwargs) -> T:
        return await in_thread(method, self._blocking, *args, **options)

    return call
