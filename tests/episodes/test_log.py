"""The log: episodes are stored verbatim, change only where allowed, and can be erased."""

from __future__ import annotations

import inspect
import itertools
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.embedders import WordEmbedder
from tests.support.raw import sql

import memstore
from memstore import (
    EmbedderUnavailable,
    IdempotencyConflict,
    InvalidArgument,
    NewEpisode,
    NotFound,
    Scope,
    StorageError,
    Store,
)
from memstore.database.sqlite.engine import SqliteEngine
from memstore.database.tables import pieces as piece_table
from memstore.episodes import checks
from memstore.text import chunks

Open = Callable[..., Store]

ANA = Scope(user_id="ana")
WORDS = st.text(
    alphabet=st.sampled_from("ab .!?\n\r。！é\u0301\u200d👩🏽🇩🇪,、京東ทข"), max_size=4000
)


# -- adding ------------------------------------------------------------------------------------


def test_add_keeps_every_field(store: Store, open_store: Open) -> None:
    text = "  two  spaces,\r\n\ttab 東京 👍 "
    before = datetime.now(UTC)
    added = store.of(ANA).episodes.add(
        text,
        source="claude-code",
        name="a name",
        source_model="opus-4.6",
        source_description="pairing",
        tags=["ops", " ops ", "deploy"],
        valid_at="2026-03-01T09:30:00+01:00",
        metadata={"a": [1, None]},
        idempotency_key="k",
    )
    with open_store() as other:
        assert other.episodes.get(added.id) == other.episodes.get(added.uuid) == added
    assert added.content == text
    assert (added.name, added.source, added.source_model) == ("a name", "claude-code", "opus-4.6")
    assert (added.source_description, added.tags) == ("pairing", ["ops", "deploy"])
    assert added.valid_at == datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
    assert before <= added.created_at <= datetime.now(UTC)
    assert (added.metadata, added.scope, added.status) == ({"a": [1, None]}, ANA, "active")
    assert store.file.doctor() == []


def test_add_calls_no_model(open_store: Open, embedder: WordEmbedder) -> None:
    embedder.failure = EmbedderUnavailable("down")
    store = open_store()
    store.episodes.add("the harbour", source="test")
    store.episodes.add_many([NewEpisode(content="the pier", source="test")])
    store.episodes.record("the lighthouse")
    assert embedder.calls == []
    assert store.status().episodes_pending == 3
    assert [hit.episode.id for hit in store.episodes.search("pier", mode="words")] == [2]


@given(text=WORDS)
def test_chunks_cover_the_text_and_fit_a_model(text: str) -> None:
    pieces = chunks.of_episode(text)
    assert pieces == chunks.of_episode(text)
    assert [start for start, _ in pieces] == sorted({start for start, _ in pieces})
    covered = 0
    for start, stop in pieces:
        assert start <= covered < stop <= start + chunks.PIECE_CHARACTERS
        covered = stop
    assert covered == len(text)


def test_chunks_overlap_at_sentence_boundaries() -> None:
    text = "One more sentence of some length stands here. " * 100
    pieces = chunks.of_episode(text)
    assert len(pieces) > 3
    for (_, stop), (start, _) in itertools.pairwise(pieces):
        assert 0 < stop - start <= chunks.PIECE_OVERLAP
        assert text[:stop].endswith(". ")
        assert text[start - 1].isspace()


def test_chunks_of_scripts_without_spaces_are_shorter() -> None:
    japanese = chunks.of_episode("新しいオフィスを東京に開いた。" * 60)
    assert max(stop - start for start, stop in japanese) <= chunks.UNSPACED_CHARACTERS
    assert len(chunks.of_episode("a" * chunks.PIECE_CHARACTERS)) == 1


@pytest.mark.slow
def test_huge_text_is_stored_completely(store: Store, path: Path) -> None:
    text = "".join(f"Line {n} of the novel, 東京. \n" for n in range(60_000))
    episode = store.episodes.add(text, source="book")
    assert len(text) > 1_500_000
    assert store.episodes.get(episode.id).content == text
    [hit] = store.episodes.search("59998", mode="words")
    assert "Line 59998 of" in hit.excerpt
    assert len(hit.excerpt) <= chunks.PIECE_CHARACTERS
    pieces = sql(path, "SELECT count(*) FROM memstore_pieces")
    cut = [chunks.of_episode(part.content) for part in store.episodes.list()]
    assert pieces == [(sum(map(len, cut)),)]
    assert store.file.doctor() == []


def test_text_too_long_for_a_row_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MAX_BYTES", 10)
    with pytest.raises(ValueError, match=r"11 bytes, over the limit of 10\nRecord it in"):
        store.episodes.add("12345678901", source="test")
    assert store.episodes.list() == []


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"content": " \n"}, ValueError, "content is empty"),
        ({"content": "a\x00b"}, ValueError, "NUL"),
        ({"content": "\ud800"}, ValueError, "half of a character"),
        ({"content": b"x"}, TypeError, "content must be text"),
        ({"source": ""}, ValueError, "source is empty"),
        ({"source": None}, TypeError, "source must be text"),
        ({"name": "n" * 501}, ValueError, "name is 501 characters"),
        ({"tags": "ops"}, TypeError, r"tags must be a list of texts, such as \['ops'\]"),
        ({"tags": None}, TypeError, "tags must be a list"),
        ({"tags": ["a", ""]}, ValueError, "a tag is empty"),
        ({"tags": [7]}, TypeError, "a tag must be text"),
        (
            {"tags": [str(n) for n in range(1001)]},
            ValueError,
            "1,001, over the limit of 1,000",
        ),
        (
            {"valid_at": "someday"},
            ValueError,
            "valid_at is not a time: 'someday'.*2026-03",
        ),
        ({"valid_at": datetime(2026, 1, 1)}, ValueError, "valid_at has no time zone"),
        ({"metadata": {"x": float("nan")}}, ValueError, "JSON"),
        ({"metadata": {1: 2}}, TypeError, "metadata must have text keys"),
        ({"metadata": {"x": "y" * 70_000}}, ValueError, "over the limit of 65,536"),
    ],
)
def test_add_refuses_invalid_values(
    store: Store, given: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        store.episodes.add(**{"content": "text", "source": "test"} | given)
    assert store.episodes.list() == []


def test_the_same_idempotency_key_returns_the_same_episode(store: Store, open_store: Open) -> None:
    first = store.episodes.add("hello", source="a", idempotency_key="k")
    assert store.episodes.add("hello", source="b", idempotency_key="k") == first
    with pytest.raises(
        IdempotencyConflict, match="belongs to episode 1, which has different content"
    ):
        store.episodes.add("goodbye", source="a", idempotency_key="k")
    other = open_store(namespace="other").episodes.add("goodbye", source="a", idempotency_key="k")
    assert other.id == 2
    assert len(store.episodes.list()) == 1


def test_adding_the_same_text_twice_creates_two_episodes(store: Store) -> None:
    assert [store.episodes.add("hello", source="a").id for _ in range(2)] == [1, 2]


def test_add_many_is_all_or_nothing(store: Store) -> None:
    new = [{"content": f"line {n}", "source": "t", "tags": ["x"]} for n in range(3)]
    assert [e.content for e in store.episodes.add_many(new)] == ["line 0", "line 1", "line 2"]
    store.episodes.add("taken", source="t", idempotency_key="k")
    bad = [*new, {"content": "another", "source": "t", "idempotency_key": "k"}]
    with pytest.raises(IdempotencyConflict):
        store.episodes.add_many(bad)
    with pytest.raises(InvalidArgument, match="item 1 of 1: new_episodes have no field 'contents'"):
        store.episodes.add_many([{"contents": "x", "source": "t"}])
    assert store.episodes.count() == 4
    assert store.episodes.add_many([]) == []


@pytest.mark.process
def test_concurrent_adds_from_many_processes_lose_nothing(store: Store, path: Path) -> None:
    script = (
        "import memstore, sys\n"
        f"with memstore.open({str(path)!r}, embedder=None) as store:\n"
        "    for n in range(25):\n"
        "        store.episodes.add(f'{sys.argv[1]} {n}', source='p', idempotency_key=f'k{n}')\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script, "same"]) for _ in range(3)]
    for number in range(25):
        store.episodes.add(f"mine {number}", source="m")
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0]
    assert store.episodes.count(source="p") == store.episodes.count(source="m") == 25
    assert store.file.doctor() == []


# -- listing -----------------------------------------------------------------------------------


def test_list_filters_and_pages(store: Store, open_store: Open) -> None:
    log = store.episodes
    log.add("a", source="mail", tags=["x", "y"], valid_at="2020-01-01")
    second = store.of(ANA).episodes.add("b", source="mail", tags=["x"])
    log.add("c", source="chat")
    open_store(namespace="other").episodes.add("d", source="mail")

    def ids(owners: Any = "all", **filters: Any) -> list[int]:
        theirs = store.of(owners).episodes
        found = [episode.id for episode in theirs.list(**filters)]
        assert theirs.count(**filters) == len(found)
        return found

    assert ids() == [1, 2, 3]
    assert ids(source="mail") == ids(source=" mail ") == [1, 2]
    assert ids(tags=["x"]) == [1, 2]
    assert ids(tags=["y", "x"]) == [1]
    assert ids(tags=["x"], source="chat") == []
    assert ids(ANA) == [2]
    assert ids(Scope()) == ids(None) == [1, 3]
    assert ids(created_after=second.created_at) == [3]
    assert ids(created_before=second.created_at) == [1]
    assert ids(valid_before="2020-01-02") == [1]
    assert ids(valid_after="2020-01-01T00:00:00Z") == [1, 2, 3]  # all of the second is meant
    at = datetime(2020, 1, 1, tzinfo=UTC)
    assert ids(valid_after=at) == [2, 3]  # the others were valid when created
    log.update(1, expired_at="2021-01-01")
    log.update(3, expired_at="2999-01-01")
    assert ids() == [2, 3]
    assert ids(expired_before="2022-01-01") == [1]
    assert ids(expired_after="2022-01-01") == [3]
    assert ids(expired_after="2020-01-01", expired_before="3000-01-01") == [1, 3]
    assert ids(expired_after="2021-01-01") == [1, 3]  # all of the day is meant
    assert ids(expired_before="2021-01-01") == [1]
    end = log.get(1).expired_at
    assert ids(expired_after=end) == [3]  # instants are outside
    assert ids(expired_before=end) == []
    found = log.search("a", expired_before="2022-01-01", mode="words")
    assert [hit.episode.id for hit in found] == [1]
    log.update(1, expired_at=None)
    assert ids(namespaces="all") == [1, 2, 3, 4]
    assert ids(namespaces=["other"]) == [4]
    newest = store.of("all").episodes.list(limit=2, offset=1, newest_first=True)
    assert [episode.id for episode in newest] == [2, 1]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"created_after": "soon"}, "created_after is not a time: 'soon'"),
        ({"valid_before": "31/12/2026"}, "valid_before is not a time: .*"),
        ({"created_after": "2026-02-01", "created_before": "2026-01-01"}, "nothing lies between"),
        ({"expired_after": "2026-02-01", "expired_before": "2026-01-01"}, "nothing lies between"),
        ({"expired_after": "later"}, "expired_after is not a time: 'later'"),
        ({"limit": 0}, "limit"),
        ({"offset": -1}, "offset"),
        ({"source": ""}, "source is empty"),
    ],
)
def test_list_refuses_invalid_values(store: Store, given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        store.episodes.list(**given)


def test_invalid_filter_and_scope_are_named(store: Store) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'limit'"):
        store.episodes.count(limit=3)
    with pytest.raises(TypeError, match=r"owners must be a Scope, AtLeast or .*, not str"):
        store.of("ana")  # type: ignore[arg-type]
    assert store.episodes.count() == 0


@pytest.mark.parametrize("given", ["12", 1.0, True, None])
def test_get_refuses_invalid_ids(store: Store, given: Any) -> None:
    with pytest.raises(TypeError, match="a whole number, or a UUID"):
        store.episodes.get(given)


def test_an_episode_of_another_namespace_is_not_found(store: Store, open_store: Open) -> None:
    theirs = open_store(namespace="other").episodes.add("theirs", source="t")
    for asked in (theirs.id, theirs.uuid, 99, 2**70):
        with pytest.raises(NotFound, match=r"no episode .* in namespace 'default'\nSearch or list"):
            store.episodes.get(asked)
        with pytest.raises(NotFound):
            store.episodes.update(asked, tags=[])


# -- changing ----------------------------------------------------------------------------------


def test_update_changes_only_the_given_fields(store: Store) -> None:
    log = store.episodes
    first = log.add("text", source="t", tags=["a"], metadata={"k": 1, "gone": 2})
    changed = log.update(first.id, tags=["b", "a"])
    assert (changed.tags, changed.metadata, changed.expired_at) == (
        ["b", "a"],
        first.metadata,
        None,
    )
    changed = log.update(first.uuid, metadata={"new": {"x": 1}, "gone": None})
    assert (changed.tags, changed.metadata) == (["b", "a"], {"k": 1, "new": {"x": 1}})
    changed = log.update(first.id, expired_at="2030-01-01")
    assert changed.expired_at == datetime(2030, 1, 1, 23, 59, 59, 999_999, tzinfo=UTC)
    assert changed.status == "active"
    changed = log.update(first.id, tags=[], expired_at=None)
    assert (changed.tags, changed.expired_at) == ([], None)
    assert changed.content == "text"
    told = [(line.before, line.after) for line in log.journal(first.id)[1:]]
    assert told == [
        ({"tags": ["a"]}, {"tags": ["b", "a"]}),
        (
            {"metadata": {"k": 1, "gone": 2}},
            {"metadata": {"k": 1, "new": {"x": 1}}},
        ),
        ({"expired_at": None}, {"expired_at": "2030-01-01T23:59:59.999999Z"}),
        (
            {"tags": ["b", "a"], "expired_at": "2030-01-01T23:59:59.999999Z"},
            {"tags": [], "expired_at": None},
        ),
    ]
    assert store.file.doctor() == []


def test_update_that_changes_nothing_is_not_journalled(store: Store) -> None:
    log = store.episodes
    episode = log.add("text", source="t", tags=["a"], metadata={"k": 1})
    assert log.update(episode.id, tags=["a"], metadata={"k": 1}, expired_at=None) == episode
    assert len(log.journal(episode.id)) == 1
    log.update(episode.id, metadata={"k": True})  # equal in Python, but not in JSON
    assert len(log.journal(episode.id)) == 2


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({}, ValueError, "neither tags nor metadata nor expired_at was given"),
        ({"tags": None}, TypeError, "tags must be a list"),
        ({"tags": "x"}, TypeError, "tags must be a list"),
        ({"expired_at": "never"}, ValueError, "expired_at is not a time: 'never'"),
        ({"metadata": None}, TypeError, "metadata must be a mapping"),
        ({"metadata": '{"a": 1}'}, TypeError, "metadata must be a mapping"),
        ({"metadata": {"k": "x" * 70_000}}, ValueError, "over the limit"),
    ],
)
def test_update_refuses_invalid_values(
    store: Store, given: dict[str, Any], error: type[Exception], says: str
) -> None:
    episode = store.episodes.add("text", source="t")
    with pytest.raises(error, match=says):
        store.episodes.update(episode.id, **given)
    assert store.episodes.get(episode.id) == episode


def test_expired_episodes_are_left_out_unless_requested(store: Store) -> None:
    log = store.episodes
    past, future = datetime.now(UTC) - timedelta(hours=1), datetime.now(UTC) + timedelta(hours=1)
    log.update(log.add("gone tea", source="t").id, expired_at=past)
    log.update(log.add("fresh tea", source="t").id, expired_at=future)
    assert [e.id for e in log.list()] == [2]
    assert [e.status for e in log.list(include_expired=True)] == ["expired", "active"]
    assert [hit.episode.id for hit in log.search("tea", mode="words")] == [2]
    found = log.search("tea", mode="words", include_expired=True)
    assert {hit.episode.id for hit in found} == {1, 2}
    log.update(1, expired_at=None)
    assert [e.id for e in log.list()] == [1, 2]


@pytest.mark.parametrize(
    "assignment",
    [
        "content = 'forged'",
        "content = ''",
        "source = 'forged'",
        "source = NULL",
        "name = NULL",
        "source_model = 'x'",
        "created_at = '2020-01-01T00:00:00.000000Z'",
        "valid_at = NULL",
        "uuid = 'x'",
        "user_id = 'eve'",
        "idempotency_key = NULL",
        "id = 7",
        "rowid = 7",
        "_rowid_ = 7",
    ],
)
def test_database_triggers_refuse_changes_of_episodes(
    store: Store, path: Path, assignment: str
) -> None:
    store.episodes.add("hello", source="t", name="n", valid_at="2026-01-01", idempotency_key="k")
    for statement in (
        f"UPDATE memstore_episodes SET {assignment}",
        "DELETE FROM memstore_episodes",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="episodes are append-only"):
            sql(path, statement)
    assert store.file.doctor() == []


COLUMNS = "namespace, content, source, created_at, content_hash"
REPLACE = (
    f"INSERT OR REPLACE INTO memstore_episodes ({{}}, {COLUMNS})"
    f" SELECT {{}}, {COLUMNS} FROM memstore_episodes WHERE id = 1"
)


@pytest.mark.parametrize(
    "statement",
    [
        REPLACE.format("id, uuid", "id, 'x'"),
        REPLACE.format("uuid", "uuid"),
        REPLACE.format("uuid, idempotency_key", "'x', 'k'"),
        "UPDATE OR REPLACE memstore_episodes SET id = 2 WHERE id = 1",
        # A journal line allows an episode to be blanked, so the journal must not be replaceable.
        "INSERT OR REPLACE INTO memstore_journal (id, at, actor, source, kind, episode_id)"
        " VALUES (1, 'x', 'x', 'x', 'erase_episode', 1)",
        "UPDATE memstore_journal SET rowid = 7",
    ],
)
def test_replace_and_rowid_updates_are_refused(store: Store, path: Path, statement: str) -> None:
    store.episodes.add("hello", source="t", idempotency_key="k")
    store.episodes.add("goodbye", source="t")
    before = (
        sql(path, "SELECT * FROM memstore_episodes"),
        sql(path, "SELECT * FROM memstore_journal"),
    )
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        sql(path, statement)
    after = (
        sql(path, "SELECT * FROM memstore_episodes"),
        sql(path, "SELECT * FROM memstore_journal"),
    )
    assert after == before
    assert store.episodes.add("and more", source="t").id == 3


@pytest.mark.parametrize("assignment", ["name = 'back'", "content_hash = 'x'", "user_id = 'eve'"])
def test_erased_episode_cannot_be_changed(store: Store, path: Path, assignment: str) -> None:
    store.episodes.erase(store.episodes.add("hello", source="t").id)
    with pytest.raises(sqlite3.IntegrityError, match="episodes are append-only"):
        sql(path, f"UPDATE memstore_episodes SET {assignment}")


# -- erasing -----------------------------------------------------------------------------------


def test_erase_leaves_no_bytes_of_the_episode(store: Store, path: Path) -> None:
    log = store.episodes
    kept = log.add("kept words", source="t", tags=["kept"])
    gone = store.of(user_id="secret-user").episodes.add(
        "the-secret 秘密の言葉 text " * 200,
        source="secret-source",
        name="secret-name",
        source_model="secret-model",
        source_description="secret-description",
        tags=["secret-tag"],
        metadata={"secret-key": 1},
        idempotency_key="secret-idempotency",
    )
    log.update(gone.id, tags=["secret-tag", "secret-other"], metadata={"secret-more": 2})
    with SqliteEngine(path).write() as transaction:
        [piece, *_] = piece_table.of_episodes(transaction, [gone.id])
        transaction.execute(
            "UPDATE memstore_piece_vectors SET embedding = :vector, embed_error = :error"
            " WHERE piece_id = :piece",
            {"vector": b"secret-vector", "error": "secret-error", "piece": piece.id},
        )
    assert log.erase(gone.id)
    for refused in (log.get, log.journal, log.erase, lambda id_: log.update(id_, tags=[])):
        with pytest.raises(NotFound):
            refused(gone.id)
    assert [hit.episode.id for hit in log.search("secret kept", limit=5, mode="words")] == [kept.id]
    assert log.list(tags=["secret-tag"]) == []
    assert store.status().episodes == 1
    assert store.status().episodes_pending == 1
    again = log.add("another text", source="t", idempotency_key="secret-idempotency")
    assert again.id == 3
    assert log.erase(again.id)
    assert store.file.doctor() == []
    store.close()
    assert b"secret" not in path.read_bytes()
    assert "秘".encode() not in path.read_bytes()


def test_erase_by_uuid_removes_quotes_from_the_evidence(store: Store, path: Path) -> None:
    episode = store.episodes.add("I moved, secretly", source="t")
    fact = store.add("Ana lives in Porto", subject="ana", episode_id=episode.id)
    evidence = {"episode": episode.id, "said": "secretly"}
    store.ledger.apply([memstore.KeepFact(fact_id=fact.id, evidence=evidence)])
    assert store.episodes.erase(episode.uuid)
    *_, kept, redacted = store.ledger.journal(fact.id)
    assert (kept.kind, kept.evidence) == ("keep", None)
    assert (redacted.kind, redacted.evidence) == ("redact", {"episode": 1, "line": kept.id})
    store.close()
    assert b"secretly" not in path.read_bytes()


def test_clear_erases_the_log_of_one_namespace(store: Store, open_store: Open) -> None:
    store.episodes.add("the-secret", source="t", tags=["x"])
    store.episodes.update(1, expired_at="2020-01-01")
    other = open_store(namespace="other")
    other.episodes.add("theirs", source="t", tags=["x"])
    store.clear()
    assert store.episodes.list(include_expired=True) == []
    assert [e.content for e in other.episodes.list(tags=["x"])] == ["theirs"]
    assert store.file.doctor() == []


# -- the doctor --------------------------------------------------------------------------------

DAMAGE = {
    "content": ("UPDATE memstore_episodes SET content = 'forged' WHERE id = 1", "episodes", False),
    "tags": ("UPDATE memstore_episodes SET tags = '[\"forged\"]' WHERE id = 1", "episodes", False),
    "unknown": (
        "INSERT INTO memstore_episodes (uuid, namespace, content, created_at, content_hash)"
        " VALUES ('u', 'default', 'x', '2026-01-01T00:00:00.000000Z', 'h')",
        "episodes",
        False,
    ),
    "segments": ("UPDATE memstore_episodes SET segments = NULL WHERE id = 2", "words", True),
    "tag index": ("DELETE FROM memstore_episode_tags WHERE tag = 'a'", "words", True),
    "tag index more": ("INSERT INTO memstore_episode_tags VALUES ('more', 2)", "words", True),
    "pieces": ("UPDATE memstore_pieces SET stop = stop - 1 WHERE episode_id = 1", "words", True),
    "word index": (
        "INSERT INTO memstore_episodes_fts (memstore_episodes_fts, rowid, content, name,"
        " source_description, segments) SELECT 'delete', id, content, name, source_description,"
        " segments FROM memstore_episodes WHERE id = 1",
        "words",
        True,
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_doctor_repairs_damage_to_derived_data(store: Store, path: Path, damage: str) -> None:
    store.episodes.add("hello there", source="t", tags=["a"])
    store.episodes.add("東京で会いましょう", source="t")
    assert store.file.doctor() == []
    statement, check, repairable = DAMAGE[damage]
    sql(path, "DROP TRIGGER memstore_episodes_lasting")
    sql(path, statement)
    assert (check, repairable) in [(f.check, f.repairable) for f in store.file.doctor()]
    store.file.rebuild()
    assert [(f.check, f.repairable) for f in store.file.doctor() if f.repairable] == []
    if repairable:
        assert store.file.doctor() == []
        assert store.episodes.list(tags=["a"])[0].id == 1
        assert store.episodes.search("東京", mode="words")[0].episode.id == 2
        assert store.episodes.search("hello", mode="words")[0].episode.id == 1


def test_doctor_finds_a_text_that_reappeared_after_erasing(store: Store, path: Path) -> None:
    store.episodes.add("hello", source="t")
    store.episodes.erase(1)
    sql(path, "DROP TRIGGER memstore_episodes_lasting")
    sql(path, "UPDATE memstore_episodes SET content = 'hello' WHERE id = 1")
    assert "1 (erased)" in " ".join(finding.message for finding in store.file.doctor())


def test_a_read_only_store_reads_the_log_and_refuses_to_write(
    store: Store, open_store: Open
) -> None:
    store.episodes.add("hello there", source="t")
    reader = open_store(read_only=True)
    assert reader.episodes.search("hello")[0].episode.id == 1
    for write in (
        lambda: reader.episodes.add("x", source="t"),
        lambda: reader.episodes.update(1, tags=["x"]),
        lambda: reader.episodes.erase(1),
    ):
        with pytest.raises(StorageError, match="open read-only"):
            write()


def test_a_confined_store_cannot_reach_another_log(store: Store, open_store: Open) -> None:
    theirs = open_store(namespace="other").episodes.add("theirs", source="t")
    confined = store.within("mine", confined=True)
    confined.episodes.add("mine", source="t")
    for reach in (
        lambda: confined.episodes.search("theirs", namespaces="other"),
        lambda: confined.episodes.search("theirs", namespaces="all"),
        lambda: confined.episodes.list(namespaces=["mine", "other"]),
        lambda: confined.episodes.count(namespaces="all"),
    ):
        with pytest.raises(memstore.AccessDenied):
            reach()
    with pytest.raises(NotFound):
        confined.episodes.get(theirs.id)
    assert [e.content for e in confined.episodes.list()] == ["mine"]


def test_threads_add_and_search_concurrently(store: Store) -> None:
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(15):
                store.episodes.add(f"worker{number} turn{turn}", source="t")
                assert store.episodes.search(f"worker{number}", mode="words")
        except BaseException as error:  # noqa: BLE001 - told to the test
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert store.episodes.count() == 60


def test_probe_reports_the_embedders_health(open_store: Open, embedder: WordEmbedder) -> None:
    store = open_store()
    probe = store.file.probe_embedder()
    assert probe is not None
    assert (probe.works, probe.dimension, probe.trouble) == (True, 64, None)
    embedder.failure = RuntimeError("no wire")
    probe = store.file.probe_embedder()
    assert probe is not None
    assert (probe.works, probe.trouble) == (False, "RuntimeError: no wire")
    assert open_store(embedder=None).file.probe_embedder() is None


def test_probe_does_not_wait_for_an_embedder_that_hangs(open_store: Open) -> None:
    hanging = threading.Event()

    class Hangs(WordEmbedder):
        def embed(self, texts: Any) -> Any:
            hanging.wait(30)
            return super().embed(texts)

    embedder = Hangs()
    store = open_store(embedder=embedder)
    for _ in range(3):
        probe = store.file.probe_embedder(0.05)
        assert probe is not None
        assert (probe.works, probe.trouble) == (False, "no answer within 0.05 s")
    hanging.set()
    probe = store.file.probe_embedder(10)
    assert probe is not None
    assert probe.works
    assert len(embedder.calls) <= 2  # one question at a time


# -- the page ------------------------------------------------------------------------------------


@pytest.mark.process
def test_the_documented_example_prints_its_documented_output(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "episodes.md").read_text("utf-8")
    code, told = (page.split(f"```{kind}\n")[1].split("```")[0] for kind in ("python", "text"))
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(memstore.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stdout, ran.stderr) == (told, "")


def test_page_documents_every_argument() -> None:
    page = (Path(__file__).parents[2] / "docs" / "episodes.md").read_text("utf-8")
    for method in (
        memstore.episodes.episodes.Episodes.search,
        memstore.episodes.episodes.Episodes.update,
    ):
        for name in list(inspect.signature(method).parameters)[2:]:
            assert f"`{name}`" in page
