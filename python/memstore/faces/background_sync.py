"""Begins syncs in the background: when a session begins, after writes, and every few minutes.

A sync is a process of its own, ``memstore sync --background``: it asks nothing, one at a time works
for a file, and ``memstore status`` tells what became of it. Whether one is due is read from two
small files, so that neither a hook nor the start of a server waits for anything.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Final

from memstore import settings
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import logging
    from collections.abc import Mapping
    from pathlib import Path

    from memstore.domain import clock
    from memstore.faces import background, options
    from memstore.settings import Settings
    from memstore.store import store as stores
    from memstore.store.store import Store
    from memstore.sync import news, remembered
else:
    background = lazy_import("memstore.faces.background")
    clock = lazy_import("memstore.domain.clock")
    logging = lazy_import("logging")
    news = lazy_import("memstore.sync.news")
    options = lazy_import("memstore.faces.options")
    remembered = lazy_import("memstore.sync.remembered")
    stores = lazy_import("memstore.store.store")

OFF: Final = "off"
LOOK_SECONDS: Final = 5.0
"""How often a server looks whether a sync is due."""
AFTER_WRITES_SECONDS: Final = 20.0
"""The pause between two syncs while something is written."""


def begin_if_due(path: str, variables: Mapping[str, str], *, has_news: bool = False) -> bool:
    """Begin a sync of the memories at a path if setup chose that, and it is time for one.

    Args:
        path: the file.
        variables: those by which another process uses the same settings.
        has_news: whether something was written that is worth a sync of its own.
    """
    if not os.path.isdir(settings.sync_folder()):
        return False
    state = remembered.folder_of(path)
    chosen = remembered.read(state)
    if chosen is None or chosen.every_seconds is None:
        return False
    if not _is_due(state, chosen.every_seconds, has_news=has_news):
        return False
    _begin(path, state, variables)
    return True


def variables_of(chosen: Settings) -> dict[str, str]:
    """Return the variables by which a sync uses the same settings; other users cannot see them."""
    names = ("secrets", "durability")
    return {f"MEMSTORE_{name.upper()}": value for name in names if (value := getattr(chosen, name))}


def schedule(store: Store, chosen: Settings) -> ScheduledSync | None:
    """Sync a server's memory in the background; ``None`` if neither it nor setup chose that."""
    path = store.path
    if chosen.read_only or chosen.sync_every == OFF or path == ":memory:":
        return None
    if chosen.sync_every is None and not os.path.isdir(settings.sync_folder()):
        return None
    every = None if chosen.sync_every is None else options.sync_every(chosen.sync_every)
    state = remembered.folder_of(path)
    place = remembered.read(state)
    if place is None:
        if every is not None:
            logging.getLogger(__name__).warning(
                "--sync-every does nothing: this memory has no place to sync with yet; memstore "
                "sync ADDRESS names one"
            )
        return None
    every = place.every_seconds if every is None else every
    return None if every is None else ScheduledSync(store, state, every, chosen)


class ScheduledSync:
    """A thread that begins syncs until it is stopped: in time, and after writes."""

    def __init__(self, store: Store, state: Path, every_seconds: float, chosen: Settings) -> None:
        self._engine = stores.file_of(store).engine
        # A store does not show the password of a database on a server.
        self._address = chosen.db if chosen.db and self._engine.is_remote else store.path
        self._state = state
        self._every_seconds = every_seconds
        self._variables = variables_of(chosen)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memstore-syncing", daemon=True)

    def start(self) -> ScheduledSync:
        self._thread.start()
        return self

    def stop(self) -> None:
        """End; what is not sent yet is sent by a process that outlives this one."""
        self._ended.set()
        if self._has_news():
            _begin(self._address, self._state, self._variables)

    def _run(self) -> None:
        while True:
            try:
                if _is_due(self._state, self._every_seconds) or (
                    _is_due(self._state, self._every_seconds, has_news=True) and self._has_news()
                ):
                    _begin(self._address, self._state, self._variables)
            except Exception as error:  # noqa: BLE001 - the thread must live on
                logging.getLogger(__name__).warning("no sync was begun: %s", type(error).__name__)
            if clock.wait(self._ended, LOOK_SECONDS):
                return

    def _has_news(self) -> bool:
        return news.has_news(self._engine)


def _is_due(state: Path, every_seconds: float, *, has_news: bool = False) -> bool:
    pause = every_seconds
    if has_news:
        last = remembered.last_run(state)
        if last is None or not last.error:  # else the place is away, and asked as often as always
            pause = min(pause, AFTER_WRITES_SECONDS)
    age = remembered.seconds_since_begun(state)
    return age is None or age >= pause


def _begin(path: str, state: Path, variables: Mapping[str, str]) -> None:
    remembered.note_begun(state)
    background.start(["sync", "--background"], environment={**variables, "MEMSTORE_DB": path})
