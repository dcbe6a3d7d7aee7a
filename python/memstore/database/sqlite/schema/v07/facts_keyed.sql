-- Facts by their external keys. Not unique: every fact of a chain has its key. Partial, so that facts
-- without one cost nothing here.
CREATE INDEX idx_memstore_external_key ON memstore_facts
    (namespace, external_key, user_id, agent_id, run_id, id, superseded_by, deleted_at)
    WHERE external_key IS NOT NULL;
