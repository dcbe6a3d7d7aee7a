"""Copies and sizes: what engines do whose database is a file, and what a server's refuse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memstore.database.engine import Engine, Transaction
from memstore.database.writes import Delete, Insert
from memstore.errors import Remedy, StorageError

OpenEngine = Callable[[], Engine]

of_files = pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
of_servers = pytest.mark.parametrize(
    "kind", [pytest.param("postgres", marks=pytest.mark.process)], indirect=True
)


def add(transaction: Transaction, *names: str) -> None:
    for name in names:
        transaction.run(Insert("items", ("name",)), {"name": name})


def names(engine: Engine) -> list[str]:
    with engine.read() as transaction:
        return [name for (name,) in transaction.rows("SELECT name FROM items ORDER BY id")]


@of_files
def test_backup_runs_during_a_write_and_refuses_an_existing_target(
    engine: Engine, open_engine: OpenEngine, tmp_path: Path
) -> None:
    with engine.write() as transaction:
        add(transaction, *("x" * 1000 for _ in range(100)))
    told: list[tuple[int, int]] = []
    target = tmp_path / "copy"
    with open_engine().write() as writing:
        add(writing, "not committed")
        engine.backup(target, lambda done, total: told.append((done, total)))
    assert target.stat().st_size > 100_000
    assert told[-1][0] == told[-1][1] > 0
    assert b"not committed" not in target.read_bytes()
    before = target.read_bytes()
    with pytest.raises(StorageError) as caught:
        engine.backup(target)
    assert caught.value.remedy is Remedy.NEW_TARGET
    assert target.read_bytes() == before


@of_files
def test_compacting_frees_space(engine: Engine) -> None:
    with engine.write() as transaction:
        add(transaction, *("x" * 1000 for _ in range(1000)))
    with engine.write() as transaction:
        transaction.run(Delete("items", "id > 1"))
    before = engine.size_bytes()
    assert engine.compact()
    assert engine.size_bytes() < before / 4
    assert names(engine) == ["x" * 1000]


@of_servers
def test_backup_of_a_server_is_refused(engine: Engine, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    with pytest.raises(StorageError) as caught:
        engine.backup(target)
    assert caught.value.remedy is Remedy.BACK_UP_SERVER
    assert not target.exists()


@of_servers
def test_compacting_a_server_does_not_promise_that_bytes_are_gone(engine: Engine) -> None:
    assert not engine.compact()


def test_a_long_read_on_a_copy_sees_one_state(engine: Engine) -> None:
    with engine.write() as transaction:
        add(transaction, "one")
    with engine.aside() as copy:
        assert copy.scalar("SELECT count(*) FROM items") == 1
        with engine.write() as transaction:
            add(transaction, "two")
        assert copy.scalar("SELECT count(*) FROM items") == 1
    assert names(engine) == ["one", "two"]


def test_a_scratch_file_is_empty_and_writable(engine: Engine) -> None:
    with engine.scratch() as file:
        assert file.read() == b""
        file.write(b"some")
        file.seek(0)
        assert file.read() == b"some"


def test_a_database_has_a_size(engine: Engine) -> None:
    before = engine.size_bytes()
    with engine.write() as transaction:
        add(transaction, *("x" * 1000 for _ in range(200)))
    assert engine.size_bytes() > before > 0
