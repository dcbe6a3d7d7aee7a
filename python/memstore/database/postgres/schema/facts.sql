-- The tables of the file (database/sqlite/schema/v07/), each with a tenant in every key. A tenant is
-- what a file is: a journal, its lock and its vectors, shared by one namespace or a few. The texts
-- are compared byte by byte, as in the file: TEXT stands for text COLLATE "C" (migrations.py).
-- No triggers: what they do in the file, each write does itself (derived.py).
CREATE TABLE memstore_tenants (
    tenant   TEXT PRIMARY KEY,
    -- The last id of each table whose ids are never reused, by the table's name.
    counters jsonb NOT NULL DEFAULT '{}',
    -- Every write changes it, to a random number (remembered.py).
    version  bigint NOT NULL DEFAULT 0,
    -- As above, for writes of the tables that are rarely written.
    epoch    bigint NOT NULL DEFAULT 0,
    -- The journal's last line; NULL if this row does not know it.
    line     bigint,
    at       TEXT,
    hash     bytea
);
-- The tenant of each namespace. A namespace has one, and keeps it.
CREATE TABLE memstore_namespaces (
    namespace TEXT PRIMARY KEY,
    tenant    TEXT NOT NULL REFERENCES memstore_tenants (tenant)
);

CREATE TABLE memstore_facts (
    tenant            TEXT NOT NULL,
    id                bigint NOT NULL,
    content           TEXT NOT NULL,
    subject           TEXT NOT NULL,
    category          TEXT NOT NULL,
    metadata          TEXT,
    superseded_by     bigint,
    created_at        TEXT NOT NULL,
    namespace         TEXT NOT NULL,
    superseded_at     TEXT,
    confirmed_count   bigint NOT NULL DEFAULT 0,
    last_confirmed_at TEXT,
    use_count         bigint NOT NULL DEFAULT 0,
    last_used_at      TEXT,
    uuid              TEXT NOT NULL,
    user_id           TEXT,
    agent_id          TEXT,
    run_id            TEXT,
    valid_at          TEXT,
    expired_at        TEXT,
    deleted_at        TEXT,
    source            TEXT,
    episode_id        bigint,
    idempotency_key   TEXT,
    segments          TEXT,
    claim_hash        bigint,
    derivation        TEXT,
    subject_key       TEXT NOT NULL DEFAULT '',
    thread            TEXT,
    seq               bigint,
    pinned_at         TEXT,
    slots             TEXT,
    external_key      TEXT,
    unsearched        bigint,
    category_key      TEXT NOT NULL DEFAULT '',
    -- For provisional answers, until a process has its index (full_text.py).
    words             tsvector GENERATED ALWAYS AS (to_tsvector('english'::regconfig,
        FOLDED(CASE WHEN unsearched IS NULL THEN left(content, 50000) || ' ' || subject || ' '
            || category || ' ' || left(coalesce(segments, ''), 50000) ELSE '' END))) STORED,
    CHECK ((thread IS NULL) = (seq IS NULL))
);
CREATE INDEX idx_memstore_namespace ON memstore_facts (tenant, namespace, id);
CREATE INDEX idx_memstore_subject ON memstore_facts (tenant, namespace, subject_key, id);
CREATE INDEX idx_memstore_category ON memstore_facts (tenant, namespace, category_key, id);
CREATE INDEX idx_memstore_superseded_by ON memstore_facts (tenant, superseded_by)
    WHERE superseded_by IS NOT NULL;
CREATE INDEX idx_memstore_expired ON memstore_facts (tenant, expired_at, namespace)
    WHERE expired_at IS NOT NULL;
CREATE INDEX idx_memstore_deleted ON memstore_facts (tenant, namespace, deleted_at)
    WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX idx_memstore_uuid ON memstore_facts (tenant, namespace, uuid);
CREATE UNIQUE INDEX idx_memstore_idempotency_key
    ON memstore_facts (tenant, namespace, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX idx_memstore_external_key ON memstore_facts
    (tenant, namespace, external_key, id) WHERE external_key IS NOT NULL;
CREATE INDEX idx_memstore_user ON memstore_facts (tenant, namespace, user_id, agent_id, run_id, id)
    WHERE user_id IS NOT NULL;
CREATE INDEX idx_memstore_claim ON memstore_facts (tenant, claim_hash)
    WHERE claim_hash IS NOT NULL;
CREATE INDEX idx_memstore_thread ON memstore_facts
    (tenant, namespace, thread, user_id, agent_id, run_id, seq, id) WHERE thread IS NOT NULL;
CREATE INDEX idx_memstore_fact_episode ON memstore_facts (tenant, episode_id)
    WHERE episode_id IS NOT NULL;
CREATE INDEX idx_memstore_source ON memstore_facts (tenant, namespace, source, id)
    WHERE source IS NOT NULL;
CREATE INDEX idx_memstore_pinned ON memstore_facts (tenant, namespace, pinned_at)
    WHERE pinned_at IS NOT NULL AND superseded_by IS NULL AND deleted_at IS NULL;
CREATE INDEX idx_memstore_used ON memstore_facts
    (tenant, namespace, (confirmed_count + use_count), id)
    WHERE confirmed_count + use_count > 0 AND superseded_by IS NULL AND deleted_at IS NULL;
-- The words of the last rows are a list, which each search reads, so it is kept short.
CREATE INDEX idx_memstore_facts_words ON memstore_facts USING gin (words)
    WITH (gin_pending_list_limit = 256);
-- After the indexes: where several seem equal, as all that begin with the tenant do while the table
-- is small, the planner takes the newest, and a session keeps that plan for its foreign keys.
ALTER TABLE memstore_facts
    ADD PRIMARY KEY (tenant, id),
    ADD FOREIGN KEY (tenant, superseded_by) REFERENCES memstore_facts (tenant, id);

-- The members of the facts' metadata, for filters. Numbers and truths (0 or 1) are written as
-- text; the dialect reads them as numbers.
CREATE TABLE memstore_fact_members (
    tenant  TEXT NOT NULL,
    key     TEXT NOT NULL,
    kind    TEXT NOT NULL,
    value   TEXT NOT NULL,
    fact_id bigint NOT NULL
    -- No primary key: a value may be longer than an entry of a B-tree can be.
);
CREATE INDEX idx_memstore_member ON memstore_fact_members
    (tenant, key, kind, substr(value, 1, 100), fact_id);
CREATE INDEX idx_memstore_member_fact ON memstore_fact_members (tenant, fact_id);
CREATE VIEW memstore_fact_members_read (tenant, key, kind, value, fact_id) AS
SELECT DISTINCT f.tenant, member.key COLLATE "C",
    CASE json_typeof(member.value) WHEN 'string' THEN 'text' WHEN 'number' THEN 'number'
        WHEN 'boolean' THEN 'truth' WHEN 'null' THEN 'null' ELSE 'other' END COLLATE "C",
    CASE json_typeof(member.value) WHEN 'string' THEN member.value #>> '{}'
        WHEN 'number' THEN member.value #>> '{}'
        WHEN 'boolean' THEN CASE member.value #>> '{}' WHEN 'true' THEN '1' ELSE '0' END
        ELSE '' END COLLATE "C", f.id
FROM memstore_facts f
    -- As dialect.WITHOUT_NUL: json_each fails on an escaped U+0000.
    CROSS JOIN json_each(replace(replace(replace(
        CASE WHEN f.metadata IS JSON OBJECT THEN f.metadata ELSE '{}' END,
        '\\', chr(1)), '\u0000', '\ufffd'), chr(1), '\\')::json) AS member;
