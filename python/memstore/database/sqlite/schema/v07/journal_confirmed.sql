-- The lines of the other changes of facts (compared_facts.CONFIRMATION_KINDS): with idx_memstore_journal_state,
-- they tell what changed between two moments without a line being read.
CREATE INDEX idx_memstore_journal_confirmed ON memstore_journal (kind, id, fact_id)
    WHERE kind IN ('confirm', 'unconfirm', 'erase');
