-- Embedding generations and their vectors. Vectors are stored apart from facts and pieces, so that two
-- models' vectors can coexist, switching is one small change, and reading a row reads no vector.
CREATE TABLE memstore_generations (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Both NULL until the first vector is stored.
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

-- One row for every fact in every generation. Without a vector the fact is pending, or it was erased:
-- then embed_attempts is -1.
-- A vector is packed (rust/kernel/src/vectors/packed.rs), or float32 as builds before wrote it.
CREATE TABLE memstore_fact_vectors (
    id             INTEGER PRIMARY KEY,
    generation_id  INTEGER NOT NULL REFERENCES memstore_generations(id),
    fact_id        INTEGER NOT NULL REFERENCES memstore_facts(id),
    embed_attempts INTEGER NOT NULL DEFAULT 0,
    embed_error    TEXT,
    embedding      BLOB,
    -- CRC-32 of the owner's id and the embedding, to detect a vector of another owner too.
    checksum       INTEGER
);
CREATE UNIQUE INDEX idx_memstore_fact_vector ON memstore_fact_vectors (generation_id, fact_id);
-- The queue of pending embeddings.
CREATE INDEX idx_memstore_fact_queue ON memstore_fact_vectors (generation_id, fact_id, embed_attempts)
    WHERE embedding IS NULL;

-- The same for the pieces of episodes.
CREATE TABLE memstore_piece_vectors (
    id             INTEGER PRIMARY KEY,
    generation_id  INTEGER NOT NULL REFERENCES memstore_generations(id),
    piece_id       INTEGER NOT NULL REFERENCES memstore_pieces(id),
    embed_attempts INTEGER NOT NULL DEFAULT 0,
    embed_error    TEXT,
    embedding      BLOB,
    checksum       INTEGER
);
CREATE UNIQUE INDEX idx_memstore_piece_vector ON memstore_piece_vectors (generation_id, piece_id);
CREATE INDEX idx_memstore_piece_queue ON memstore_piece_vectors (generation_id, piece_id, embed_attempts)
    WHERE embedding IS NULL;

-- The process that does a job which only one may do at a time. A lease expires if its holder dies.
CREATE TABLE memstore_leases (
    job        TEXT PRIMARY KEY,
    holder     TEXT NOT NULL,
    expires_at TEXT NOT NULL
) WITHOUT ROWID;
