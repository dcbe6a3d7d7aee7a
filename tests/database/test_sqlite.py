"""Behaviour of the SQLite engine beyond the contract."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from memstore.database import journal
from memstore.database.engine import waiting_at_most
from memstore.database.migrations import migrate
from memstore.database.sqlite.engine import SqliteEngine
from memstore.errors import StorageError, StoreBusy


def test_a_statement_is_prepared_once_for_many_values(path: Path) -> None:
    engine = SqliteEngine(path)
    migrate(engine)
    prepared: list[object] = []

    def count(*about: object) -> int:
        prepared.append(about)
        return apsw.SQLITE_OK

    with engine.read() as transaction:
        transaction.connection.authorizer = count
        journal.of_fact(transaction, 1)
        once = len(prepared)
        for fact_id in range(2, 10):
            journal.of_fact(transaction, fact_id)
        transaction.connection.authorizer = None
    engine.close()
    assert len(prepared) == once > 0


def test_a_url_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StorageError, match="opens files only"):
        SqliteEngine("postgresql://ana@db.example.com/memories")
    assert [*tmp_path.iterdir()] == []


def test_a_thread_need_not_wait_for_a_program_that_has_the_file_for_itself(
    path: Path,
) -> None:
    engine = SqliteEngine(path)
    migrate(engine)
    engine.close()
    other = apsw.Connection(str(path))
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN IMMEDIATE; CREATE TABLE another (id)")
    engine = SqliteEngine(path)
    with waiting_at_most(0), pytest.raises(StoreBusy), engine.read():
        pytest.fail("it was read")
    other.close()
    with engine.read() as transaction:
        assert transaction.scalar("SELECT count(*) FROM memstore_facts") == 0
    engine.close()
