"""Behaviour of the SQLite engine beyond the contract."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from memstore.database import journal
from memstore.database.migrations import migrate
from memstore.database.sqlite.engine import SqliteEngine
from memstore.errors import StorageError


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
