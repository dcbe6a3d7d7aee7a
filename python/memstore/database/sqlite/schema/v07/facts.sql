-- Facts, and the indexes that find them.
CREATE TABLE memstore_facts (
    -- AUTOINCREMENT: an id is never given twice, because people and models remember ids.
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    content           TEXT NOT NULL,
    -- As it was written; `subject_key` is what is compared.
    subject           TEXT NOT NULL,
    category          TEXT NOT NULL,
    metadata          TEXT,
    superseded_by     INTEGER REFERENCES memstore_facts(id),
    created_at        TEXT NOT NULL,
    namespace         TEXT NOT NULL,
    superseded_at     TEXT,
    confirmed_count   INTEGER NOT NULL DEFAULT 0,
    last_confirmed_at TEXT,
    use_count         INTEGER NOT NULL DEFAULT 0,
    last_used_at      TEXT,
    -- Stays the same in exports and copies, where `id` may change.
    uuid              TEXT NOT NULL,
    -- The owners; NULL means "not set".
    user_id           TEXT,
    agent_id          TEXT,
    run_id            TEXT,
    valid_at          TEXT,
    expired_at        TEXT,
    -- A tombstone: deleting can be undone, erasing cannot.
    deleted_at        TEXT,
    source            TEXT,
    -- The episode the fact was drawn from.
    episode_id        INTEGER,
    idempotency_key   TEXT,
    -- Scripts written without spaces, cut into characters, for the full-text index.
    segments          TEXT,
    -- A hash of subject and content without regard to case and blanks, by which a fact that is said
    -- again is found; NULL once it is erased.
    claim_hash        INTEGER,
    -- 'extract', 'memory' or 'consolidate'; NULL for a fact that was stored by hand.
    derivation        TEXT,
    -- The subject with case and Unicode's normal form folded.
    subject_key       TEXT NOT NULL,
    -- The conversation it belongs to, and its place there; one of the same name under another owner
    -- is another one.
    thread            TEXT,
    seq               INTEGER,
    CHECK ((thread IS NULL) = (seq IS NULL))
);
CREATE INDEX idx_memstore_namespace ON memstore_facts (namespace, id);
-- These hold every column that decides who may see a fact, so that counting reads no rows.
-- The owners come before the id: they are always asked for exactly, NULL included.
CREATE INDEX idx_memstore_subject ON memstore_facts (namespace, subject_key,
    user_id, agent_id, run_id, id, superseded_by, deleted_at, expired_at);
CREATE INDEX idx_memstore_category ON memstore_facts (namespace, category,
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
-- The facts of one user, in whatever state. Partial, so that facts without a user cost nothing here.
CREATE INDEX idx_memstore_user ON memstore_facts (namespace, user_id, agent_id, run_id, id)
    WHERE user_id IS NOT NULL;
CREATE INDEX idx_memstore_claim
    ON memstore_facts (claim_hash, namespace, user_id, agent_id, run_id)
    WHERE claim_hash IS NOT NULL;
-- A thread in its order. Partial, so that facts outside of threads cost nothing here.
CREATE INDEX idx_memstore_thread ON memstore_facts
    (namespace, thread, user_id, agent_id, run_id, seq, id) WHERE thread IS NOT NULL;
-- The facts drawn from one episode.
CREATE INDEX idx_memstore_fact_episode ON memstore_facts (episode_id)
    WHERE episode_id IS NOT NULL;
