-- Access tokens for the HTTP server. Only their hashes are stored.
CREATE TABLE memstore_tokens (
    -- AUTOINCREMENT: an id is never given twice, because the journal names tokens by it.
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    name         TEXT NOT NULL,
    hash         TEXT NOT NULL UNIQUE,
    namespace    TEXT NOT NULL,
    access       TEXT NOT NULL CHECK (access IN ('read', 'write')),
    created_at   TEXT NOT NULL,
    expires_at   TEXT,
    revoked_at   TEXT,
    last_used_at TEXT
);
-- A name means one token; once the token is revoked, its name may be used again.
CREATE UNIQUE INDEX idx_memstore_token_name ON memstore_tokens (name) WHERE revoked_at IS NULL;
