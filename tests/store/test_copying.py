"""A memory copied from a file to a server and back has every row, vector and line it had."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.embedders import WordEmbedder

import memstore
from memstore import Conflict, StorageError, Store
from memstore.database import carrying
from memstore.store.copying import copy

pytestmark = pytest.mark.process


def fill(store: Store) -> None:
    """Store something in nearly every table."""
    old = store.add("The quay is closed", subject="quay", metadata={"n": 1.5, "ok": True})
    store.add("The quay is open", subject="quay", supersedes=old.id)
    store.episodes.add("We met at the quay. It rained.", source="web:a.org", tags=["a", "b"])
    store.within("notes").add("ours", subject="s", user_id="ana")
    gone = store.add("erased words", subject="gone")
    store.erase(gone.id)
    store.tasks.create("paint the boat")
    store.distrust("web:a.org")
    store.file.tokens.create("t", namespace="notes", access="read")
    store.graph.build()


def test_a_file_goes_to_a_server_and_back(tmp_path: Path, url: str) -> None:
    embedder = WordEmbedder()
    there, back = tmp_path / "a.db", tmp_path / "b.db"
    with memstore.open(there, embedder=embedder) as store:
        fill(store)
        head = store.file.head()
        found = [hit.fact.uuid for hit in store.search("quay boat", limit=10)]
        store.file.write_use_counts()
        before = list(store.file.export())[1:]
    report = copy(there, url)
    assert report.head == head
    assert (report.facts, report.episodes) == (5, 1)
    with memstore.open(url, embedder=embedder) as store:
        assert store.verify(head) == []
        assert store.file.examine(deep=True) == []
        assert [hit.fact.uuid for hit in store.search("quay boat", limit=10)] == found
        store.file.write_use_counts()
        assert len(store.within("notes").list(scope="all")) == 1
    assert copy(url, back).head == head
    with memstore.open(back, embedder=embedder) as store:
        assert store.verify(head) == []
        assert store.file.examine(deep=True) == []
        assert len(list(store.file.export())[1:]) == len(before)
        newer = store.add("after the journey", subject="s")
        assert newer.id == 6


def test_what_is_not_empty_is_not_copied_into(tmp_path: Path, url: str) -> None:
    with memstore.open(tmp_path / "a.db", embedder=None) as store:
        store.add("one", subject="s")
    with memstore.open(url, embedder=None) as store:
        store.add("two", subject="s")
    with pytest.raises(Conflict, match="is not empty"):
        copy(tmp_path / "a.db", url)
    with memstore.open(url, embedder=None) as store:
        assert [fact.content for fact in store.list()] == ["two"]


def test_a_namespace_of_another_memory_is_not_copied_into(tmp_path: Path, url: str) -> None:
    with memstore.open(tmp_path / "a.db", embedder=None) as store:
        store.within("notes").add("one", subject="s")
    with memstore.open(url, namespace="notes", embedder=None) as store:
        store.add("two", subject="s")
    with pytest.raises(Conflict, match="belongs to the memory 'notes'"):
        copy(tmp_path / "a.db", url)
    with memstore.open(url, embedder=None) as store:
        assert store.file.head().line == 0


def test_a_copy_that_differs_is_not_stored(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with memstore.open(tmp_path / "a.db", embedder=None) as store:
        store.add("one", subject="s")
    carried = carrying.carry

    def spoiled(source: object, target: object, progress: object) -> dict[str, int]:
        counts = carried(source, target, progress)  # type: ignore[arg-type]
        target.run("UPDATE memstore_facts SET content = 'other'")  # type: ignore[attr-defined]
        return counts

    monkeypatch.setattr(carrying, "carry", spoiled)
    with pytest.raises(StorageError, match=r"differs from .* in memstore_facts"):
        copy(tmp_path / "a.db", url)
    monkeypatch.undo()
    assert copy(tmp_path / "a.db", url).facts == 1
