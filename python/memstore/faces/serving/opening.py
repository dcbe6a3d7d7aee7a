"""Opens the store in the background, so that the handshake does not wait for it."""

from __future__ import annotations

import _thread
import gc
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn

from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import json
    import logging
    from collections.abc import Callable
    from concurrent import futures
    from pathlib import Path
    from types import FrameType

    from memstore import errors
    from memstore.database import engine
    from memstore.domain import clock
    from memstore.errors import Reason
    from memstore.faces import background_sync, from_settings, wording
    from memstore.faces.background_sync import ScheduledSync
    from memstore.faces.options import BackupSchedule
    from memstore.learn.background import BackgroundLearning
    from memstore.settings import Settings
    from memstore.store import store as stores
    from memstore.store.store import Store
else:  # imported after the handshake
    stores = lazy_import("memstore.store.store")
    background_sync = lazy_import("memstore.faces.background_sync")
    errors = lazy_import("memstore.errors")
    engine = lazy_import("memstore.database.engine")
    from_settings = lazy_import("memstore.faces.from_settings")
    clock = lazy_import("memstore.domain.clock")
    futures = lazy_import("concurrent.futures")
    json = lazy_import("json")
    logging = lazy_import("logging")
    wording = lazy_import("memstore.faces.wording")

CLOSING_SECONDS: Final = 0.8
"""Time for the store to close; acknowledged writes are on disk in any case."""


QUIET_SECONDS: Final = 0.3
"""The pause between opening and preparing, in which the call that opened the store is answered: the
imports for preparing would delay it."""


class Opening:
    """Opens a store once for all calls; after a failure the next call tries again.

    If the file is replaced while it is open, it is closed and the new one is opened. If it is moved
    away, the store stays, and is used again when the file is back; none is created in its place.

    Opening may block for as long as a migration or a lock takes.
    """

    def __init__(
        self,
        open_store: Callable[[], Store],
        heads: str | None = None,
        learn: Callable[[Store], BackgroundLearning] | None = None,
        syncing: Settings | None = None,
    ) -> None:
        self._open_store = open_store
        self._sync_by = syncing
        """The settings that say whether the file is synced in the background; ``None``: never."""
        self._syncing: ScheduledSync | None = None
        self._learn = learn
        """Begins to learn in the background; ``None`` not to."""
        self._learning: BackgroundLearning | None = None
        self._heads = heads
        """The file for the heads of the journal; ``None`` for none."""
        self._deciding = threading.Lock()
        self._attempt: futures.Future[Store] | None = None
        self._closed = False
        self._preparing: threading.Timer | None = None

    def start(self) -> None:
        """Begin opening in a thread, unless that has begun already."""
        if self._attempt is None:
            threading.Thread(target=self._try, name="memstore-opening", daemon=True).start()

    def store(self) -> Store:
        """Return the store once it is open; concurrent calls share one attempt."""
        with self._deciding:
            if self._closed:
                raise errors.StoreClosed("the server is shutting down")
            before = attempt = self._attempt
            ours = before is None or _is_over(before)
            if ours:
                attempt = self._attempt = futures.Future()
        assert attempt is not None
        if ours:
            try:
                self._stop_jobs()
                if before is not None and before.exception() is None:
                    before.result().close()
                store = self._open_store()
                if self._learn is not None:
                    self._learning = self._learn(store)
            except BaseException as error:
                _collect_garbage()
                attempt.set_exception(error)
                raise
            self._note_head(store)
            if store.file.upgraded is not None:
                logging.getLogger(__name__).warning("%s", store.file.upgraded)
            attempt.set_result(store)
            self._preparing = threading.Timer(QUIET_SECONDS, self._prepare, [store])
            self._preparing.daemon = True
            self._preparing.start()
        if not attempt.done():
            futures.wait([attempt], engine.longest_wait(threading.TIMEOUT_MAX))
            if not attempt.done():
                raise errors.StoreBusy(
                    "the memory is still being opened", remedy=errors.Remedy.WAIT
                )
        return attempt.result()

    def close(self) -> None:
        with self._deciding:
            self._closed = True
            attempt = self._attempt
        if attempt is not None and attempt.done() and attempt.exception() is None:
            self._schedule(attempt.result())  # it may end before it was prepared
        self._stop_jobs()
        if attempt is not None and attempt.done() and attempt.exception() is None:
            self._note_head(attempt.result())
            attempt.result().close()
        if self._preparing is not None:  # it may still hold a connection
            self._preparing.cancel()
            self._preparing.join(CLOSING_SECONDS)

    def _prepare(self, store: Store) -> None:
        _prepare(store)
        if not self._closed:
            self._schedule(store)
            if self._syncing is not None:
                self._syncing.start()

    def _schedule(self, store: Store) -> None:
        """Decide whether the file is synced in the background."""
        if self._syncing is not None or self._sync_by is None:
            return
        try:
            self._syncing = background_sync.schedule(store, self._sync_by)
        except (errors.MemstoreError, OSError) as error:
            told = wording.in_server(error)
            logging.getLogger(__name__).warning("nothing is synced in the background: %s", told)

    def _stop_jobs(self) -> None:
        """Let them start nothing more; what is read now is read again by the next process."""
        if self._learning is not None:
            self._learning.stop(0)
        if self._syncing is not None:
            syncing, self._syncing = self._syncing, None
            with suppress(errors.MemstoreError, OSError):
                syncing.stop()

    def _note_head(self, store: Store) -> None:
        """Append the end of the journal to the file for it, which others should not be able to
        change."""
        if self._heads is None:
            return
        try:
            head = {"at": clock.to_text(clock.utc_now()), "path": store.path}
            line = json.dumps({**head, "head": str(stores.file_of(store).head())})
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            with os.fdopen(os.open(self._heads, flags, 0o600), "w", encoding="utf-8") as file:
                file.write(f"{line}\n")
        except (OSError, errors.MemstoreError) as error:
            logging.getLogger(__name__).warning("the journal's head was not noted: %s", error)

    def _try(self) -> None:
        try:
            self.store()
        except (errors.MemstoreError, ValueError, TypeError) as error:
            # Every call gets this text; the host's log shows it too.
            told = wording.in_server(error)
            logging.getLogger(__name__).warning("the store did not open: %s", told)


def log_to_standard_error() -> None:
    """Standard output belongs to the protocol, so warnings go to the host's log."""
    logging.basicConfig(format="memstore-mcp: %(message)s")
    for handler in logging.getLogger().handlers:
        handler.setLevel(logging.WARNING)  # a client that wants more gets it from client_log


def open_store(chosen: Settings, schedule: BackupSchedule | None = None) -> Store:
    log_to_standard_error()
    store = from_settings.open_store(chosen, actor="agent", source="mcp")
    if schedule is not None:
        try:
            store.file.backup_in_background(*schedule, tell=_tell_backup)
        except BaseException:
            store.close()
            raise
    return store


def _tell_backup(done: Path | Reason) -> None:
    if isinstance(done, str):
        logging.getLogger(__name__).warning("no backup was made: %s", wording.in_server(done))
    else:
        logging.getLogger(__name__).info("a backup was made: %s", done)


def _is_over(attempt: futures.Future[Store]) -> bool:
    """Return whether an attempt to open failed, or the file it opened was replaced."""
    if not attempt.done():
        return False
    return attempt.exception() is not None or stores.file_of(attempt.result()).is_replaced


def end_on_signals(opening: Opening) -> None:
    """End the process at a signal, whatever the main thread is doing.

    A handler runs in the main thread, between two steps of Python: if the signal comes just before
    a read blocks, the handler would wait until that read ends. So a thread waits for the signal.
    """
    woken, wake = os.pipe()
    if sys.platform != "win32":  # there it need not be, and cannot be before Python 3.12
        os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    on_signals(lambda _number, _frame: None)

    def wait() -> None:
        os.read(woken, 1)
        end(opening, 0)

    threading.Thread(target=wait, name="memstore-signals", daemon=True).start()


def on_signals(stop: Callable[[int, FrameType | None], None]) -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):  # Windows has fewer
            signal.signal(getattr(signal, name), stop)


def end(opening: Opening, status: int) -> NoReturn:
    """Close the store and exit the process.

    It does not return: the interpreter would first wait for threads that read from an idle input or
    wait for a server that never answers.
    """
    closing = _thread.allocate_lock()
    closing.acquire()

    def close() -> None:
        try:
            opening.close()
        finally:
            closing.release()

    # A signal may arrive while this thread is starting another: threading would then deadlock.
    _thread.start_new_thread(close, ())
    closing.acquire(timeout=CLOSING_SECONDS)
    os._exit(status)


def _prepare(store: Store) -> None:
    """Start embedding and warm up, so that the first search and the first fact need not wait."""
    with suppress(errors.StoreClosed):
        try:
            # First, because it must start even if warming up fails.
            store.file.embed_in_background()
            store.file.warm()
        except errors.MemstoreError as error:
            logging.getLogger(__name__).info("not ready for searches by meaning yet: %s", error)
    _collect_garbage()


def _collect_garbage() -> None:
    """Collect from now on; starting made many objects, and none of them is garbage."""
    gc.freeze()
    gc.enable()
