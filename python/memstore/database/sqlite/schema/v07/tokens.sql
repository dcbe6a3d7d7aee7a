-- Access tokens for the HTTP server. Only their hashes are stored.
CREATE TABLE memstore_tokens (
    -- AUTOINCREMENT: ids are never reused, because the journal identifies tokens by them.
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
-- Names of tokens are unique, but the name of a revoked one can be used again.
CREATE UNIQUE INDEX idx_memstore_token_name ON memstore_tokens (name) WHERE revoked_at IS NULL;
