-- Facts, and the indexes that find them.
CREATE TABLE memstore_facts (
    -- AUTOINCREMENT: ids are never reused, because people and models remember them.
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    content           TEXT NOT NULL,
    -- As they were written; comparisons use `subject_key` and `category_key`.
    subject           TEXT NOT NULL,
    category          TEXT NOT NULL,
    metadata          TEXT,
    superseded_by     INTEGER REFERENCES memstore_facts(id),
    created_at        TEXT NOT NULL,
    namespace         TEXT NOT NULL DEFAULT 'default',
    superseded_at     TEXT,
    confirmed_count   INTEGER NOT NULL DEFAULT 0,
    last_confirmed_at TEXT,
    use_count         INTEGER NOT NULL DEFAULT 0,
    last_used_at      TEXT,
    -- Stays the same in exports and copies, where `id` may change. The default is a UUIDv7 for rows of
    -- other programs (facts_foreign.sql).
    uuid              TEXT NOT NULL DEFAULT (lower(
        printf('%08x-', (julianday('now') - 2440587.5) * 86400000 / 65536)
        || printf('%04x-7', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) % 65536)
        || substr(hex(randomblob(2)), 2) || '-' || substr('89ab', 1 + abs(random() % 4), 1)
        || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))
    )),
    -- The owners; NULL means "not set".
    user_id           TEXT,
    agent_id          TEXT,
    run_id            TEXT,
    valid_at          TEXT,
    expired_at        TEXT,
    -- A tombstone: deleting can be undone, erasing cannot.
    deleted_at        TEXT,
    source            TEXT,
    -- The episode that the fact was extracted from.
    episode_id        INTEGER,
    idempotency_key   TEXT,
    -- Text in scripts without spaces, split into characters, for the full-text index.
    segments          TEXT,
    -- A hash of subject and content, ignoring case and spacing, to find facts that say the same;
    -- NULL after the fact was erased.
    claim_hash        INTEGER,
    -- 'extract', 'memory' or 'consolidate'; NULL for a fact that was stored directly.
    derivation        TEXT,
    -- The subject with case and Unicode normal form folded.
    subject_key       TEXT NOT NULL DEFAULT '',
    -- The conversation it belongs to, and its place in it. Threads are separate for each set of
    -- owners.
    thread            TEXT,
    seq               INTEGER,
    -- Since when it is pinned; NULL if it is not.
    pinned_at         TEXT,
    -- What an extractor found in it, as JSON: holder, attribute, value, …; NULL without one.
    slots             TEXT,
    -- What another program calls it: exact, and shared by the facts of its chain.
    external_key      TEXT,
    -- 1 if no search finds it; else NULL.
    unsearched        INTEGER,
    -- The category, folded as the subject is.
    category_key      TEXT NOT NULL DEFAULT '',
    CHECK ((thread IS NULL) = (seq IS NULL))
);
CREATE INDEX idx_memstore_namespace ON memstore_facts (namespace, id);
-- These cover every column that filters use, so that counting reads no rows.
-- The owners come before the id, because filters compare them exactly, including NULL.
CREATE INDEX idx_memstore_subject ON memstore_facts (namespace, subject_key,
    user_id, agent_id, run_id, id, superseded_by, deleted_at, expired_at);
CREATE INDEX idx_memstore_category ON memstore_facts (namespace, category_key,
    user_id, agent_id, run_id, id, superseded_by, deleted_at, expired_at);
CREATE INDEX idx_memstore_active ON memstore_facts
    (namespace, user_id, agent_id, run_id, id, expired_at, superseded_by, deleted_at)
    WHERE superseded_by IS NULL AND deleted_at IS NULL;
-- For walking a chain backwards, and for SQLite's own check of the foreign key.
CREATE INDEX idx_memstore_superseded_by ON memstore_facts (superseded_by)
    WHERE superseded_by IS NOT NULL;
CREATE INDEX idx_memstore_expired ON memstore_facts (expired_at, namespace) WHERE expired_at IS NOT NULL;
CREATE INDEX idx_memstore_deleted ON memstore_facts
    (namespace, user_id, agent_id, run_id, deleted_at) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX idx_memstore_uuid ON memstore_facts (namespace, uuid);
CREATE UNIQUE INDEX idx_memstore_idempotency_key ON memstore_facts (namespace, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
-- The facts of one user, in any state. Partial, so that facts without a user cost nothing here.
CREATE INDEX idx_memstore_user ON memstore_facts (namespace, user_id, agent_id, run_id, id)
    WHERE user_id IS NOT NULL;
CREATE INDEX idx_memstore_claim
    ON memstore_facts (claim_hash, namespace, user_id, agent_id, run_id)
    WHERE claim_hash IS NOT NULL;
-- The facts extracted from one episode.
CREATE INDEX idx_memstore_fact_episode ON memstore_facts (episode_id)
    WHERE episode_id IS NOT NULL;
-- The facts of one source. Partial, so that facts without a source cost nothing here.
CREATE INDEX idx_memstore_source ON memstore_facts (namespace, source, id)
    WHERE source IS NOT NULL;
