"""The write-ahead log stays short despite readers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from memstore.database.sqlite import writer
from memstore.database.sqlite.engine import SqliteEngine

PAGE = 4096
BOUND = 40 * PAGE


@pytest.fixture
def engine(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteEngine]:
    monkeypatch.setattr(writer, "COPIED_PAGES", 10)
    monkeypatch.setattr(writer, "BOUND_PAGES", 40)
    monkeypatch.setattr(writer, "PATIENCE_SECONDS", (0.001, 0.001))
    monkeypatch.setattr(writer, "SIZE_LIMIT_BYTES", BOUND)
    engine = SqliteEngine(path)
    with engine.write() as transaction:
        transaction.execute("CREATE TABLE items (content BLOB)")
    yield engine
    engine.close()


def write(engine: SqliteEngine, times: int) -> None:
    for _ in range(times):
        with engine.write() as transaction:
            transaction.execute("INSERT INTO items VALUES (zeroblob(20000))")


def test_overlapping_readers_do_not_make_the_log_grow(engine: SqliteEngine) -> None:
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


def test_log_shrinks_after_a_long_reader_ends(
    engine: SqliteEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "PAUSES_SECONDS", (0.0, 0.0))
    with engine.read() as reader:
        reader.scalar("SELECT count(*) FROM items")
        write(engine, 40)
        assert engine.log_bytes() > 4 * BOUND
    write(engine, 10)
    assert engine.log_bytes() < 2 * BOUND


def test_a_reader_that_stays_is_waited_for_as_the_log_grows_and_time_goes_by(
    engine: SqliteEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "PAUSES_SECONDS", (1000.0, 1000.0))
    tried: list[float] = []
    with engine.read() as reader:
        reader.scalar("SELECT count(*) FROM items")
        for _ in range(80):
            write(engine, 1)
            tried.append(engine._writer._log._not_before)
    waits = len({*tried}) - 1
    assert 5 <= waits <= 15  # from 40 pages to some 500, by a fifth each time


@pytest.mark.parametrize("size", [40_000, 400_000], ids=["below the bound", "above it"])
def test_a_checkpoint_by_another_process_is_not_mistaken_for_a_reader(
    engine: SqliteEngine, path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """SQLite refuses a second checkpoint at once, without waiting."""
    waits_for_writer, may_give_up = threading.Event(), threading.Event()
    monkeypatch.setattr(writer, "PATIENCE_SECONDS", (60.0, 60.0))
    monkeypatch.setattr(writer.time, "sleep", lambda _: may_give_up.set())

    def give_up(_attempts: int) -> bool:
        waits_for_writer.set()
        may_give_up.wait()
        return False

    def checkpoint() -> None:
        other = apsw.Connection(str(path))
        other.execute("SELECT * FROM items")  # WAL mode takes effect at its first read
        other.set_busy_handler(give_up)
        with suppress(apsw.BusyError):
            other.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_FULL)
        other.close()

    thread = threading.Thread(target=checkpoint)
    with engine.write() as transaction:
        transaction.execute("INSERT INTO items VALUES (zeroblob(?))", (size,))
        thread.start()
        waits_for_writer.wait()
    may_give_up.set()
    thread.join()
    assert engine._writer._log._not_before == 0.0
    assert engine.log_bytes() < BOUND
