-- The journal: a row for every change, written in the same transaction.
CREATE TABLE memstore_journal (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    at         TEXT NOT NULL,
    actor      TEXT NOT NULL,
    source     TEXT NOT NULL,
    kind       TEXT NOT NULL,
    fact_id    INTEGER,
    episode_id INTEGER,
    before     TEXT,
    after      TEXT,
    -- Why an automatic change was made. A column of its own keeps replaying `after` simple.
    evidence   TEXT,
    -- CRC-32 of the columns before the evidence; NULL after the line was blanked.
    checksum   INTEGER
);
CREATE INDEX idx_memstore_journal_fact ON memstore_journal (fact_id) WHERE fact_id IS NOT NULL;
CREATE INDEX idx_memstore_journal_episode ON memstore_journal (episode_id)
    WHERE episode_id IS NOT NULL;

-- Append-only. Erasing a fact blanks its text in `before` and `after`; the line itself stays.
CREATE TRIGGER memstore_journal_keep BEFORE DELETE ON memstore_journal BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
CREATE TRIGGER memstore_journal_fixed
BEFORE UPDATE OF id, at, actor, source, kind, fact_id, episode_id ON memstore_journal BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
-- INSERT OR REPLACE does not fire delete triggers for the row it replaces.
CREATE TRIGGER memstore_journal_apart BEFORE INSERT ON memstore_journal
WHEN EXISTS (SELECT 1 FROM memstore_journal WHERE id = new.id) BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
-- UPDATE OF id does not fire if the id is changed under its other name, rowid.
CREATE TRIGGER memstore_journal_place BEFORE UPDATE ON memstore_journal
WHEN new.id IS NOT old.id BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
