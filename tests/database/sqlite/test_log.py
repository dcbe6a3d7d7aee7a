"""The write-ahead log stays short, whoever reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memstore.database.sqlite import log
from memstore.database.sqlite.engine import SqliteEngine

PAGE = 4096
BOUND = 40 * PAGE


@pytest.fixture
def engine(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteEngine]:
    monkeypatch.setattr(log, "COPIED_PAGES", 10)
    monkeypatch.setattr(log, "BOUND_PAGES", 40)
    monkeypatch.setattr(log, "PATIENCE_MILLISECONDS", 1)
    monkeypatch.setattr(log, "SIZE_LIMIT_BYTES", BOUND)
    engine = SqliteEngine(path)
    with engine.write() as transaction:
        transaction.run("CREATE TABLE items (content BLOB)")
    yield engine
    engine.close()


def write(engine: SqliteEngine, times: int) -> None:
    for _ in range(times):
        with engine.write() as transaction:
            transaction.run("INSERT INTO items VALUES (zeroblob(20000))")


def test_readers_that_overlap_do_not_let_it_grow(engine: SqliteEngine) -> None:
    longest = 0
    for _ in range(20):
        with engine.read() as one:
            one.scalar("SELECT count(*) FROM items")
            write(engine, 3)
        with engine.read() as two:
            two.scalar("SELECT count(*) FROM items")
            longest = max(longest, engine.log_bytes())
        write(engine, 1)
    assert longest < 4 * BOUND


def test_it_shrinks_when_a_long_reader_has_gone(
    engine: SqliteEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "PAUSES_SECONDS", (0.0, 0.0))
    with engine.read() as reader:
        reader.scalar("SELECT count(*) FROM items")
        write(engine, 40)
        assert engine.log_bytes() > 4 * BOUND
    write(engine, 10)
    assert engine.log_bytes() < 2 * BOUND


def test_a_reader_that_stays_is_waited_for_once_a_pause(engine: SqliteEngine) -> None:
    tried: list[object] = []
    with engine.read() as reader:
        reader.scalar("SELECT count(*) FROM items")
        write(engine, 20)
        keeper = engine._writer._log
        tried.append(keeper._not_before)
        write(engine, 20)
        tried.append(keeper._not_before)
    assert tried[0] == tried[1]
    assert keeper._pause == log.PAUSES_SECONDS[0]
