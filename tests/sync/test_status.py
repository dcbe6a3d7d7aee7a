"""What is told of a device that has not sent for long."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.support.syncing import Shelf, device_of, sync

from memstore import Store
from memstore.sync import status


def test_many_unsent_changes_are_counted_without_reading_them(
    open_store: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(embedder=None)
    sync(store, Shelf().view().own(device_of(store)))
    facts = store.add_many([{"content": f"cup {n}", "subject": "cups"} for n in range(5)])
    store.confirm(facts[0].id)
    store.update_metadata(facts[1].id, {"n": 1})
    store.delete(facts[2].id)
    store.erase(facts[3].id)
    store.episodes.add("Where is the key?", source="chat")
    [exact] = status.status(store.file.engine)
    monkeypatch.setattr(status, "EXACT", 0)
    [counted] = status.status(store.file.engine)
    assert exact.unsent == counted.unsent == 10
