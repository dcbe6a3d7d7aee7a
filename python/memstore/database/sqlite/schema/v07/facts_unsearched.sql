-- The kinds of lines that a moment's filters read are one more (journal.STATE_KINDS).
DROP INDEX idx_memstore_journal_state;
CREATE INDEX idx_memstore_journal_state ON memstore_journal
    (kind, id, fact_id, episode_id)
    WHERE kind IN ('supersede', 'unsupersede', 'delete', 'restore', 'metadata', 'pin', 'unpin',
        'adopt', 'update', 'update_episode');
