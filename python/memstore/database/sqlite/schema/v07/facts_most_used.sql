-- Those used most by any owners, in order. Partial, so that a new fact costs nothing here.
CREATE INDEX idx_memstore_most_used ON memstore_facts
    (namespace, confirmed_count + use_count, id, category_key)
    WHERE confirmed_count + use_count > 0 AND superseded_by IS NULL AND deleted_at IS NULL;
