-- V12: the log of episodes: what they are called, when they stop counting, and how they are found.
ALTER TABLE memstore_episodes ADD COLUMN source_model TEXT;
ALTER TABLE memstore_episodes ADD COLUMN source_description TEXT;
ALTER TABLE memstore_episodes ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE memstore_episodes ADD COLUMN expired_at TEXT;
ALTER TABLE memstore_episodes ADD COLUMN idempotency_key TEXT;
ALTER TABLE memstore_episodes ADD COLUMN segments TEXT;

-- What was said stays as it was said; metadata, tags and expired_at may change. An episode that
-- the journal says is erased may be blanked, and to nothing else.
DROP TRIGGER memstore_episodes_fixed;
CREATE TRIGGER memstore_episodes_fixed
BEFORE UPDATE OF id, uuid, namespace, content, source, source_model, source_description, name,
    valid_at, created_at, user_id, agent_id, run_id, idempotency_key, content_hash
ON memstore_episodes WHEN
    (new.id, new.uuid, new.namespace, new.created_at)
        IS NOT (old.id, old.uuid, old.namespace, old.created_at)
    OR new.content <> '' OR new.content_hash <> ''
    OR coalesce(new.source, new.source_model, new.source_description, new.name, new.valid_at,
                new.user_id, new.agent_id, new.run_id, new.idempotency_key) IS NOT NULL
    OR NOT EXISTS (SELECT 1 FROM memstore_journal
                   WHERE episode_id = old.id AND kind = 'erase_episode')
BEGIN
    SELECT RAISE(ABORT, 'episodes are append-only');
END;
-- Nor may one take another's place: INSERT OR REPLACE fires no trigger for what it deletes, and
-- an id can be changed by its other names (rowid) too. The journal, which lets an episode be
-- blanked, is held to the same.
CREATE TRIGGER memstore_episodes_apart BEFORE INSERT ON memstore_episodes WHEN
    EXISTS (SELECT 1 FROM memstore_episodes WHERE id = new.id)
    OR EXISTS (SELECT 1 FROM memstore_episodes
               WHERE namespace = new.namespace AND uuid = new.uuid)
    OR EXISTS (SELECT 1 FROM memstore_episodes
               WHERE namespace = new.namespace AND idempotency_key = new.idempotency_key)
BEGIN
    SELECT RAISE(ABORT, 'episodes are append-only');
END;
CREATE TRIGGER memstore_episodes_place BEFORE UPDATE ON memstore_episodes
WHEN new.id IS NOT old.id BEGIN
    SELECT RAISE(ABORT, 'episodes are append-only');
END;
CREATE TRIGGER memstore_journal_apart BEFORE INSERT ON memstore_journal
WHEN EXISTS (SELECT 1 FROM memstore_journal WHERE id = new.id) BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
CREATE TRIGGER memstore_journal_place BEFORE UPDATE ON memstore_journal
WHEN new.id IS NOT old.id BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
CREATE UNIQUE INDEX idx_memstore_episode_key ON memstore_episodes (namespace, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
-- All columns that filters ask for: passing over an episode must not read its text, which comes
-- before them in the row.
CREATE INDEX idx_memstore_episode_seen ON memstore_episodes
    (namespace, created_at, id, source, valid_at, expired_at, user_id, agent_id, run_id)
    WHERE content_hash <> '';
CREATE INDEX idx_memstore_episode_expired ON memstore_episodes (expired_at)
    WHERE expired_at IS NOT NULL;

-- The tags once more, so that those of a hundred thousand episodes need not be read one by one.
CREATE TABLE memstore_episode_tags (
    tag        TEXT NOT NULL,
    episode_id INTEGER NOT NULL REFERENCES memstore_episodes(id),
    PRIMARY KEY (tag, episode_id)
) WITHOUT ROWID;
CREATE INDEX idx_memstore_episode_tag ON memstore_episode_tags (episode_id);

-- A long episode is embedded in pieces that overlap; each is a stretch of its characters.
CREATE TABLE memstore_pieces (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    episode_id INTEGER NOT NULL REFERENCES memstore_episodes(id),
    start      INTEGER NOT NULL,
    stop       INTEGER NOT NULL
);
CREATE UNIQUE INDEX idx_memstore_piece ON memstore_pieces (episode_id, start);
CREATE TABLE memstore_piece_vectors (
    id             INTEGER PRIMARY KEY,
    generation_id  INTEGER NOT NULL REFERENCES memstore_generations(id),
    piece_id       INTEGER NOT NULL REFERENCES memstore_pieces(id),
    embed_attempts INTEGER NOT NULL DEFAULT 0,
    embed_error    TEXT,
    embedding      BLOB
);
CREATE UNIQUE INDEX idx_memstore_piece_vector ON memstore_piece_vectors (generation_id, piece_id);
CREATE INDEX idx_memstore_piece_queue ON memstore_piece_vectors (generation_id, piece_id, embed_attempts)
    WHERE embedding IS NULL;

CREATE VIRTUAL TABLE memstore_episodes_fts USING fts5(
    content, name, source_description, segments,
    content='memstore_episodes', content_rowid='id',
    tokenize='porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER memstore_episodes_ai AFTER INSERT ON memstore_episodes BEGIN
    INSERT INTO memstore_episodes_fts (rowid, content, name, source_description, segments)
    VALUES (new.id, new.content, new.name, new.source_description, new.segments);
    INSERT INTO memstore_episode_tags (tag, episode_id)
    SELECT DISTINCT value, new.id FROM json_each(new.tags);
END;
-- Only erasing changes an indexed column.
CREATE TRIGGER memstore_episodes_au
AFTER UPDATE OF content, name, source_description, segments ON memstore_episodes BEGIN
    INSERT INTO memstore_episodes_fts
        (memstore_episodes_fts, rowid, content, name, source_description, segments)
    VALUES ('delete', old.id, old.content, old.name, old.source_description, old.segments);
    INSERT INTO memstore_episodes_fts (rowid, content, name, source_description, segments)
    VALUES (new.id, new.content, new.name, new.source_description, new.segments);
END;
CREATE TRIGGER memstore_episodes_tagged AFTER UPDATE OF tags ON memstore_episodes BEGIN
    DELETE FROM memstore_episode_tags WHERE episode_id = old.id;
    INSERT INTO memstore_episode_tags (tag, episode_id)
    SELECT DISTINCT value, new.id FROM json_each(new.tags);
END;
INSERT INTO memstore_episodes_fts (memstore_episodes_fts) VALUES ('rebuild');
