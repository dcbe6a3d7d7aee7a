"""Index files of a server's memory, in a local folder: only used for the history they are of."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support import postgres
from tests.support.clock import wait_until
from tests.support.postgres import psycopg
from tests.support.sent import watched

import memstore
from memstore import Store
from memstore.search.index import index as module
from memstore.search.index.index import Index

pytestmark = pytest.mark.process


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the files, which are written for a few rows, by a background build."""
    folder = tmp_path / "indexes"
    monkeypatch.setenv("MEMSTORE_INDEX_FOLDER", str(folder))
    monkeypatch.setattr(module, "SAVED_FROM", 1)
    return folder


def index_of(store: Store) -> Index:
    return store.file.searches.facts.index


def fill(url: str, *texts: str) -> None:
    """Store texts, search, and have the files written."""
    with memstore.open(url, embedder=None) as store:
        for text in texts:
            store.add(text, subject="s")
        store.search("quay")
        store.file.save_index()
        assert index_of(store).figures().file_bytes > 0


def found(store: Store, query: str) -> set[str]:
    return {hit.fact.content for hit in store.search(query)}


def is_mapped(store: Store) -> bool:
    """Whether the index was read from files, and not built."""
    figures = index_of(store).figures()
    return figures.file_bytes > 0 and figures.builds == 0


def test_the_next_process_maps_what_one_wrote(
    url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(url, "the quay is open", "the boat is blue")
    files = sorted(folder.iterdir())
    assert {file.suffix for file in files} == {".columns", ".words", ".features", ".json"}
    if os.name == "posix":
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    monkeypatch.setattr(module, "AT_ONCE", 0)  # a search builds nothing itself
    with memstore.open(url, embedder=None) as store:
        hits = store.search("quay")
        assert not hits.provisional
        assert is_mapped(store)
        assert [hit.fact.content for hit in hits] == ["the quay is open"]


def test_what_came_since_is_found(url: str, folder: Path) -> None:
    fill(url, "the quay is open")
    with memstore.open(url, embedder=None) as store:
        store.add("the quay is wet", subject="s")
        assert found(store, "quay") == {"the quay is open", "the quay is wet"}
        assert is_mapped(store)


def test_files_in_use_cost_a_search_after_changes_no_round_trip(
    url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(url, "the quay is open")
    monkeypatch.setattr(module, "SAVED_FROM", 1000)  # nothing is written behind the search
    trips: list[int] = []
    for has_files in (True, False):
        if not has_files:
            monkeypatch.delenv("MEMSTORE_INDEX_FOLDER")
        with memstore.open(url, embedder=None) as store:
            store.search("quay")
            assert is_mapped(store) == has_files
            now = "wet" if has_files else "dry"
            store.add(f"the boat is {now}", subject="s")
            store.search("boat")  # the index is of a later line than the files
            store.add(f"the quay is {now}", subject="s")
            sent: list[object] = []
            with watched(before=lambda _, statements, sent=sent: sent.append(statements)):
                assert len(found(store, "quay")) == (2 if has_files else 3)
            trips.append(len(sent))
    assert trips[0] == trips[1]


@pytest.fixture
def restored(url: str, folder: Path) -> Iterator[tuple[str, str]]:
    """A database, and a copy of it as it was before its last write; both then go on differently.

    Both have feeds that end at the same position, and journals that end at the same line.
    """
    with memstore.open(url, embedder=None) as store:
        store.add("the quay is open", subject="s")
    name = url.split("?")[0].rpartition("/")[2]
    with postgres.database(template=name) as copy:
        yield url, copy


def renamed(connection: Any, one: str, other: str) -> bool:
    """Rename a database, unless a pool has opened a connection again meanwhile."""
    connection.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s", [one]
    )
    try:
        connection.execute(f'ALTER DATABASE "{one}" RENAME TO "{other}"')
    except psycopg.errors.ObjectInUse:
        return False
    return True


def put_in_place(of: str, by: str) -> None:
    """Rename databases, so that an address leads to another history."""
    names = [url.split("?")[0].rpartition("/")[2] for url in (of, by)]
    with psycopg.connect(postgres.server(), autocommit=True) as connection:
        for one, other in (
            (names[0], "memstore_set_aside"),
            (names[1], names[0]),
            ("memstore_set_aside", names[1]),
        ):
            assert wait_until(partial(renamed, connection, one, other))


def test_files_of_another_history_are_not_used(restored: tuple[str, str], folder: Path) -> None:
    url, copy = restored
    fill(url, "lost with the old server: quay")
    with memstore.open(copy, embedder=None) as store:
        store.add("only on the new server: quay", subject="s")
    put_in_place(url, copy)
    try:
        with memstore.open(url, embedder=None) as store:
            expected = {"the quay is open", "only on the new server: quay"}
            assert found(store, "quay") == expected
            assert not is_mapped(store)
    finally:
        put_in_place(url, copy)


def test_an_index_in_memory_is_not_used_for_another_history(restored: tuple[str, str]) -> None:
    url, copy = restored
    with memstore.open(copy, embedder=None) as store:
        store.add("only on the new server: quay", subject="s")
    with memstore.open(url, embedder=None) as store:
        store.add("lost with the old server: quay", subject="s")
        assert "lost with the old server: quay" in found(store, "quay")
        put_in_place(url, copy)
        try:
            assert found(store, "quay") == {"the quay is open", "only on the new server: quay"}
            store.add("later: quay", subject="s")
            assert "lost with the old server: quay" not in found(store, "quay")
        finally:
            put_in_place(url, copy)


def test_erasing_removes_the_words_from_the_files_of_this_machine(url: str, folder: Path) -> None:
    fill(url, "the quay is open", "a secretword at the quay")
    assert any(b"secretword" in file.read_bytes() for file in folder.iterdir())
    with memstore.open(url, embedder=None) as store:
        (hit,) = store.search("secretword")
        store.erase(hit.fact.id)
    assert not any(b"secretword" in file.read_bytes() for file in folder.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_folder_that_others_can_open_gets_no_files(
    url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir(mode=0o755)
    with memstore.open(url, embedder=None) as store:
        store.add("the quay is open", subject="s")
        assert found(store, "quay") == {"the quay is open"}
        store.file.save_index()
    assert [*folder.iterdir()] == []
    monkeypatch.setenv("MEMSTORE_INDEX_FOLDER", "off")
    with memstore.open(url, embedder=None) as store:
        assert store.file.engine.derived_path is None
        assert found(store, "quay") == {"the quay is open"}
