-- The journal: a row for every change, written in the same transaction.
CREATE TABLE memstore_journal (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The first line of the transaction that wrote it, an act; all its lines have one time, which
    -- is later than that of every line before.
    txn        INTEGER NOT NULL,
    at         TEXT NOT NULL,
    -- The time of an imported line in its own file.
    said_at    TEXT,
    -- One opening of the file, or one session of a server: a UUIDv7.
    run        BLOB,
    actor      TEXT NOT NULL,
    source     TEXT NOT NULL,
    kind       TEXT NOT NULL,
    fact_id    INTEGER,
    episode_id INTEGER,
    before     TEXT,
    after      TEXT,
    -- Why an automatic change was made. A column of its own keeps replaying `after` simple.
    evidence   TEXT,
    -- Random; the commitments to the three texts are made with it (rust/kernel/src/chain.rs). Erasing a
    -- text removes its salt.
    salt       BLOB,
    -- The commitments to the texts that were erased.
    erased     BLOB,
    -- SHA-256 over the hash of the line before, the columns, and the commitments.
    hash       BLOB NOT NULL
);
CREATE INDEX idx_memstore_journal_fact ON memstore_journal (fact_id) WHERE fact_id IS NOT NULL;
CREATE INDEX idx_memstore_journal_episode ON memstore_journal (episode_id)
    WHERE episode_id IS NOT NULL;
-- The changes of what filters test, by kind: what was different at an earlier moment
-- (journal.STATE_KINDS). It covers every column that is read.
CREATE INDEX idx_memstore_journal_state ON memstore_journal
    (kind, id, fact_id, episode_id)
    WHERE kind IN ('supersede', 'unsupersede', 'delete', 'restore', 'metadata', 'pin', 'unpin',
        'adopt', 'update', 'update_episode');
-- Changes of the table of sources (journal.OF_SOURCES): an explanation reads all of them.
CREATE INDEX idx_memstore_journal_sources ON memstore_journal (id)
    WHERE kind IN ('trust', 'distrust') AND fact_id IS NULL;

-- Append-only. Erasing blanks `before`, `after` and `evidence`; the line itself stays.
CREATE TRIGGER memstore_journal_keep BEFORE DELETE ON memstore_journal BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
CREATE TRIGGER memstore_journal_fixed
BEFORE UPDATE OF id, txn, at, said_at, run, actor, source, kind, fact_id, episode_id, hash
ON memstore_journal BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
-- INSERT OR REPLACE does not fire delete triggers for the row it replaces.
CREATE TRIGGER memstore_journal_apart BEFORE INSERT ON memstore_journal
WHEN EXISTS (SELECT 1 FROM memstore_journal WHERE id = new.id) BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
-- Texts may be erased, but not changed.
CREATE TRIGGER memstore_journal_erased BEFORE UPDATE OF before, after, evidence ON memstore_journal
WHEN (new.before IS NOT NULL AND new.before IS NOT old.before)
    OR (new.after IS NOT NULL AND new.after IS NOT old.after)
    OR (new.evidence IS NOT NULL AND new.evidence IS NOT old.evidence) BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
-- UPDATE OF id does not fire if the id is changed under its other name, rowid.
CREATE TRIGGER memstore_journal_place BEFORE UPDATE ON memstore_journal
WHEN new.id IS NOT old.id BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
