"""Files as the original memstore writes them, at each version of its schema."""

from __future__ import annotations

from pathlib import Path

from tests.support.raw import raw

STEPS: dict[int, str] = {
    1: """
        CREATE TABLE memstore_version (version INTEGER NOT NULL);
        CREATE TABLE memstore_facts (
            id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, subject TEXT NOT NULL,
            category TEXT NOT NULL, metadata TEXT,
            superseded_by INTEGER REFERENCES memstore_facts(id), embedding BLOB,
            created_at TEXT NOT NULL);
        CREATE VIRTUAL TABLE memstore_facts_fts USING fts5(
            content, subject, category, content='memstore_facts', content_rowid='id');
        CREATE TRIGGER memstore_facts_ai AFTER INSERT ON memstore_facts BEGIN
            INSERT INTO memstore_facts_fts(rowid, content, subject, category)
            VALUES (new.id, new.content, new.subject, new.category); END;
        CREATE TRIGGER memstore_facts_au AFTER UPDATE ON memstore_facts BEGIN
            INSERT INTO memstore_facts_fts(memstore_facts_fts, rowid, content, subject, category)
            VALUES ('delete', old.id, old.content, old.subject, old.category);
            INSERT INTO memstore_facts_fts(rowid, content, subject, category)
            VALUES (new.id, new.content, new.subject, new.category); END;
        CREATE INDEX idx_memstore_subject ON memstore_facts(subject);
        """,
    2: "CREATE TABLE memstore_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);",
    3: "ALTER TABLE memstore_facts ADD COLUMN namespace TEXT NOT NULL DEFAULT '';",
    4: "ALTER TABLE memstore_facts ADD COLUMN superseded_at TEXT;",
    5: """
        ALTER TABLE memstore_facts ADD COLUMN confirmed_count INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE memstore_facts ADD COLUMN last_confirmed_at TEXT;
        """,
    6: """
        ALTER TABLE memstore_facts ADD COLUMN use_count INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE memstore_facts ADD COLUMN last_used_at TEXT;
        """,
    7: """
        CREATE TABLE memstore_links (
            id INTEGER PRIMARY KEY AUTOINCREMENT, namespace TEXT NOT NULL DEFAULT '',
            source_id INTEGER NOT NULL REFERENCES memstore_facts(id) ON DELETE CASCADE,
            target_id INTEGER NOT NULL REFERENCES memstore_facts(id) ON DELETE CASCADE,
            link_type TEXT NOT NULL DEFAULT 'reference', bidirectional INTEGER NOT NULL DEFAULT 0,
            label TEXT NOT NULL DEFAULT '', metadata TEXT, created_at TEXT NOT NULL);
        """,
    8: """
        ALTER TABLE memstore_facts ADD COLUMN kind TEXT NOT NULL DEFAULT '';
        ALTER TABLE memstore_facts ADD COLUMN subsystem TEXT NOT NULL DEFAULT '';
        """,
    9: "CREATE VIRTUAL TABLE memstore_facts_fts_vocab USING fts5vocab(memstore_facts_fts, row);",
    10: """
        CREATE TRIGGER memstore_facts_content_length_insert BEFORE INSERT ON memstore_facts
        WHEN length(NEW.content) > 8000 BEGIN SELECT RAISE(ABORT, 'too long'); END;
        """,
    11: """
        ALTER TABLE memstore_facts ADD COLUMN embed_failed_at INTEGER;
        ALTER TABLE memstore_facts ADD COLUMN embed_error TEXT;
        """,
    12: """
        CREATE TABLE memstore_users (
            id INTEGER PRIMARY KEY AUTOINCREMENT, namespace TEXT NOT NULL, name TEXT NOT NULL,
            created_at TEXT NOT NULL DEFAULT (datetime('now')), UNIQUE(namespace, name));
        ALTER TABLE memstore_facts ADD COLUMN user_id INTEGER;
        ALTER TABLE memstore_links ADD COLUMN user_id INTEGER;
        """,
    13: """
        CREATE TABLE memstore_fact_chunks (
            fact_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, embedding BLOB NOT NULL,
            byte_start INTEGER NOT NULL, byte_end INTEGER NOT NULL, PRIMARY KEY (fact_id, ordinal),
            FOREIGN KEY (fact_id) REFERENCES memstore_facts(id) ON DELETE CASCADE);
        """,
    14: "DELETE FROM memstore_fact_chunks;",
    15: """
        ALTER TABLE memstore_facts ADD COLUMN screen_state TEXT NOT NULL DEFAULT 'pending';
        ALTER TABLE memstore_facts ADD COLUMN screen_attempts INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE memstore_facts ADD COLUMN screened_at INTEGER;
        CREATE TABLE memstore_screen_findings (
            id INTEGER PRIMARY KEY AUTOINCREMENT, namespace TEXT NOT NULL, fact_id INTEGER,
            outcome TEXT NOT NULL, created_at INTEGER NOT NULL);
        """,
    16: "ALTER TABLE memstore_facts ADD COLUMN detect_score INTEGER;",
}
VERSIONS = tuple(STEPS)

FACTS = """
    INSERT INTO memstore_facts (id, content, subject, category, metadata, embedding, created_at)
    VALUES (7, 'new job', 'eve', 'identity', '{"a": 1}', x'0000803f', '2025-05-01T10:00:00+02:00');
    INSERT INTO memstore_facts (id, content, subject, category, superseded_by, created_at)
    VALUES (3, 'old job', 'eve', 'identity', 7, '2025-04-01T10:00:00Z');
    INSERT INTO memstore_facts (id, content, subject, category, metadata, created_at)
    VALUES (8, 'water the plants', 'todo', 'note',
        '{"kind": "task", "scope": "matthew", "status": "pending"}', '2025-05-02T00:00:00Z'),
        (9, 'invoices go out on Monday', 'shop', 'note', NULL, '2025-05-03T00:00:00Z');
"""
MORE: dict[int, str] = {
    4: "UPDATE memstore_facts SET superseded_at = '2025-05-01T08:00:00Z' WHERE id = 3;",
    5: "UPDATE memstore_facts SET confirmed_count = 2, last_confirmed_at = '2025-05-02T00:00:00Z'"
    " WHERE id = 7;",
    6: "UPDATE memstore_facts SET use_count = 9, last_used_at = '2025-05-03T00:00:00Z'"
    " WHERE id = 7;",
    7: "INSERT INTO memstore_links (source_id, target_id, created_at) VALUES (7, 9, 'x');",
    8: "UPDATE memstore_facts SET kind = 'rule', subsystem = 'billing' WHERE id = 9;",
    12: "INSERT INTO memstore_users (id, namespace, name) VALUES (1, '', 'eve');"
    " UPDATE memstore_facts SET user_id = 1;",
    13: "INSERT INTO memstore_fact_chunks VALUES (7, 0, x'0000803f', 0, 7);",
    15: "UPDATE memstore_facts SET screen_state = 'grandfathered';",
}


def original_file(path: Path, version: int, *, facts: bool = True) -> Path:
    """Write a file of this version, and return where it is.

    Args:
        path: where.
        version: of the schema.
        facts: with a chain of two, a task and a note, and with what the version knows of them.
    """
    with raw(path) as file:
        file.execute("PRAGMA synchronous = OFF")  # no power cuts in tests
        for step in range(1, version + 1):
            file.executescript(STEPS[step])
        if facts:
            file.executescript(FACTS)
            for step in range(1, version + 1):
                file.executescript(MORE.get(step, ""))
        file.execute("INSERT INTO memstore_version VALUES (?)", (version,))
        file.commit()
    return path
