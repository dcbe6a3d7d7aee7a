-- V1: facts, their full-text index, and the triggers that keep the two together.
CREATE TABLE memstore_facts (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    content       TEXT NOT NULL,
    subject       TEXT NOT NULL,
    category      TEXT NOT NULL,
    metadata      TEXT,
    superseded_by INTEGER REFERENCES memstore_facts(id),
    embedding     BLOB,
    created_at    TEXT NOT NULL
);
CREATE VIRTUAL TABLE memstore_facts_fts USING fts5(
    content, subject, category, content='memstore_facts', content_rowid='id'
);
CREATE TRIGGER memstore_facts_ai AFTER INSERT ON memstore_facts BEGIN
    INSERT INTO memstore_facts_fts (rowid, content, subject, category)
    VALUES (new.id, new.content, new.subject, new.category);
END;
CREATE TRIGGER memstore_facts_ad AFTER DELETE ON memstore_facts BEGIN
    INSERT INTO memstore_facts_fts (memstore_facts_fts, rowid, content, subject, category)
    VALUES ('delete', old.id, old.content, old.subject, old.category);
END;
CREATE TRIGGER memstore_facts_au AFTER UPDATE ON memstore_facts BEGIN
    INSERT INTO memstore_facts_fts (memstore_facts_fts, rowid, content, subject, category)
    VALUES ('delete', old.id, old.content, old.subject, old.category);
    INSERT INTO memstore_facts_fts (rowid, content, subject, category)
    VALUES (new.id, new.content, new.subject, new.category);
END;
CREATE INDEX idx_memstore_subject ON memstore_facts (subject);
CREATE INDEX idx_memstore_category ON memstore_facts (category);
CREATE INDEX idx_memstore_active ON memstore_facts (id) WHERE superseded_by IS NULL;
