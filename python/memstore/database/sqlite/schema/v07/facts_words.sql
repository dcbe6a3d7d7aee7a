-- The full-text index of facts: word stems, folded accents, and scripts without spaces in segments.
-- What no search finds and what was erased is not in it: each row counts in the weights of words.
CREATE VIEW memstore_facts_words (id, content, subject, category, segments) AS
SELECT id, content, subject, category, segments
FROM memstore_facts WHERE unsearched IS NULL AND content <> '';
CREATE VIRTUAL TABLE memstore_facts_fts USING fts5(
    content, subject, category, segments,
    content='memstore_facts_words', content_rowid='id',
    tokenize='porter unicode61 remove_diacritics 2'
);
-- In an upgrade, the original's facts already exist. Indexing them together takes a tenth of the
-- time.
INSERT INTO memstore_facts_fts (memstore_facts_fts) VALUES ('rebuild');
CREATE TRIGGER memstore_facts_ai AFTER INSERT ON memstore_facts
WHEN new.unsearched IS NULL AND new.content <> '' BEGIN
    INSERT INTO memstore_facts_fts (rowid, content, subject, category, segments)
    VALUES (new.id, new.content, new.subject, new.category, new.segments);
END;
CREATE TRIGGER memstore_facts_ad AFTER DELETE ON memstore_facts
WHEN old.unsearched IS NULL AND old.content <> '' BEGIN
    INSERT INTO memstore_facts_fts (memstore_facts_fts, rowid, content, subject, category, segments)
    VALUES ('delete', old.id, old.content, old.subject, old.category, old.segments);
END;
-- Only if an indexed column changes; the original re-indexed a fact on every use.
CREATE TRIGGER memstore_facts_au
AFTER UPDATE OF content, subject, category, segments, unsearched ON memstore_facts BEGIN
    INSERT INTO memstore_facts_fts (memstore_facts_fts, rowid, content, subject, category, segments)
    SELECT 'delete', old.id, old.content, old.subject, old.category, old.segments
    WHERE old.unsearched IS NULL AND old.content <> '';
    INSERT INTO memstore_facts_fts (rowid, content, subject, category, segments)
    SELECT new.id, new.content, new.subject, new.category, new.segments
    WHERE new.unsearched IS NULL AND new.content <> '';
END;
