-- V7: identity, owners, validity, tombstones, pending embeddings. The first version that is ours.
ALTER TABLE memstore_facts ADD COLUMN uuid TEXT;
ALTER TABLE memstore_facts ADD COLUMN user_id TEXT;
ALTER TABLE memstore_facts ADD COLUMN agent_id TEXT;
ALTER TABLE memstore_facts ADD COLUMN run_id TEXT;
ALTER TABLE memstore_facts ADD COLUMN valid_at TEXT;
ALTER TABLE memstore_facts ADD COLUMN expired_at TEXT;
ALTER TABLE memstore_facts ADD COLUMN deleted_at TEXT;
ALTER TABLE memstore_facts ADD COLUMN source TEXT;
ALTER TABLE memstore_facts ADD COLUMN episode_id INTEGER;
ALTER TABLE memstore_facts ADD COLUMN idempotency_key TEXT;
ALTER TABLE memstore_facts ADD COLUMN embed_error TEXT;
ALTER TABLE memstore_facts ADD COLUMN embed_attempts INTEGER NOT NULL DEFAULT 0;
-- Scripts written without spaces, cut into characters, for the full-text index.
ALTER TABLE memstore_facts ADD COLUMN segments TEXT;

-- The update trigger of V1 indexed a fact anew on every touch; V9 brings its successor.
DROP TRIGGER IF EXISTS memstore_facts_au;

DROP INDEX IF EXISTS idx_memstore_namespace;
DROP INDEX IF EXISTS idx_memstore_subject;
DROP INDEX IF EXISTS idx_memstore_category;
DROP INDEX IF EXISTS idx_memstore_active;
CREATE INDEX idx_memstore_namespace ON memstore_facts (namespace, id);
-- The rest of who may be seen stands in the index too, so that counting reads no rows.
CREATE INDEX idx_memstore_subject
    ON memstore_facts (namespace, subject, id, superseded_by, deleted_at, expired_at);
CREATE INDEX idx_memstore_category
    ON memstore_facts (namespace, category, id, superseded_by, deleted_at, expired_at);
CREATE INDEX idx_memstore_active ON memstore_facts (namespace, id, expired_at)
    WHERE superseded_by IS NULL AND deleted_at IS NULL;
-- Walking a chain backwards, and the foreign key's own check.
CREATE INDEX idx_memstore_superseded_by ON memstore_facts (superseded_by)
    WHERE superseded_by IS NOT NULL;
CREATE INDEX idx_memstore_expired ON memstore_facts (expired_at, namespace) WHERE expired_at IS NOT NULL;
CREATE INDEX idx_memstore_deleted ON memstore_facts (namespace) WHERE deleted_at IS NOT NULL;
CREATE INDEX idx_memstore_pending ON memstore_facts (namespace, embed_attempts)
    WHERE embedding IS NULL AND deleted_at IS NULL;
-- The queue of the embedder, in order.
CREATE INDEX idx_memstore_queue ON memstore_facts (id, embed_attempts, namespace)
    WHERE embedding IS NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX idx_memstore_uuid ON memstore_facts (namespace, uuid);
CREATE UNIQUE INDEX idx_memstore_idempotency_key ON memstore_facts (namespace, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
