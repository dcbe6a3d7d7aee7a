"""Blocking calls for callers with an event loop."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio import to_thread
else:
    to_thread = lazy_import("anyio.to_thread")

P = ParamSpec("P")
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
