"""Opening during the handshake: once for all calls, shared failures, a clean end."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memstore import (
    AccessDenied,
    FileReplaced,
    NotFound,
    Scope,
    StorageError,
    Store,
    StoreBusy,
    StoreClosed,
)
from memstore.database.engine import waiting_at_most
from memstore.faces.serving.opening import Opening
from memstore.faces.serving.stores import Stores


class Opener:
    """Opens a store when released, or fails on request."""

    def __init__(self, open_store: Callable[..., Store]) -> None:
        self._open_store = open_store
        self.let = threading.Event()
        self.entered = threading.Event()
        self.failure: Exception | None = None
        self.calls = 0

    def __call__(self) -> Store:
        self.calls += 1
        self.entered.set()
        assert self.let.wait(10)
        if self.failure is not None:
            raise self.failure
        return self._open_store(embedder=None)


@pytest.fixture
def opener(open_store: Callable[..., Store]) -> Opener:
    return Opener(open_store)


def test_waiting_calls_get_the_same_store(opener: Opener) -> None:
    opening = Opening(opener)
    opening.start()
    assert opener.entered.wait(10)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(opening.store) for _ in range(4)]
        opener.let.set()
        stores = {id(call.result(10)) for call in waiting}
    assert (len(stores), opener.calls) == (1, 1)


def test_a_call_that_waits_no_longer_leaves_the_opening_to_the_others(opener: Opener) -> None:
    opening = Opening(opener)
    opening.start()
    assert opener.entered.wait(10)
    with waiting_at_most(0), pytest.raises(StoreBusy, match="is still being opened"):
        opening.store()
    opener.let.set()
    assert opening.store().status().active == 0
    assert opener.calls == 1


def test_failed_opening_is_shared_by_waiting_calls_and_retried_later(opener: Opener) -> None:
    opening = Opening(opener)
    opener.failure = StorageError("the disk is gone")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(opening.store)
        assert opener.entered.wait(10)
        second = pool.submit(opening.store)
        opener.let.set()
        for call in (first, second):
            with pytest.raises(StorageError, match="the disk is gone"):
                call.result(10)
    opener.failure = None
    assert opening.store().status().active == 0


@pytest.mark.skipif(sys.platform == "win32", reason="an open file is not renamed there")
def test_replaced_file_is_reopened_by_the_next_call(opener: Opener, path: Path) -> None:
    opening = Opening(opener)
    opener.let.set()
    stores = Stores(opening)
    old, confined = opening.store(), stores.confined("team")
    old.file.backup(path.with_name("backup.db"))
    path.with_name("backup.db").rename(path)
    with pytest.raises(FileReplaced):
        old.add("into the void", subject="a")
    new = opening.store()
    assert (opening.store() is new, new is old, opener.calls) == (True, False, 2)
    new.add("kept", subject="a")
    assert stores.confined("team") is not confined
    stores.confined("team").add("kept", subject="a")
    with pytest.raises(FileReplaced):
        old.count()


def test_store_for_a_token_of_one_user_reaches_nobody_else(opener: Opener) -> None:
    opening = Opening(opener)
    opener.let.set()
    stores = Stores(opening)
    secret = opening.store().within("team").of(user_id="ben").add("a secret", subject="a")
    own = stores.confined("team", {"user_id": "ana"})
    assert stores.confined("team", {"user_id": "ana"}) is own
    assert own.of(user_id="ana", run_id="r").add("hers", subject="a").user_id == "ana"
    with pytest.raises(NotFound):
        own.get(secret.id)
    for wider in ("all", Scope(), Scope(user_id="ben")):
        with pytest.raises(AccessDenied):
            own.within(source="tool").of(wider)
    assert stores.confined("team").of("all").count() == 2


def test_a_closed_opening_returns_no_store(opener: Opener) -> None:
    opening = Opening(opener)
    opener.let.set()
    store = opening.store()
    opening.close()
    opening.close()
    with pytest.raises(StoreClosed):
        opening.store()
    with pytest.raises(StoreClosed):
        store.status()


def test_closing_does_not_wait_for_an_opening_that_hangs(opener: Opener) -> None:
    opening = Opening(opener)
    opening.start()
    assert opener.entered.wait(10)
    opening.close()
    opener.let.set()
