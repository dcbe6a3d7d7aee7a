"""Memories on a PostgreSQL server: their addresses, and whose they are."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.postgres import Databases, with_option

import memstore
from memstore import Conflict, InvalidArgument, StorageError
from memstore.database.postgres import pools
from memstore.errors import Remedy, SchemaError, StoreBusy
from memstore.store import servers

pytestmark = pytest.mark.process

PASSWORD = "hunter2-never-shown"


def test_facts_survive_reopening(url: str) -> None:
    with memstore.open(url, embedder=None) as store:
        fact = store.add("The cat sleeps", subject="cat", metadata={"n": 3})
    with memstore.open(url, embedder=None) as store:
        assert store.get(fact.id) == fact
        assert store.ledger.verify() == []
        assert store.file.doctor() == []


def test_a_password_is_shown_nowhere(url: str) -> None:
    with_password = url.replace("postgres:@", f"postgres:{PASSWORD}@")
    with memstore.open(with_password, embedder=None) as store:
        assert PASSWORD not in repr(store)
        assert PASSWORD not in store.path
        assert PASSWORD not in repr(store.status())
    for wrong in (
        f"postgresql://someone:{PASSWORD}@/nowhere?host=/nonexistent",
        f"postgresql://someone:{PASSWORD}@localhost:1/x?nonsense=1",
        f"postgresql://someone:{PASSWORD}@localhost:1/x?connect_timeout=1",
    ):
        with pytest.raises((StorageError, InvalidArgument)) as caught:
            memstore.open(wrong, embedder=None)
        error: BaseException | None = caught.value
        while error is not None:
            assert PASSWORD not in str(error)
            error = error.__cause__


def test_a_namespace_is_a_memory_of_its_own(url: str) -> None:
    with (
        memstore.open(url, namespace="a", embedder=None) as a,
        memstore.open(url, namespace="b", embedder=None) as b,
    ):
        assert a.add("of a", subject="s").id == b.add("of b", subject="s").id == 1
        assert [fact.content for fact in a.list()] == ["of a"]
        assert a.status().head != b.status().head
        for store in (a, b):
            assert store.ledger.verify() == []
        with pytest.raises(Conflict, match="belongs to the memory 'b'"):
            a.within("b").list()
        with pytest.raises(Conflict, match="belongs to the memory 'b'"):
            a.search("of", namespaces=["a", "b"])
        with pytest.raises(Conflict, match="belongs to the memory 'b'"):
            a.within("b").add("not stored", subject="s")
        assert len(b.list()) == 1


def test_a_namespace_stored_beside_another_stays_there(url: str) -> None:
    with memstore.open(url, embedder=None) as store:
        store.within("notes").add("beside", subject="s")
    with memstore.open(url, namespace="notes", embedder=None) as store:
        assert [fact.content for fact in store.list()] == ["beside"]
        assert {"default", "notes"} >= {*store.status().namespaces}


def test_projects_share_the_default_namespace(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "harbour"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with memstore.open(url, namespace="auto", embedder=None) as store:
        store.add("tabs, not spaces", subject="user", category="preference")
        store.add("the quay is built", subject="quay")
        assert {fact.namespace for fact in store.list()} == {"default", store.namespace}
        own = store.namespace
    with memstore.open(url, namespace=own, embedder=None) as store:
        assert [fact.content for fact in store.list()] == ["the quay is built"]


def test_read_only_stores_nothing_and_needs_a_memory(url: str) -> None:
    with pytest.raises(SchemaError):
        memstore.open(url, namespace="none", read_only=True, embedder=None)
    with memstore.open(url, embedder=None) as store:
        store.add("one", subject="s")
    with memstore.open(url, read_only=True, embedder=None) as store:
        assert len(store.search("one")) == 1
        with pytest.raises(StorageError):
            store.add("two", subject="s")


def test_a_missing_memory_is_refused_and_those_that_exist_are_named(url: str) -> None:
    with memstore.open(url, embedder=None) as store:
        store.within("notes").add("beside", subject="s")
    memstore.open(url, namespace="notes", create=False, embedder=None).close()  # beside default
    memstore.open(url, namespace="auto", create=False, embedder=None).close()
    with pytest.raises(SchemaError, match=r"'none'; the namespaces .* are 'default'\n") as caught:
        memstore.open(url, namespace="none", create=False, embedder=None)
    assert caught.value.remedy is Remedy.CREATE_MEMORY
    with pytest.raises(SchemaError):
        memstore.open(url, namespace="none", create=False, embedder=None)
    names = [f"team-{number:02}" for number in range(11)]
    for name in names:
        memstore.open(url, namespace=name, embedder=None).close()
    with pytest.raises(SchemaError, match=r"'default', 'team-00', .*'team-08', and others\n"):
        memstore.open(url, namespace="none", create=False, embedder=None)


@pytest.mark.parametrize(
    ("options", "argument"),
    [({"durability": "full"}, "durability"), ({"synchronous": "FULL"}, "durability")],
)
def test_what_the_server_decides_is_refused(
    url: str, options: dict[str, str], argument: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        memstore.open(url, embedder=None, **options)  # type: ignore[arg-type]
    assert caught.value.argument == argument


def test_statements_need_not_be_prepared(url: str) -> None:
    with memstore.open(with_option(url, "prepare_threshold=none"), embedder=None) as store:
        for number in range(7):
            store.add(f"fact {number}", subject="s")
        assert len(store.search("fact", limit=10)) == 7
    with pytest.raises(InvalidArgument, match="prepare_threshold"):
        memstore.open(with_option(url, "prepare_threshold=some"), embedder=None)


def test_a_process_has_no_more_connections_than_its_pool(url: str) -> None:
    with (
        memstore.open(with_option(url, "pool_size=2"), embedder=None) as store,
        ThreadPoolExecutor(8) as threads,
    ):
        facts = [*threads.map(lambda n: store.add(f"fact {n}", subject="s"), range(40))]
        assert [*threads.map(lambda fact: store.get(fact.id), facts)] == facts
        figures = store.file.engine.connections
        assert 0 < figures["used"] + figures["idle"] <= 2
    (found,) = (one for one in servers.check(url) if one.name == "connections")
    assert "opens up to 32" in found.text
    limited = with_option(url, "pool_size=7")
    (found,) = (one for one in servers.check(limited) if one.name == "connections")
    assert "opens up to 7" in found.text


def test_a_write_without_a_free_connection_says_so(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with memstore.open(with_option(url, "pool_size=1"), embedder=None) as store:
        store.add("a fact", subject="s")
        monkeypatch.setattr(pools.SharedPool.take, "__defaults__", (0.1,))
        with store.file.engine.read() as transaction:
            assert transaction.scalar("SELECT count(*) FROM memstore_facts") == 1
            with pytest.raises(StoreBusy, match=r"in 0.1 s, of the 1 that .* \(pool_size\)"):
                store.add("another", subject="s", supersedes=1)
        store.add("another", subject="s", supersedes=1)


@pytest.mark.parametrize("size", ["0", "-1", "1001", "many", "", "1.5", "٣"])
def test_an_impossible_size_of_the_pool_is_refused(url: str, size: str) -> None:
    with pytest.raises(InvalidArgument, match="pool_size must be a number from 1 to 1000"):
        memstore.open(with_option(url, f"pool_size={size}"), embedder=None)


def test_texts_with_a_null_character_are_refused_as_such(url: str) -> None:
    with memstore.open(url, embedder=None) as store, pytest.raises((StorageError, ValueError)):
        store.add("a\0b", subject="s")


def test_an_export_and_import_carries_a_memory_over(url: str, server_databases: Databases) -> None:
    with memstore.open(url, embedder=None) as store:
        old = store.add("old", subject="s", metadata={"a": [1, None, "x"]})
        store.add("new", subject="s", supersedes=old.id)
        store.episodes.add("what was said", source="chat", tags=["t"])
        lines = list(store.file.export())
    target = server_databases.take()
    with memstore.open(target, embedder=None) as store:
        store.file.import_(lines)
        assert {fact.content for fact in store.list()} == {"new"}
        assert store.ledger.verify() == []
        assert store.file.doctor() == []
    server_databases.give_back(target)
