"""One transaction is one moment of the journal, and the chain of hashes shows any change to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.clock import ManualClock
from tests.support.raw import raw

import memstore
from memstore import Store
from memstore.database import journal
from memstore.domain import clock
from memstore.history import chain

OpenStore = Callable[..., Store]


def lines(path: str | Path, columns: str) -> list[Any]:
    with raw(path) as file:
        return file.execute(f"SELECT {columns} FROM memstore_journal ORDER BY id").fetchall()


@contextmanager
def unguarded(path: str | Path) -> Iterator[Any]:
    """Let every row be changed, as somebody who rewrites history would."""
    with raw(path) as file:
        triggers = file.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
            " AND tbl_name = 'memstore_journal'"
        ).fetchall()
        for name, _ in triggers:
            file.execute(f"DROP TRIGGER {name}")
        yield file
        for _, sql in triggers:
            file.execute(sql)
        file.commit()


def faults(store: Store, head: journal.Head | None = None) -> list[str]:
    with store.file.engine.read() as transaction:
        return [*chain.faults(transaction, head)]


@pytest.fixture
def filled(store: Store) -> Store:
    store.add_many({"content": f"fact {n}", "subject": "x"} for n in range(5))
    store.add("fact one, corrected", subject="x", supersedes=1)
    store.delete(3)
    episode = store.episodes.record("something said")
    store.add("something known", subject="y", episode_id=episode.id)
    return store


def test_the_lines_of_a_transaction_have_one_time_and_name_its_first_line(filled: Store) -> None:
    found = lines(filled.path, "txn, at, id")
    assert [txn for txn, *_ in found[:5]] == [1] * 5
    assert len({at for _, at, _ in found[:5]}) == 1
    assert [txn for txn, *_ in found[5:7]] == [6, 6]
    times = {txn: at for txn, at, _ in found}
    assert sorted(times.values()) == [*times.values()]
    assert len({*times.values()}) == len(times)


def test_time_goes_on_when_the_clock_is_set_back(filled: Store) -> None:
    *_, (before,) = lines(filled.path, "at")
    with clock.use(ManualClock(clock.from_text(before) - timedelta(days=400))):
        filled.add("written last year", subject="z")
        filled.add("written then, too", subject="z")
    *_, (first,), (second,) = lines(filled.path, "at")
    assert clock.from_text(first) - clock.from_text(before) == timedelta(microseconds=1)
    assert clock.from_text(second) - clock.from_text(before) == timedelta(microseconds=2)


def test_each_opening_is_a_run(filled: Store, open_store: OpenStore) -> None:
    [run] = {run for (run,) in lines(filled.path, "run")}
    assert filled.ledger.journal(1)[0].run == clock.uuid_text(run)
    open_store().add("in another run", subject="z")
    assert len({run for (run,) in lines(filled.path, "run")}) == 2


def test_the_chain_of_an_untouched_file_has_no_faults(filled: Store) -> None:
    assert faults(filled) == []


def test_erasing_keeps_the_chain_and_no_salt(filled: Store) -> None:
    filled.erase(1)
    assert filled.episodes.erase(1)
    assert faults(filled) == []
    erased = lines(filled.path, "before, after, evidence, salt, fact_id, kind")
    assert [line[:4] for line in erased if line[4] == 1 and line[5] != "erase"] == [(None,) * 4] * 2


COLUMNS = ("txn", "at", "said_at", "run", "actor", "source", "kind", "fact_id", "episode_id")
TEXTS = ("before", "after", "evidence", "salt", "erased", "hash")


@pytest.mark.parametrize("column", COLUMNS + TEXTS)
def test_a_changed_line_is_named(column: str, filled: Store) -> None:
    path = filled.path
    [(stored,)] = lines(path, column)[5:6]
    filled.close()
    changed: Any = b"\1" * 96 if column == "erased" else "forged"
    if isinstance(stored, bytes):
        changed = bytes([stored[0] ^ 1]) + stored[1:]
    elif isinstance(stored, int):
        changed = stored + 1
    elif isinstance(stored, str):
        changed = chr(ord(stored[0]) ^ 1) + stored[1:]
    with unguarded(path) as file:
        file.execute(f"UPDATE memstore_journal SET {column} = ? WHERE id = 6", (changed,))
    with memstore.open(path, embedder="none") as store:
        found = faults(store)
    assert any(fault.startswith("line 6 ") for fault in found), found


@pytest.mark.parametrize(
    ("where", "says"),
    {
        "id = 4": "lines 4 to 4 are missing",
        "id = 1": "lines 1 to 1 are missing",
        "id > 6": "lines 7 to ",
    }.items(),
)
def test_a_removed_line_is_named(where: str, says: str, filled: Store) -> None:
    path = filled.path
    filled.close()
    with unguarded(path) as file:
        file.execute(f"DELETE FROM memstore_journal WHERE {where}")
    with memstore.open(path, embedder="none") as store:
        found = faults(store)
    assert any(fault.startswith(says) for fault in found), found


def test_a_blanked_text_that_no_erasure_explains_is_named(filled: Store) -> None:
    with filled.file.engine.write() as transaction:
        for write in journal.forgetting_fact(transaction, 2):
            transaction.run(*write)
    assert faults(filled) == ["line 2 has lost a text, but no later line says that it was erased"]


def test_a_head_kept_elsewhere_shows_a_rewritten_journal(filled: Store) -> None:
    with filled.file.engine.read() as transaction:
        head = journal.head(transaction)
    filled.add("written later", subject="z")
    assert faults(filled, head) == []
    assert faults(filled, head._replace(hash="0" * 64)) == [
        f"line {head.line} has another hash than the head that was given"
    ]
    [longer] = faults(filled, head._replace(line=head.line + 10))
    assert "the head that was given is of line" in longer
