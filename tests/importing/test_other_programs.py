"""Imports from other programs are complete, with times, chains and owners, and never duplicated."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples
from tests.support.original_files import VERSIONS, original_file
from tests.support.raw import raw

import memstore
from memstore import StorageError, Store, TransferError
from memstore.database.foreign import duckdb_file
from memstore.importing import engram, importer, long_json, original, texts
from memstore.importing.records import Damaged, Foreign, Imported
from memstore.lazy import lazy_import
from memstore.store.transfer import Transfer

NEWEST = max(VERSIONS)


def written(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def origin(thing: Any) -> dict[str, Any]:
    return dict(thing.metadata["imported"])


def state_of(path: Path) -> tuple[bytes, list[str]]:
    """Return the state of a source that must not change: its bytes, and the files next to it."""
    return path.read_bytes(), sorted(one.name for one in path.parent.iterdir())


def refused(store: Store, source: str, path: Path, match: str) -> None:
    with pytest.raises(TransferError, match=match) as caught:
        store.transfer.import_from(source, path)
    assert "nothing was imported" in str(caught.value)
    assert (store.of("all").count(active_only=False), store.of("all").episodes.count()) == (
        0,
        0,
    )


# -- Engram ----------------------------------------------------------------------------------

ROW: dict[str, Any] = {
    "id": "6f0b5a3e-7c1f-4d59-9d0e-1f2a3b4c5d6e",
    "content": "We moved the tea shop to Lyon",
    "name": "the move",
    "source": "claude-code",
    "source_model": "sonnet",
    "source_description": "a session about the shop",
    "group_id": "shop",
    "tags": ["tea", "lyon"],
    "embedding": [0.25] * 8,
    "embedding_model": "nomic-embed-text",
    "created_at": "2025-03-01T09:30:00.123456789+01:00",
    "valid_at": "2025-02-27T00:00:00Z",
    "expired_at": "2099-01-01T00:00:00Z",
    "metadata": '{"importance": 3}',
}


def row(number: int, **more: Any) -> dict[str, Any]:
    return {**ROW, "id": f"id-{number}", "content": f"episode {number} about tea", **more}


def test_engram_row_keeps_everything_but_its_embedding(store: Store, tmp_path: Path) -> None:
    report = store.transfer.import_from("engram", written(tmp_path / "e.jsonl", ROW))
    assert (report.episodes, report.facts, report.known) == (1, 0, 0)
    assert report.namespaces == {"shop": 1}
    assert {kind: left.count for kind, left in report.left_out.items()} == {"embeddings": 1}
    [episode] = store.of("all").episodes.list()
    for name in ("content", "name", "source", "source_model", "source_description", "tags"):
        assert getattr(episode, name) == ROW[name]
    assert episode.created_at == datetime(2025, 3, 1, 8, 30, 0, 123456, tzinfo=UTC)
    assert episode.valid_at == datetime(2025, 2, 27, tzinfo=UTC)
    assert episode.expired_at == datetime(2099, 1, 1, tzinfo=UTC)
    assert episode.metadata["importance"] == 3
    assert origin(episode) == {"from": "engram", "id": ROW["id"], "group_id": "shop"}
    assert episode.namespace == store.namespace
    assert store.episodes.search("tea shop", mode="words")[0].episode.id == episode.id
    assert [line.kind for line in store.episodes.journal(episode.id)] == ["adopt"]
    assert store.file.doctor() == []


def test_engram_expired_rows_stay_expired(store: Store, tmp_path: Path) -> None:
    rows = [row(1, expired_at="2025-04-01T00:00:00Z"), row(2, expired_at=None)]
    store.transfer.import_from("engram", written(tmp_path / "e.jsonl", *rows))
    assert [episode.content for episode in store.of("all").episodes.list()] == [rows[1]["content"]]
    assert len(store.of("all").episodes.list(include_expired=True)) == 2


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("wrap", ["episodes", "list", "lines"])
def test_engram_server_responses_are_read(
    wrap: str, indent: int | None, store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "answer.json"
    rows = [row(number, similarity=0.5) for number in range(3)]
    if wrap == "lines":
        written(path, *rows)
    else:
        answer: Any = {"episodes": rows, "count": 3} if wrap == "episodes" else rows
        path.write_text(json.dumps(answer, indent=indent), encoding="utf-8")
    report = store.transfer.import_from("engram", path)
    assert (report.episodes, set(report.left_out)) == (3, {"embeddings"})


def test_engram_groups_become_namespaces_on_request(
    path: Path, open_store: Callable[..., Store], tmp_path: Path
) -> None:
    file = written(tmp_path / "e.jsonl", row(1), row(2, group_id="home"), row(3, group_id=""))
    store = open_store()
    assert store.file.import_from("engram", file).episodes == 3
    assert store.of("all").episodes.list()[0].content == "episode 3 about tea"
    assert (
        open_store(namespace="home").of("all").episodes.list()[0].content == "episode 2 about tea"
    )
    report = store.transfer.import_from("engram", file)
    assert (report.episodes, report.known) == (2, 1), "into the store's own, besides"
    assert store.file.doctor() == []


def test_engram_group_with_a_reserved_name_is_refused(store: Store, tmp_path: Path) -> None:
    file = written(tmp_path / "e.jsonl", row(1, group_id="all"))
    with pytest.raises(TransferError, match="line 1: its namespace is 'all'"):
        store.file.import_from("engram", file)
    assert store.transfer.import_from("engram", file).episodes == 1


def test_engram_import_reports_progress_and_is_idempotent(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memstore.database.short_transactions.SECONDS", 0.0)
    told: list[tuple[int, int]] = []
    file = written(tmp_path / "e.jsonl", *map(row, range(1100)))
    store.transfer.import_from(
        "engram", file, progress=lambda done, total: told.append((done, total))
    )
    size = file.stat().st_size
    assert [total for _, total in told[:2]] == [size, size]
    assert 0 < told[0][0] < told[1][0] <= size
    assert told[2:] == [(done, 1100) for done in range(importer.BATCH, 1101, importer.BATCH)]
    before = list(store.transfer.export())
    report = store.transfer.import_from("engram", file)
    assert (report.episodes, report.known) == (0, 1100)
    assert list(store.transfer.export()) == before


def test_import_does_not_restore_erased_data(store: Store, tmp_path: Path) -> None:
    file = written(tmp_path / "e.jsonl", row(1), row(2))
    memories = written(tmp_path / "m.jsonl", MEMORY)
    store.transfer.import_from("engram", file)
    store.transfer.import_from("mem0", memories)
    store.episodes.erase(1)
    store.erase(1)
    assert store.transfer.import_from("engram", file).known == 2
    assert store.transfer.import_from("mem0", memories).known == 1
    assert [episode.content for episode in store.of("all").episodes.list()] == [
        "episode 2 about tea"
    ]
    assert store.of("all").list(active_only=False, include_deleted=True) == []
    assert "episode 1" not in "".join(store.transfer.export())
    assert store.file.doctor() == []


@pytest.mark.process
def test_import_resumes_after_a_kill(path: Path, tmp_path: Path) -> None:
    file = written(tmp_path / "e.jsonl", *map(row, range(1700)))
    program = (
        "import memstore, os, sys\n"
        "with memstore.open(sys.argv[1], embedder=None) as store:\n"
        "    store.transfer.import_from('engram', sys.argv[2],"
        " progress=lambda done, total: total == 1700 and done >= 1000 and os._exit(9))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(path), str(file)], check=False)
    assert ended.returncode == 9
    with memstore.open(path, embedder=None) as store:
        held = store.of("all").episodes.count()
        assert 1000 <= held < 1700
        report = store.transfer.import_from("engram", file)
        assert (report.episodes, report.known) == (1700 - held, held)
        assert store.file.doctor() == []


def test_imported_rows_are_pending_until_embedded(
    store: Store, embedder: Any, tmp_path: Path
) -> None:
    store.transfer.import_from("engram", written(tmp_path / "e.jsonl", *map(row, range(3))))
    store.transfer.import_from("mem0", written(tmp_path / "m.jsonl", MEMORY))
    assert embedder.calls == [], "an import asks no embedder"
    store.file.embed_pending()
    assert store.of("all").status().pending == 0
    found = store.of("all").search("green tea", word_weight=0)
    assert found[0].fact.content == MEMORY["memory"]


DEEP = "[" * 100_000 + "]" * 100_000
DAMAGED: list[tuple[str, str]] = [
    ("{", "not JSON"),
    ("[1]", "not a JSON object"),
    ('{"content": 5}', "its id"),
    ('{"id": "a"}', "its content"),
    ('{"id": "a", "content": "  "}', "its content is empty"),
    ('{"id": "a", "content": ["x"]}', "its content must be text"),
    ('{"id": true, "content": "x"}', "its id must be text"),
    ('{"id": "a", "content": "nul \\u0000"}', "NUL"),
    ('{"id": "a", "content": "half \\ud800"}', "lone surrogate"),
    ('{"id": "a", "content": "x", "created_at": "soon"}', "created_at.*RFC 3339"),
    ('{"id": "a", "content": "x", "created_at": 5}', "created_at must be"),
    ('{"id": "a", "content": "x", "valid_at": "0001-01-01T00:00:00+05:00"}', "valid_at"),
    ('{"id": "a", "content": "x", "tags": "tea"}', "its tags must be a list"),
    ('{"id": "a", "content": "x", "tags": [5]}', "tag"),
    ('{"id": "a", "content": "x", "metadata": 5}', "its metadata must be an object"),
    ('{"id": "a", "content": "x", "metadata": {"n": NaN}}', "metadata"),
    ('{"id": "a", "content": "x", "metadata": {"d": ' + "[" * 200 + "]" * 200 + "}}", "nested"),
    ('{"id": "a", "content": "x", "metadata": "{\\"h\\": \\"\\\\ud800\\"}"}', "metadata"),
    ('{"id": "a", "content": "x", "group_id": ["g"]}', "its namespace must be text"),
    ('{"id": "a", "content": "x", "group_id": "' + "g" * 600 + '"}', "its namespace is 600"),
    ('{"id": 1' + "0" * 5000 + "}", "not JSON"),
    ('{"id": "a", "x": ' + DEEP + "}", "not JSON"),
]


@pytest.mark.parametrize(("line", "why"), DAMAGED)
def test_engram_damaged_line_is_named_or_skipped(
    line: str, why: str, store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "e.jsonl"
    file.write_text(f"{json.dumps(row(1))}\n\n{line}\n{json.dumps(row(2))}\n", encoding="utf-8")
    refused(store, "engram", file, f"^line 3: .*{why}")
    report = store.transfer.import_from("engram", file, skip_damaged=True)
    assert report.episodes == 2
    left = report.left_out["damaged records"]
    assert (left.count, left.first[0].startswith("line 3: ")) == (1, True)
    assert store.file.doctor() == []


def test_engram_bytes_that_are_not_text_are_named(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "e.jsonl"
    good = json.dumps(row(1)).encode()
    file.write_bytes(b"\xef\xbb\xbf" + good + b"\n" + good.replace(b"tea", b"t\xffa") + b"\n")
    refused(store, "engram", file, "^line 2: .*lone surrogate")


def test_engram_metadata_that_is_not_an_object_is_kept_raw(store: Store, tmp_path: Path) -> None:
    store.transfer.import_from(
        "engram", written(tmp_path / "e.jsonl", row(1, metadata="just words"))
    )
    assert store.of("all").episodes.list()[0].metadata["_raw"] == "just words"


def test_metadata_that_is_called_imported_is_kept(store: Store, tmp_path: Path) -> None:
    own = '{"imported": "from a book"}'
    store.transfer.import_from("engram", written(tmp_path / "e.jsonl", row(1, metadata=own)))
    assert origin(store.of("all").episodes.list()[0])["metadata"] == {"imported": "from a book"}


def test_engram_other_fields_are_named(store: Store, tmp_path: Path) -> None:
    file = written(tmp_path / "e.jsonl", row(1, mood="glad"), row(2, mood=None))
    assert store.transfer.import_from("engram", file).left_out["field mood"].first == ["line 1"]


def test_import_of_a_huge_text_is_complete(store: Store, tmp_path: Path) -> None:
    text = "tea and words. " * 200_000 + "the end"
    store.transfer.import_from("engram", written(tmp_path / "e.jsonl", row(1, content=text)))
    held = store.of("all").episodes.list()
    assert len(held) > 1
    assert "".join(one.content for one in held) == text
    assert store.transfer.import_from("engram", tmp_path / "e.jsonl").episodes == 0, (
        "nothing is new"
    )


@settings(deadline=None, max_examples=examples(20))
@given(data=st.data())
def test_import_of_a_corrupted_file_is_refused_or_valid(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = ("".join(json.dumps(row(n, id=f"é{n}")) + "\n" for n in range(3))).encode()
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = data.draw(
        st.sampled_from([whole[:place], whole[:place] + bytes([data.draw(st.integers(0, 255))])])
    )
    file = tmp_path_factory.mktemp("x") / "e.jsonl"
    file.write_bytes(changed + (b"" if data.draw(st.booleans()) else whole[place + 1 :]))
    with memstore.open(":memory:", embedder=None) as store:
        try:
            store.transfer.import_from("engram", file)
        except TransferError:
            assert store.of("all").episodes.count(include_expired=True) == 0
        assert store.file.doctor() == []


SCHEMA_OF_ENGRAM = """
CREATE TABLE episodes (id VARCHAR PRIMARY KEY, content TEXT NOT NULL, name VARCHAR,
    source VARCHAR NOT NULL, source_model VARCHAR, source_description TEXT,
    group_id VARCHAR DEFAULT 'default', tags VARCHAR[], embedding FLOAT[8],
    {more} created_at {time} DEFAULT CURRENT_TIMESTAMP, valid_at {time}, expired_at {time},
    metadata JSON);
CREATE INDEX idx_episodes_group_id ON episodes (group_id);
CREATE TABLE knowledge (id VARCHAR PRIMARY KEY, predicate VARCHAR);
CREATE TABLE entities (id VARCHAR PRIMARY KEY);
INSERT INTO knowledge VALUES ('k', 'owns');
"""


@pytest.mark.parametrize("time", ["TIMESTAMPTZ", "TIMESTAMP"])
def test_engram_duckdb_file_is_read_and_unchanged(time: str, store: Store, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the extra duckdb is not installed")
    folder = tmp_path / "there"
    folder.mkdir()
    file = folder / "engram.duckdb"
    more = "embedding_model VARCHAR," if time == "TIMESTAMPTZ" else ""  # older files lack it
    zone = "+01" if time == "TIMESTAMPTZ" else ""
    with closing(duckdb.connect(str(file))) as connection:
        connection.execute("SET TimeZone = 'Asia/Tokyo'")
        connection.execute(SCHEMA_OF_ENGRAM.format(time=time, more=more))
        connection.execute(
            "INSERT INTO episodes (id, content, source, tags, embedding, created_at, metadata)"
            f" VALUES ('b', 'later', 's', NULL, NULL, '2025-03-02 10:00:00{zone}', NULL),"
            f" ('a', 'tea', 's', ['x', 'y'], [1,2,3,4,5,6,7,8], '2025-03-01 10:00:00.5{zone}',"
            """ '{"k": [1]}')"""
        )
    before = state_of(file)
    report = store.transfer.import_from("engram", file)
    assert state_of(file) == before
    assert report.episodes == 2
    kinds = {kind: left.count for kind, left in report.left_out.items()}
    assert kinds == {"embeddings": 1, "table knowledge": 1}
    tea, later = store.of("all").episodes.list()
    assert (tea.content, tea.tags, tea.metadata["k"]) == ("tea", ["x", "y"], [1])
    hour = 9 if zone else 10
    assert tea.created_at == datetime(2025, 3, 1, hour, 0, 0, 500000, tzinfo=UTC)
    assert (later.content, later.tags) == ("later", [])
    assert store.transfer.import_from("engram", file).known == 2
    with closing(duckdb.connect(str(file), read_only=True)) as connection:
        rows = folder / "engram.jsonl"
        connection.execute(f"COPY episodes TO '{rows}' (FORMAT json)")
    with memstore.open(":memory:", embedder=None) as other:
        report = other.transfer.import_from("engram", rows)
        assert (report.episodes, report.left_out["embeddings"].count) == (2, 1)
        assert [(e.uuid, e.tags) for e in other.of("all").episodes.list()] == [
            (tea.uuid, tea.tags),
            (later.uuid, []),
        ]
    with closing(duckdb.connect(str(folder / "other.duckdb"))) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
    with pytest.raises(StorageError, match="no table episodes"):
        store.transfer.import_from("engram", folder / "other.duckdb")


def test_engram_duckdb_file_without_the_driver_says_what_to_install(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "engram.duckdb"
    file.write_bytes(b"\0" * 8 + b"DUCK" + b"\0" * 100)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    monkeypatch.setattr(duckdb_file, "duckdb", lazy_import("duckdb"))  # not imported so far
    with pytest.raises(StorageError, match=r"pymemstore\[duckdb\]"):
        store.transfer.import_from("engram", file)


def test_engram_damaged_duckdb_file_is_a_storage_error(store: Store, tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="the extra duckdb is not installed")
    file = tmp_path / "engram.duckdb"
    file.write_bytes(b"\0" * 8 + b"DUCK" + os.urandom(20_000))
    with pytest.raises(StorageError, match="cannot read"):
        store.transfer.import_from("engram", file)


# -- the original memstore ---------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_original_file_of_any_version_is_imported(
    version: int, store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    file = original_file(folder / "memstore.db", version)
    before = state_of(file)
    report = store.transfer.import_from("memstore", file)
    assert state_of(file) == before
    assert (report.facts, report.known) == (4, 0)
    job, task, plain = store.of("all").list()
    assert (job.content, job.subject, job.category) == ("new job", "eve", "identity")
    assert job.metadata["a"] == 1
    assert origin(job)["id"] == 7
    assert job.created_at == datetime(2025, 5, 1, 8, tzinfo=UTC)
    old, new = store.history(job.id)
    assert (old.content, old.status, new.id) == ("old job", "superseded", job.id)
    assert (job.confirmed_count, job.use_count) == (2 * (version >= 5), 9 * (version >= 6))
    assert (job.last_used_at is not None) == (version >= 6)
    assert (old.superseded_at is not None) == (version >= 4)
    assert task.content in [one.content for one in store.of("all").tasks.list()]
    assert plain.metadata.get("subsystem") == ("billing" if version >= 8 else None)
    assert job.user_id == ("eve" if version >= 12 else None)
    kinds = set(report.left_out)
    assert "embeddings" in kinds
    assert ("table memstore_links" in kinds) == (version >= 7)
    again = store.transfer.import_from("memstore", file)
    assert (again.facts, again.known) == (0, 4)
    assert store.file.doctor() == []


def test_original_namespaces_are_kept_on_request(
    path: Path, open_store: Callable[..., Store], tmp_path: Path
) -> None:
    file = original_file(tmp_path / "o.db", NEWEST)
    with raw(file) as there:
        there.execute("UPDATE memstore_facts SET namespace = 'work' WHERE id IN (3, 7)")
        there.commit()
    store = open_store()
    report = store.file.import_from("memstore", file)
    assert report.namespaces == {"default": 2, "work": 2}
    work = open_store(namespace="work").of("all").list()
    assert [fact.content for fact in work] == ["new job"]
    assert store.of("all").count() == 2


def test_original_files_with_the_same_ids_are_both_imported(store: Store, tmp_path: Path) -> None:
    """Its ids are small numbers; fact 7 of another file is another fact."""
    home, work = (original_file(tmp_path / name, NEWEST) for name in ("home.db", "work.db"))
    with raw(work) as there:
        there.execute("UPDATE memstore_facts SET content = content || ' at work'")
        there.commit()
    store.transfer.import_from("memstore", home)
    assert store.transfer.import_from("memstore", work).facts == 4
    assert store.of("all").count() == 6


def test_original_file_open_elsewhere_is_read_with_its_log(store: Store, tmp_path: Path) -> None:
    file = original_file(tmp_path / "o.db", NEWEST)
    with raw(file) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE memstore_facts SET content = 'only in the log' WHERE id = 7")
        writer.commit()
        before = file.read_bytes()
        log = Path(f"{file}-wal").read_bytes()
        assert store.transfer.import_from("memstore", file).facts == 4
        assert (file.read_bytes(), Path(f"{file}-wal").read_bytes()) == (before, log)
    assert "only in the log" in [fact.content for fact in store.of("all").list()]


def test_original_closed_file_is_left_unchanged(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    file = original_file(folder / "o.db", NEWEST)
    with raw(file) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
    before = state_of(file)
    assert store.transfer.import_from("memstore", file).facts == 4
    assert state_of(file) == before


def test_original_log_left_by_a_crash_is_read(store: Store, tmp_path: Path) -> None:
    live, crashed = original_file(tmp_path / "live.db", NEWEST), tmp_path / "crashed.db"
    with raw(live) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE memstore_facts SET content = 'only in the log' WHERE id = 7")
        writer.commit()
        shutil.copy(live, crashed)
        shutil.copy(f"{live}-wal", f"{crashed}-wal")
    before = crashed.read_bytes(), Path(f"{crashed}-wal").read_bytes()
    store.transfer.import_from("memstore", crashed)
    assert (crashed.read_bytes(), Path(f"{crashed}-wal").read_bytes()) == before
    assert "only in the log" in [fact.content for fact in store.of("all").list()]


def test_original_changes_since_the_last_import_are_imported(store: Store, tmp_path: Path) -> None:
    file = original_file(tmp_path / "o.db", NEWEST)
    store.transfer.import_from("memstore", file)
    with raw(file) as there:
        there.execute(
            "INSERT INTO memstore_facts (id, content, subject, category, created_at)"
            " VALUES (20, 'retired', 'eve', 'identity', '2025-07-01T00:00:00Z')"
        )
        there.execute(
            "UPDATE memstore_facts SET superseded_by = 20, superseded_at = '2025-07-01T00:00:00Z'"
            " WHERE id = 7"
        )
        there.commit()
    report = store.transfer.import_from("memstore", file)
    assert (report.facts, report.known, report.retired) == (1, 4, 1)
    [active] = store.of("all").list(subject="eve")
    assert [fact.content for fact in store.history(active.id)] == ["old job", "new job", "retired"]
    assert store.file.doctor() == []


def test_original_oddities_are_repaired_and_reported(store: Store, tmp_path: Path) -> None:
    file = original_file(tmp_path / "o.db", NEWEST)
    with raw(file) as there:
        there.execute("PRAGMA foreign_keys = OFF")
        there.executescript(
            """
            DROP TRIGGER memstore_facts_au;
            UPDATE memstore_facts SET superseded_by = 999, superseded_at = '2025-06-01T00:00:00Z'
                WHERE id = 3;
            UPDATE memstore_facts SET superseded_by = 7 WHERE id = 7;
            UPDATE memstore_facts SET content = CAST(x'626164ff' AS TEXT), created_at = 'who knows'
                WHERE id = 9;
            UPDATE memstore_facts SET subject = '', screen_state = 'blocked' WHERE id = 8;
            """
        )
    report = store.transfer.import_from("memstore", file)
    assert report.facts == 4
    assert {
        "supersessions by a missing fact": 1,
        "supersessions in a circle": 1,
        "bytes of content that are not UTF-8": 1,
        "created_at that is not a time": 1,
        "facts that screening rejected (deleted here)": 1,
        "blank subjects (replaced by the owner or category)": 1,
    }.items() <= {kind: left.count for kind, left in report.left_out.items()}.items()
    assert [fact.content for fact in store.of("all").list()] == ["new job", "bad\ufffd"]
    deleted = [f for f in store.of("all").list(include_deleted=True) if f.status == "deleted"]
    assert [fact.content for fact in deleted] == ["old job", "water the plants"]
    assert deleted[1].subject == "eve", "the owner's name, where the subject is blank"
    assert store.transfer.import_from("memstore", file).known == 4
    assert store.file.doctor() == []


def test_original_skipping_a_damaged_successor_revives_nothing(
    store: Store, tmp_path: Path
) -> None:
    file = original_file(tmp_path / "o.db", NEWEST)
    with raw(file) as there:
        there.execute("UPDATE memstore_facts SET content = '' WHERE id = 7")
        there.commit()
    refused(store, "memstore", file, "^fact 7: .*content is empty")
    assert store.transfer.import_from("memstore", file, skip_damaged=True).facts == 3
    assert "old job" not in [fact.content for fact in store.of("all").list()]
    assert store.file.doctor() == []


def chained(path: Path, links: dict[int, int | None]) -> Path:
    """Write a file of facts that supersede each other."""
    original_file(path, 4, facts=False)
    with raw(path) as there:
        there.executemany(
            "INSERT INTO memstore_facts (id, content, subject, category, superseded_by, created_at)"
            " VALUES (?, ?, 's', 'note', ?, '2025-01-01T00:00:00Z')",
            [(number, f"fact {number}", by) for number, by in links.items()],
        )
        there.commit()
    return path


@settings(deadline=None, max_examples=examples(30))
@given(data=st.data())
def test_original_chains_are_imported_in_whole_groups(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In any order of ids: each fact once, in a group with its successor."""
    order = data.draw(st.permutations(range(1, data.draw(st.integers(1, 16)) + 1)))
    links: dict[int, int | None] = {
        fact_id: data.draw(st.none() | st.sampled_from(order[:place])) if place else None
        for place, fact_id in enumerate(order)
    }
    file = chained(tmp_path_factory.mktemp("x") / "o.db", links)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(original, "BATCH", 3)
        found = [one for one in original.found(file) if isinstance(one, Imported)]
    group = {one.item.id: one.group or 0 for one in found}
    assert sorted(one.item.id for one in found) == sorted(links)
    assert [one.group for one in found] == sorted(group.values()), "a group is in one piece"
    for fact_id, by in links.items():
        assert by is None or group[by] == group[fact_id]


def test_original_superseded_fact_is_never_active(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = {n: n + 10 if n <= 10 else None for n in range(1, 21)}
    file = chained(tmp_path / "o.db", links)
    monkeypatch.setattr(original, "BATCH", 3)
    monkeypatch.setattr(importer, "BATCH", 3)
    monkeypatch.setattr("memstore.database.short_transactions.SECONDS", 0.0)
    ends = {f"fact {fact_id}" for fact_id, by in links.items() if by is None}
    held: list[int] = []

    def between(done: int, total: int) -> None:
        there = {fact.content for fact in store.of("all").list()}
        assert there <= ends
        held.append(len(there))

    assert store.transfer.import_from("memstore", file, progress=between).facts == 20
    assert held == [0] * 5 + [2, 4, 6, 8, 10], "nothing is written before all was read"
    named = {fact.id: fact.content for fact in store.of("all").list(active_only=False)}
    for fact in store.of("all").list(active_only=False):
        by = links[int(fact.content.split()[1])]
        assert named.get(fact.superseded_by or 0) == (f"fact {by}" if by else None)
    assert store.transfer.import_from("memstore", file).known == 20
    assert store.file.doctor() == []


@pytest.mark.parametrize(
    ("state", "status", "told"),
    [
        ("blocked", "deleted", "facts that screening rejected (deleted here)"),
        ("abandoned", "deleted", "facts that screening rejected (deleted here)"),
        ("pending", "active", "screening of facts that were not screened yet"),
        ("screening", "active", None),
        ("regex-clean", "active", None),
        ("clean", "active", None),
    ],
)
def test_original_screening_state_is_respected(
    state: str, status: str, told: str | None, store: Store, tmp_path: Path
) -> None:
    """The original hides blocked facts and treats the rest as memories."""
    file = original_file(tmp_path / "o.db", NEWEST)
    with raw(file) as there:
        there.execute("UPDATE memstore_facts SET screen_state = ? WHERE id = 9", (state,))
        there.commit()
    report = store.transfer.import_from("memstore", file)
    [fact] = [f for f in store.of("all").list(include_deleted=True) if origin(f)["id"] == 9]
    assert (fact.status, origin(fact)["screen_state"]) == (status, state)
    assert [kind for kind in report.left_out if "screening" in kind] == ([told] if told else [])
    if status == "deleted":
        store.restore(fact.id)
        store.transfer.import_from("memstore", file)
        assert store.get(fact.id).status == "active", "what somebody restored stays"


def test_original_refuses_other_files(store: Store, path: Path, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no database")
    other = tmp_path / "other.db"
    with raw(other) as file:
        file.execute("CREATE TABLE history (a)")
    for file_, why in (
        (text, "not a SQLite database"),
        (other, "no facts of the original"),
        (path, "a file of this memstore"),
        (tmp_path / "missing", "No such file"),
    ):
        with pytest.raises((StorageError, OSError), match=why):
            store.transfer.import_from("memstore", file_)
    assert store.of("all").count() == 0


def test_unknown_source_is_named(store: Store, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must be engram, memstore, mem0, .* or langgraph"):
        store.transfer.import_from("zep", tmp_path)


@pytest.mark.parametrize("source", importer.SOURCES)
def test_the_library_says_that_it_reads_each_program(source: str) -> None:
    assert f'``"{source}"``' in str(Transfer.import_from.__doc__)


def test_a_folder_in_place_of_a_file_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="is a folder, but letta keeps a file"):
        store.transfer.import_from("letta", tmp_path)


# -- mem0 ---------------------------------------------------------------------------------------

MEMORY: dict[str, Any] = {
    "id": "b1d7a1d0-3c4e-4a55-8a51-1f7c2f0f9a11",
    "memory": "Likes green tea",
    "hash": "5d41402abc4b2a76b9719d911017c592",
    "metadata": {"mood": "glad"},
    "created_at": "2025-03-01T09:30:00.000001-07:00",
    "updated_at": None,
    "user_id": "alice",
    "agent_id": "helper",
    "run_id": None,
    "categories": ["food", "drink"],
    "score": 0.5,
}


@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("wrap", ["results", "count", "memories", "list", "lines"])
def test_mem0_export_is_read_in_every_form(
    wrap: str, indent: int | None, store: Store, tmp_path: Path
) -> None:
    records = [MEMORY, {**MEMORY, "id": "two", "memory": "Owns a kayak", "relations": []}]
    file = tmp_path / "m.json"
    if wrap == "lines":
        written(file, *records)
    else:
        whole = {
            "results": {"results": records, "relations": [{"source": "a"}]},
            "count": {"count": 2, "next": None, "previous": None, "results": records},
            "memories": {"memories": records},
            "list": records,
        }[wrap]
        file.write_text(json.dumps(whole, indent=indent), encoding="utf-8")
    report = store.transfer.import_from("mem0", file)
    assert report.facts == 2
    assert {k: v.count for k, v in report.left_out.items()} == (
        {"relations": 1} if wrap == "results" else {}
    )
    tea, kayak = store.of("all").list()
    assert (tea.content, tea.subject, tea.category) == ("Likes green tea", "alice", "food")
    assert (tea.user_id, tea.agent_id, tea.run_id) == ("alice", "helper", None)
    assert tea.created_at == datetime(2025, 3, 1, 16, 30, 0, 1, tzinfo=UTC)
    assert tea.metadata["mood"] == "glad"
    assert origin(tea) == {
        "from": "mem0",
        "id": MEMORY["id"],
        "hash": MEMORY["hash"],
        "categories": ["food", "drink"],
    }
    assert kayak.content == "Owns a kayak"
    assert store.transfer.import_from("mem0", file).known == 2
    assert store.file.doctor() == []


def test_mem0_memory_without_owner_or_category_is_imported(store: Store, tmp_path: Path) -> None:
    store.transfer.import_from("mem0", written(tmp_path / "m.jsonl", {"id": 7, "data": "plain"}))
    [fact] = store.of("all").list()
    assert (fact.subject, fact.category, fact.user_id) == ("user", "note", None)


def test_mem0_run_is_a_thread_in_order_of_time(store: Store, tmp_path: Path) -> None:
    def memory(n: int, run: str | None, minute: int) -> dict[str, Any]:
        at = f"2025-03-01T09:{minute:02}:00Z"
        return {**MEMORY, "id": str(n), "memory": f"m{n}", "run_id": run, "created_at": at}

    told = [memory(1, "r1", 30), memory(2, None, 31), memory(3, "r2", 32), memory(4, "r1", 20)]
    file = written(tmp_path / "m.jsonl", *told)
    store.transfer.import_from("mem0", file)
    facts = {fact.content: fact for fact in store.of("all").list()}
    assert [facts[f"m{n}"].thread for n in (1, 2, 3, 4)] == ["r1", None, "r2", "r1"]
    first, last = facts["m4"].seq, facts["m1"].seq
    assert first is not None
    assert last == first + 600_000
    assert facts["m1"].run_id == "r1"
    assert store.transfer.import_from("mem0", file).known == 4
    assert store.file.doctor() == []


def test_mem0_expiration_counts_the_last_day(store: Store, tmp_path: Path) -> None:
    file = written(tmp_path / "m.jsonl", {**MEMORY, "expiration_date": "2099-12-30"})
    store.transfer.import_from("mem0", file)
    last = datetime(2099, 12, 31, tzinfo=UTC) - timedelta(microseconds=1)
    assert store.of("all").list()[0].expired_at == last


def test_two_texts_with_the_same_id_are_both_imported(store: Store, tmp_path: Path) -> None:
    """Files may be edited by hand; a row that differs is not treated as known."""
    rows = [row(1), row(1, content="another text"), row(1)]
    report = store.transfer.import_from("engram", written(tmp_path / "e.jsonl", *rows))
    assert (report.episodes, report.known) == (2, 1)
    memories = [changed("Likes green tea", 1), changed("Likes coffee", 2)]
    report = store.transfer.import_from("mem0", written(tmp_path / "m.jsonl", *memories))
    assert (report.facts, report.retired) == (2, 1)
    assert [fact.content for fact in store.of("all").list()] == ["Likes coffee"]
    assert store.transfer.import_from("mem0", tmp_path / "m.jsonl").known == 2
    assert store.file.doctor() == []


def changed(content: str, day: int) -> dict[str, Any]:
    return {**MEMORY, "memory": content, "updated_at": f"2025-04-{day:02}T00:00:00Z"}


def test_mem0_memory_changed_at_the_source_supersedes(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    texts = ["Likes green tea", "Likes coffee", "Likes green tea", "Likes water"]
    for day, content in enumerate(texts, 1):
        store.transfer.import_from("mem0", written(file, changed(content, day)))
        assert [fact.content for fact in store.of("all").list()] == [content]
        assert store.transfer.import_from("mem0", file).known == 1
    chain = store.history(store.of("all").list()[0].id)
    assert [fact.content for fact in chain] == texts
    assert chain[0].superseded_at == datetime(2025, 4, 2, tzinfo=UTC)
    report = store.transfer.import_from("mem0", written(file, changed("Likes coffee", 2)))
    assert (report.facts, report.known) == (0, 1), "an older export changes nothing"
    assert store.file.doctor() == []


def test_mem0_memory_changed_locally_is_kept(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    store.transfer.import_from("mem0", written(file, changed("Likes green tea", 1)))
    store.add("Likes red tea", subject="alice", supersedes=1)
    report = store.transfer.import_from("mem0", written(file, changed("Likes coffee", 2)))
    assert report.left_out["memories changed here since, or newer here"].count == 1
    assert [fact.content for fact in store.of("all").list()] == ["Likes red tea"]


def test_mem0_history_db_is_refused_with_a_remedy(store: Store, tmp_path: Path) -> None:
    """It contains no owners, and older versions store deletions without a time."""
    file = tmp_path / "history.db"
    with raw(file) as there:
        there.execute("CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, new_memory TEXT)")
    with pytest.raises(StorageError, match=r"history\.db does not contain the owners.*get_all"):
        store.transfer.import_from("mem0", file)


def test_mem0_incomplete_page_is_reported(store: Store, tmp_path: Path) -> None:
    """get_all returns one page; memories on other pages must not be dropped silently."""
    file = tmp_path / "m.json"
    file.write_text(json.dumps({"count": 120, "next": "https://x", "results": [MEMORY]}))
    report = store.transfer.import_from("mem0", file)
    assert (report.facts, report.left_out["records on other pages"].count) == (1, 119)
    file.write_text(json.dumps({"next": "https://x", "results": [MEMORY]}))
    assert store.transfer.import_from("mem0", file).left_out["records on other pages"].count == 1


# -- server-memory ------------------------------------------------------------------------------

GRAPH: list[dict[str, Any]] = [
    {
        "type": "entity",
        "name": "John_Smith",
        "entityType": "person",
        "observations": ["Speaks fluent Spanish", "Graduated in 2019", "Graduated in 2019"],
    },
    {"type": "entity", "name": "Acme", "entityType": "company", "observations": []},
    {"type": "relation", "from": "John_Smith", "to": "Acme", "relationType": "works_at"},
    {"type": "relation", "from": "John_Smith", "to": "Acme", "relationType": "works_at"},
    {"type": "note", "text": "of another program"},
]


def test_server_memory_observations_and_relations_become_facts(
    store: Store, tmp_path: Path
) -> None:
    file = written(tmp_path / "memory.jsonl", *GRAPH)
    os.utime(file, (1_740_000_000, 1_740_000_000))
    report = store.transfer.import_from("server-memory", file)
    assert report.facts == 3
    assert {kind: left.first for kind, left in report.left_out.items()} == {
        "entities without observations": ["Acme"],
        "records of type 'note'": ["line 5"],
    }
    spanish, graduated, works = store.of("all").list()
    assert (spanish.content, spanish.subject) == ("Speaks fluent Spanish", "John_Smith")
    assert spanish.category == "person"
    assert spanish.created_at == datetime.fromtimestamp(1_740_000_000, UTC)
    assert origin(spanish)["id"] == "John_Smith"
    assert graduated.content == "Graduated in 2019"
    assert (works.content, works.category) == ("John_Smith works at Acme", "relation")
    assert origin(works)["relation"] == {"from": "John_Smith", "type": "works_at", "to": "Acme"}
    assert store.search("where does John Smith work")[0].fact.id == works.id
    written(file, *GRAPH, {**GRAPH[1], "observations": ["Sells anvils"]})
    again = store.transfer.import_from("server-memory", file)
    assert (again.facts, again.known) == (1, 3)
    assert store.file.doctor() == []


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ({"type": "entity", "observations": ["x"]}, "its name"),
        ({"type": "entity", "name": "a", "observations": "x"}, "must be a list"),
        ({"type": "entity", "name": "a", "observations": [["x"]]}, "an observation must be text"),
        ({"type": "relation", "from": "a", "relationType": "r"}, "its 'to'"),
        ({"type": "relation", "from": "a", "to": "b"}, "its relationType"),
    ],
)
def test_server_memory_damaged_record_is_named(
    record: dict[str, Any], why: str, store: Store, tmp_path: Path
) -> None:
    file = written(tmp_path / "memory.jsonl", GRAPH[0], record)
    refused(store, "server-memory", file, f"^line 2: .*{why}")


# -- reading JSON -------------------------------------------------------------------------------


ANY = long_json.JsonForm("a record", lambda value: "id" in value, frozenset({"results"}))


def read(text: str, folder: Path, form: long_json.JsonForm = ANY) -> list[Any]:
    file = folder / "x.json"
    file.write_text(text, encoding="utf-8", errors="surrogatepass")
    with texts.reading(file) as opened:
        return list(long_json.records(opened, form))


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        ('[{"id": 1}, {"id": 2', "the file", "not JSON .it ends within record 2"),
        ('[\n{"id": 1}\n{"id": 2}\n]', "the file", "not JSON .no comma after record 1"),
        ('[{"id": 1}] more', "the file", "not JSON .something follows its end"),
        ('{\n"results": [{"id": 1}]', "the file", "not JSON .it ends after results"),
        ('{"results": [{"id": 1}], "x":', "the file", "not JSON .it ends within x"),
        ('[{"id": 1}, 5]', "record 2", "not a JSON object, but a number"),
        ('{"results": [[]]}', "results 1", "not a JSON object, but an empty list"),
        ("[" * 100_000, "the file", "not JSON"),
        ("5", "line 1", "not a JSON object, but a number"),
        ("no", "the file", "not JSON, which 'n' cannot begin"),
        ("", "the file", "it is empty"),
        ("[]", "the file", "it is an empty list"),
        ('{"id": 1}\n{"id": 2', "line 2", "not JSON"),
        ("\n\n{}\n5", "line 4", "not a JSON object, but a number"),
    ],
)
def test_damaged_json_is_reported_with_its_position(
    text: str, place: str, why: str, tmp_path: Path
) -> None:
    damaged = read(text, tmp_path)[-1]
    assert isinstance(damaged, Damaged | Foreign)
    assert damaged.place == place
    assert re.match(why, damaged.reason)


@pytest.mark.parametrize("ends", ["{", '{"results":', '{ "results": [', '{"results":[{"id": 1},'])
def test_a_response_is_read_wherever_its_first_line_ends(ends: str, tmp_path: Path) -> None:
    whole = '{"results":[{"id":1},{"id":2}]}'
    rest = whole.removeprefix(ends.replace(" ", ""))
    found = read(f"{ends}\r\n{rest}\n", tmp_path)
    assert [(one.place, one.value) for one in found] == [
        ("results 1", {"id": 1}),
        ("results 2", {"id": 2}),
    ]


def test_json_record_with_a_list_field_is_one_record(tmp_path: Path) -> None:
    line = '{"id": "a", "results": [{"id": 1}]}'
    [one] = read(line, tmp_path)
    assert (one.place, one.value) == ("line 1", json.loads(line))


LAYOUTS: dict[str, Callable[[list[Any]], str]] = {
    "a list": json.dumps,
    "lines": lambda values: "\n".join(map(json.dumps, values)),
    "documents": lambda values: "\n".join(json.dumps(one, indent=2) for one in values),
    "a wrapper": lambda values: json.dumps({"version": 1, "results": values}),
    "an unknown wrapper": lambda values: json.dumps({"a": [], "held": values}),
    "a wrapper inside": lambda values: json.dumps({"data": {"held": values}}),
    "a string": lambda values: json.dumps(json.dumps({"held": values})),
    "strings in lines": lambda values: "\n".join(json.dumps(json.dumps(one)) for one in values),
    "a tool's result": lambda values: json.dumps(
        {"content": [{"type": "text", "text": json.dumps({"held": values})}]}
    ),
}


@pytest.mark.parametrize("chunk", [1, 3, 2**16])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_records_are_found_in_every_layout(
    layout: str, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_json, "CHUNK", chunk)
    values = [{"id": number, "text": 'a\\"b]'} for number in range(3)]
    found = read(LAYOUTS[layout](values), tmp_path)
    assert [one.value for one in found if isinstance(one, long_json.JsonItem)] == values
    assert not any(isinstance(one, Damaged | Foreign) for one in found)


def test_json_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_json, "MAX_ITEM", 100_000)
    [line] = read('{"a": "' + "x" * 500_000, tmp_path)
    assert "it ends within a" in line.reason
    [line] = read('{}\n{"a": "' + "x" * 500_000, tmp_path)[1:]
    assert "longer than 100,000" in line.reason
    [line] = read('{}\n{"a": "' + "\0" * 170_000, tmp_path)[1:]
    assert "NUL" in line.reason
    [line] = read("x" * 70_000, tmp_path)
    assert "not JSON" in line.reason
    [line] = read("{}\n" + "x" * 70_000, tmp_path)[1:]
    assert "not a JSON object" in line.reason


def test_long_object_is_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_json, "MAX_ITEM", 100_000)
    whole = json.dumps({"id": 1, "parts": ["x" * 50_000] * 3})
    [one] = read(whole, tmp_path)
    assert one == Damaged("line 1", "longer than 100,000 characters")


@pytest.mark.process
def test_concurrent_imports_import_everything_once(path: Path, tmp_path: Path) -> None:
    file = written(tmp_path / "e.jsonl", *map(row, range(700)))
    program = (
        "import memstore, sys\n"
        "with memstore.open(sys.argv[1], embedder=None) as store:\n"
        "    print(store.transfer.import_from('engram', sys.argv[2]).episodes)\n"
    )
    run = [sys.executable, "-c", program, str(path), str(file)]
    both = [subprocess.Popen(run, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sum(int(one.communicate()[0]) for one in both) == 700
    with memstore.open(path, embedder=None) as store:
        assert store.of("all").episodes.count() == 700
        assert store.file.doctor() == []


def test_engram_import_reads_every_field_of_an_episode() -> None:
    """Every field of an Engram episode is read."""
    assert set(ROW) <= engram.READ


PAGE = (Path(__file__).parents[2] / "docs" / "coming-from.md").read_text("utf-8")


def test_the_documented_example_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [example] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    exec(compile(example, "coming-from.md", "exec"), {})


def test_the_page_names_every_source_and_version() -> None:
    for source in importer.SOURCES:
        assert f"--from {source} " in PAGE
    assert f"1 to {NEWEST}" in PAGE
