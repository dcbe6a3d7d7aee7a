-- V11: embedding generations. The vectors leave the rows of the facts, so that two models' vectors
-- can stand side by side, a switch between them is one small change, and reading rows reads no vectors.
CREATE TABLE memstore_generations (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Both empty until the first vector is stored.
    model       TEXT,
    dimension   INTEGER,
    state       TEXT NOT NULL CHECK (state IN ('active', 'staged', 'retired')),
    created_at  TEXT NOT NULL,
    switched_at TEXT
);
CREATE UNIQUE INDEX idx_memstore_generation_active ON memstore_generations (state)
    WHERE state = 'active';
CREATE UNIQUE INDEX idx_memstore_generation_staged ON memstore_generations (state)
    WHERE state = 'staged';

-- One row for every fact in every generation; without a vector it is pending.
CREATE TABLE memstore_fact_vectors (
    id             INTEGER PRIMARY KEY,
    generation_id  INTEGER NOT NULL REFERENCES memstore_generations(id),
    fact_id        INTEGER NOT NULL REFERENCES memstore_facts(id),
    embed_attempts INTEGER NOT NULL DEFAULT 0,
    embed_error    TEXT,
    embedding      BLOB
);
CREATE UNIQUE INDEX idx_memstore_fact_vector ON memstore_fact_vectors (generation_id, fact_id);
-- The queue of the embedder, in order.
CREATE INDEX idx_memstore_fact_queue ON memstore_fact_vectors (generation_id, fact_id, embed_attempts)
    WHERE embedding IS NULL;

INSERT INTO memstore_generations (model, dimension, state, created_at) VALUES (
    (SELECT value FROM memstore_meta WHERE key = 'embedding_model'),
    (SELECT CAST(value AS INTEGER) FROM memstore_meta WHERE key = 'embedding_dim'),
    'active', strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
);
INSERT INTO memstore_fact_vectors (generation_id, fact_id, embed_attempts, embed_error, embedding)
    -- Of what was erased there is nothing to embed.
    SELECT 1, id, iif(content = '', -1, embed_attempts), embed_error, embedding
    FROM memstore_facts ORDER BY id;
DELETE FROM memstore_meta WHERE key IN ('embedding_model', 'embedding_dim');
DROP INDEX idx_memstore_pending;
DROP INDEX idx_memstore_queue;
ALTER TABLE memstore_facts DROP COLUMN embedding;
ALTER TABLE memstore_facts DROP COLUMN embed_error;
ALTER TABLE memstore_facts DROP COLUMN embed_attempts;

-- Who does a job that one process at a time may do. It ends by itself if its holder dies.
CREATE TABLE memstore_leases (
    job        TEXT PRIMARY KEY,
    holder     TEXT NOT NULL,
    expires_at TEXT NOT NULL
) WITHOUT ROWID;
