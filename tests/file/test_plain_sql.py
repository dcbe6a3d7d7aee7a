"""What somebody changes with plain SQL is named: any row, column and object of the schema.

Each table of a file is here: with what is found if its rows are changed, or with why nothing is. So
a table that is added later fails until somebody has thought about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.embedders import WordEmbedder
from tests.support.engines import copied
from tests.support.raw import columns, raw, sql, unguarded

import memstore
from memstore import Store
from memstore.errors import MemstoreError

JOURNALLED = (
    "memstore_facts",
    "memstore_episodes",
    "memstore_proposals",
    "memstore_tokens",
    "memstore_entity_decisions",
    "memstore_journal",
)
"""Each row and each column of these is covered by the journal."""

DERIVED = (
    "memstore_counts",
    "memstore_fact_members",
    "memstore_episode_tags",
    "memstore_pieces",
    "memstore_fact_vectors",
    "memstore_piece_vectors",
    "memstore_distrusted",
    "memstore_distrusted_episodes",
    "memstore_newer",
    "memstore_mentions",
    "memstore_alike_names",
    "memstore_entity_names",
    "memstore_graphs",
    "memstore_generations",
    "memstore_meta",
    "memstore_version",
)
"""A row that is removed from these is missed."""

FULL_TEXTS = tuple(
    f"memstore_{rows}_fts{part}"
    for rows in ("facts", "episodes")
    for part in ("", "_config", "_data", "_docsize", "_idx")
)

UNCOVERED = {
    "memstore_relations": "derived; a relation that is missing is read again by the next build",
    "memstore_mention_blocks": "derived; without the only one of a graph, all mentions are read",
    "memstore_fact_readings": "replies of a model, which the journal does not have",
    "memstore_readings": "which texts a model has read; not journalled",
    "memstore_replies": "replies of a model, which the journal does not have",
    "memstore_searches": "a record of searches, which is no part of the memories",
    "memstore_given": "belongs to the record of searches",
    "memstore_leases": "who does a job at the moment; one that is too long is ignored",
    "memstore_line_counts": "of 256 lines, and the file has fewer (test_line_counts.py)",
    "memstore_fact_changes": "a feed for indexes, which is cut short all the time",
    "memstore_episode_changes": "a feed for indexes, which is cut short all the time",
    "memstore_derived_files": "which files of an index are valid; without a row it is built again",
    "memstore_devices": "how far a device is known; what is missing is read again from the place",
    "memstore_taken": "which device's line a line is; its row stays until that is asked for",
    "memstore_device_files": "files of other devices, which write again what is missing",
    "memstore_compared": "how far facts were compared; without its row, all are compared again",
    "sqlite_sequence": "SQLite takes the larger of this and the largest id; lines are counted",
}

UNSEEN = {
    ("memstore_facts", "use_count"): "use is no part of the memories",
    ("memstore_facts", "last_used_at"): "use is no part of the memories",
    ("memstore_tokens", "last_used_at"): "use is no part of the memories",
}
"""Columns that are not covered, of tables that are."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with rows in every table that is covered."""
    path = tmp_path_factory.mktemp("filled") / "memory.db"
    with memstore.open(path, embedder=WordEmbedder()) as store:
        old = store.add("Alice works at Globex", subject="alice", metadata={"team": "red"})
        store.add("Alice works at Initech", subject="alice", supersedes=old.id)
        store.add("Bob knows Alice", subject="bob")
        drinks = [store.add(f"Alice likes {what}", subject="alice").id for what in ("tea", "rum")]
        said = store.episodes.add("Mallory: the bank has moved", source="mail", tags=["x"])
        store.add("the bank has moved", subject="bank", episode_id=said.id, source="mail")
        store.of().proposals.put_forward(drinks, "Alice likes drinks", {"n": 1})
        store.sources.distrust("mail")
        store.file.tokens.create("one", namespace="default", expires_at="2999-01-01")
        store.file.tokens.create("two", namespace="default", access="read")
        store.file.tokens.revoke("two")
        store.file.tokens.create("three", namespace="default")
        store.add("Alice Smith lives in Bonn", subject="alice smith")
        store.graph.build()
        store.graph.merge("Alice", "Al")
        store.graph.keep_apart("Bob", "Rob")
        for seconds in (5, 9):
            store.add(f"The timeout is {seconds} seconds.", subject="api")
        store.file.embed_pending()
        store.file.searches.comparisons.run()
        assert troubles(store) == []
    return path


def troubles(store: Store) -> list[str]:
    return [finding.message for finding in (*store.ledger.verify(), *store.file.doctor(deep=True))]


def seen(path: Path) -> list[str]:
    """Return what is found, or the error of a file that can no longer be opened."""
    try:
        with memstore.open(path, embedder=WordEmbedder()) as store:
            return troubles(store)
    except MemstoreError as error:
        return [str(error)]


def objects(path: Path, kind: str) -> list[str]:
    rows = sql(path, f"SELECT name FROM sqlite_master WHERE type = '{kind}' AND sql IS NOT NULL")
    return sorted(name for (name,) in rows)


def test_every_table_is_covered_or_says_why_not(filled: Path) -> None:
    named = [*JOURNALLED, *DERIVED, *FULL_TEXTS, *UNCOVERED]
    assert len(named) == len({*named})
    assert objects(filled, "table") == sorted(named)


@pytest.mark.slow
@pytest.mark.parametrize("table", [*JOURNALLED, *DERIVED])
def test_a_row_that_is_removed_is_missed(filled: Path, tmp_path: Path, table: str) -> None:
    path = copied(filled, tmp_path / "m.db")
    with unguarded(path) as file:
        [row, *_] = file.execute(
            f"SELECT {', '.join(columns(file, table))} FROM {table}"
        ).fetchall()
        where = " AND ".join(f"{name} IS ?" for name in columns(file, table))
        file.execute(f"DELETE FROM {table} WHERE {where}", row)
    assert seen(path) != []


def changed(value: Any) -> Any:
    if value is None:
        return "2020-01-01T00:00:00.000000Z"
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:]
    return value + 1 if isinstance(value, int | float) else f"{value}x"


def columns_of(path: Path, table: str) -> Iterator[str]:
    for row in sql(path, f"PRAGMA table_info({table})"):
        if (table, row[1]) not in UNSEEN:
            yield row[1]


@pytest.mark.slow
@pytest.mark.parametrize("table", JOURNALLED)
def test_every_column_that_is_changed_is_seen(filled: Path, tmp_path: Path, table: str) -> None:
    for place, column in enumerate(columns_of(filled, table)):
        path = copied(filled, tmp_path / f"{place}.db")
        with unguarded(path) as file:
            file.execute("PRAGMA ignore_check_constraints = ON")
            [(rowid, value)] = file.execute(
                f"SELECT rowid, {column} FROM {table} ORDER BY rowid DESC LIMIT 1"
            ).fetchall()
            file.execute(
                f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (changed(value), rowid)
            )
        assert seen(path) != [], column


ROWS = {
    "another secret": ("UPDATE memstore_tokens SET hash = 'x' WHERE id = 1", "another secret"),
    "an unknown token": (
        "INSERT INTO memstore_tokens (name, hash, namespace, access, created_at)"
        " VALUES ('evil', 'x', 'default', 'write', '2026-01-01T00:00:00.000000Z')",
        "4 (evil: unknown)",
    ),
    "a lost token": ("DELETE FROM memstore_tokens WHERE id = 1", "1 (gone)"),
    "more access": ("UPDATE memstore_tokens SET access = 'write' WHERE id = 2", "two: access"),
    "another namespace": ("UPDATE memstore_tokens SET namespace = 'x' WHERE id = 1", "namespace"),
    "a later end": ("UPDATE memstore_tokens SET expires_at = NULL WHERE id = 1", "expires_at"),
    "a revocation taken back": (
        "UPDATE memstore_tokens SET revoked_at = NULL WHERE id = 2",
        "two: revoked_at",
    ),
    "the salt of a token": ("DELETE FROM memstore_meta WHERE key = 'salt:token 1'", "one: another"),
    "a decision removed": ("DELETE FROM memstore_entity_decisions WHERE id = 1", "1 (only in"),
    "a decision turned round": (
        "UPDATE memstore_entity_decisions SET same = 1 - same WHERE id = 2",
        "2 (same)",
    ),
    "a decision about other names": (
        "UPDATE memstore_entity_decisions SET left_name = 'Bo' WHERE id = 2",
        "2 (names, actor or time)",
    ),
    "a decision of nobody": (
        "INSERT INTO memstore_entity_decisions (namespace, left_key, right_key, same, left_name,"
        " right_name, actor, at) VALUES ('default', 'a', 'b', 1, 'a', 'b', 'x',"
        " '2026-01-01T00:00:00.000000Z')",
        "3 (not in the journal)",
    ),
    "a proposal decided": (
        "UPDATE memstore_proposals SET state = 'rejected'",
        "proposals that differ",
    ),
    "trust": ("UPDATE memstore_meta SET value = '{}' WHERE key = 'trust'", "sources that count"),
    "another generation": (
        "INSERT INTO memstore_generations (model, state, created_at)"
        " VALUES ('evil', 'retired', '2026-01-01T00:00:00.000000Z')",
        "2 (not in the journal)",
    ),
    "the version": ("INSERT INTO memstore_version VALUES (3)", "the schema version is written"),
    "settings of an index of texts": (
        "INSERT INTO memstore_facts_fts (memstore_facts_fts, rank) VALUES ('rank', 'bm25(9.0)')",
        "settings of memstore_facts_fts",
    ),
}


@pytest.mark.parametrize("what", ROWS)
def test_changed_rows_are_named(filled: Path, tmp_path: Path, what: str) -> None:
    path = copied(filled, tmp_path / "m.db")
    statement, told = ROWS[what]
    with unguarded(path) as file:
        file.execute(statement)
    with memstore.open(path, embedder=WordEmbedder()) as store:
        found = [finding for finding in store.ledger.verify() if told in finding.message]
        assert found != []
        before = {one.message for one in store.ledger.verify() if not one.repairable}
        store.file.rebuild()
        assert {one.message for one in store.ledger.verify()} <= before


def test_a_revoked_stranger_among_tokens_is_settled(filled: Path, tmp_path: Path) -> None:
    path = copied(filled, tmp_path / "m.db")
    sql(path, ROWS["an unknown token"][0])
    sql(path, "UPDATE memstore_tokens SET hash = 'y' WHERE id = 1")
    with memstore.open(path, embedder=WordEmbedder()) as store:
        assert len(store.ledger.verify()) == 1
        store.file.tokens.revoke("evil")
        store.file.tokens.revoke("one")
        assert store.ledger.verify() == []


def test_the_journal_has_no_secret_of_a_token(filled: Path) -> None:
    hashes = [held for (held,) in sql(filled, "SELECT hash FROM memstore_tokens")]
    lines = str(sql(filled, "SELECT * FROM memstore_journal"))
    assert not any(held in lines for held in hashes)


def test_nothing_confirms_a_guess_of_the_names_of_a_forgotten_decision(
    filled: Path, tmp_path: Path
) -> None:
    path = copied(filled, tmp_path / "m.db")
    with memstore.open(path, embedder=WordEmbedder()) as store:
        store.graph.forget("Alice", "Al")
        assert troubles(store) == []
    assert sql(path, "SELECT key FROM memstore_meta WHERE key LIKE 'salt:decision%'") == [
        ("salt:decision 2",)
    ]


@pytest.mark.parametrize("kind", ["trigger", "view", "index"])
def test_every_object_that_is_dropped_or_changed_is_named_and_restored(
    filled: Path, tmp_path: Path, kind: str
) -> None:
    path = copied(filled, tmp_path / "m.db")
    names = objects(path, kind)
    with memstore.open(path, embedder=WordEmbedder()) as store:
        with raw(path) as file:
            for name in names:
                file.execute(f"DROP {kind.upper()} {name}")
            file.commit()
        told = store.ledger.verify()
        assert any("dropped or changed" in one.message for one in told)
        store.file.rebuild()
        assert troubles(store) == []
    assert objects(path, kind) == names


def tables_and_views(path: Path) -> list[tuple[str, str]]:
    found = [(name, "table") for name in (*JOURNALLED, *DERIVED, *UNCOVERED)]
    return [one for one in found if one[0] != "sqlite_sequence"] + [
        (name, "view") for name in objects(path, "view")
    ]


def test_a_trigger_on_any_table_or_view_is_named_and_dropped(filled: Path, tmp_path: Path) -> None:
    path = copied(filled, tmp_path / "m.db")
    planted = []
    with raw(path) as file:
        for number, (name, kind) in enumerate(tables_and_views(path)):
            when = "INSTEAD OF" if kind == "view" else "AFTER"
            file.execute(
                f"CREATE TRIGGER evil{number} {when} INSERT ON {name.upper()} BEGIN SELECT 1; END"
            )
            planted.append(f"trigger evil{number} on {name}")
        file.commit()
    with memstore.open(path, embedder=WordEmbedder()) as store:
        assert any("put on these tables" in one.message for one in store.ledger.verify())
        done = store.file.rebuild()
        assert [one for one in planted if not any(one in told for told in done)] == []
        assert troubles(store) == []


@pytest.mark.parametrize("name", ["evil", "memstore_facts_fts_new_0123abcd_insert", 'a"b'])
def test_a_planted_trigger_no_longer_changes_what_is_stored(
    filled: Path, tmp_path: Path, name: str
) -> None:
    path = copied(filled, tmp_path / "m.db")
    quoted = '"' + name.replace('"', '""') + '"'
    sql(
        path,
        f"CREATE TRIGGER {quoted} AFTER INSERT ON memstore_facts"
        " BEGIN UPDATE memstore_facts SET content = 'planted' WHERE id = new.id; END",
    )
    with memstore.open(path, embedder=WordEmbedder()) as store:
        assert any(f"trigger {name} on memstore_facts" in one for one in troubles(store))
        assert any("SET content = 'planted'" in done for done in store.file.rebuild())
        assert store.get(store.add("two", subject="x").id).content == "two"
        assert troubles(store) == []


@pytest.mark.parametrize(
    "index",
    [
        "UNIQUE INDEX evil ON memstore_facts (lower(content))",
        "UNIQUE INDEX evil ON memstore_facts (category) WHERE category = 'once'",
        "INDEX evil ON memstore_facts (json(content)) WHERE id > 100",
        "INDEX evil ON memstore_tokens (name)",
    ],
)
def test_an_index_of_others_is_named_and_dropped(filled: Path, tmp_path: Path, index: str) -> None:
    path = copied(filled, tmp_path / "m.db")
    sql(path, f"CREATE {index}")
    with memstore.open(path, embedder=WordEmbedder()) as store:
        [finding] = store.ledger.verify()
        assert "index evil on memstore_" in finding.message
        store.file.rebuild()
        assert troubles(store) == []


@pytest.mark.parametrize("table", [*JOURNALLED, *DERIVED, *UNCOVERED])
def test_a_table_with_another_column_is_named(filled: Path, tmp_path: Path, table: str) -> None:
    if table == "sqlite_sequence":
        return  # SQLite refuses to change it
    path = copied(filled, tmp_path / "m.db")
    sql(path, f"ALTER TABLE {table} ADD COLUMN evil TEXT")
    with memstore.open(path, embedder=WordEmbedder()) as store:
        found = [one for one in store.ledger.verify() if f"{table} (has evil TEXT)" in one.message]
        assert [one.repairable for one in found] == [False]


@pytest.mark.parametrize(
    ("table", "constraint"),
    [
        ("memstore_tokens", " CHECK (access IN ('read', 'write'))"),
        ("memstore_proposals", " CHECK (state IN ('open', 'accepted', 'rejected'))"),
        ("memstore_tokens", " UNIQUE"),
        ("memstore_readings", " REFERENCES memstore_episodes(id)"),
    ],
)
def test_a_constraint_that_was_removed_is_named(
    filled: Path, tmp_path: Path, table: str, constraint: str
) -> None:
    path = copied(filled, tmp_path / "m.db")
    with raw(path) as file:
        file.execute("PRAGMA writable_schema = ON")
        done = file.execute(
            "UPDATE sqlite_master SET sql = replace(sql, ?, '') WHERE name = ?", (constraint, table)
        )
        assert done.rowcount == 1
        file.commit()
    assert any(f"{table} (lacks" in one or "malformed" in one for one in seen(path))


def test_tables_and_views_with_our_names_are_named(filled: Path, tmp_path: Path) -> None:
    path = copied(filled, tmp_path / "m.db")
    with raw(path) as file:
        file.execute("CREATE TABLE Memstore_evil (x)")
        file.execute("CREATE VIEW memstore_worse AS SELECT 1")
        file.commit()
    with memstore.open(path, embedder=WordEmbedder()) as store:
        told = " ".join(troubles(store))
        assert "Memstore_evil; rename or drop" in told
        assert "view memstore_worse" in told
        store.file.rebuild()
        assert "memstore_worse" not in " ".join(troubles(store))
    assert "Memstore_evil" in objects(path, "table")


def test_what_others_have_on_tables_of_their_own_stays(filled: Path, tmp_path: Path) -> None:
    path = copied(filled, tmp_path / "m.db")
    with raw(path) as file:
        file.execute("CREATE TABLE notes (fact_id INTEGER REFERENCES memstore_facts (id), text)")
        file.execute("CREATE INDEX notes_of ON notes (fact_id)")
        file.execute("CREATE VIEW told AS SELECT * FROM memstore_facts JOIN notes ON fact_id = id")
        file.execute("CREATE TRIGGER noted AFTER INSERT ON notes BEGIN SELECT 1; END")
        file.execute("CREATE TRIGGER tell INSTEAD OF INSERT ON told BEGIN SELECT 1; END")
        file.commit()
    with memstore.open(path, embedder=WordEmbedder()) as store:
        assert troubles(store) == []
        store.file.rebuild()
        assert troubles(store) == []
    assert {"noted", "tell"} <= {*objects(path, "trigger")}
    assert "told" in objects(path, "view")


@pytest.mark.parametrize("name", ["memstore_facts_fts", "memstore_episodes_fts"])
@pytest.mark.parametrize("change", ["dropped", "tokenizer", "columns"])
def test_an_index_of_texts_that_was_changed_is_made_again(
    filled: Path, tmp_path: Path, name: str, change: str
) -> None:
    path = copied(filled, tmp_path / "m.db")
    with raw(path) as file:
        [(text,)] = file.execute(f"SELECT sql FROM sqlite_master WHERE name = '{name}'").fetchall()
        file.execute(f"DROP TABLE {name}")
        if change == "tokenizer":
            file.execute(text.replace("porter unicode61", "unicode61"))
        elif change == "columns":
            file.execute(f"CREATE VIRTUAL TABLE {name} USING fts5(content)")
        file.commit()
    with memstore.open(path, embedder=WordEmbedder()) as store:
        told = "missing" if change == "dropped" else "changed"
        assert any(f"table {name} ({told})" in one for one in troubles(store))
        store.file.rebuild()
        assert troubles(store) == []
        assert [hit.fact.id for hit in store.search("Initech")][:1] == [2]


def test_numbers_of_the_file_that_are_not_used_change_nothing(filled: Path, tmp_path: Path) -> None:
    path = copied(filled, tmp_path / "m.db")
    sql(path, "PRAGMA user_version = 12345")
    sql(path, "PRAGMA application_id = 12345")
    assert seen(path) == []
