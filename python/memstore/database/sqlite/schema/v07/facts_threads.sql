-- An index of the same without what says which facts are active.
DROP INDEX IF EXISTS idx_memstore_thread;
-- A thread in order, with what says which facts are active. Partial, so that facts outside of
-- threads cost nothing here.
CREATE INDEX idx_memstore_threads ON memstore_facts
    (namespace, thread, user_id, agent_id, run_id, seq, id, superseded_by, deleted_at, expired_at)
    WHERE thread IS NOT NULL;
