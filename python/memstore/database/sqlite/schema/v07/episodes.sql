-- Episodes: what was said, word for word; their tags, their pieces and their full-text index.
CREATE TABLE memstore_episodes (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid               TEXT NOT NULL,
    namespace          TEXT NOT NULL,
    content            TEXT NOT NULL,
    source             TEXT,
    name               TEXT,
    metadata           TEXT,
    valid_at           TEXT,
    created_at         TEXT NOT NULL,
    user_id            TEXT,
    agent_id           TEXT,
    run_id             TEXT,
    -- SHA-256 of the content, to find a text that was recorded before; empty after the episode was
    -- erased.
    content_hash       TEXT NOT NULL,
    source_model       TEXT,
    source_description TEXT,
    -- A JSON array.
    tags               TEXT NOT NULL DEFAULT '[]',
    expired_at         TEXT,
    idempotency_key    TEXT,
    -- The salt for the UUIDs of its facts; NULL after the episode was erased, so that a UUID cannot
    -- be used to check a guess at an erased fact.
    salt               TEXT,
    -- Text in scripts without spaces, split into characters, for the full-text index.
    segments           TEXT,
    -- The conversation it is part of, and its place in it. Threads are separate for each set of
    -- owners.
    thread             TEXT,
    seq                INTEGER,
    speaker            TEXT,
    CHECK ((thread IS NULL) = (seq IS NULL))
);
CREATE UNIQUE INDEX idx_memstore_episode_uuid ON memstore_episodes (namespace, uuid);
-- Not unique: the same text said twice may be two episodes.
CREATE INDEX idx_memstore_episode_hash ON memstore_episodes (namespace, content_hash);
CREATE UNIQUE INDEX idx_memstore_episode_key ON memstore_episodes (namespace, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
-- Covers every column that filters use, so that skipping an episode does not read its row, where a
-- long text comes first.
CREATE INDEX idx_memstore_episode_seen ON memstore_episodes
    (namespace, created_at, id, source, valid_at, expired_at, user_id, agent_id, run_id)
    WHERE content_hash <> '';
CREATE INDEX idx_memstore_episode_expired ON memstore_episodes (expired_at)
    WHERE expired_at IS NOT NULL;
-- A thread in order.
CREATE INDEX idx_memstore_episode_thread ON memstore_episodes
    (namespace, thread, user_id, agent_id, run_id, seq, id) WHERE thread IS NOT NULL;

-- Append-only: what may change is in episodes_lasting.sql.
CREATE TRIGGER memstore_episodes_keep BEFORE DELETE ON memstore_episodes BEGIN
    SELECT RAISE(ABORT, 'episodes are append-only');
END;
-- INSERT OR REPLACE does not fire delete triggers for the rows it replaces.
CREATE TRIGGER memstore_episodes_apart BEFORE INSERT ON memstore_episodes WHEN
    EXISTS (SELECT 1 FROM memstore_episodes WHERE id = new.id)
    OR EXISTS (SELECT 1 FROM memstore_episodes
               WHERE namespace = new.namespace AND uuid = new.uuid)
    OR EXISTS (SELECT 1 FROM memstore_episodes
               WHERE namespace = new.namespace AND idempotency_key = new.idempotency_key)
BEGIN
    SELECT RAISE(ABORT, 'episodes are append-only');
END;
-- UPDATE OF id does not fire if the id is changed under its other name, rowid.
CREATE TRIGGER memstore_episodes_place BEFORE UPDATE ON memstore_episodes
WHEN new.id IS NOT old.id BEGIN
    SELECT RAISE(ABORT, 'episodes are append-only');
END;

-- A copy of the tags, so that a filter by tag does not read the tags of every episode.
CREATE TABLE memstore_episode_tags (
    tag        TEXT NOT NULL,
    episode_id INTEGER NOT NULL REFERENCES memstore_episodes(id),
    PRIMARY KEY (tag, episode_id)
) WITHOUT ROWID;
CREATE INDEX idx_memstore_episode_tag ON memstore_episode_tags (episode_id);

-- A long episode is embedded in pieces that overlap; each is a range of its characters.
CREATE TABLE memstore_pieces (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    episode_id INTEGER NOT NULL REFERENCES memstore_episodes(id),
    start      INTEGER NOT NULL,
    stop       INTEGER NOT NULL
);
CREATE UNIQUE INDEX idx_memstore_piece ON memstore_pieces (episode_id, start);

CREATE TRIGGER memstore_episodes_tagged AFTER UPDATE OF tags ON memstore_episodes BEGIN
    DELETE FROM memstore_episode_tags WHERE episode_id = old.id;
    INSERT INTO memstore_episode_tags (tag, episode_id)
    SELECT DISTINCT value, new.id FROM json_each(new.tags);
END;
