-- The facts that sessions begin with. Both are partial, so that a new fact costs nothing here.
CREATE INDEX idx_memstore_pinned ON memstore_facts
    (namespace, user_id, agent_id, run_id, pinned_at)
    WHERE pinned_at IS NOT NULL AND superseded_by IS NULL AND deleted_at IS NULL;
-- The id comes before the category, so that facts used equally often are in the order of their age.
CREATE INDEX idx_memstore_used ON memstore_facts
    (namespace, user_id, agent_id, run_id, confirmed_count + use_count, id, category_key)
    WHERE confirmed_count + use_count > 0 AND superseded_by IS NULL AND deleted_at IS NULL;
