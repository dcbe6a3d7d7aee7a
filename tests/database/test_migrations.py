"""Files of every earlier schema version open, lose nothing, and get the schema of a new file."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.original_files import STEPS
from tests.support.raw import raw

import memstore
from memstore import SchemaError, StorageError, Store
from memstore.database import migrations
from memstore.database.sqlite.engine import SqliteEngine
from memstore.domain import clock
from memstore.errors import Remedy

EARLIER = range(1, 7)

V1 = """
CREATE TABLE memstore_facts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, subject TEXT NOT NULL,
    category TEXT NOT NULL, metadata TEXT, superseded_by INTEGER REFERENCES memstore_facts(id),
    embedding BLOB, created_at TEXT NOT NULL);
CREATE VIRTUAL TABLE memstore_facts_fts USING fts5(
    content, subject, category, content='memstore_facts', content_rowid='id');
CREATE TRIGGER memstore_facts_ai AFTER INSERT ON memstore_facts BEGIN
    INSERT INTO memstore_facts_fts(rowid, content, subject, category)
    VALUES (new.id, new.content, new.subject, new.category); END;
CREATE TRIGGER memstore_facts_ad AFTER DELETE ON memstore_facts BEGIN
    INSERT INTO memstore_facts_fts(memstore_facts_fts, rowid, content, subject, category)
    VALUES ('delete', old.id, old.content, old.subject, old.category); END;
CREATE TRIGGER memstore_facts_au AFTER UPDATE ON memstore_facts BEGIN
    INSERT INTO memstore_facts_fts(memstore_facts_fts, rowid, content, subject, category)
    VALUES ('delete', old.id, old.content, old.subject, old.category);
    INSERT INTO memstore_facts_fts(rowid, content, subject, category)
    VALUES (new.id, new.content, new.subject, new.category); END;
CREATE INDEX idx_memstore_subject ON memstore_facts(subject);
CREATE INDEX idx_memstore_category ON memstore_facts(category);
CREATE INDEX idx_memstore_active ON memstore_facts(id) WHERE superseded_by IS NULL;
CREATE TABLE memstore_version (version INTEGER NOT NULL);
INSERT INTO memstore_version VALUES (1);
"""
LATER_STEPS = {
    2: "CREATE TABLE memstore_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);"
    "INSERT INTO memstore_meta VALUES ('embedding_model', 'words-64'), ('embedding_dim', '64');",
    3: "ALTER TABLE memstore_facts ADD COLUMN namespace TEXT NOT NULL DEFAULT '';"
    "CREATE INDEX idx_memstore_namespace ON memstore_facts(namespace);",
    4: "ALTER TABLE memstore_facts ADD COLUMN superseded_at TEXT;",
    5: "ALTER TABLE memstore_facts ADD COLUMN confirmed_count INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE memstore_facts ADD COLUMN last_confirmed_at TEXT;",
    6: "ALTER TABLE memstore_facts ADD COLUMN use_count INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE memstore_facts ADD COLUMN last_used_at TEXT;",
}

SINCE = {
    "namespace": 3,
    "superseded_at": 4,
    "confirmed_count": 5,
    "last_confirmed_at": 5,
    "use_count": 6,
    "last_used_at": 6,
}
"""The version that added each column; the others exist since the first."""

DAY = "2025-11-02T"
FACTS: list[dict[str, Any]] = [
    # A chain of three; the second superseded long before the third was stored.
    {
        "id": 1,
        "content": "Alice works at the bakery",
        "subject": "alice",
        "category": "identity",
        "superseded_by": 2,
        "created_at": DAY + "08:00:00Z",
        "superseded_at": DAY + "09:00:00Z",
        "confirmed_count": 3,
        "last_confirmed_at": DAY + "08:30:00Z",
        "use_count": 17,
        "last_used_at": DAY + "08:59:59Z",
    },
    {
        "id": 2,
        "content": "Alice works at the brewery",
        "subject": "alice",
        "category": "identity",
        "superseded_by": 5,
        "created_at": DAY + "10:00:00+01:00",
        "superseded_at": DAY + "23:30:00-05:30",
    },
    # An id is missing here: the original deleted rows.
    {
        "id": 5,
        "content": "Alice works at the observatory in Zürich",
        "subject": "alice",
        "category": "identity",
        "metadata": '{"source": "chat", "score": 0.75, "tags": ["work", "日本"], "n": null}',
        "created_at": DAY + "12:00:00.123456Z",
        "use_count": 2,
        "last_used_at": "2025-12-01T00:00:00Z",
    },
    {
        "id": 6,
        "content": "buy flour",
        "subject": "todo",
        "category": "note",
        "metadata": '{"kind": "task", "scope": "matthew", "status": "pending",'
        ' "surface": "startup"}',
        "created_at": DAY + "12:01:00Z",
        "namespace": "work",
    },
    {
        "id": 7,
        "content": "東京都は日本の首都です",
        "subject": "geography",
        "category": "note",
        "metadata": "[1, 2]",
        "created_at": DAY + "12:02:00Z",
        "namespace": "work",
    },
    {
        "id": 8,
        "content": "metadata that is no JSON",
        "subject": "odd",
        "category": "note",
        "metadata": "{not json",
        "created_at": DAY + "12:03:00Z",
    },
    {
        "id": 9,
        "content": "a time nobody can read",
        "subject": "odd",
        "category": "note",
        "created_at": "last Tuesday",
        "last_used_at": "0000-00-00",
        "use_count": 1,
    },
    {
        "id": 10,
        "content": "a time outside the calendar",
        "subject": "odd",
        "category": "note",
        "created_at": "0001-01-01T00:00:00+09:00",
        "namespace": "work",
    },
    {
        "id": 41,
        "content": "Bob's parrot repeats café menus",
        "subject": "bob",
        "category": "preference",
        "created_at": "2024-02-29T23:59:59Z",
        "namespace": "default",
        "confirmed_count": 1,
        "last_confirmed_at": "2024-03-01T00:00:00Z",
    },
]
EMBEDDED = (1, 5, 6, 41)
UNREADABLE = {9, 10}


def embedding(embedder: Any, fact: dict[str, Any]) -> bytes:
    """An embedding as the original stored it: float32, little-endian."""
    return np.asarray(embedder.embed([fact["content"]])[0], dtype="<f4").tobytes()


def write_earlier(
    path: Path,
    version: int,
    embedder: Any,
    *,
    journal_mode: str = "DELETE",
    facts: list[dict[str, Any]] = FACTS,
    embedded: tuple[int, ...] = EMBEDDED,
) -> list[dict[str, Any]]:
    """Write a file as the original did at a version, and return its rows as stored."""
    with raw(path) as file:
        file.execute(f"PRAGMA journal_mode = {journal_mode}")
        file.executescript(V1)
        for step in range(2, version + 1):
            file.executescript(LATER_STEPS[step])
            file.execute("UPDATE memstore_version SET version = ?", (step,))
        for fact in facts:
            values = {k: v for k, v in fact.items() if SINCE.get(k, 1) <= version}
            values.pop("superseded_by", None)
            if fact["id"] in embedded and version > 1:
                values["embedding"] = embedding(embedder, fact)
            file.execute(
                f"INSERT INTO memstore_facts ({', '.join(values)})"
                f" VALUES ({', '.join('?' * len(values))})",
                tuple(values.values()),
            )
        for fact in facts:
            if fact.get("superseded_by"):
                file.execute(
                    "UPDATE memstore_facts SET superseded_by = ? WHERE id = ?",
                    (fact["superseded_by"], fact["id"]),
                )
        file.commit()
        return rows_of(file)


def rows_of(file: sqlite3.Connection) -> list[dict[str, Any]]:
    cursor = file.execute("SELECT * FROM memstore_facts ORDER BY id")
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of an upgraded file, each joined with its vector."""
    with raw(path) as file:
        stored = dict(file.execute("SELECT fact_id, embedding FROM memstore_fact_vectors"))
        return [row | {"embedding": stored[row["id"]]} for row in rows_of(file)]


def without_vector(path: Path) -> list[int]:
    return [row["id"] for row in read_rows(path) if row["embedding"] is None]


def schema_of(path: Path) -> list[tuple[str, str, str]]:
    """Every object but the FTS5 shadow tables' own SQL, which SQLite writes."""
    with raw(path) as file:
        found = file.execute(
            "SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name"
        ).fetchall()
    return [(kind, name, "".join(sql.split())) for kind, name, sql in found]


def columns_of(path: Path) -> list[tuple[Any, ...]]:
    with raw(path) as file:
        return file.execute("PRAGMA table_xinfo(memstore_facts)").fetchall()


def same_moment(before: str | None, after: str | None) -> bool:
    if before is None or after is None:
        return before is after
    return clock.from_text(before) == clock.from_text(after)


@pytest.mark.parametrize("journal_mode", ["DELETE", "WAL"])
@pytest.mark.parametrize("version", EARLIER)
def test_open_earlier_version_keeps_every_column(
    version: int, journal_mode: str, path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    before = write_earlier(path, version, embedder, journal_mode=journal_mode)
    open_store().close()
    after = read_rows(path)
    assert [row["id"] for row in after] == [row["id"] for row in before]
    for old, new in zip(before, after, strict=True):
        for name, value in old.items():
            if name == "namespace":
                assert new[name] == (value or "default")
            elif name.endswith("_at") and old["id"] not in UNREADABLE:
                assert same_moment(value, new[name]), (old["id"], name)
            elif not name.endswith("_at"):
                assert new[name] == value, (old["id"], name)
    assert len({row["uuid"] for row in after}) == len(after)


@pytest.mark.parametrize("version", EARLIER)
def test_open_earlier_version_can_be_searched_and_passes_examination(
    version: int, path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    write_earlier(path, version, embedder)
    store = open_store()
    assert store.file.doctor() == []
    assert [fact.id for fact in store.history(2)] == [1, 2, 5]
    [hit, *_] = store.search("where is the observatory?", namespaces="all")
    assert hit.fact.id == 5
    assert hit.fact.metadata["tags"] == ["work", "日本"]
    assert 7 in [hit.fact.id for hit in store.search("日本", namespaces="all")]
    assert 1 not in [hit.fact.id for hit in store.search("bakery", namespaces="all")]
    added = store.add("Alice works at the lighthouse", subject="alice", supersedes=5)
    assert added.id == 42
    assert store.file.doctor() == []


@pytest.mark.parametrize("version", EARLIER[1:])
def test_open_earlier_version_with_recorded_model_searches_by_meaning(
    version: int, path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    write_earlier(path, version, embedder)
    store = open_store()
    hits = store.search(FACTS[2]["content"], namespaces="all", word_weight=0)
    assert hits.words_only is None
    assert hits[0].fact.id == 5
    assert hits[0].vector_score == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("version", EARLIER)
def test_open_earlier_version_is_healthy_and_searches_by_meaning_once_embedded(
    version: int, path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    """V1 names no model, so its vectors cannot be used."""
    write_earlier(path, version, embedder)
    vector = np.full(64, 9.0, dtype="<f4").tobytes()
    with raw(path) as file:  # every fact has a vector, so none is pending
        file.execute("UPDATE memstore_facts SET embedding = ? WHERE embedding IS NULL", (vector,))
        file.execute("UPDATE memstore_facts SET embedding = x'00' WHERE id = 41")
        file.commit()
    store = open_store()
    assert store.file.doctor() == []
    store.file.embed_pending()
    hits = store.search(FACTS[2]["content"], namespaces="all", word_weight=0)
    assert hits.words_only is None
    assert 5 in [hit.fact.id for hit in hits]
    assert store.file.doctor() == []


@pytest.mark.parametrize("version", [2, 6, 7])
@pytest.mark.parametrize("journal_mode", ["DELETE", "WAL"])
def test_open_file_of_another_model_is_refused_untouched(
    version: int, journal_mode: str, path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    write_earlier(path, min(version, 6), embedder, journal_mode=journal_mode)
    if version == 7:
        open_store().close()
        path.with_name(f"{path.name}.version-6").unlink()

    class Other:
        model = "other-3"

        def embed(self, texts: Any) -> Any:
            return np.ones((len(texts), 3), dtype=np.float32)

    before = path.read_bytes()
    with pytest.raises(memstore.EmbedderMismatch, match=r"words-64.*other-3"):
        open_store(embedder=Other())
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_refused_file_keeps_its_log(
    path: Path, tmp_path: Path, open_store: Callable[..., Store]
) -> None:
    left = tmp_path / "left" / path.name
    left.parent.mkdir()
    with raw(path) as file:
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("CREATE TABLE bookmarks (url TEXT)")
        file.commit()
        for suffix in ("", "-wal"):  # as a kill leaves them
            Path(f"{left}{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    before = [Path(f"{left}{suffix}").read_bytes() for suffix in ("", "-wal")]
    with pytest.raises(SchemaError, match="another program"):
        open_store(left)
    assert [Path(f"{left}{suffix}").read_bytes() for suffix in ("", "-wal")] == before


def failing_step(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    take_step = SqliteEngine.take_step

    def fail(engine: SqliteEngine, transaction: Any, version: int) -> None:
        if version == at:
            raise StorageError("the disk is full")
        take_step(engine, transaction, version)

    monkeypatch.setattr(SqliteEngine, "take_step", fail)


def test_an_upgrade_that_fails_names_the_copy(
    path: Path,
    embedder: Any,
    open_store: Callable[..., Store],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    write_earlier(path, 4, embedder)
    before = path.read_bytes()
    copy = path.with_name("memory.db.version-4")
    with monkeypatch.context() as patch:
        failing_step(patch, 6)
        with pytest.raises(StorageError, match="the disk is full"):
            open_store()
    assert f"{copy} is a copy of the original file" in caplog.text
    with raw(copy) as file, raw(path) as now:
        asked = "SELECT version, (SELECT count(*) FROM memstore_facts) FROM memstore_version"
        assert file.execute(asked).fetchone()[0] == 4
        assert now.execute(asked).fetchone()[0] == 5
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert copy.stat().st_size == len(before)
    open_store().close()
    assert (copy.exists(), path.with_name("memory.db.version-5").exists()) == (True, True)


@pytest.mark.parametrize("version", range(1, 7))
def test_an_upgrade_says_so_and_keeps_a_copy_of_the_original(
    path: Path, embedder: Any, open_store: Callable[..., Store], version: int
) -> None:
    write_earlier(path, version, embedder)
    before = read_rows_of_original(path)
    store = open_store()
    copy = path.with_name(f"memory.db.version-{version}")
    assert store.file.upgraded == (
        f"{path} was upgraded from schema version {version} to 7; {copy} is a copy of the file as "
        "it was"
    )
    assert read_rows_of_original(copy) == before
    store.close()
    assert open_store().file.upgraded is None


def read_rows_of_original(path: Path) -> list[Any]:
    with raw(path) as file:
        return [tuple(row) for row in file.execute("SELECT * FROM memstore_facts ORDER BY id")]


def test_an_upgrade_does_not_replace_an_earlier_copy(
    path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    copy = path.with_name("memory.db.version-4")
    copy.write_bytes(b"of another file")
    write_earlier(path, 4, embedder)
    store = open_store()
    assert copy.read_bytes() == b"of another file"
    assert f"{copy}-2 is a copy" in (store.file.upgraded or "")


def test_an_upgrade_without_space_for_a_copy_is_reported(
    path: Path,
    embedder: Any,
    open_store: Callable[..., Store],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    write_earlier(path, 4, embedder)
    monkeypatch.setattr(migrations, "ROOM", 10**15)
    store = open_store()
    assert store.count() == 4
    assert "from schema version 4 without a backup copy: the disk has" in caplog.text
    assert "no copy of it was made" in (store.file.upgraded or "")


def test_vectors_are_moved_and_rows_without_one_are_pending(
    path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    before = write_earlier(path, 6, embedder)
    empty = 7
    with raw(path) as file:
        file.execute("UPDATE memstore_facts SET content = '' WHERE id = ?", (empty,))
        file.commit()
    open_store().close()
    for old, new in zip(before, read_rows(path), strict=True):
        assert new["embedding"] == old["embedding"]
    waiting = len(without_vector(path)) - 1
    store = open_store()
    assert (store.status().model, store.status().dimension) == ("words-64", 64)
    assert store.status().quarantined == 0
    assert store.file.embed_pending().embedded == waiting
    store.close()
    assert without_vector(path) == [empty]
    with raw(path) as file:
        assert file.execute(
            "SELECT count(*) FROM memstore_meta WHERE key LIKE 'embedding%'"
        ).fetchone() == (0,)


@pytest.mark.parametrize("left", ["some", "none"])
def test_ids_deleted_by_the_original_are_not_reused(
    left: str, path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    write_earlier(path, 6, embedder)
    with raw(path) as file:
        file.execute(f"DELETE FROM memstore_facts WHERE {'id = 41' if left == 'some' else 'true'}")
        file.commit()
    assert open_store().add("the next one", subject="ids").id == 42


def test_fact_superseded_by_a_deleted_one_stays_superseded(
    path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    """The original deleted rows that others referred to."""
    write_earlier(path, 6, embedder)
    with raw(path) as file:
        file.execute("DELETE FROM memstore_facts WHERE id = 5")
        file.commit()
    store = open_store()
    assert store.get(2).superseded_by == 5
    assert [finding.message for finding in store.file.doctor()] == [
        "facts superseded by facts that do not exist: 2"
    ]


def test_links_are_enforced_again_after_the_upgrade(path: Path, embedder: Any) -> None:
    write_earlier(path, 6, embedder)
    with closing(SqliteEngine(path)) as engine:
        migrations.migrate(engine)
        with pytest.raises(StorageError, match="FOREIGN KEY"), engine.write() as transaction:
            transaction.execute("UPDATE memstore_facts SET superseded_by = 999 WHERE id = 1")


def test_embed_file_with_vectors_of_unknown_model_never_mixes_models(
    path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    """V1 recorded no model, so its vectors may be from any, even if the length matches."""
    write_earlier(path, 1, embedder)
    strange = np.full(64, 9.0, dtype="<f4").tobytes()
    with raw(path) as file:
        file.execute("UPDATE memstore_facts SET embedding = ? WHERE id IN (5, 41)", (strange,))
        file.commit()
    store = open_store()
    store.add("the first fact that names a model", subject="model")
    store.file.embed_pending()
    assert store.file.doctor() == []
    stored = {row["id"]: row["embedding"] for row in read_rows(path)}
    assert strange not in stored.values()
    assert stored[5] is not None


def test_open_keeps_unreadable_times_separately(
    path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    write_earlier(path, 6, embedder)
    store = open_store()
    with raw(path) as file:
        kept = dict(
            file.execute("SELECT key, value FROM memstore_meta WHERE key LIKE 'unreadable%'")
        )
    assert json.loads(kept["unreadable_times:9"]) == ["last Tuesday", "0000-00-00"]
    assert json.loads(kept["unreadable_times:10"]) == ["0001-01-01T00:00:00+09:00"]
    assert store.get(9).use_count == 1


@pytest.mark.parametrize("version", EARLIER)
def test_upgraded_schema_equals_a_new_one(
    version: int, path: Path, tmp_path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    write_earlier(path, version, embedder)
    open_store().close()
    fresh = tmp_path / "fresh.db"
    open_store(fresh).close()
    assert schema_of(path) == schema_of(fresh)
    assert columns_of(path) == columns_of(fresh)


def test_open_at_newest_version_changes_nothing(
    path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    write_earlier(path, 6, embedder)
    open_store().close()
    before = path.read_bytes()
    open_store().close()
    assert path.read_bytes() == before


@pytest.mark.parametrize("stop", range(2, migrations.VERSION))
def test_upgrade_stopped_after_a_step_resumes(
    stop: int,
    path: Path,
    embedder: Any,
    open_store: Callable[..., Store],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = write_earlier(path, 1, embedder)
    with monkeypatch.context() as stopping:
        stopping.setattr(migrations, "VERSION", stop)
        memstore.open(path, embedder=None).close()
    store = open_store()
    assert store.status().schema_version == migrations.VERSION
    assert [row["content"] for row in read_rows(path)] == [row["content"] for row in before]
    assert store.file.doctor() == []


def test_upgrade_failing_inside_a_step_rolls_that_step_back(
    path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    write_earlier(path, 4, embedder)
    with raw(path) as file:
        file.execute("CREATE TABLE memstore_journal (in_the_way)")
    with pytest.raises(StorageError, match="memstore_journal"):
        open_store()
    with raw(path) as file:
        assert file.execute("SELECT version FROM memstore_version").fetchall() == [(6,)]
        file.execute("DROP TABLE memstore_journal")
        file.commit()
    assert open_store().file.doctor() == []


DIE = """
import os, signal, sys
import memstore, memstore.database.migrations
left = int(sys.argv[2])

def count(*_):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

sys.setprofile(count)
"""

OPEN = """
import sys, memstore
sys.stdin.readline()
with memstore.open(sys.argv[1], embedder=None) as store:
    print(store.status().schema_version, store.status().active)
"""


@pytest.mark.process
@pytest.mark.parametrize("version", [1, 6])
def test_upgrade_by_several_processes_at_once_happens_once(
    version: int, path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    before = write_earlier(path, version, embedder)
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write("go\n")
        opener.stdin.flush()
    answers = [opener.communicate(timeout=60) for opener in openers]
    active = 7 if version == 1 else 4
    assert answers == [(f"{migrations.VERSION} {active}\n", "")] * 4
    after = read_rows(path)
    assert [row["content"] for row in after] == [row["content"] for row in before]
    store = open_store()
    assert store.file.doctor() == []
    with raw(path) as file:
        adopted = file.execute("SELECT count(*) FROM memstore_journal").fetchone()
    assert adopted == (len(before),)


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal")
def test_upgrade_killed_at_any_moment_resumes(
    path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    facts = [
        {"id": n, "content": f"fact number {n}", "subject": "s", "category": "note"}
        | {"created_at": DAY + "08:00:00Z"}
        for n in range(1, 3001)
    ]
    write_earlier(path, 1, embedder, facts=facts, embedded=())
    killed = 0
    for calls in (200, 2_000, 8_000, 20_000, 50_000, 100_000):
        opener = subprocess.run(
            [sys.executable, "-c", DIE + OPEN, str(path), str(calls)],
            input="go\n",
            stdout=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        killed += opener.returncode == -signal.SIGKILL
    assert killed > 3, "it took fewer calls than it was killed after"
    store = open_store()
    assert [fact.content for fact in store.list()] == [fact["content"] for fact in facts]
    assert store.file.doctor() == []


@pytest.mark.parametrize("journal_mode", ["DELETE", "WAL"])
@pytest.mark.parametrize("version", [7, 12, 16, 99])
def test_open_later_version_of_another_program_is_refused_untouched(
    version: int, journal_mode: str, path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    write_earlier(path, 6, embedder, journal_mode=journal_mode)
    with raw(path) as file:
        file.execute("ALTER TABLE memstore_facts ADD COLUMN links TEXT")
        file.execute("UPDATE memstore_version SET version = ?", (version,))
        file.commit()
    before = path.read_bytes()
    with pytest.raises(SchemaError, match=f"version {version} of the original memstore") as refused:
        open_store()
    assert refused.value.remedy is Remedy.EXPORT
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("version", "message", "remedy"),
    [
        (8, r"development build .*version 8\); .*not changed", Remedy.EXPORT),
        (15, r"development build .*version 15\); .*not changed", Remedy.EXPORT),
        (16, r"newer memstore \(schema version 16;.*not changed", Remedy.UPGRADE),
        (99, r"newer memstore \(schema version 99;.*not changed", Remedy.UPGRADE),
    ],
)
def test_open_unknown_version_of_ours_is_refused_untouched(
    version: int,
    message: str,
    remedy: Remedy,
    read_only: bool,
    path: Path,
    open_store: Callable[..., Store],
) -> None:
    with open_store() as store:
        store.add("written by another build", subject="time")
    with raw(path) as file:
        file.execute("UPDATE memstore_version SET version = ?", (version,))
        file.commit()
    before = path.read_bytes()
    with pytest.raises(SchemaError, match=message) as refused:
        open_store(read_only=read_only)
    assert refused.value.remedy is remedy
    assert path.read_bytes() == before


def test_open_read_only_earlier_version_is_refused_untouched(
    path: Path, embedder: Any, open_store: Callable[..., Store]
) -> None:
    write_earlier(path, 3, embedder)
    before = path.read_bytes()
    with pytest.raises(SchemaError, match="version 3, and 7 is required") as refused:
        open_store(read_only=True)
    assert refused.value.remedy is Remedy.OPEN_WRITABLE
    assert path.read_bytes() == before


TEXT = b"just some text, no pages\n" * 400
HEADED = b"SQLite format 3\0"


@pytest.mark.parametrize(
    ("content", "reason", "remedy"),
    [
        (TEXT, "not a SQLite database", Remedy.NAME_FILE),
        (b"{}", "not a SQLite database", Remedy.NAME_FILE),
        (HEADED + b"oops", "damaged", Remedy.RESTORE_BACKUP),
        (HEADED + b"\x10\x00\x01\x01" + b"\xff" * 8_172, "damaged", Remedy.RESTORE_BACKUP),
    ],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_open_file_that_is_no_database_or_damaged_is_named_and_untouched(
    content: bytes,
    reason: str,
    remedy: Remedy,
    read_only: bool,
    path: Path,
    open_store: Callable[..., Store],
) -> None:
    path.write_bytes(content)
    with pytest.raises(StorageError, match=re.escape(repr(str(path)))) as refused:
        open_store(read_only=read_only)
    assert reason in str(refused.value)
    assert refused.value.remedy is remedy
    assert path.read_bytes() == content


def test_file_damaged_while_open_is_named(path: Path, open_store: Callable[..., Store]) -> None:
    open_store().add("text", subject="s")
    store = open_store()
    damaged = bytearray(path.read_bytes())
    damaged[4096:] = b"\xff" * len(damaged[4096:])
    path.write_bytes(damaged)
    with pytest.raises(StorageError, match=re.escape(repr(str(path)))) as refused:
        store.list()
    assert refused.value.remedy is Remedy.RESTORE_BACKUP


def test_open_directory_is_refused(tmp_path: Path, open_store: Callable[..., Store]) -> None:
    with pytest.raises(StorageError, match="cannot open"):
        open_store(tmp_path)


def test_open_empty_file_is_a_new_store(path: Path, open_store: Callable[..., Store]) -> None:
    path.touch()
    store = open_store()
    assert store.add("first", subject="empty").id == 1
    assert store.file.doctor() == []


def test_open_in_missing_folder_creates_it(
    tmp_path: Path, open_store: Callable[..., Store]
) -> None:
    file = tmp_path / "a" / "b" / "memory.db"
    open_store(file).close()
    assert file.exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permission bits")
def test_new_file_is_private_to_its_user(tmp_path: Path, open_store: Callable[..., Store]) -> None:
    path = tmp_path / "new" / "memory.db"
    store = open_store(path)
    store.add("a fact", subject="s")
    assert path.stat().st_mode & 0o077 == 0
    assert path.with_name(f"{path.name}-wal").stat().st_mode & 0o077 == 0
    assert store.status().exposed == {}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permission bits")
def test_new_folders_are_private_and_existing_ones_unchanged(
    tmp_path: Path, open_store: Callable[..., Store]
) -> None:
    tmp_path.chmod(0o755)
    open_store(tmp_path / "a" / "b" / "memory.db").close()
    modes = [folder.stat().st_mode & 0o777 for folder in (tmp_path, *tmp_path.glob("a/**/"))]
    assert modes == [0o755, 0o700, 0o700]


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_dangling_symlink_is_refused(tmp_path: Path, open_store: Callable[..., Store]) -> None:
    link = tmp_path / "memory.db"
    link.symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(StorageError, match=r"is a link to '.*elsewhere.db', which does not exist"):
        open_store(link)
    assert not (tmp_path / "elsewhere.db").exists()
    open_store(tmp_path / "elsewhere.db").close()
    open_store(link).add("what it leads to", subject="s")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permission bits")
def test_a_file_readable_by_others_is_reported(
    path: Path, open_store: Callable[..., Store]
) -> None:
    store = open_store()
    path.chmod(0o644)
    assert store.status().exposed == {str(path): 0o644}
    path.chmod(0o600)
    path.parent.chmod(0o777)  # so that others may replace the file
    assert store.status().exposed == {str(path.parent): 0o777}
    path.parent.chmod(0o1777)
    assert store.status().exposed == {}


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write into every folder")
def test_open_in_unwritable_folder_is_refused(
    tmp_path: Path, open_store: Callable[..., Store]
) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    with pytest.raises(StorageError, match="cannot create"):
        open_store(folder / "memory.db")


def test_erase_reaches_pages_freed_before_the_upgrade(path: Path) -> None:
    """Programs that do not overwrite deleted data leave copies in free pages."""
    with raw(path) as old:
        old.execute("PRAGMA secure_delete = OFF")
        for step in (V1, *LATER_STEPS.values(), "UPDATE memstore_version SET version = 6"):
            old.executescript(step)
        old.executemany(
            "INSERT INTO memstore_facts (content, subject, category, created_at)"
            " VALUES (?, 'vault', 'note', '2026-01-01T00:00:00Z')",
            [(f"the code is xylophone{number} " * 50,) for number in range(200)],
        )
        old.execute("DELETE FROM memstore_facts WHERE id > 1")
        old.commit()
    assert b"xylophone150" in path.read_bytes()
    with memstore.open(path, embedder=None) as store:
        assert store.erase(1) is True
        assert b"xylophone" not in path.read_bytes()


ODD_ROWS = {
    1: ("CAST(X'61FF62' AS TEXT)", "NULL", "NULL"),
    2: ("X'6162'", "NULL", "NULL"),
    3: ("''", "CAST(X'7BFF' AS TEXT)", "NULL"),
    4: ("'  '", "'" + json.dumps({"big": "x" * 70_000}) + "'", "5"),
    5: ("'circle'", "X'7B7D'", "4"),
    6: ("'itself'", "NULL", "6"),
    7: ("'nul ' || char(0)", "NULL", "NULL"),
}
"""Content, metadata and successor, as the original accepted them: it checked little."""


def test_unusual_rows_of_the_original_can_be_opened_and_exported(
    path: Path, tmp_path: Path
) -> None:
    with raw(path) as old:
        for step in (V1, *LATER_STEPS.values(), "UPDATE memstore_version SET version = 6"):
            old.executescript(step)
        for number, (content, metadata, successor) in ODD_ROWS.items():
            old.execute(
                "INSERT INTO memstore_facts (id, content, subject, category, metadata,"
                f" superseded_by, created_at) VALUES ({number}, {content}, 'odd', 'note',"
                f" {metadata}, {successor}, CAST(X'FF' AS TEXT))"
            )
        old.commit()
    with memstore.open(path, embedder=None) as store:
        assert store.file.doctor() == []
        facts = {fact.id: fact for fact in store.list(active_only=False)}
        assert facts.keys() == ODD_ROWS.keys()
        assert facts[1].content == "a\ufffdb"
        assert facts[2].content == "ab"
        assert facts[6].status == "active"
        assert [fact.id for fact in store.history(4)] == [4, 5]
        assert facts[5].status == "active"
        assert store.restore(4).content == "  "
        lines = list(store.transfer.export())
    with memstore.open(tmp_path / "copy.db", embedder=None) as copy:
        assert copy.transfer.import_(lines).imported == len(ODD_ROWS) + 1
        assert copy.file.doctor() == []
    with raw(path) as file:
        kept = dict(file.execute("SELECT key, value FROM memstore_meta"))
    assert json.loads(kept["unreadable_texts:1"])["content"] == "61ff62"


def test_database_of_another_program_is_refused_and_untouched(path: Path) -> None:
    with raw(path) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
        other.commit()
    before = path.read_bytes()
    with pytest.raises(SchemaError, match="another program") as refused:
        memstore.open(path)
    assert refused.value.remedy is Remedy.NAME_FILE
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_upgrade_keeps_what_the_caller_built_on_the_table_of_facts(path: Path) -> None:
    with raw(path) as file:
        for version in range(1, 7):
            file.executescript(STEPS[version])
        file.executescript(
            "INSERT INTO memstore_version VALUES (6);"
            "CREATE TABLE notes (fact_id INTEGER REFERENCES memstore_facts(id), text TEXT);"
            "CREATE VIEW mine AS SELECT content FROM memstore_facts;"
            "CREATE INDEX my_index ON memstore_facts (subject, created_at);"
            "CREATE TRIGGER my_trigger AFTER INSERT ON memstore_facts"
            " BEGIN INSERT INTO notes VALUES (new.id, 'added'); END;"
            "INSERT INTO memstore_facts (content, subject, category, created_at)"
            " VALUES ('Alice works', 'alice', 'note', '2026-01-01T00:00:00Z')"
        )
    with memstore.open(path, embedder=None) as store:
        store.add("Bob rests", subject="bob")
        # What runs with a write of ours, or may refuse one, is named.
        [finding] = store.file.doctor()
        assert "index my_index on memstore_facts, trigger my_trigger" in finding.message
    with raw(path) as file:
        assert file.execute("SELECT * FROM mine").fetchall() == [("Alice works",), ("Bob rests",)]
        assert file.execute("SELECT fact_id FROM notes").fetchall() == [(1,), (2,)]
        assert file.execute("PRAGMA foreign_key_check").fetchall() == []
        kept = file.execute("SELECT name FROM sqlite_master WHERE name LIKE 'my_%'").fetchall()
        assert sorted(kept) == [("my_index",), ("my_trigger",)]
