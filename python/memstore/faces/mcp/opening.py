"""Opens the store in the background, so that no client waits for it at the handshake."""

from __future__ import annotations

import _thread
import os
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn

from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable
    from concurrent import futures
    from types import FrameType

    from memstore import errors
    from memstore.faces import wording
    from memstore.store.store import Store
else:  # the handshake is answered before
    errors = lazy_import("memstore.errors")
    futures = lazy_import("concurrent.futures")
    logging = lazy_import("logging")
    wording = lazy_import("memstore.faces.wording")

CLOSING_SECONDS: Final = 0.8
"""For the store to close; what was acknowledged is on disk whether it does or not."""


class Opening:
    """Opens a store once, for every call that needs it; a failure is tried again by the next.

    A file that was replaced while it was open is closed, and what took its place is opened.

    Opening may block for as long as a migration or a lock takes.
    """

    def __init__(self, open_store: Callable[[], Store]) -> None:
        self._open_store = open_store
        self._deciding = threading.Lock()
        self._attempt: futures.Future[Store] | None = None
        self._closed = False
        self._preparing: threading.Thread | None = None

    def start(self) -> None:
        """Begin opening, in a thread, unless that has begun."""
        if self._attempt is None:
            _in_background(self._try)

    def store(self) -> Store:
        """Return the store, waiting until it is open.

        Calls that wait for the same attempt share its outcome."""
        with self._deciding:
            if self._closed:
                raise errors.StoreClosed("the server is ending")
            before = attempt = self._attempt
            ours = before is None or _is_over(before)
            if ours:
                attempt = self._attempt = futures.Future()
        assert attempt is not None
        if ours:
            try:
                if before is not None and before.exception() is None:
                    before.result().close()
                store = self._open_store()
            except BaseException as error:
                attempt.set_exception(error)
                raise
            attempt.set_result(store)
            self._preparing = _in_background(lambda: _prepare(store))
        return attempt.result()

    def close(self) -> None:
        with self._deciding:
            self._closed = True
            attempt = self._attempt
        if attempt is not None and attempt.done() and attempt.exception() is None:
            attempt.result().close()
        if self._preparing is not None:  # it may still hold a connection
            self._preparing.join(CLOSING_SECONDS)

    def _try(self) -> None:
        try:
            self.store()
        except (errors.MemstoreError, ValueError, TypeError) as error:
            # Every call gets this text; the host's log shows it too.
            told = wording.in_server(error)
            logging.getLogger(__name__).warning("the store did not open: %s", told)


def _is_over(attempt: futures.Future[Store]) -> bool:
    """Return whether an attempt to open failed, or what it opened is there no more."""
    if not attempt.done():
        return False
    return attempt.exception() is not None or attempt.result().is_replaced


def on_signals(stop: Callable[[int, FrameType | None], None]) -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):  # Windows knows fewer
            signal.signal(getattr(signal, name), stop)


def end(opening: Opening, status: int) -> NoReturn:
    """Close the store and leave the process.

    Not by returning: the interpreter would first wait for threads that read an input which never
    comes, or talk to a server which never answers.
    """
    closing = _thread.allocate_lock()
    closing.acquire()

    def close() -> None:
        try:
            opening.close()
        finally:
            closing.release()

    # A signal may come while this thread begins another one: threading would wait for itself.
    _thread.start_new_thread(close, ())
    closing.acquire(timeout=CLOSING_SECONDS)
    os._exit(status)


def _prepare(store: Store) -> None:
    """Do early what the first search and the first fact would else wait for."""
    with suppress(errors.StoreClosed):
        try:
            store.embed_in_background()  # first: it goes on where warming up fails
            store.warm()
        except errors.MemstoreError as error:
            logging.getLogger(__name__).info("not ready for searches by meaning yet: %s", error)


def _in_background(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, name="memstore-opening", daemon=True)
    thread.start()
    return thread
